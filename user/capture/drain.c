// SPDX-License-Identifier: BSD-3-Clause
#include "capture/drain.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "capture/ring.h"
#include "capture/sieve.h"

#define MS 1000000ull /* ns */
#define CPUS_PER_THREAD 4 /* a thread drains 5 to 12 million records/s, a busy CPU makes 1 */
#define RECORDS_PER_CHUNK 4096 /* of a CPU's own thread: there are many, and their chunks small */
#define NICE                                                                                       \
	5 /* of threads that may meet a rank by chance; of a gang none: it is to be punctual       \
	   */
#define FLUSH_NS (500 * MS)
#define RETIRE_NS (5000 * MS)
#define AGAIN 0.25 /* fuller than that: the next pass comes at once */
#define GROW 0.5

/*
 * Rings are looked at as rarely as their size allows, since each look takes a CPU away from
 * somebody for a moment. A ring is half full by then at the most, or full where the last look has
 * found little. A power of two, so that long pauses end when short ones do.
 */
#define LITTLE 0.125
#define PAUSE_MS_MIN 2
#define PAUSE_MS_MAX 8
#define FILL_PER_MS (400 << 10) /* bytes; a CPU that does nothing but make records takes longer */

struct held {
	struct ring ring;
	int cpu;
	int crowded; /* set by the thread, cleared by the session: atomic */
	bool retired; /* a larger one is in its place; atomic */
	uint64_t quiet_since; /* retired: nothing has come since; 0 = something has */
};

struct drainer {
	struct drain *drain;
	int cpu; /* bound to it, one of a gang; -1: has a group of CPUs on a node, and floats */
	int node;
	unsigned int group;
	pthread_t thread;

	/*
	 * The thread has the lock during a pass. Mutexes are not fair: whoever wants the lock holds
	 * the gate until it has it, so that a busy thread lets the session in between two passes.
	 */
	pthread_mutex_t gate, lock;
	pthread_cond_t wake, idle;
	VEC(struct held *) rings; /* changed by the session only */
	uint64_t asked, done; /* passes that the session waits for, by number */
	bool end, ended;

	struct file_stream *stream;
	struct sieve sieve;
	VEC(uint8_t) passed; /* records of this pass */
	double fullest; /* of its rings at the last pass */
	uint64_t next_flush;
	uint64_t others, records; /* atomic */
	uint64_t cpu_ns;

	pthread_mutex_t queue_lock;
	VEC(uint8_t) queue; /* records that the session has not taken yet */
	VEC(uint8_t) taken; /* of the session */
};

struct drain {
	struct kernel *kernel;
	struct file_writer *writer;
	struct ring_plan plan;
	int cpus;
	int *node; /* of each CPU */
	unsigned int *group;
	struct held **live; /* of each CPU, NULL = it has none */
	bool *refused; /* a ring could not be made: printed, not tried again */
	size_t total; /* bytes of all rings */
	unsigned int grown, free_cpus;
	struct cpu_bits home; /* what this program may run on */
	struct cpu_bits busy; /* some rank may run there */
	bool gang, placed; /* as it is; placed: and as it should be */
	bool gang_wanted;
	struct drain_report past; /* of threads that are gone */
	uint64_t past_others;
	VEC(struct drainer *) threads;
	uint64_t generation; /* of sieves: atomic */
	int buffers; /* atomic */
	int error; /* atomic: a batch that is none */
};

static bool is_retired(const struct held *held)
{
	return __atomic_load_n(&held->retired, __ATOMIC_RELAXED);
}

static void set_retired(struct held *held)
{
	__atomic_store_n(&held->retired, true, __ATOMIC_RELAXED);
}

static void enter(struct drainer *t)
{
	pthread_mutex_lock(&t->gate);
	pthread_mutex_lock(&t->lock);
	pthread_mutex_unlock(&t->gate);
}

static void leave(struct drainer *t)
{
	pthread_mutex_unlock(&t->lock);
}

/* ---- the thread ---- */

static void on_record(void *arg, const struct ub_hdr *record)
{
	struct drainer *t = arg;
	size_t size = ub_kind_size(record->kind);

	if (record->kind == UB_TASK)
		__atomic_add_fetch(&t->drain->generation, 1, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&t->others, t->others + 1, __ATOMIC_RELAXED);
	if (!sieve_passes(&t->sieve, record))
		return;
	vec_reserve(&t->passed, t->passed.len + size);
	memcpy(t->passed.data + t->passed.len, record, size);
	t->passed.len += size;
}

