// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/drain.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "observe/capture/drainer.h"

#define FEW 512 /* records of a chunk: more than a batch has */
#define MS 1000000ull /* ns */
#define CPUS_PER_THREAD 4 /* a thread drains 5 to 12 million records/s, a busy CPU makes 1 */
#define RETIRE_NS (5000 * MS)

struct ring_drain {
	struct kernel *kernel;
	struct file_writer *writer;
	struct ring_plan plan;
	int cpus;
	int *node; /* of each CPU */
	unsigned int *group;
	struct held_ring **live; /* of each CPU, NULL = it has none */
	bool *refused; /* a ring could not be made: reported, not retried */
	size_t total; /* bytes of all rings */
	unsigned int grown, free_cpus;
	uint64_t no_growth_until; /* ns, after a failure to make a larger ring */
	struct cpu_bits home; /* CPUs that this program may run on */
	struct cpu_bits busy; /* CPUs that ranks may run on */
	bool gang, placed; /* gang: the present mode; placed: threads are where they should be */
	bool gang_wanted;
	struct drain_report past; /* of threads that have ended */
	uint64_t past_others;
	VEC(struct drainer *) threads;
	struct drain_shared shared;
};

/* ---- threads and rings, made and ended by the session ---- */

/* CPUs of a node (-1: any node) that this program may use and no rank does. */
static unsigned int free_cpus(const struct ring_drain *d, int node, struct cpu_bits *bits)
{
	unsigned int count = 0;

	*bits = (struct cpu_bits){ 0 };
	for (int cpu = 0; cpu < d->cpus; cpu++) {
		if (!cpu_bits_has(&d->home, cpu) || cpu_bits_has(&d->busy, cpu) ||
		    (node >= 0 && d->node[cpu] != node))
			continue;
		cpu_bits_add(bits, cpu);
		count++;
	}
	return count;
}

/* CPUs for an unbound thread: free ones near its rings, else free ones, else any. */
static void floating_cpus(const struct ring_drain *d, int node, struct cpu_bits *bits)
{
	if (!free_cpus(d, node, bits) && !free_cpus(d, -1, bits))
		*bits = d->home;
}

static struct drainer *make_drainer(struct ring_drain *d, int cpu, bool bound)
{
	struct cpu_bits cpus = { 0 };
	struct drainer *t;

	if (bound)
		cpu_bits_add(&cpus, cpu);
	else
		floating_cpus(d, d->node[cpu], &cpus);
	t = drainer_new(&d->shared, d->writer, bound ? cpu : -1, d->node[cpu], d->group[cpu],
			&cpus);
	if (t)
		vec_push(&d->threads, t);
	return t;
}

/* The thread that should own a CPU's rings, bound to that CPU where this program may run there. */
static struct drainer *find_drainer(const struct ring_drain *d, int cpu)
{
	bool bound = d->gang && cpu_bits_has(&d->home, cpu);

	for (size_t i = 0; i < d->threads.len; i++) {
		struct drainer *t = d->threads.data[i];

		if (bound ? t->cpu == cpu
			  : t->cpu < 0 && t->node == d->node[cpu] && t->group == d->group[cpu])
			return t;
	}
	return NULL;
}

/* The same, but makes a missing thread. NULL: it cannot be made. */
static struct drainer *drainer_of(struct ring_drain *d, int cpu)
{
	struct drainer *t = find_drainer(d, cpu);

	return t ? t : make_drainer(d, cpu, d->gang && cpu_bits_has(&d->home, cpu));
}

static bool drains(const struct drainer *t, int cpu)
{
	for (size_t i = 0; i < t->rings.len; i++)
		if (t->rings.data[i]->cpu == cpu)
			return true;
	return false;
}

/* One thread has all rings of a CPU, so that their order is kept. */
static struct drainer *drainer_for_ring(struct ring_drain *d, int cpu)
{
	for (size_t i = 0; i < d->threads.len; i++)
		if (drains(d->threads.data[i], cpu))
			return d->threads.data[i];
	return drainer_of(d, cpu);
}

/* A ring and a thread that empties it; no program uses it yet. */
static int make_ring(struct ring_drain *d, int cpu, size_t bytes, struct held_ring **made)
{
	struct drainer *t = drainer_for_ring(d, cpu);
	struct held_ring *held;
	int err;

	/* drained by another thread: late, but not lost */
	if (!t && d->threads.len)
		t = d->threads.data[0];
	held = t ? calloc(1, sizeof(*held)) : NULL;
	err = held ? ring_make(&held->ring, bytes, d->node[cpu]) : -ENOMEM;

	if (err) {
		free(held);
		return err;
	}
	held->cpu = cpu;
	drainer_add(t, held);
	d->total += bytes;
	*made = held;
	return 0;
}

