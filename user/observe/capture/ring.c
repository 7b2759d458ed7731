// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/ring.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "observe/process/proc.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, size, file);

	if (file)
		fclose(file);
	return got;
}

void cpu_bits_add_list(struct cpu_bits *bits, const char *list)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10);
		long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

		for (long cpu = first; cpu <= last && cpu < UB_MAX_CPUS; cpu++)
			cpu_bits_add(bits, (int)cpu);
		list = *end == ',' ? end + 1 : end;
	}
}

struct process_bits {
	struct cpu_bits *bits;
	bool known; /* of one thread at least */
};

static int add_thread(void *arg, pid_t tid)
{
	struct process_bits *process = arg;
	struct cpu_bits thread = { 0 };

	if (sched_getaffinity(tid, sizeof(thread), (cpu_set_t *)&thread))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(thread.words); i++)
		process->bits->words[i] |= thread.words[i];
	process->known = true;
	return 0;
}

void cpu_bits_add_process(struct cpu_bits *bits, pid_t tgid)
{
	struct process_bits process = { .bits = bits };
	char line[4096];

	proc_threads(tgid, add_thread, &process);
	if (!process.known && read_line("/sys/devices/system/cpu/online", line, sizeof(line)))
		cpu_bits_add_list(bits, line);
}

static void read_node(int node, int *nodes, int cpus)
{
	struct cpu_bits bits = { 0 };
	char path[80], line[4096];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	if (!read_line(path, line, sizeof(line)))
		return;
	cpu_bits_add_list(&bits, line);
	for (int cpu = 0; cpu < cpus && cpu < UB_MAX_CPUS; cpu++)
		if (cpu_bits_has(&bits, cpu))
			nodes[cpu] = node;
}

void cpu_nodes(int *nodes, int cpus)
{
	DIR *all = opendir("/sys/devices/system/node");
	struct dirent *entry;

	for (int cpu = 0; cpu < cpus; cpu++)
		nodes[cpu] = -1;
	while (all && (entry = readdir(all)))
		if (!strncmp(entry->d_name, "node", 4) && entry->d_name[4] >= '0' &&
		    entry->d_name[4] <= '9')
			read_node(atoi(entry->d_name + 4), nodes, cpus);
	if (all)
		closedir(all);
}

/*
 * 4 MiB hold what one CPU can record in 10 ms. Rings that come close to full grow beyond that.
 */
struct ring_plan ring_plan(size_t asked, unsigned int cpus, uint64_t memory, bool few)
{
	const size_t least = few ? 64 * KIB : 512 * KIB;
	struct ring_plan plan = { .first = asked, .most = asked, .total = SIZE_MAX };
	size_t most = 6 * MIB * cpus;

	if (asked)
		return plan;
	plan.total = memory / 1000 < most ? memory / 1000 : most;
	if (plan.total < 48 * MIB)
		plan.total = 48 * MIB;
	if (few)
		plan.total = 24 * MIB;
	plan.first = 4 * MIB;
	while (plan.first > least && plan.first * cpus > plan.total)
		plan.first /= 2;
	plan.most = 32 * MIB;
	return plan;
}

#define LINE 64 /* of a cache; a wrong guess costs time only */
#define AHEAD (2 * RING_PIECE_MAX) /* bytes to prefetch ahead */
#define PUBLISH 65536 /* bytes between two writes of the line that producers read */

/* Both pages and the data behind them. */
static int map_memory(struct ring *ring)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	void *rest = consumer == MAP_FAILED ? MAP_FAILED
					    : mmap(NULL, page + ring->bytes, PROT_READ, MAP_SHARED,
						   ring->fd, page);

	if (rest == MAP_FAILED) {
		int err = -errno;

		if (consumer != MAP_FAILED)
			munmap(consumer, page);
		return err;
	}
	ring->consumer = consumer;
	ring->producer = rest;
	ring->data = (const uint8_t *)rest + page;
	return 0;
}