static void on_piece(void *arg, const void *piece, size_t size)
{
	struct drainer *t = arg;
	const struct ub_batch *batch = piece;

	if (size < sizeof(*batch) || file_stream_batch(t->stream, batch, size) == -EBADMSG) {
		__atomic_store_n(&t->drain->error, -EBADMSG, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&t->records, t->records + batch->records, __ATOMIC_RELAXED);
}

static void hand_over(struct drainer *t)
{
	if (!t->passed.len)
		return;
	pthread_mutex_lock(&t->queue_lock);
	vec_reserve(&t->queue, t->queue.len + t->passed.len);
	memcpy(t->queue.data + t->queue.len, t->passed.data, t->passed.len);
	t->queue.len += t->passed.len;
	pthread_mutex_unlock(&t->queue_lock);
	t->passed.len = 0;
}

/* The next instant that is a multiple of ns, the same for all threads. */
static uint64_t next_multiple(uint64_t ns)
{
	return (clock_ns(CLOCK_MONOTONIC) / ns + 1) * ns;
}

/* Takes what is there from each ring once. */
static void pass(struct drainer *t)
{
	struct drain *d = t->drain;

	t->fullest = 0;
	for (size_t i = 0; i < t->rings.len; i++) {
		struct held *held = t->rings.data[i];
		double fill = ring_fill(&held->ring);

		if (fill > t->fullest)
			t->fullest = fill;
		if (fill > GROW)
			__atomic_store_n(&held->crowded, 1, __ATOMIC_RELAXED);
		sieve_begin(&t->sieve, __atomic_load_n(&d->generation, __ATOMIC_RELAXED),
			    __atomic_load_n(&d->buffers, __ATOMIC_RELAXED));
		ring_take(&held->ring, on_piece, t);
	}
	hand_over(t);
	if (clock_ns(CLOCK_MONOTONIC) >= t->next_flush) {
		file_stream_flush(t->stream);
		t->next_flush = next_multiple(FLUSH_NS);
	}
}

static uint64_t pause_of(const struct drainer *t)
{
	unsigned int share = t->fullest > LITTLE ? 2 : 1;
	uint64_t ms = PAUSE_MS_MAX;

	for (size_t i = 0; i < t->rings.len; i++)
		while (ms > PAUSE_MS_MIN && !is_retired(t->rings.data[i]) &&
		       ms > t->rings.data[i]->ring.bytes / share / FILL_PER_MS)
			ms /= 2;
	return ms * MS;
}

static void rest(struct drainer *t)
{
	uint64_t until = next_multiple(pause_of(t));
	const struct timespec at = { (time_t)(until / (1000 * MS)), (long)(until % (1000 * MS)) };

	pthread_cond_timedwait(&t->wake, &t->lock, &at);
}

static void *work(void *arg)
{
	struct drainer *t = arg;
	bool end;

	if (t->cpu < 0)
		setpriority(PRIO_PROCESS, gettid(), getpriority(PRIO_PROCESS, 0) + NICE);
	else
		prctl(PR_SET_TIMERSLACK, 1);
	enter(t);
	do {
		uint64_t asked = t->asked;

		end = t->end;
		pass(t);
		t->done = asked;
		pthread_cond_signal(&t->idle);
		if (t->cpu < 0 && t->fullest > AGAIN) {
			leave(t);
			enter(t);
		} else if (!end) {
			rest(t);
		}
	} while (!end);
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	leave(t);
	return NULL;
}

/* ---- threads and rings, made and ended by the session ---- */

/* CPUs of a node (-1: of any) that this program may use and ranks do not. */
static unsigned int free_cpus(const struct drain *d, int node, struct cpu_bits *bits)
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

/* Where a thread that is not bound may run: near its rings, or at least in nobody's way. */
static void floating_cpus(const struct drain *d, int node, struct cpu_bits *bits)
{
	if (!free_cpus(d, node, bits) && !free_cpus(d, -1, bits))
		*bits = d->home;
}

static void drainer_free(struct drainer *t)
{
	for (size_t i = 0; i < t->rings.len; i++) {
		ring_free(&t->rings.data[i]->ring);
		free(t->rings.data[i]);
	}
	file_stream_free(t->stream);
	vec_release(&t->rings);
	vec_release(&t->passed);
	vec_release(&t->queue);
	vec_release(&t->taken);
	pthread_mutex_destroy(&t->gate);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->queue_lock);
	pthread_cond_destroy(&t->wake);
	pthread_cond_destroy(&t->idle);
	free(t);
}

