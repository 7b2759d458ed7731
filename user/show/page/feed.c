// SPDX-License-Identifier: BSD-3-Clause
/* Facts as they come: to the report, to keys and sums, to where they are drawn. */
#include "show/page/internal.h"

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

static void feed_call(void *arg, const struct fact_call *call)
{
	struct page *page = arg;
	struct page_sums sums = { .of = { [SUM_COUNT] = 1, [SUM_OPS] = call->ops } };
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page->to_report.call(page->to_report.arg, call);
	if (!page_shows_call(page, call))
		return;
	key = page_call_key(page, call);
	fact = page_drawn_call(page, call);
	page_sum_bytes(&sums, call->bytes);
	page_sum_time(&sums, call->start, call->end, call->end_precision);
	fact.key = page_cube_add(&page->cube, PAGE_CALLS, &key, fact.start, page_size(call->bytes),
				 &sums);
	work = page_work_of(&fact);
	page_draw_work(page, &fact, key.code[COLUMN_FUNCTION], &work);
	page_draw_event(page, &fact, (struct page_event){ .id = call->id });
}

static void feed_op(void *arg, const struct fact_op *op)
{
	struct page *page = arg;
	struct page_sums sums = { .of = { [SUM_COUNT] = 1, [SUM_ERRORS] = op->status < 0 } };
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page->to_report.op(page->to_report.arg, op);
	if (!page_shows_op(page, op))
		return;
	key = page_op_key(page, op);
	fact = page_drawn_op(page, op);
	page_sum_bytes(&sums, op->bytes);
	page_sum_time(&sums, op->start, op->end, op->end_precision);
	fact.key =
		page_cube_add(&page->cube, PAGE_OPS, &key, fact.start, page_size(op->bytes), &sums);
	work = page_work_of(&fact);
	page_draw_work(page, &fact, key.code[COLUMN_UCP_OP], &work);
	page_draw_event(page, &fact,
			(struct page_event){ .id = op->id,
					     .parent = op->call,
					     .flags = op->status < 0 ? EVENT_FAILED : 0 });
}

static void feed_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct page *page = arg;
	struct page_sums sums = page_transfer_sums(transfer);
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page->to_report.transfer(page->to_report.arg, transfer);
	if (!page_shows_transfer(page, transfer))
		return;
	key = page_transfer_key(page, transfer);
	fact = page_drawn_transfer(page, transfer);
	fact.key = page_cube_add(&page->cube, PAGE_TRANSFERS, &key, fact.start,
				 page_size(transfer->bytes), &sums);
	work = page_work_of(&fact);
	if (!transfer->retried)
		page_draw_transfer(page, &fact, &key, &work);
	page_draw_event(page, &fact,
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
	if (!page_shows_message(page, message))
		return;
	key = page_message_key(page, message);
	page_sum_bytes(&sums, message->bytes);
	page_cube_add(&page->cube, PAGE_MESSAGES, &key,
		      page_host_of(&page->hosts, message->src) ? message->send_start : 0,
		      page_size(message->bytes), &sums);
	page_links_add(&page->events,
		       &(struct page_link){ message->send, message->recv, message->arrival,
					    message->send_start, message->recv_start,
					    page_host_number(page, message->src),
					    page_host_number(page, message->dst) });
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
		.calls = page_feed_calls,
		.ops = page_feed_ops,
		.transfers = page_feed_transfers,
	};
}