int ring_make(struct ring *ring, size_t bytes, int node)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	int err;

	if (node >= 0) {
		options.map_flags = BPF_F_NUMA_NODE;
		options.numa_node = node;
	}
	*ring = (struct ring){ .bytes = bytes };
	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, &options);
	if (ring->fd < 0)
		return ring->fd;
	err = map_memory(ring);
	if (err)
		close(ring->fd);
	return err;
}

void ring_free(struct ring *ring)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (ring->fd < 0)
		return;
	munmap(ring->consumer, page);
	munmap((void *)(uintptr_t)ring->producer, page + ring->bytes);
	close(ring->fd);
}

/* A lookup in a map of maps gives the id of the inner one (kernel/bpf/map_in_map.c). */
static bool has_ring(int map, int cpu, const struct ring *ring)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info), id;

	return !bpf_map_lookup_elem(map, &cpu, &id) &&
	       !bpf_map_get_info_by_fd(ring->fd, &info, &size) && info.id == id;
}

static int set_at_once(int map, const int *cpus, const struct ring *const *rings,
		       unsigned int count)
{
	int *fds = calloc(count, sizeof(*fds)), err;

	if (!fds)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		fds[i] = rings[i]->fd;
	err = bpf_map_update_batch(map, cpus, fds, &count, NULL);
	free(fds);
	return err;
}

int rings_set(int map, const int *cpus, const struct ring *const *rings, unsigned int count,
	      bool *done)
{
	bool all = count > 1 && !set_at_once(map, cpus, rings, count);
	int first = 0;

	for (unsigned int i = 0; i < count; i++) {
		/* a batch that failed on its way may have set any of them */
		int err = all ? 0 : bpf_map_update_elem(map, &cpus[i], &rings[i]->fd, 0);

		done[i] = !err || has_ring(map, cpus[i], rings[i]);
		if (!done[i] && !first)
			first = err;
	}
	return first;
}

static void give(struct ring *ring, uint64_t at, size_t size, ring_fn fn, void *arg)
{
	size_t from = at & (ring->bytes - 1), first = ring->bytes - from;

	if (size <= first) {
		fn(arg, ring->data + from, size);
		return;
	}
	if (size > RING_PIECE_MAX) {
		fn(arg, ring->over_end, 0);
		return;
	}
	memcpy(ring->over_end, ring->data + from, first);
	memcpy(ring->over_end + first, ring->data, size - first);
	fn(arg, ring->over_end, size);
}

/*
 * Prefetches cache lines between two positions. Another CPU wrote them: loaded one at a time, each
 * costs a full miss. Returns where to go on.
 */
static uint64_t fetch(const struct ring *ring, uint64_t from, uint64_t to)
{
	for (; from < to; from += LINE)
		__builtin_prefetch(ring->data + (from & (ring->bytes - 1)));
	return from;
}

size_t ring_take(struct ring *ring, ring_fn fn, void *arg)
{
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	uint64_t begin = ring->taken, at = begin, published = begin;
	uint64_t fetched = begin & ~(uint64_t)(LINE - 1);

	while (at < end) {
		/* not beyond: a producer may be about to write there */
		uint64_t ahead = end - at < AHEAD ? end : at + AHEAD;
		const uint32_t *head = (const uint32_t *)(ring->data + (at & (ring->bytes - 1)));
		uint32_t length = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		size_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		fetched = fetch(ring, fetched, ahead);
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			give(ring, at + BPF_RINGBUF_HDR_SZ, size, fn, arg);
		at += (BPF_RINGBUF_HDR_SZ + size + 7) & ~(size_t)7;
		if (at - published >= PUBLISH) {
			__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
			published = at;
		}
	}
	if (at != published)
		__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
	ring->taken = at;
	return at - begin;
}

double ring_fill(const struct ring *ring)
{
	uint64_t taken = __atomic_load_n(ring->consumer, __ATOMIC_RELAXED);
	uint64_t made = __atomic_load_n(ring->producer, __ATOMIC_RELAXED);

	return made > taken ? (double)(made - taken) / (double)ring->bytes : 0;
}