/*
 * New rings take their CPUs' batches from now on. The rings before them stay until they are
 * drained, as does a new one that could not be set. Returns the first error.
 */
static int set_rings(struct ring_drain *d, struct held_ring *const *made, size_t count)
{
	VEC(const struct ring *) rings = { 0 };
	VEC(int) cpus = { 0 };
	VEC(bool) done = { 0 };
	int err;

	vec_reserve(&done, count);
	for (size_t i = 0; i < count; i++) {
		vec_push(&cpus, made[i]->cpu);
		vec_push(&rings, &made[i]->ring);
	}
	err = rings_set(kernel_map(d->kernel, "rings"), cpus.data, rings.data, (unsigned int)count,
			done.data);
	for (size_t i = 0; i < count; i++) {
		struct held_ring **live = &d->live[made[i]->cpu];

		if (!done.data[i])
			held_retire(made[i]);
		else if (*live)
			held_retire(*live);
		if (done.data[i])
			*live = made[i];
	}
	vec_release(&rings);
	vec_release(&cpus);
	vec_release(&done);
	return err;
}

static int put_ring(struct ring_drain *d, int cpu, size_t bytes)
{
	struct held_ring *held;
	int err = make_ring(d, cpu, bytes, &held);

	return err ? err : set_rings(d, &held, 1);
}

static void refuse(struct ring_drain *d, int cpu, int err)
{
	log_error("cannot make a ring of %zu KiB for CPU %d: %s; try a smaller --ring-size "
		  "or raise the locked memory limit",
		  d->plan.first >> 10, cpu, strerror(-err));
	d->refused[cpu] = true;
}

static bool lacks_ring(const struct ring_drain *d, int cpu)
{
	return cpu >= 0 && cpu < d->cpus && !d->live[cpu] && !d->refused[cpu];
}

static int first_ring(struct ring_drain *d, int cpu)
{
	int err = lacks_ring(d, cpu) ? put_ring(d, cpu, d->plan.first) : 0;

	if (err)
		refuse(d, cpu, err);
	return err;
}

static int any_node(const int *nodes, int cpus)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		if (nodes[cpu] >= 0)
			return nodes[cpu];
	return -1;
}

int drain_any_node(void)
{
	int nodes[UB_MAX_CPUS];

	cpu_nodes(nodes, UB_MAX_CPUS);
	return any_node(nodes, UB_MAX_CPUS);
}

/* CPUs of a node are taken together by their numbers, CPUS_PER_THREAD to a thread. */
static void group_cpus(struct ring_drain *d)
{
	int any = any_node(d->node, d->cpus);
	struct map on_node = { 0 };

	for (int cpu = 0; cpu < d->cpus; cpu++) {
		/* the map of rings allows either all rings on nodes or none */
		if (d->node[cpu] < 0)
			d->node[cpu] = any;
		d->group[cpu] = (*map_insert(&on_node, (uint64_t)d->node[cpu], 0, NULL))++ /
				CPUS_PER_THREAD;
	}
	map_release(&on_node);
}

static int make_tables(struct ring_drain *d)
{
	d->node = calloc(d->cpus, sizeof(*d->node));
	d->group = calloc(d->cpus, sizeof(*d->group));
	d->live = calloc(d->cpus, sizeof(struct held_ring *));
	d->refused = calloc(d->cpus, sizeof(*d->refused));
	if (!d->node || !d->group || !d->live || !d->refused)
		return -ENOMEM;
	cpu_nodes(d->node, d->cpus);
	group_cpus(d);
	return 0;
}

int drain_open(struct ring_drain **out, struct kernel *kernel, struct file_writer *writer,
	       size_t ring_bytes, bool few)
{
	struct ring_drain *d = calloc(1, sizeof(*d));
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	int err;

	if (!d)
		return -ENOMEM;
	*out = d;
	d->kernel = kernel;
	d->writer = writer;
	d->shared.most = few ? FEW : 0;
	d->cpus = kernel_cpus(kernel) < UB_MAX_CPUS ? kernel_cpus(kernel) : UB_MAX_CPUS;
	d->plan = ring_plan(
		ring_bytes,
		(unsigned int)(sysconf(_SC_NPROCESSORS_ONLN) + kernel_made_up_cpus(kernel)), memory,
		few);
	sched_getaffinity(0, sizeof(d->home), (cpu_set_t *)&d->home);
	d->placed = true;
	err = make_tables(d);
	if (err)
		log_error("cannot plan the rings: %s", strerror(-err));
	else
		err = first_ring(d, sched_getcpu());
	if (err) {
		drain_free(d);
		*out = NULL;
	}
	return err;
}

