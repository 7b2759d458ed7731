// SPDX-License-Identifier: BSD-3-Clause
/* Facts to keys and sums, pieces of the timeline, and events. */
#include "page/internal.h"

static int host_number(const struct page *page, int process)
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

static void work(struct page *page, enum page_layer layer, int process, uint32_t name,
		 const struct page_work *of)
{
	struct page_lane lane = { .layer = layer,
				  .process = process,
				  .host = host_number(page, process) };

	if (of->start)
		page_timeline_add(&page->timeline, page_lane_of(&page->timeline, &lane), name, of);
	else
		page->timeline.untimed += of->count;
}

static void device_work(struct page *page, int process, const struct page_key *key,
			const struct page_work *of)
{
	struct page_lane lane = { .layer = LAYER_DEVICE,
				  .process = -1,
				  .host = host_number(page, process),
				  .transport = key->code[COLUMN_TRANSPORT],
				  .device = key->code[COLUMN_DEVICE] };

	if (of->start)
		page_timeline_add(&page->timeline, page_lane_of(&page->timeline, &lane),
				  key->code[COLUMN_OP], of);
}

/* What an event has whatever it is. */
struct span {
	enum page_layer layer;
	int process;
	uint32_t tid, key;
	uint64_t start, end, bytes;
	enum fact_precision precision;
};

static struct page_work work_of(const struct span *span)
{
	bool known = page_timed(span->start, span->end, span->precision);

	return (struct page_work){
		.start = span->start,
		.end = known ? span->end : 0,
		.time = known ? span->end - span->start : 0,
		.count = 1,
		.bytes = span->bytes == UINT64_MAX ? 0 : span->bytes,
	};
}

static void keep(struct page *page, const struct span *span, struct page_event event)
{
	struct page_lane lane = { .layer = span->layer,
				  .process = span->process,
				  .host = host_number(page, span->process) };
	bool known = page_timed(span->start, span->end, span->precision);

	event.start = span->start;
	event.duration = known ? span->end - span->start : 0;
	event.precision = known ? span->precision : TIME_UNKNOWN;
	event.bytes = span->bytes;
	event.count = event.count ? event.count : 1;
	event.key = span->key;
	event.host = lane.host;
	if (!span->start)
		return;
	event.lane = page_lane_of(&page->timeline, &lane);
	event.thread = page_thread_of(&page->events, span->process, span->tid);
	page_events_add(&page->events, &event);
}

static void feed_process(void *arg, const struct fact_process *fact)
{
	struct page *page = arg;

	page->to_report.process(page->to_report.arg, fact);
	page_hosts_process(&page->hosts, fact, filter_process(page->options.filter, fact));
}

static void feed_clock(void *arg, const struct fact_clock *fact)
{
	page_hosts_clock(&((struct page *)arg)->hosts, fact);
}

static bool pass_call(struct page *page, const struct fact_call *call)
{
	page_hosts_see(&page->hosts, call->process, call->start, call->end);
	return page_hosts_selected(&page->hosts, call->process) &&
	       (!page->filtering || filter_call(page->options.filter, call));
}

static void feed_call(void *arg, const struct fact_call *call)
{
	struct page *page = arg;
	struct page_sums sums = { .of = { [SUM_COUNT] = 1, [SUM_OPS] = call->ops } };
	struct page_key key;
	struct span span;
	struct page_work of;

	page->to_report.call(page->to_report.arg, call);
	if (!pass_call(page, call))
		return;
	key = page_call_key(page, call);
	span = (struct span){ LAYER_CALLS,
			      call->process,
			      call->tid,
			      0,
			      start_of(page, call->process, call->start, call->tid),
			      call->end,
			      call->bytes,
			      call->end_precision };
	page_sum_bytes(&sums, call->bytes);
	page_sum_time(&sums, call->start, call->end, call->end_precision);
	span.key = page_cube_add(&page->cube, PAGE_CALLS, &key, span.start, page_size(call->bytes),
				 &sums);
	of = work_of(&span);
	work(page, LAYER_CALLS, call->process, key.code[COLUMN_FUNCTION], &of);
	keep(page, &span, (struct page_event){ .id = call->id });
}

