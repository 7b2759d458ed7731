// SPDX-License-Identifier: BSD-3-Clause
/* Several facts at once that are alike: of --count, and fragments of a message. */
#include "show/page/internal.h"

void page_feed_calls(void *arg, const struct fact_call *call, const struct fact_sums *from)
{
	struct page *page = arg;
	struct page_sums sums = page_sums_of(from);
	struct page_key key;

	page->to_report.calls(page->to_report.arg, call, from);
	if (!page_shows_call(page, call))
		return;
	sums.of[SUM_OPS] = from->ops;
	key = page_call_key(page, call);
	page_cube_add(&page->cube, PAGE_CALLS, &key, 0, page_size(page_mean_bytes(from)), &sums);
	page->timeline.untimed += from->count;
}

void page_feed_ops(void *arg, const struct fact_op *op, const struct fact_sums *from)
{
	struct page *page = arg;
	struct page_sums sums = page_sums_of(from);
	struct page_key key;

	page->to_report.ops(page->to_report.arg, op, from);
	if (!page_shows_op(page, op))
		return;
	sums.of[SUM_UNCHECKED] = from->count;
	key = page_op_key(page, op);
	page_cube_add(&page->cube, PAGE_OPS, &key, 0, page_size(page_mean_bytes(from)), &sums);
	page->timeline.untimed += from->count;
}

void page_feed_transfers(void *arg, const struct fact_transfer *transfer,
			 const struct fact_sums *from)
{
	struct page *page = arg;
	struct page_sums sums = page_sums_of(from);
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page->to_report.transfers(page->to_report.arg, transfer, from);
	if (!page_shows_transfer(page, transfer))
		return;
	sums.of[SUM_WIRE_BYTES] = from->wire_bytes;
	sums.of[SUM_RETRIES] = from->retries;
	sums.of[SUM_UNEXPLAINED] = transfer->unexplained ? from->bytes : 0;
	key = page_transfer_key(page, transfer);
	fact = page_drawn_transfer(page, transfer);
	fact.key = page_cube_add(&page->cube, PAGE_TRANSFERS, &key, fact.start,
				 page_size(page_mean_bytes(from)), &sums);
	fact.bytes = from->bytes_unknown ? UINT64_MAX : from->bytes;
	work = (struct page_work){ fact.start, from->timed ? fact.end : 0, from->time, from->count,
				   from->bytes };
	page_draw_transfer(page, &fact, &key, &work);
	page_draw_event(page, &fact,
			(struct page_event){ .parent = transfer->caused_by,
					     .flags = EVENT_SEVERAL,
					     .count = from->count });
}