void drain_cover(struct ring_drain *d, const pid_t *tgids, size_t count)
{
	VEC(struct held_ring *) made = { 0 };
	struct cpu_bits bits = { 0 };
	int err = 0;

	for (size_t i = 0; i < count; i++)
		cpu_bits_add_process(&bits, tgids[i]);
	for (int cpu = d->cpus - kernel_made_up_cpus(d->kernel); cpu < d->cpus; cpu++)
		cpu_bits_add(&bits, cpu);
	for (int cpu = 0; cpu < d->cpus; cpu++) {
		struct held_ring *held;

		if (!cpu_bits_has(&bits, cpu) || !lacks_ring(d, cpu))
			continue;
		err = make_ring(d, cpu, d->plan.first, &held);
		if (err)
			refuse(d, cpu, err);
		else
			vec_push(&made, held);
	}
	err = made.len ? set_rings(d, made.data, made.len) : 0;
	for (size_t i = 0; err && i < made.len; i++)
		if (made.data[i] != d->live[made.data[i]->cpu])
			refuse(d, made.data[i]->cpu, err);
	vec_release(&made);
}

/* ---- while a capture goes on ---- */

/* Frees a ring once it is off its thread's list, when the thread no longer reads it. */
static void free_retired(struct ring_drain *d, struct drainer *t, size_t i)
{
	struct held_ring *held = t->rings.data[i];

	drainer_remove(t, i);
	d->total -= held->ring.bytes;
	ring_free(&held->ring);
	free(held);
}

/*
 * A program that looked the ring up before its replacement may still write to it, so it is freed
 * after a quiet time much longer than a program's run.
 */
static void retire(struct ring_drain *d, struct drainer *t, uint64_t now)
{
	for (size_t i = 0; i < t->rings.len; i++) {
		struct held_ring *held = t->rings.data[i];

		if (!held_is_retired(held))
			continue;
		if (ring_fill(&held->ring) > 0)
			held->quiet_since = 0;
		else if (!held->quiet_since)
			held->quiet_since = now;
		else if (now - held->quiet_since > RETIRE_NS)
			free_retired(d, t, i--);
	}
}

#define NO_GROWTH_NS 10000000000ull

static void grow(struct ring_drain *d, int cpu, uint64_t now)
{
	struct held_ring *held = d->live[cpu];
	size_t bytes;

	if (!held || !__atomic_exchange_n(&held->crowded, 0, __ATOMIC_RELAXED))
		return;
	bytes = 2 * held->ring.bytes;
	if (bytes > d->plan.most || d->total + bytes > d->plan.total || now < d->no_growth_until)
		return;
	/* the node is short of memory: do not retry at once */
	if (put_ring(d, cpu, bytes)) {
		d->no_growth_until = now + NO_GROWTH_NS;
		return;
	}
	d->grown++;
	log_debug("the ring of CPU %d came close to full: %zu KiB from now on", cpu, bytes >> 10);
}

static void take_queues(struct ring_drain *d, drain_fn fn, void *arg)
{
	for (size_t i = 0; i < d->threads.len; i++)
		drainer_take(d->threads.data[i], fn, arg);
}

/* Ends a thread without rings; its counts are kept. */
static void dismiss(struct ring_drain *d, size_t i, drain_fn fn, void *arg)
{
	struct drainer *t = d->threads.data[i];

	drainer_end(t);
	file_stream_end_chunk(t->stream);
	drainer_take(t, fn, arg);
	d->past.cpu_ns += t->cpu_ns;
	d->past.records += t->records;
	d->past_others += t->others;
	d->threads.data[i] = d->threads.data[--d->threads.len];
	drainer_free(t);
}

/*
 * Moves rings to the threads that should own them. A retired ring must be drained before its
 * successor throughout, so it is removed after it and added before it. The session first takes the
 * queue of the old thread. A ring without a new owner stays.
 */
