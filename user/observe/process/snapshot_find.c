// SPDX-License-Identifier: BSD-3-Clause
/*
 * Workers of a process that nothing was seen of yet, found through the interfaces in its heap.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "observe/process/library.h"
#include "observe/process/proc.h"
#include "observe/process/snapshot_private.h"

/*
 * How to know a UCT interface when one sees its first words: an interface begins with its
 * uct_iface_ops_t, copied from a table whose functions lie at known addresses.
 */
struct signature {
	uint64_t address; /* of a function in the process */
	unsigned int table; /* which table it is from */
	unsigned int slot;
};

struct signature_table {
	uint64_t slot[ELF_OPS_SLOTS]; /* addresses in the process, 0 = not known */
};

struct signatures {
	VEC(struct signature) all; /* the rarest function of each table, by address */
	VEC(struct signature_table) tables;
	uint64_t lowest, highest; /* of the addresses */
};

/* A cheap first test: most words of a heap are not the functions. */
static bool signatures_may_match(const struct signatures *signatures, uint64_t word)
{
	return word - signatures->lowest <= signatures->highest - signatures->lowest;
}

#define MIN_SLOTS 3

/*
 * Slot whose function each transport has for itself: close, query, then the send operations. Not
 * flush, fence or progress, which transports share.
 */
static const unsigned char own_slots[] = { 45, 46, 8, 6, 2, 5, 29, 33 };

