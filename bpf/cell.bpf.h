/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Cells: sums by process, call, operation, transfer, endpoint and size class. The programs of
 * --count add to them instead of recording (count_cell.bpf.h), and records that find no room are
 * folded into them (fold.bpf.h). Cells are shared by all tasks and added to atomically.
 */
#ifndef UCXBPF_CELL_BPF_H
#define UCXBPF_CELL_BPF_H

#include "maps.bpf.h"

/* The sums: user space maps them and reads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, 1 << 10); /* BPF_F_MMAPABLE */
	__uint(max_entries, UB_MAX_CELLS);
	__type(key, __u32);
	__type(value, struct ub_cell);
} cells __weak SEC(".maps");

/* Cell numbers; user space removes those of the dead. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UB_MAX_CELLS);
	__type(key, struct ub_cell_key);
	__type(value, __u32);
} cell_numbers __weak SEC(".maps");

/*
 * Cells of ended processes, zeroed, as a ring: user space writes at free_given, programs take at
 * free_taken. (Kernels that have queue maps refuse them in sleepable programs.)
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB_MAX_CELLS);
	__type(key, __u32);
	__type(value, __u32);
} free_cells __weak SEC(".maps");

volatile __u32 free_given __weak = 0;
volatile __u32 free_taken __weak = 0;
volatile __u32 cells_used __weak = UB_CELL_OTHERS;

/*
 * Which endpoint an address stands for: a number that is never reused, so that a reused address
 * never adds to its former endpoint's cells. Made at an endpoint's first transfer, removed when the
 * endpoint is created or destroyed, or by user space once the process has ended. Full: transfers go
 * to the cell UB_OTHER_XFERS.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct ub_ep_key);
	__type(value, __u32);
} ep_numbers __weak SEC(".maps");

volatile __u32 ep_number __weak = 0;

/* Raised when an address or a cell changes its meaning, which invalidates the tasks' caches. */
volatile __u32 cache_epoch __weak = 1;

/* By tgid; written by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ub_mpi_text);
} mpi_texts __weak SEC(".maps");

/* Whether an address is in the code of the process's MPI library. */
static __always_inline bool in_mpi(__u32 tgid, __u64 address)
{
	const struct ub_mpi_text *text = bpf_map_lookup_elem(&mpi_texts, &tgid);

	for (int i = 0; text && i < UB_MAX_TEXTS; i++)
		if (address >= text->from[i] && address < text->to[i])
			return true;
	return false;
}

static __always_inline void ep_gone(__u64 space, __u64 uct_ep)
{
	struct ub_ep_key key = { uct_ep, space };

	if (!bpf_map_delete_elem(&ep_numbers, &key))
		__sync_fetch_and_add(&cache_epoch, 1);
}

/* The endpoint behind an address; false: no number left. */
static __always_inline bool ep_find(__u64 space, __u64 uct_ep, __u32 *number)
{
	struct ub_ep_key key = { uct_ep, space };
	__u32 *found = bpf_map_lookup_elem(&ep_numbers, &key), fresh;

	if (!found) {
		fresh = __sync_fetch_and_add(&ep_number, 1) + 1;
		bpf_map_update_elem(&ep_numbers, &key, &fresh, BPF_NOEXIST);
		found = bpf_map_lookup_elem(&ep_numbers, &key);
	}
	if (!found)
		return false;
	*number = *found;
	return true;
}

static __always_inline __u32 size_class(__u64 bytes)
{
	__u32 class = 0;

	if (!bytes)
		return 0;
	for (__u32 shift = 32; shift; shift >>= 1) {
		if (bytes >> shift) {
			bytes >>= shift;
			class += shift;
		}
	}
	return class + 1;
}

static __always_inline __u32 cell_other(__u64 rows)
{
	if (rows & UB_ROWS_XFER(UB_MAX_SITES - 1))
		return UB_OTHER_XFERS;
	return rows & UB_ROWS_OP(UB_MAX_SITES - 1) ? UB_OTHER_OPS : UB_OTHER_CALLS;
}

static __always_inline bool cell_take_free(__u32 *index)
{
	__u32 taken = free_taken, slot = taken & (UB_MAX_CELLS - 1);
	__u32 *cell = bpf_map_lookup_elem(&free_cells, &slot);

	if (taken == free_given || !cell)
		return false;
	*index = *cell;
	return __sync_val_compare_and_swap(&free_taken, taken, taken + 1) == taken;
}

static __always_inline bool cell_take(__u32 *index)
{
	__u32 used = cells_used;

	if (used < UB_MAX_CELLS) {
		used = __sync_fetch_and_add(&cells_used, 1);
		*index = used;
		if (used < UB_MAX_CELLS)
			return true;
	}
	return cell_take_free(index);
}

static __always_inline struct ub_cell *cell_at(__u32 index)
{
	return bpf_map_lookup_elem(&cells, &index);
}

/*
 * The number of the cell for a key: known to another task, or new, and then to be described by the
 * caller. If two tasks make one at once, one stays unused.
 */
static __always_inline __u32 cell_make(const struct ub_cell_key *key, bool *fresh)
{
	__u32 *found = bpf_map_lookup_elem(&cell_numbers, key), index;

	*fresh = false;
	if (found)
		return *found;
	if (!cell_take(&index))
		return cell_other(key->rows);
	if (bpf_map_update_elem(&cell_numbers, key, &index, BPF_NOEXIST)) {
		found = bpf_map_lookup_elem(&cell_numbers, key);
		return found ? *found : cell_other(key->rows);
	}
	*fresh = true;
	return index;
}

/* Fills in the key's half of a new cell; the caller adds the rest, then cell_ready(). */
static __always_inline void cell_describe(struct ub_cell *cell, const struct ub_cell_key *key,
					  __u64 space, __u64 obj)
{
	__u64 rows = key->rows;

	cell->tgid = key->tgid;
	cell->ep = key->ep;
	cell->space = space;
	cell->call = rows & (UB_MAX_SITES - 1);
	cell->op = rows >> UB_ROWS_OP_AT & (UB_MAX_SITES - 1);
	cell->xfer = rows >> UB_ROWS_XFER_AT & (UB_MAX_SITES - 1);
	cell->am_id = rows >> UB_ROWS_AM_AT;
	cell->size_class = rows >> UB_ROWS_CLASS_AT & 63;
	cell->flags = rows >> UB_ROWS_FLAGS_AT;
	cell->obj = obj;
}

/* User space reads its description from now on. */
static __always_inline void cell_ready(struct ub_cell *cell, __u64 ts)
{
	__sync_lock_test_and_set(&cell->ts, ts);
}

#endif