static void move_rings(struct ring_drain *d, struct drainer *from, drain_fn fn, void *arg)
{
	VEC(struct held_ring *) moved = { 0 };

	for (size_t i = from->rings.len; i--;) {
		struct held_ring *held = from->rings.data[i];
		struct drainer *to = find_drainer(d, held->cpu);

		if (!to || to == from)
			continue;
		drainer_remove(from, i);
		vec_push(&moved, held);
	}
	drainer_take(from, fn, arg);
	for (size_t i = moved.len; i--;)
		drainer_add(find_drainer(d, moved.data[i]->cpu), moved.data[i]);
	vec_release(&moved);
}

static void place_threads(struct ring_drain *d, drain_fn fn, void *arg)
{
	size_t threads = d->threads.len;
	struct cpu_bits bits;

	if (d->placed)
		return;
	d->placed = true;
	if (d->gang != d->gang_wanted)
		log_debug("rings are emptied %s from now on",
			  d->gang_wanted ? "by a thread per CPU, all at once"
					 : "by few threads, on free CPUs");
	d->gang = d->gang_wanted;
	for (size_t i = 0; i < threads; i++)
		for (size_t k = 0; k < d->threads.data[i]->rings.len; k++)
			drainer_of(d, d->threads.data[i]->rings.data[k]->cpu);
	for (size_t i = 0; i < threads; i++)
		move_rings(d, d->threads.data[i], fn, arg);
	for (size_t i = d->threads.len; i--;) {
		struct drainer *t = d->threads.data[i];

		if (!t->rings.len) {
			dismiss(d, i, fn, arg);
		} else if (t->cpu < 0) {
			floating_cpus(d, t->node, &bits);
			pthread_setaffinity_np(t->thread, sizeof(bits), (cpu_set_t *)&bits);
		}
	}
}

/*
 * Threads float where free CPUs suffice for them. Unbound ranks may run anywhere, but leave CPUs
 * idle where they are fewer than the CPUs.
 */
void drain_avoid(struct ring_drain *d, const struct cpu_bits *busy, unsigned int ranks)
{
	unsigned int all = 0, used = 0, room;
	struct cpu_bits bits;

	for (int cpu = 0; cpu < d->cpus; cpu++) {
		all += cpu_bits_has(&d->home, cpu);
		used += cpu_bits_has(busy, cpu);
	}
	d->busy = *busy;
	d->free_cpus = free_cpus(d, -1, &bits);
	room = d->free_cpus;
	if (!room) {
		used = ranks;
		room = all > ranks ? all - ranks : 0;
	}
	d->gang_wanted = room < (used + CPUS_PER_THREAD - 1) / CPUS_PER_THREAD;
	d->placed = false;
}

/* The shortest pause that a thread of the gang needs is that of all. */
static void agree_on_pause(struct ring_drain *d)
{
	uint64_t least = 0;

	for (size_t i = 0; d->gang && i < d->threads.len; i++) {
		const struct drainer *t = d->threads.data[i];
		uint64_t pause = __atomic_load_n(&t->pause, __ATOMIC_RELAXED);

		if (t->cpu >= 0 && pause && (!least || pause < least))
			least = pause;
	}
	__atomic_store_n(&d->shared.pause, least, __ATOMIC_RELAXED);
}

void drain_step(struct ring_drain *d, bool buffers, drain_fn fn, void *arg)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	agree_on_pause(d);
	__atomic_store_n(&d->shared.buffers, buffers, __ATOMIC_RELAXED);
	place_threads(d, fn, arg);
	for (int cpu = 0; cpu < d->cpus; cpu++) {
		if (kernel_ring_missing(d->kernel, cpu))
			first_ring(d, cpu);
		grow(d, cpu, now);
	}
	for (size_t i = 0; i < d->threads.len; i++)
		retire(d, d->threads.data[i], now);
	take_queues(d, fn, arg);
}

void drain_rest(struct ring_drain *d, bool resting)
{
	if (__atomic_exchange_n(&d->shared.resting, resting, __ATOMIC_RELAXED) == resting)
		return;
	for (size_t i = 0; i < d->threads.len && !resting; i++)
		if (!d->threads.data[i]->ended)
			drainer_ask(d->threads.data[i]);
}

void drain_sync(struct ring_drain *d, drain_fn fn, void *arg)
{
	for (size_t i = 0; i < d->threads.len; i++)
		if (!d->threads.data[i]->ended)
			drainer_ask(d->threads.data[i]);
	for (size_t i = 0; i < d->threads.len; i++)
		if (!d->threads.data[i]->ended)
			drainer_await(d->threads.data[i]);
	take_queues(d, fn, arg);
}

