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
 * What each process holds. Programs count in UB_SHARE_TAKEN, UB_SHARE_BEYOND and UB_SHARE_OVER,
 * user space in UB_SHARE_RETURNED; it removes all of them when the process ends. When this map is
 * full, events go to the cells of no process.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct ub_share_key);
	__type(value, __u32);
} cell_shares __weak SEC(".maps");

/*
 * Which endpoint an address stands for: a number that is never reused, so that a reused address
 * never adds to its former endpoint's cells. Made with the cell of an endpoint's first transfer,
 * removed when the endpoint is created or destroyed, or by user space with its cells once the
 * process has ended. Full: as if the process had no share left.
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

/* The endpoint behind an address; 0: it has no number. */
static __always_inline __u32 ep_find(__u64 space, __u64 uct_ep)
{
	struct ub_ep_key key = { uct_ep, space };
	__u32 *found = bpf_map_lookup_elem(&ep_numbers, &key);

	return found ? *found : 0;
}

/* Gives the endpoint a number; 0: none is left. */
static __always_inline __u32 ep_make(__u64 space, __u64 uct_ep)
{
	struct ub_ep_key key = { uct_ep, space };
	__u32 fresh = __sync_fetch_and_add(&ep_number, 1) + 1;

	bpf_map_update_elem(&ep_numbers, &key, &fresh, BPF_NOEXIST);
	return ep_find(space, uct_ep);
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
	cell->status = rows >> UB_ROWS_STATUS_AT;
	cell->obj = obj;
}

/* User space reads its description from now on. */
static __always_inline void cell_ready(struct ub_cell *cell, __u64 ts)
{
	__sync_lock_test_and_set(&cell->ts, ts);
}

/* Cells that no one has, or had: about, where others take some at once. */
static __always_inline __u32 cells_free(void)
{
	__u32 used = cells_used;

	return (used < UB_MAX_CELLS ? UB_MAX_CELLS - used : 0) + (free_given - free_taken);
}

/* NULL: no room. */
static __always_inline __u32 *share_find(__u32 tgid, __u32 share)
{
	struct ub_share_key key = { tgid, share };
	__u32 *found = bpf_map_lookup_elem(&cell_shares, &key), none = 0;

	if (found)
		return found;
	bpf_map_update_elem(&cell_shares, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&cell_shares, &key);
}

/* Where the cells that a process takes are counted; NULL: its share is used up. */
static __always_inline __u32 *share_left(__u32 tgid)
{
	struct ub_share_key key = { tgid, UB_SHARE_RETURNED };
	__u32 *returned = bpf_map_lookup_elem(&cell_shares, &key);
	__u32 *taken = share_find(tgid, UB_SHARE_TAKEN);
	__u32 held = taken ? *taken - (returned ? *returned : 0) : 0;

	return held + UB_CELLS_ASIDE < cells_free() ? taken : NULL;
}

/* A cell beyond the process's share; false: none is left. */
static __always_inline bool share_exceed(__u32 tgid, __u32 *index)
{
	__u32 *beyond = share_find(tgid, UB_SHARE_BEYOND);

	if (!beyond || *beyond >= UB_CELLS_BEYOND || !cell_take(index))
		return false;
	__sync_fetch_and_add(beyond, 1);
	return true;
}

/*
 * Enters a cell for a key, and returns its number. If another task entered one first, returns that
 * one; the cell taken here stays unused until its process ends. 0: none.
 */
static __always_inline __u32 cell_enter(const struct ub_cell_key *key, __u32 index, __u64 ts,
					bool *fresh)
{
	const struct ub_cell_key unused = { .tgid = key->tgid };
	struct ub_cell *cell;
	__u32 *found;

	*fresh = !bpf_map_update_elem(&cell_numbers, key, &index, BPF_NOEXIST);
	if (*fresh)
		return index;
	cell = cell_at(index);
	if (cell) {
		cell_describe(cell, &unused, 0, 0);
		cell_ready(cell, ts);
	}
	found = bpf_map_lookup_elem(&cell_numbers, key);
	return found ? *found : 0;
}

