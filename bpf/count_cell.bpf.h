/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * How a task finds the cell to add to (--count): it caches the numbers of its last cells, so that
 * hash tables are consulted only for new ones.
 */
#ifndef UCXBPF_COUNT_CELL_BPF_H
#define UCXBPF_COUNT_CELL_BPF_H

#include "count.bpf.h"
#include "over.bpf.h"

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

static __noinline __u32 cell_find(struct count_task *task, __u64 rows,
				  const struct count_xfer *xfer, __u64 obj)
{
	struct cell_wanted wanted = {
		.key = { .tgid = task->tgid, .rows = rows },
		.space = address_space(),
		.uct_ep = xfer ? xfer->uct_ep : 0,
	};
	__u64 now = bpf_ktime_get_ns();
	__u32 index = cell_get(&wanted, now);
	struct ub_cell *cell;

	if (!(index & CELL_FRESH))
		return index;
	index &= ~CELL_FRESH;
	cell = cell_at(index);
	if (!cell)
		return index;
	if (xfer) {
		cell->uct_ep = xfer->uct_ep;
		cell->iface = read_u64(xfer->uct_ep);
		cell->ucp_ep = xfer_ucp_ep(xfer, cell->iface);
		cell->layout = xfer->layout;
	}
	cell_describe(cell, &wanted.key, wanted.space, obj);
	cell_ready(cell, now);
	return index;
}

/* xfer: NULL for calls and operations. */
static __always_inline __u32 cell_number(struct count_task *task, __u64 rows,
					 const struct count_xfer *xfer, __u64 obj)
{
	__u64 uct_ep = xfer ? xfer->uct_ep : 0;
	__u64 mixed = (rows ^ uct_ep << 20 ^ uct_ep >> 4) * 0x9e3779b97f4a7c15ull;
	struct remembered *known = &task->cache[mixed >> (64 - CACHE_BITS) & (CACHE - 1)];
	__u32 epoch = cache_epoch;

	if (likely(known->rows == rows && known->uct_ep == uct_ep && known->epoch == epoch))
		return known->cell;
	known->cell = cell_find(task, rows, xfer, obj);
	known->rows = rows;
	known->uct_ep = uct_ep;
	known->epoch = epoch;
	return known->cell;
}

/* The error that a UCP operation returned, as a positive number; 0: none. */
static __always_inline __u32 error_of(__s64 ret)
{
	return ret < 0 && ret >= -UB_STATUS_MAX ? -ret : 0;
}

/*
 * Counts one failure, unless there is no cell of its own for it. rows: of the failed call,
 * operation or transfer; xfer, obj: as for cell_find().
 */
static __noinline int count_failure(struct count_task *task, __u64 rows, __u32 status,
				    const struct count_xfer *xfer, __u64 obj)
{
	const __u32 number = cell_find(task, rows | UB_ROWS_STATUS(status & 127), xfer, obj);
	struct ub_cell *cell = cell_at(number);

	/* those shared by all have no status: there it would count as another operation */
	if (cell && number >= UB_CELL_OTHERS)
		__sync_fetch_and_add(&cell->count, 1);
	return 0;
}

static __always_inline void cell_time(struct ub_cell *cell, __u64 start)
{
	__sync_fetch_and_add(&cell->timed, 1);
	__sync_fetch_and_add(&cell->time, bpf_ktime_get_ns() - start);
}

#endif