static int start(struct drainer *t)
{
	struct cpu_bits cpus = { 0 };
	pthread_attr_t attributes;
	sigset_t all, before;
	int err;

	if (t->cpu < 0)
		floating_cpus(t->drain, t->node, &cpus);
	else
		cpu_bits_add(&cpus, t->cpu);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), (const cpu_set_t *)&cpus);
	/* signals are the session's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&t->thread, &attributes, work, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (!err)
		pthread_setname_np(t->thread, "ucxbpf-drain");
	return err;
}

static struct drainer *drainer_new(struct drain *d, int cpu, bool bound)
{
	struct drainer *t = calloc(1, sizeof(*t));
	pthread_condattr_t monotonic;

	if (!t)
		return NULL;
	t->drain = d;
	t->cpu = bound ? cpu : -1;
	t->node = d->node[cpu];
	t->group = d->group[cpu];
	t->next_flush = next_multiple(FLUSH_NS);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&t->gate, NULL);
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->queue_lock, NULL);
	pthread_cond_init(&t->wake, &monotonic);
	pthread_cond_init(&t->idle, NULL);
	pthread_condattr_destroy(&monotonic);
	if (file_stream_open(&t->stream, d->writer, bound ? RECORDS_PER_CHUNK : FILE_STREAM_RECORDS,
			     on_record, t) ||
	    start(t)) {
		drainer_free(t);
		return NULL;
	}
	vec_push(&d->threads, t);
	return t;
}

static void end_thread(struct drainer *t)
{
	if (t->ended)
		return;
	enter(t);
	t->end = true;
	pthread_cond_signal(&t->wake);
	leave(t);
	pthread_join(t->thread, NULL);
	t->ended = true;
}

/* The thread that is to have a CPU's ring; bound to it where this program may run there. */
static struct drainer *drainer_of(struct drain *d, int cpu)
{
	bool bound = d->gang && cpu_bits_has(&d->home, cpu);

	for (size_t i = 0; i < d->threads.len; i++) {
		struct drainer *t = d->threads.data[i];

		if (bound ? t->cpu == cpu
			  : t->cpu < 0 && t->node == d->node[cpu] && t->group == d->group[cpu])
			return t;
	}
	return drainer_new(d, cpu, bound);
}

/* A ring takes a CPU's batches from now on; the one that was there before stays to be emptied. */
static int put_ring(struct drain *d, int cpu, size_t bytes)
{
	struct drainer *t = drainer_of(d, cpu);
	struct held *held = t ? calloc(1, sizeof(*held)) : NULL;
	int err = held ? ring_make(&held->ring, bytes, d->node[cpu]) : -ENOMEM;

	if (err) {
		free(held);
		return err;
	}
	held->cpu = cpu;
	enter(t);
	vec_push(&t->rings, held);
	leave(t);
	d->total += bytes;
	err = kernel_set_ring(d->kernel, cpu, held->ring.fd);
	if (err) {
		set_retired(held);
		return err;
	}
	if (d->live[cpu])
		set_retired(d->live[cpu]);
	d->live[cpu] = held;
	return 0;
}

