/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Cells (--count): what they are for, how a task finds the one to add to. Cells are shared by all
 * tasks and added to atomically; each task remembers the numbers of those that it used last, so
 * that the hash tables are asked only for what is new to it.
 */
#ifndef UCXBPF_COUNT_CELL_BPF_H
#define UCXBPF_COUNT_CELL_BPF_H

#include "count.bpf.h"
#include "count_ep.bpf.h"

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

/* Cells of the dead, put here by user space, zeroed. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, UB_MAX_CELLS);
	__type(value, __u32);
} free_cells __weak SEC(".maps");

volatile __u32 cells_used __weak = UB_CELL_OTHERS;
volatile __u32 ep_number __weak = 0;

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

/* The endpoint behind an address; false: no number left. */
static __always_inline bool ep_find(__u64 uct_ep, __u32 *number)
{
	struct ub_ep_key key = { uct_ep, address_space() };
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

static __always_inline bool cell_take(__u32 *index)
{
	__u32 used = cells_used;

	if (used < UB_MAX_CELLS) {
		used = __sync_fetch_and_add(&cells_used, 1);
		*index = used;
		if (used < UB_MAX_CELLS)
			return true;
	}
	return !bpf_map_pop_elem(&free_cells, index);
}

static __always_inline bool on_worker(__u64 ep, __u64 worker, const struct ub_layout *layout)
{
	return ep && worker && read_u64(ep + layout->ep_worker) == worker;
}

/* The ucp_ep of the request that a transfer names by its completion or its packing argument. */
static __always_inline __u64 xfer_ucp_ep(const struct count_xfer *xfer, __u64 iface)
{
	__u32 slot = xfer->layout;
	const struct ub_layout *layout = bpf_map_lookup_elem(&layouts, &slot);
	__u64 worker, ep;

	if (!layout || !layout->req_size)
		return 0;
	worker = read_u64(iface + layout->iface_worker);
	if (xfer->comp) {
		ep = read_u64(xfer->comp - layout->req_uct_comp + layout->req_ep);
		return on_worker(ep, worker, layout) ? ep : 0;
	}
	if (!xfer->pack)
		return 0;
	ep = read_u64(read_u64(xfer->pack) + layout->req_ep);
	if (!on_worker(ep, worker, layout))
		ep = read_u64(xfer->pack + layout->req_ep);
	return on_worker(ep, worker, layout) ? ep : 0;
}

static __always_inline void cell_describe(struct ub_cell *cell, const struct ub_cell_key *key,
					  const struct count_xfer *xfer, __u64 obj)
{
	__u64 rows = key->rows;

	cell->tgid = key->tgid;
	cell->ep = key->ep;
	cell->space = address_space();
	cell->call = rows & 1023;
	cell->op = rows >> 10 & 1023;
	cell->xfer = rows >> 20 & 1023;
	cell->am_id = rows >> 30;
	cell->size_class = rows >> 38 & 63;
	cell->flags = rows >> 44;
	cell->obj = obj;
	if (xfer) {
		cell->uct_ep = xfer->uct_ep;
		cell->iface = read_u64(xfer->uct_ep);
		cell->ucp_ep = xfer_ucp_ep(xfer, cell->iface);
		cell->layout = xfer->layout;
	}
	__sync_lock_test_and_set(&cell->ts, bpf_ktime_get_ns());
}

/* The cell's number: known to another task, or made. */
static __always_inline __u32 cell_make(const struct ub_cell_key *key, const struct count_xfer *xfer,
				       __u64 obj)
{
	__u32 *found = bpf_map_lookup_elem(&cell_numbers, key), index;
	struct ub_cell *cell;

	if (found)
		return *found;
	if (!cell_take(&index))
		return cell_other(key->rows);
	if (bpf_map_update_elem(&cell_numbers, key, &index, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_cells, &index, BPF_ANY);
		found = bpf_map_lookup_elem(&cell_numbers, key);
		return found ? *found : cell_other(key->rows);
	}
	cell = bpf_map_lookup_elem(&cells, &index);
	if (cell)
		cell_describe(cell, key, xfer, obj);
	return index;
}

static __noinline __u32 cell_find(struct count_task *task, __u64 rows,
				  const struct count_xfer *xfer, __u64 obj)
{
	struct ub_cell_key key = { .tgid = task->tgid, .rows = rows };

	if (xfer && !ep_find(xfer->uct_ep, &key.ep))
		return UB_OTHER_XFERS;
	return cell_make(&key, xfer, obj);
}

/* xfer: NULL for calls and operations. */
static __always_inline __u32 cell_number(struct count_task *task, __u64 rows,
					 const struct count_xfer *xfer, __u64 obj)
{
	__u64 uct_ep = xfer ? xfer->uct_ep : 0;
	__u64 mixed = (rows ^ uct_ep << 20 ^ uct_ep >> 4) * 0x9e3779b97f4a7c15ull;
	struct remembered *known = &task->cache[mixed >> (64 - CACHE_BITS) & (CACHE - 1)];
	__u32 epoch = cache_epoch;

	if (known->rows == rows && known->uct_ep == uct_ep && known->epoch == epoch)
		return known->cell;
	known->cell = cell_find(task, rows, xfer, obj);
	known->rows = rows;
	known->uct_ep = uct_ep;
	known->epoch = epoch;
	return known->cell;
}

static __always_inline struct ub_cell *cell_at(__u32 index)
{
	return bpf_map_lookup_elem(&cells, &index);
}

static __always_inline void cell_time(struct ub_cell *cell, __u64 start)
{
	__sync_fetch_and_add(&cell->timed, 1);
	__sync_fetch_and_add(&cell->time, bpf_ktime_get_ns() - start);
}

#endif