static bool pass_op(struct page *page, const struct fact_op *op)
{
	page_hosts_see(&page->hosts, op->process, op->start, op->end);
	return page_hosts_selected(&page->hosts, op->process) &&
	       (!page->filtering || filter_op(page->options.filter, op));
}

static void feed_op(void *arg, const struct fact_op *op)
{
	struct page *page = arg;
	struct page_sums sums = { .of = { [SUM_COUNT] = 1, [SUM_ERRORS] = op->status < 0 } };
	struct page_key key;
	struct span span;
	struct page_work of;

	page->to_report.op(page->to_report.arg, op);
	if (!pass_op(page, op))
		return;
	key = page_op_key(page, op);
	span = (struct span){ LAYER_OPS,
			      op->process,
			      op->tid,
			      0,
			      start_of(page, op->process, op->start, op->tid),
			      op->end,
			      op->bytes,
			      op->end_precision };
	page_sum_bytes(&sums, op->bytes);
	page_sum_time(&sums, op->start, op->end, op->end_precision);
	span.key =
		page_cube_add(&page->cube, PAGE_OPS, &key, span.start, page_size(op->bytes), &sums);
	of = work_of(&span);
	work(page, LAYER_OPS, op->process, key.code[COLUMN_UCP_OP], &of);
	keep(page, &span,
	     (struct page_event){ .id = op->id,
				  .parent = op->call,
				  .flags = op->status < 0 ? EVENT_FAILED : 0 });
}

static bool pass_transfer(struct page *page, const struct fact_transfer *transfer)
{
	page_hosts_see(&page->hosts, transfer->process, transfer->start, transfer->end);
	return page_hosts_selected(&page->hosts, transfer->process) &&
	       (!page->filtering || filter_transfer(page->options.filter, transfer));
}

static struct span transfer_span(const struct page *page, const struct fact_transfer *transfer,
				 uint32_t key)
{
	return (struct span){ LAYER_TRANSFERS,
			      transfer->process,
			      transfer->tid,
			      key,
			      start_of(page, transfer->process, transfer->start, transfer->tid),
			      transfer->end,
			      transfer->bytes,
			      transfer->end_precision };
}

static void transfer_work(struct page *page, int process, const struct page_key *key,
			  const struct page_work *of)
{
	work(page, LAYER_TRANSFERS, process, key->code[COLUMN_TRANSPORT], of);
	device_work(page, process, key, of);
}

static void feed_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct page *page = arg;
	struct page_sums sums = page_transfer_sums(transfer);
	struct page_key key;
	struct span span;
	struct page_work of;

	page->to_report.transfer(page->to_report.arg, transfer);
	if (!pass_transfer(page, transfer))
		return;
	key = page_transfer_key(page, transfer);
	span = transfer_span(page, transfer, 0);
	span.key = page_cube_add(&page->cube, PAGE_TRANSFERS, &key, span.start,
				 page_size(transfer->bytes), &sums);
	of = work_of(&span);
	if (!transfer->retried)
		transfer_work(page, transfer->process, &key, &of);
	keep(page, &span,
	     (struct page_event){ .parent = transfer->caused_by,
				  .flags = transfer->retried ? EVENT_RETRIED : 0 });
}

/* Of an operation's start alone is it known when it was: of its host, whichever end that is. */
static void feed_message(void *arg, const struct fact_message *message)
{
	struct page *page = arg;
	struct page_sums sums = { .of = { [SUM_COUNT] = 1,
					  [SUM_COPIES] = message->copies,
					  [SUM_COPY_BYTES] = message->copy_bytes } };
	struct page_key key;

	page->to_report.message(page->to_report.arg, message);
	if ((!page_hosts_selected(&page->hosts, message->src) &&
	     !page_hosts_selected(&page->hosts, message->dst)) ||
	    (page->filtering && !filter_message(page->options.filter, message)))
		return;
	key = page_message_key(page, message);
	page_sum_bytes(&sums, message->bytes);
	page_cube_add(&page->cube, PAGE_MESSAGES, &key,
		      page_host_of(&page->hosts, message->src) ? message->send_start : 0,
		      page_size(message->bytes), &sums);
	page_links_add(&page->events,
		       &(struct page_link){ message->send, message->recv, message->arrival,
					    message->send_start, message->recv_start,
					    host_number(page, message->src),
					    host_number(page, message->dst) });
}