static int first_ring(struct drain *d, int cpu)
{
	int err;

	if (cpu < 0 || cpu >= d->cpus || d->live[cpu] || d->refused[cpu])
		return 0;
	err = put_ring(d, cpu, d->plan.first);
	if (err) {
		log_error("cannot make a ring of %zu KiB for CPU %d: %s; try a smaller --ring-size "
			  "or raise the locked memory limit",
			  d->plan.first >> 10, cpu, strerror(-err));
		d->refused[cpu] = true;
	}
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
static void group_cpus(struct drain *d)
{
	int any = any_node(d->node, d->cpus);
	struct map on_node = { 0 };

	for (int cpu = 0; cpu < d->cpus; cpu++) {
		/* rings are on nodes as the map of them is: all of them or none */
		if (d->node[cpu] < 0)
			d->node[cpu] = any;
		d->group[cpu] = (*map_insert(&on_node, (uint64_t)d->node[cpu], 0, NULL))++ /
				CPUS_PER_THREAD;
	}
	map_release(&on_node);
}

static int make_tables(struct drain *d)
{
	d->node = calloc(d->cpus, sizeof(*d->node));
	d->group = calloc(d->cpus, sizeof(*d->group));
	d->live = calloc(d->cpus, sizeof(struct held *));
	d->refused = calloc(d->cpus, sizeof(*d->refused));
	if (!d->node || !d->group || !d->live || !d->refused)
		return -ENOMEM;
	cpu_nodes(d->node, d->cpus);
	group_cpus(d);
	return 0;
}

int drain_open(struct drain **out, struct kernel *kernel, struct file_writer *writer,
	       size_t ring_bytes)
{
	struct drain *d = calloc(1, sizeof(*d));
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	int err;

	if (!d)
		return -ENOMEM;
	*out = d;
	d->kernel = kernel;
	d->writer = writer;
	d->cpus = kernel_cpus(kernel) < UB_MAX_CPUS ? kernel_cpus(kernel) : UB_MAX_CPUS;
	d->plan = ring_plan(ring_bytes, (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), memory);
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

void drain_cover(struct drain *d, pid_t tgid)
{
	struct cpu_bits bits = { 0 };

	cpu_bits_add_process(&bits, tgid);
	for (int cpu = 0; cpu < d->cpus; cpu++)
		if (cpu_bits_has(&bits, cpu))
			first_ring(d, cpu);
}

/* ---- while a capture goes on ---- */

/* The thread takes nothing from it any more once it is off its list. */
static void free_retired(struct drain *d, struct drainer *t, size_t i)
{
	struct held *held = t->rings.data[i];

	enter(t);
	t->rings.data[i] = t->rings.data[--t->rings.len];
	leave(t);
	d->total -= held->ring.bytes;
	ring_free(&held->ring);
	free(held);
}

/*
 * A program that looked the ring up before it was replaced may still write to it: it goes when
 * nothing has come for much longer than a program takes.
 */
static void retire(struct drain *d, struct drainer *t, uint64_t now)
{
	for (size_t i = 0; i < t->rings.len; i++) {
		struct held *held = t->rings.data[i];

		if (!is_retired(held))
			continue;
		if (ring_fill(&held->ring) > 0)
			held->quiet_since = 0;
		else if (!held->quiet_since)
			held->quiet_since = now;
		else if (now - held->quiet_since > RETIRE_NS)
			free_retired(d, t, i--);
	}
}

static void grow(struct drain *d, int cpu)
{
	struct held *held = d->live[cpu];
	size_t bytes;

	if (!held || !__atomic_exchange_n(&held->crowded, 0, __ATOMIC_RELAXED))
		return;
	bytes = 2 * held->ring.bytes;
	if (bytes > d->plan.most || d->total + bytes > d->plan.total)
		return;
	if (put_ring(d, cpu, bytes))
		return;
	d->grown++;
	log_debug("the ring of CPU %d came close to full: %zu KiB from now on", cpu, bytes >> 10);
}

static void take_queue(struct drain *d, struct drainer *t, drain_fn fn, void *arg)
{
	size_t at = 0;

	pthread_mutex_lock(&t->queue_lock);
	if (t->queue.len) {
		uint8_t *data = t->queue.data;
		size_t len = t->queue.len, cap = t->queue.cap;

		t->queue.data = t->taken.data;
		t->queue.cap = t->taken.cap;
		t->queue.len = 0;
		t->taken.data = data;
		t->taken.len = len;
		t->taken.cap = cap;
	}
	pthread_mutex_unlock(&t->queue_lock);
	while (at < t->taken.len) {
		const struct ub_hdr *record = (const struct ub_hdr *)(t->taken.data + at);

		fn(arg, record);
		at += ub_kind_size(record->kind);
		/* what the session has just forgotten is new to it */
		if (record->kind == UB_TASK)
			__atomic_add_fetch(&d->generation, 1, __ATOMIC_RELAXED);
	}
	t->taken.len = 0;
}

static void take_queues(struct drain *d, drain_fn fn, void *arg)
{
	for (size_t i = 0; i < d->threads.len; i++)
		take_queue(d, d->threads.data[i], fn, arg);
}

/* A thread without rings: what it has taken stays counted. */
static void dismiss(struct drain *d, size_t i, drain_fn fn, void *arg)
{
	struct drainer *t = d->threads.data[i];

	end_thread(t);
	file_stream_flush(t->stream);
	take_queue(d, t, fn, arg);
	d->past.cpu_ns += t->cpu_ns;
	d->past.records += t->records;
	d->past_others += t->others;
	d->threads.data[i] = d->threads.data[--d->threads.len];
	drainer_free(t);
}

/*
 * A ring goes to the thread that is to have it. The session gets what the thread before has passed
 * on first: the order of a CPU's records stays. Without such a thread it stays where it is.
 */
static void move_ring(struct drain *d, struct drainer *from, size_t i, drain_fn fn, void *arg)
{
	struct held *held = from->rings.data[i];
	struct drainer *to = drainer_of(d, held->cpu);

	if (!to || to == from)
		return;
	enter(from);
	from->rings.data[i] = from->rings.data[--from->rings.len];
	leave(from);
	take_queue(d, from, fn, arg);
	enter(to);
	vec_push(&to->rings, held);
	leave(to);
}

static void place_threads(struct drain *d, drain_fn fn, void *arg)
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
	for (size_t i = 0; i < threads; i++) {
		struct drainer *t = d->threads.data[i];

		for (size_t k = t->rings.len; k--;)
			move_ring(d, t, k, fn, arg);
	}
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
 * Threads float where there is room for them beside the ranks. Ranks that are not bound may run
 * anywhere, but leave CPUs idle where there are fewer of them.
 */
void drain_avoid(struct drain *d, const struct cpu_bits *busy, unsigned int ranks)
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

void drain_step(struct drain *d, bool buffers, drain_fn fn, void *arg)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	__atomic_store_n(&d->buffers, buffers, __ATOMIC_RELAXED);
	place_threads(d, fn, arg);
	for (int cpu = 0; cpu < d->cpus; cpu++) {
		if (kernel_ring_missing(d->kernel, cpu))
			first_ring(d, cpu);
		grow(d, cpu);
	}
	for (size_t i = 0; i < d->threads.len; i++)
		retire(d, d->threads.data[i], now);
	take_queues(d, fn, arg);
}

static void ask(struct drainer *t)
{
	enter(t);
	t->asked++;
	pthread_cond_signal(&t->wake);
	leave(t);
}

static void await(struct drainer *t)
{
	enter(t);
	while (t->done != t->asked)
		pthread_cond_wait(&t->idle, &t->lock);
	leave(t);
}

void drain_sync(struct drain *d, drain_fn fn, void *arg)
{
	for (size_t i = 0; i < d->threads.len; i++)
		if (!d->threads.data[i]->ended)
			ask(d->threads.data[i]);
	for (size_t i = 0; i < d->threads.len; i++)
		if (!d->threads.data[i]->ended)
			await(d->threads.data[i]);
	take_queues(d, fn, arg);
}

int drain_collect(struct drain *d, drain_fn fn, void *arg)
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
	err = kernel_collect(d->kernel);
	sched_setaffinity(0, sizeof(before), (cpu_set_t *)&before);
	drain_sync(d, fn, arg);
	return err;
}

