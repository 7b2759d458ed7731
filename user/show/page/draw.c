// SPDX-License-Identifier: BSD-3-Clause
/* What has a time goes where it is drawn: to lanes of the timeline, and to single events. */
#include "show/page/internal.h"

int page_host_number(const struct page *page, int process)
{
	const struct page_host *host = page_host_of(&page->hosts, process);

	return host ? (int)(host - page->hosts.hosts.data) : -1;
}

/* When it began, as far as that says anything: on a host's clock. Facts of --count span a capture.
 */
static uint64_t start_of(const struct page *page, int process, uint64_t start, uint32_t tid)
{
	return tid && page_host_of(&page->hosts, process) ? start : 0;
}

struct page_drawn page_drawn_call(const struct page *page, const struct fact_call *call)
{
	return (struct page_drawn){ LAYER_CALLS,
				    call->process,
				    call->tid,
				    0,
				    start_of(page, call->process, call->start, call->tid),
				    call->end,
				    call->bytes,
				    call->end_precision };
}

struct page_drawn page_drawn_op(const struct page *page, const struct fact_op *op)
{
	return (struct page_drawn){ LAYER_OPS,
				    op->process,
				    op->tid,
				    0,
				    start_of(page, op->process, op->start, op->tid),
				    op->end,
				    op->bytes,
				    op->end_precision };
}

struct page_drawn page_drawn_transfer(const struct page *page, const struct fact_transfer *transfer)
{
	return (struct page_drawn){ LAYER_TRANSFERS,
				    transfer->process,
				    transfer->tid,
				    0,
				    start_of(page, transfer->process, transfer->start,
					     transfer->tid),
				    transfer->end,
				    transfer->bytes,
				    transfer->end_precision };
}

struct page_work page_work_of(const struct page_drawn *fact)
{
	bool known = page_timed(fact->start, fact->end, fact->precision);

	return (struct page_work){
		.start = fact->start,
		.end = known ? fact->end : 0,
		.time = known ? fact->end - fact->start : 0,
		.count = 1,
		.bytes = fact->bytes == UINT64_MAX ? 0 : fact->bytes,
	};
}

static struct page_lane own_lane(const struct page *page, const struct page_drawn *fact)
{
	return (struct page_lane){ .layer = fact->layer,
				   .process = fact->process,
				   .host = page_host_number(page, fact->process) };
}

void page_draw_work(struct page *page, const struct page_drawn *fact, uint32_t name,
		    const struct page_work *work)
{
	struct page_lane lane = own_lane(page, fact);

	if (work->start)
		page_timeline_add(&page->timeline, page_lane_of(&page->timeline, &lane), name,
				  work);
	else
		page->timeline.untimed += work->count;
}

static void draw_on_device(struct page *page, const struct page_drawn *fact,
			   const struct page_key *key, const struct page_work *work)
{
	struct page_lane lane = { .layer = LAYER_DEVICE,
				  .process = -1,
				  .host = page_host_number(page, fact->process),
				  .transport = key->code[COLUMN_TRANSPORT],
				  .device = key->code[COLUMN_DEVICE] };

	if (work->start)
		page_timeline_add(&page->timeline, page_lane_of(&page->timeline, &lane),
				  key->code[COLUMN_OP], work);
}

void page_draw_transfer(struct page *page, const struct page_drawn *fact,
			const struct page_key *key, const struct page_work *work)
{
	page_draw_work(page, fact, key->code[COLUMN_TRANSPORT], work);
	draw_on_device(page, fact, key, work);
}

void page_draw_event(struct page *page, const struct page_drawn *fact, struct page_event event)
{
	struct page_lane lane = own_lane(page, fact);
	bool known = page_timed(fact->start, fact->end, fact->precision);

	event.start = fact->start;
	event.duration = known ? fact->end - fact->start : 0;
	event.precision = known ? fact->precision : TIME_UNKNOWN;
	event.bytes = fact->bytes;
	event.count = event.count ? event.count : 1;
	event.key = fact->key;
	event.host = lane.host;
	if (!fact->start)
		return;
	event.lane = page_lane_of(&page->timeline, &lane);
	event.thread = page_thread_of(&page->events, fact->process, fact->tid);
	page_events_add(&page->events, &event);
}