#define ROWS_OF(at, bits) (((1ull << (bits)) - 1) << (at))

/* The innermost function with its active message, and whether it has any bytes. */
static __always_inline __u64 rows_beyond(__u64 rows)
{
	__u64 kept = rows & ROWS_OF(UB_ROWS_FLAGS_AT, 64 - UB_ROWS_FLAGS_AT);

	if (rows & ROWS_OF(UB_ROWS_CLASS_AT, 6))
		kept |= UB_ROWS_CLASS(1);
	if (rows & ROWS_OF(UB_ROWS_XFER_AT, UB_ROW_BITS))
		kept |= rows & ROWS_OF(UB_ROWS_XFER_AT, UB_ROW_BITS + 8);
	else if (rows & ROWS_OF(UB_ROWS_OP_AT, UB_ROW_BITS))
		kept |= rows & ROWS_OF(UB_ROWS_OP_AT, UB_ROW_BITS);
	else
		kept |= rows & ROWS_OF(0, UB_ROW_BITS);
	return kept | UB_ROWS_FLAGS(UB_CELL_BEYOND);
}

/* Not static: verified once. */
__weak __noinline __u32 cell_beyond(__u32 tgid, __u64 rows, __u64 ts)
{
	struct ub_cell_key key = { .tgid = tgid, .rows = rows_beyond(rows) };
	__u32 *found = bpf_map_lookup_elem(&cell_numbers, &key), index;
	struct ub_cell *cell;
	bool fresh;

	if (found)
		return *found;
	if (!share_exceed(tgid, &index))
		return cell_other(rows);
	index = cell_enter(&key, index, ts, &fresh);
	cell = fresh ? cell_at(index) : NULL;
	if (cell) {
		cell_describe(cell, &key, 0, 0);
		cell_ready(cell, ts);
	}
	return index ? index : cell_other(rows);
}

#define CELL_FRESH (1u << 31)
#define CELL_NONE (1u << 30)

struct cell_wanted {
	struct ub_cell_key key; /* ep: set by cell_make() */
	__u64 space;
	__u64 uct_ep; /* 0: no transfer */
};

/*
 * The number of the cell for a key, with CELL_FRESH if it is new, and then to be described by the
 * caller. CELL_NONE: the process has no share left. Not static: verified once.
 */
__weak __noinline __u32 cell_make(struct cell_wanted *wanted, __u64 ts)
{
	struct ub_cell_key key; /* kernels before 6.2 look for keys on the stack only */
	__u32 *found, *taken, index;
	__u64 uct_ep;
	bool fresh;

	if (!wanted)
		return UB_OTHER_CALLS;
	key = wanted->key;
	uct_ep = wanted->uct_ep;
	key.ep = uct_ep ? ep_find(wanted->space, uct_ep) : 0;
	found = uct_ep && !key.ep ? NULL : bpf_map_lookup_elem(&cell_numbers, &key);
	if (found)
		return *found;
	taken = share_left(key.tgid);
	if (taken && uct_ep && !key.ep) {
		key.ep = ep_make(wanted->space, uct_ep);
		taken = key.ep ? taken : NULL;
	}
	if (!taken || !cell_take(&index))
		return CELL_NONE;
	__sync_fetch_and_add(taken, 1);
	wanted->key.ep = key.ep;
	index = cell_enter(&key, index, ts, &fresh);
	if (!index)
		return CELL_NONE;
	return fresh ? index | CELL_FRESH : index;
}

/* As cell_make(), which does not call cell_beyond() itself: the stacks of both would add up. */
static __always_inline __u32 cell_get(struct cell_wanted *wanted, __u64 ts)
{
	__u32 index = cell_make(wanted, ts);

	if (index == CELL_NONE)
		index = cell_beyond(wanted->key.tgid, wanted->key.rows, ts);
	return index;
}

#endif