int drain_error(const struct drain *d)
{
	int error = __atomic_load_n(&d->error, __ATOMIC_RELAXED);

	return error ? error : file_writer_error(d->writer);
}

double drain_fill(const struct drain *d)
{
	double fullest = 0;

	for (int cpu = 0; cpu < d->cpus; cpu++) {
		double fill = d->live[cpu] ? ring_fill(&d->live[cpu]->ring) : 0;

		fullest = fill > fullest ? fill : fullest;
	}
	return fullest;
}

uint64_t drain_others(const struct drain *d)
{
	uint64_t others = d->past_others;

	for (size_t i = 0; i < d->threads.len; i++)
		others += __atomic_load_n(&d->threads.data[i]->others, __ATOMIC_RELAXED);
	return others;
}

/* ---- the end ---- */

void drain_stop(struct drain *d, drain_fn fn, void *arg)
{
	for (size_t i = 0; i < d->threads.len; i++) {
		end_thread(d->threads.data[i]);
		file_stream_flush(d->threads.data[i]->stream);
	}
	take_queues(d, fn, arg);
}

struct drain_report drain_report(const struct drain *d)
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

void drain_free(struct drain *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->threads.len; i++) {
		end_thread(d->threads.data[i]);
		drainer_free(d->threads.data[i]);
	}
	vec_release(&d->threads);
	free(d->node);
	free(d->group);
	free(d->live);
	free(d->refused);
	free(d);
}