static void feed_window(void *arg, const struct fact_window *fact)
{
	struct page *page = arg;

	page->to_report.window(page->to_report.arg, fact);
	page_hosts_window(&page->hosts, fact);
}

static void feed_memory(void *arg, const struct fact_memory *fact)
{
	struct page *page = arg;

	page->to_report.memory(page->to_report.arg, fact);
}

static void feed_lifetime(void *arg, const struct fact_lifetime *fact)
{
	struct page *page = arg;

	page->to_report.lifetime(page->to_report.arg, fact);
}

static void feed_calls(void *arg, const struct fact_call *call, const struct fact_sums *from)
{
	struct page *page = arg;
	struct page_sums sums = page_sums_of(from);
	struct page_key key;

	page->to_report.calls(page->to_report.arg, call, from);
	if (!pass_call(page, call))
		return;
	sums.of[SUM_OPS] = from->ops;
	key = page_call_key(page, call);
	page_cube_add(&page->cube, PAGE_CALLS, &key, 0, page_size(page_mean_bytes(from)), &sums);
	page->timeline.untimed += from->count;
}

static void feed_ops(void *arg, const struct fact_op *op, const struct fact_sums *from)
{
	struct page *page = arg;
	struct page_sums sums = page_sums_of(from);
	struct page_key key;

	page->to_report.ops(page->to_report.arg, op, from);
	if (!pass_op(page, op))
		return;
	sums.of[SUM_UNCHECKED] = from->count;
	key = page_op_key(page, op);
	page_cube_add(&page->cube, PAGE_OPS, &key, 0, page_size(page_mean_bytes(from)), &sums);
	page->timeline.untimed += from->count;
}

static void feed_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *from)
{
	struct page *page = arg;
	struct page_sums sums = page_sums_of(from);
	struct page_key key;
	struct span span;
	struct page_work of;

	page->to_report.transfers(page->to_report.arg, transfer, from);
	if (!pass_transfer(page, transfer))
		return;
	sums.of[SUM_WIRE_BYTES] = from->wire_bytes;
	sums.of[SUM_RETRIES] = from->retries;
	sums.of[SUM_UNEXPLAINED] = transfer->unexplained ? from->bytes : 0;
	key = page_transfer_key(page, transfer);
	span = transfer_span(page, transfer, 0);
	span.key = page_cube_add(&page->cube, PAGE_TRANSFERS, &key, span.start,
				 page_size(page_mean_bytes(from)), &sums);
	span.bytes = from->bytes_unknown ? UINT64_MAX : from->bytes;
	of = (struct page_work){ span.start, from->timed ? span.end : 0, from->time, from->count,
				 from->bytes };
	transfer_work(page, transfer->process, &key, &of);
	keep(page, &span,
	     (struct page_event){
		     .parent = transfer->caused_by, .flags = EVENT_SEVERAL, .count = from->count });
}

/* Whatever facts there are, the report gets them all: a new sort needs a line below. */
_Static_assert(sizeof(struct fact_sink) == 13 * sizeof(void *),
	       "a fact that page/ does not pass on");

struct fact_sink page_sink(struct page *page)
{
	return (struct fact_sink){
		.arg = page,
		.process = feed_process,
		.clock = feed_clock,
		.call = feed_call,
		.op = feed_op,
		.transfer = feed_transfer,
		.message = feed_message,
		.window = feed_window,
		.memory = feed_memory,
		.lifetime = feed_lifetime,
		.calls = feed_calls,
		.ops = feed_ops,
		.transfers = feed_transfers,
	};
}