static void add_table(struct signatures *signatures, const struct mapped_library *mapped,
		      const struct elf_ops_table *found)
{
	struct signature_table *table = vec_add(&signatures->tables);
	unsigned int known = 0;

	for (unsigned int i = 0; i < ELF_OPS_SLOTS; i++) {
		uint64_t vaddr;

		if (!found->slot[i] ||
		    elf_offset_to_vaddr(mapped->library->elf, found->slot[i], &vaddr))
			continue;
		table->slot[i] = mapped->base + vaddr;
		known++;
	}
	for (size_t i = 0; i < sizeof(own_slots) && known >= MIN_SLOTS; i++) {
		unsigned int slot = own_slots[i];

		if (!table->slot[slot])
			continue;
		vec_push(&signatures->all,
			 ((struct signature){ table->slot[slot],
					      (unsigned int)signatures->tables.len - 1, slot }));
		return;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct signature *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* From all UCT libraries of a process. */
static void signatures_init(struct signatures *signatures, const mapped_libraries *mapped)
{
	*signatures = (struct signatures){ 0 };
	for (size_t i = 0; i < mapped->len; i++) {
		const struct mapped_library *one = &mapped->data[i];
		const struct elf_ops_table *tables;
		int count;

		if (!(one->library->roles & (LIB_UCT | LIB_UCT_MODULE)))
			continue;
		count = library_ops(one->library, &tables);
		for (int t = 0; t < count; t++)
			add_table(signatures, one, &tables[t]);
	}
	if (!signatures->all.len)
		return;
	qsort(signatures->all.data, signatures->all.len, sizeof(*signatures->all.data), by_address);
	signatures->lowest = signatures->all.data[0].address;
	signatures->highest = signatures->all.data[signatures->all.len - 1].address;
}

static void signatures_release(struct signatures *signatures)
{
	vec_release(&signatures->all);
	vec_release(&signatures->tables);
}

/* Most functions must agree; a transport may replace some of them for one interface. */
static bool agrees(const struct signature_table *table, const uint64_t *words)
{
	unsigned int known = 0, same = 0;

	for (unsigned int i = 0; i < ELF_OPS_SLOTS; i++) {
		known += table->slot[i] != 0;
		same += table->slot[i] && table->slot[i] == words[i];
	}
	return same * 2 > known;
}

/*
 * Whether a word at `at`, inside a copied block of words that starts at block and has count words,
 * is part of an interface; then *iface is the index of its first word.
 */
static bool signatures_match(const struct signatures *signatures, const uint64_t *block,
			     size_t count, size_t at, size_t *iface)
{
	struct signature key = { .address = block[at] };
	const struct signature *found;

	found = bsearch(&key, signatures->all.data, signatures->all.len, sizeof(key), by_address);
	if (!found || at < found->slot || at - found->slot + ELF_OPS_SLOTS > count)
		return false;
	*iface = at - found->slot;
	return agrees(&signatures->tables.data[found->table], block + *iface);
}

#define BLOCK (1 << 20)
#define MAX_ARENA (64ull << 20) /* glibc's HEAP_MAX_SIZE: a thread's malloc arena is no larger */
#define PRESENT (1ull << 63) /* of a /proc/PID/pagemap entry */

struct snapshot_region {
	uint64_t start, end;
	bool heap;
};

struct snapshot_scan {
	struct snapshot *snapshot;
	struct signatures signatures;
	VEC(struct snapshot_region) regions;
	uint64_t *block, *pages, page_size;
	int pagemap;
	uint64_t *workers;
	int max, count;
	struct map seen; /* worker addresses already judged */
};

/* malloc's memory: private, writable, without a file. */
static int add_region(void *arg, const struct mapping *mapping)
{
	struct snapshot_scan *scan = arg;
	bool heap = !strcmp(mapping->path, "[heap]");

	if (!mapping->readable || !mapping->writable || mapping->ino)
		return 0;
	if (heap || !*mapping->path || !strncmp(mapping->path, "[anon", 5))
		vec_push(&scan->regions,
			 ((struct snapshot_region){ mapping->start, mapping->end, heap }));
	return 0;
}

/* The heap first, then by size: arenas are small, an application's arrays are not. */
static int by_promise(const void *a, const void *b)
{
	const struct snapshot_region *x = a, *y = b;
	uint64_t x_size = x->end - x->start, y_size = y->end - y->start;

	if (x->heap != y->heap)
		return y->heap - x->heap;
	return x_size < y_size ? -1 : x_size > y_size;
}

static void consider(struct snapshot_scan *scan, uint64_t iface)
{
	struct snap_worker worker = { 0 };
	uint64_t address;
	bool fresh;

	if (snap_pointer(scan->snapshot, iface + scan->snapshot->layout->wire.iface_worker,
			 &address))
		return;
	map_insert(&scan->seen, address, 0, &fresh);
	if (!fresh || scan->count == scan->max)
		return;
	if (!snap_worker_load(scan->snapshot, address, &worker))
		scan->workers[scan->count++] = address;
	snap_worker_release(&worker);
}

static void scan_run(struct snapshot_scan *scan, uint64_t start, uint64_t size)
{
	long got = proc_read_memory(scan->snapshot->pid, start, scan->block, size);
	size_t words = got > 0 ? (size_t)got / 8 : 0, iface;

	scan->snapshot->bytes += words * 8;
	for (size_t i = 0; i < words; i++)
		if (signatures_may_match(&scan->signatures, scan->block[i]) &&
		    signatures_match(&scan->signatures, scan->block, words, i, &iface))
			consider(scan, start + iface * 8);
}

/*
 * Reading a page that was never touched would give the process a page it did not have, and one that
 * was swapped out would come back: only resident pages are read.
 */
static bool load_present(struct snapshot_scan *scan, uint64_t start, uint64_t size)
{
	size_t count = size / scan->page_size;
	ssize_t want = (ssize_t)(count * sizeof(*scan->pages));

	return pread(scan->pagemap, scan->pages, (size_t)want,
		     (off_t)(start / scan->page_size * sizeof(*scan->pages))) == want;
}

static void scan_block(struct snapshot_scan *scan, uint64_t start, uint64_t size)
{
	size_t count = size / scan->page_size, first = 0;

	if (!load_present(scan, start, size))
		return;
	for (size_t i = 0; i <= count; i++) {
		if (i < count && scan->pages[i] & PRESENT)
			continue;
		if (i > first)
			scan_run(scan, start + first * scan->page_size,
				 (i - first) * scan->page_size);
		first = i + 1;
	}
}

static void scan_regions(struct snapshot_scan *scan)
{
	/* blocks overlap, so that an interface on a border is whole in one of them */
	const uint64_t overlap = scan->page_size, step = BLOCK - overlap;

	for (size_t i = 0; i < scan->regions.len; i++) {
		const struct snapshot_region *region = &scan->regions.data[i];

		/* large arrays would take seconds, and hold no workers */
		if (scan->count && !region->heap && region->end - region->start > MAX_ARENA)
			return;
		for (uint64_t at = region->start; at < region->end; at += step) {
			uint64_t left = region->end - at;

			if (snap_expired(scan->snapshot))
				return;
			scan_block(scan, at, left < BLOCK ? left : BLOCK);
			if (left <= BLOCK)
				break;
		}
	}
}

static int open_pagemap(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int scan_init(struct snapshot_scan *scan, const mapped_libraries *mapped)
{
	int error;

	scan->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	signatures_init(&scan->signatures, mapped);
	scan->pagemap = open_pagemap(scan->snapshot->pid);
	if (scan->pagemap < 0)
		return errno == ENOENT ? -ESRCH : -EACCES;
	scan->block = malloc(BLOCK);
	scan->pages = malloc(BLOCK / scan->page_size * sizeof(*scan->pages));
	if (!scan->block || !scan->pages)
		return -ENOMEM;
	error = process_each_mapping(scan->snapshot->pid, add_region, scan);
	if (!error && scan->regions.len)
		qsort(scan->regions.data, scan->regions.len, sizeof(*scan->regions.data),
		      by_promise);
	return error;
}

static void scan_release(struct snapshot_scan *scan)
{
	signatures_release(&scan->signatures);
	vec_release(&scan->regions);
	map_release(&scan->seen);
	free(scan->block);
	free(scan->pages);
	if (scan->pagemap >= 0)
		close(scan->pagemap);
}

int snapshot_find_workers(struct snapshot *snapshot, const mapped_libraries *mapped,
			  uint64_t *workers, int max)
{
	struct snapshot_scan scan = { .snapshot = snapshot, .workers = workers, .max = max };
	uint64_t deadline = snapshot->deadline, now = snap_now();
	int error = scan_init(&scan, mapped), count;

	snap_forget_pages(snapshot);
	if (deadline > now)
		snapshot->deadline = now + (deadline - now) / 4 * 3;
	if (!error && scan.signatures.all.len)
		scan_regions(&scan);
	count = scan.count;
	if (!error && !count && snap_expired(snapshot))
		error = snap_refuse(snapshot, -ETIME, "took too long");
	snapshot->deadline = deadline;
	scan_release(&scan);
	return error ? error : count;
}