/* Half a ring at a time: it has room for that after drain_sync(), even if programs still record. */
static size_t rest_at_once(const struct ring_drain *d, int cpu, size_t most)
{
	size_t bytes = cpu >= 0 && cpu < d->cpus && d->live[cpu] ? d->live[cpu]->ring.bytes : 0;
	size_t threads = bytes / 2 / KERNEL_REST;

	if (!threads)
		return 1;
	return threads < most ? threads : most;
}

/* Reading a BPF iterator's file runs its program over tasks, until so much was written to it. */
static int take_rest(struct ring_drain *d, int cpu, drain_fn fn, void *arg)
{
	int fd = kernel_rest(d->kernel), err;
	char each[512];
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		drain_sync(d, fn, arg);
		got = read(fd, each, rest_at_once(d, cpu, sizeof(each)));
		err = got < 0 ? -errno : 0;
	} while (got > 0 || err == -EAGAIN);
	close(fd);
	return err;
}

int drain_collect(struct ring_drain *d, drain_fn fn, void *arg)
{
	struct cpu_bits before = { 0 }, here = { 0 };
	int cpu = sched_getcpu(), err;

	/* the batches go into the ring of the CPU that this thread is on, so it has to stay there
	 */
	sched_getaffinity(0, sizeof(before), (cpu_set_t *)&before);
	if (cpu >= 0 && cpu < d->cpus) {
		cpu_bits_add(&here, cpu);
		sched_setaffinity(0, sizeof(here), (cpu_set_t *)&here);
		first_ring(d, cpu);
	}
	err = take_rest(d, cpu, fn, arg);
	sched_setaffinity(0, sizeof(before), (cpu_set_t *)&before);
	drain_sync(d, fn, arg);
	return err;
}

void drain_end_chunks(struct ring_drain *d)
{
	for (size_t i = 0; i < d->threads.len; i++)
		drainer_end_chunk(d->threads.data[i]);
}

int drain_error(const struct ring_drain *d)
{
	int error = __atomic_load_n(&d->shared.error, __ATOMIC_RELAXED);

	return error ? error : file_writer_error(d->writer);
}

double drain_fill(const struct ring_drain *d)
{
	double fullest = 0;

	for (int cpu = 0; cpu < d->cpus; cpu++) {
		double fill = d->live[cpu] ? ring_fill(&d->live[cpu]->ring) : 0;

		fullest = fill > fullest ? fill : fullest;
	}
	return fullest;
}

uint64_t drain_others(const struct ring_drain *d)
{
	uint64_t others = d->past_others;

	for (size_t i = 0; i < d->threads.len; i++)
		others += __atomic_load_n(&d->threads.data[i]->others, __ATOMIC_RELAXED);
	return others;
}

/* ---- the end ---- */

void drain_stop(struct ring_drain *d, drain_fn fn, void *arg)
{
	for (size_t i = 0; i < d->threads.len; i++) {
		drainer_end(d->threads.data[i]);
		file_stream_end_chunk(d->threads.data[i]->stream);
	}
	take_queues(d, fn, arg);
}

struct drain_report drain_report(const struct ring_drain *d)
{
	struct drain_report report = { .threads = (unsigned int)d->threads.len,
				       .grown = d->grown,
				       .gang = d->gang,
				       .free_cpus = d->free_cpus,
				       .cpu_ns = d->past.cpu_ns,
				       .records = d->past.records };

	for (int cpu = 0; cpu < d->cpus; cpu++) {
		size_t bytes = d->live[cpu] ? d->live[cpu]->ring.bytes : 0;

		report.rings += bytes > 0;
		report.ring_bytes += bytes;
		report.largest = bytes > report.largest ? bytes : report.largest;
	}
	for (size_t i = 0; i < d->threads.len; i++) {
		const struct drainer *t = d->threads.data[i];

		report.cpu_ns += t->ended ? t->cpu_ns : 0;
		report.records += __atomic_load_n(&t->records, __ATOMIC_RELAXED);
	}
	return report;
}

void drain_free(struct ring_drain *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->threads.len; i++) {
		drainer_end(d->threads.data[i]);
		drainer_free(d->threads.data[i]);
	}
	vec_release(&d->threads);
	free(d->node);
	free(d->group);
	free(d->live);
	free(d->refused);
	free(d);
}
