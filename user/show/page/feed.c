// SPDX-License-Identifier: BSD-3-Clause
/* Passes each fact to the report, to the sums, and to the timeline and the single events. */
#include "explain/facts/silent_init.h"
#include "show/page/internal.h"

static void page_sum_bytes(struct page_sums *sums, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		sums->of[SUM_BYTES_UNKNOWN]++;
	else
		sums->of[SUM_BYTES] += bytes;
}

/* Whether a duration is known. */
static bool page_timed(uint64_t start, uint64_t end, enum fact_precision precision)
{
	return end && end >= start && precision != TIME_UNKNOWN;
}

/* bytes: that were moved meanwhile; UINT64_MAX: unknown. */
static void page_sum_timed(struct page_sums *sums, uint64_t timed, uint64_t time,
			   enum fact_precision precision, uint64_t bytes)
{
	if (!timed)
		return;
	sums->of[SUM_TIMED] = timed;
	sums->of[SUM_TIME] = time;
	sums->precisions = (uint8_t)(1u << precision);
	if (!fact_is_exact(precision))
		return;
	sums->of[SUM_EXACT] = timed;
	sums->of[SUM_EXACT_TIME] = time;
	sums->of[SUM_EXACT_BYTES] = bytes == UINT64_MAX ? 0 : bytes;
}

static void page_sum_time(struct page_sums *sums, uint64_t start, uint64_t end,
			  enum fact_precision precision, uint64_t bytes)
{
	if (page_timed(start, end, precision))
		page_sum_timed(sums, 1, end - start, precision, bytes);
}

static struct page_sums page_sums_of(const struct fact_sums *from)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = from->count,
					  [SUM_BYTES] = from->bytes,
					  [SUM_BYTES_UNKNOWN] = from->bytes_unknown } };

	page_sum_timed(&sums, from->timed, from->time, from->precision,
		       from->timed == from->count ? from->bytes : UINT64_MAX);
	return sums;
}

/* Mean size of several facts. */
static uint64_t page_mean_bytes(const struct fact_sums *from)
{
	uint64_t known = from->count - from->bytes_unknown;

	return known ? from->bytes / known : from->count ? UINT64_MAX : 0;
}

static struct page_sums page_transfer_sums(const struct fact_transfer *transfer)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = 1 } };

	if (transfer->retried)
		return (struct page_sums){ .of = { [SUM_RETRIES] = 1 } };
	page_sum_bytes(&sums, transfer->bytes);
	if (transfer->wire_bytes != UINT64_MAX)
		sums.of[SUM_WIRE_BYTES] = transfer->wire_bytes;
	if (transfer->unexplained && transfer->bytes != UINT64_MAX)
		sums.of[SUM_UNEXPLAINED] = transfer->bytes;
	page_sum_time(&sums, transfer->start, transfer->end, transfer->end_precision,
		      transfer->bytes);
	return sums;
}

/* The drawn part of a fact. */
struct page_drawn {
	enum level layer;
	int process;
	uint32_t tid, key; /* key: its number in the cube, once known */
	uint64_t start, end, bytes; /* start: 0 unknown */
	enum fact_precision precision;
};

/* The host of a process; -1: unknown. */
static int page_host_number(const struct page *page, int process)
{
	const struct page_host *host = page_host_of(&page->hosts, process);

	return host ? (int)(host - page->hosts.hosts.data) : -1;
}

/* The start, if it is meaningful on a host's clock: facts of --count span a capture. */
static uint64_t start_of(const struct page *page, int process, uint64_t start, uint32_t tid)
{
	return tid && page_host_of(&page->hosts, process) ? start : 0;
}

/* Its end in the timeline. */
static uint64_t drawn_until(const struct fact_call *call)
{
	return fact_is_silent_init(call) ? call->until : call->end;
}

static struct page_drawn page_drawn_call(const struct page *page, const struct fact_call *call)
{
	return (struct page_drawn){ LEVEL_MPI,
				    call->process,
				    call->tid,
				    0,
				    start_of(page, call->process, call->start, call->tid),
				    drawn_until(call),
				    call->bytes,
				    fact_is_silent_init(call) ? TIME_UPPER_BOUND
							      : call->end_precision };
}

static struct page_drawn page_drawn_op(const struct page *page, const struct fact_op *op)
{
	return (struct page_drawn){ LEVEL_UCP,
				    op->process,
				    op->tid,
				    0,
				    start_of(page, op->process, op->start, op->tid),
				    op->end,
				    op->bytes,
				    op->end_precision };
}

static struct page_drawn page_drawn_transfer(const struct page *page,
					     const struct fact_transfer *transfer)
{
	return (struct page_drawn){ LEVEL_UCT,
				    transfer->process,
				    transfer->tid,
				    0,
				    start_of(page, transfer->process, transfer->start,
					     transfer->tid),
				    transfer->end,
				    transfer->bytes,
				    transfer->end_precision };
}

/* The work of a single fact. */
static struct page_work page_work_of(const struct page_drawn *fact)
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

/* Draws on the lane of its layer; transfers also on the lane of their device. */
static void page_draw_work(struct page *page, const struct page_drawn *fact, uint32_t name,
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
	struct page_lane lane = { .layer = LEVEL_BESIDE,
				  .process = -1,
				  .host = page_host_number(page, fact->process),
				  .transport = key->code[KEY_TRANSPORT],
				  .device = key->code[KEY_DEVICE] };

	if (work->start)
		page_timeline_add(&page->timeline, page_lane_of(&page->timeline, &lane),
				  key->code[KEY_OP], work);
}

static void page_draw_transfer(struct page *page, const struct page_drawn *fact,
			       const struct page_key *key, const struct page_work *work)
{
	page_draw_work(page, fact, key->code[KEY_TRANSPORT], work);
	draw_on_device(page, fact, key, work);
}

/* event: members that *fact does not set. */
static void page_draw_event(struct page *page, const struct page_drawn *fact,
			    struct page_event event)
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

static uint8_t derived_flag(const char *seen)
{
	return fact_is_derived(seen) ? EVENT_DERIVED : 0;
}

/* Calls of a loop in one thread. */
static void draw_polls(struct page *page, const struct fact_call *call,
		       const struct fact_sums *from, struct page_key *key, struct page_sums *sums)
{
	struct page_drawn fact = page_drawn_call(page, call);
	const struct page_work work = { fact.start, fact.end, from->time, from->count, 0 };

	key->code[PAGE_CAUSES] = page_causes_code(&page->causes, 0);
	fact.key = page_cube_add(&page->cube, PAGE_CALLS, key, fact.start, page_size(0), sums);
	page_draw_work(page, &fact, key->code[KEY_FUNCTION], &work);
	page_draw_event(page, &fact,
			(struct page_event){ .flags = EVENT_SEVERAL, .count = from->count });
}

static void feed_calls(struct page *page, const struct fact_call *call,
		       const struct fact_sums *from)
{
	struct page_sums sums = page_sums_of(from);
	struct page_key key;

	page_hosts_see(&page->hosts, call->process, call->start, drawn_until(call));
	if (!selection_passes(&page->selection, call->tid ? FACT_CALLS : FACT_CALL, call))
		return;
	sums.of[SUM_OPS] = from->ops;
	sums.of[SUM_OPS_UNKNOWN] = from->ops_unknown;
	key = page_key_of(page, PAGE_CALLS, call);
	if (call->tid) {
		draw_polls(page, call, from, &key, &sums);
		return;
	}
	page_cube_add(&page->cube, PAGE_CALLS, &key, 0, page_size(page_mean_bytes(from)), &sums);
	page->timeline.untimed += from->count;
}

static void feed_ops(struct page *page, const struct fact_op *op, const struct fact_sums *from)
{
	struct page_sums sums = page_sums_of(from);
	struct page_key key;

	page_hosts_see(&page->hosts, op->process, op->start, op->end);
	if (!selection_passes(&page->selection, FACT_OP, op))
		return;
	sums.of[SUM_UNCHECKED] = from->count;
	key = page_key_of(page, PAGE_OPS, op);
	page_cube_add(&page->cube, PAGE_OPS, &key, 0, page_size(page_mean_bytes(from)), &sums);
	page->timeline.untimed += from->count;
}

static void feed_transfers(struct page *page, const struct fact_transfer *transfer,
			   const struct fact_sums *from)
{
	struct page_sums sums = page_sums_of(from);
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page_hosts_see(&page->hosts, transfer->process, transfer->start, transfer->end);
	if (!selection_passes(&page->selection, FACT_TRANSFER, transfer))
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

static void feed_process(struct page *page, const struct fact_process *fact)
{
	selection_passes(&page->selection, FACT_PROCESS, fact);
	page_hosts_process(&page->hosts, fact);
}

static void feed_clock(struct page *page, const struct fact_clock *fact)
{
	page_hosts_clock(&page->hosts, fact);
}

static void feed_call(struct page *page, const struct fact_call *call)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = 1 } };
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page_hosts_see(&page->hosts, call->process, call->start, drawn_until(call));
	if (!selection_passes(&page->selection, FACT_CALL, call))
		return;
	sums.of[SUM_OPS] = fact_call_ops(call);
	sums.of[SUM_OPS_UNKNOWN] = call->ops == UINT64_MAX;
	key = page_key_of(page, PAGE_CALLS, call);
	key.code[PAGE_CAUSES] = page_causes_code(&page->causes, call->id);
	fact = page_drawn_call(page, call);
	page_sum_bytes(&sums, call->bytes);
	page_sum_time(&sums, call->start, call->end, call->end_precision, call->bytes);
	fact.key = page_cube_add(&page->cube, PAGE_CALLS, &key, fact.start, page_size(call->bytes),
				 &sums);
	work = page_work_of(&fact);
	page_draw_work(page, &fact, key.code[KEY_FUNCTION], &work);
	page_draw_event(page, &fact,
			(struct page_event){ .id = call->id, .flags = derived_flag(call->seen) });
}

static void feed_op(struct page *page, const struct fact_op *op)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = 1, [SUM_ERRORS] = op->status < 0 } };
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page_hosts_see(&page->hosts, op->process, op->start, op->end);
	if (!selection_passes(&page->selection, FACT_OP, op))
		return;
	key = page_key_of(page, PAGE_OPS, op);
	key.code[PAGE_CAUSES] = page_causes_code(&page->causes, op->id);
	fact = page_drawn_op(page, op);
	page_sum_bytes(&sums, op->bytes);
	page_sum_time(&sums, op->start, op->end, op->end_precision, op->bytes);
	fact.key =
		page_cube_add(&page->cube, PAGE_OPS, &key, fact.start, page_size(op->bytes), &sums);
	work = page_work_of(&fact);
	page_draw_work(page, &fact, key.code[KEY_UCP_OP], &work);
	page_draw_event(page, &fact,
			(struct page_event){ .id = op->id,
					     .parent = op->call,
					     .flags = op->status < 0 ? EVENT_FAILED : 0 });
}

static void feed_transfer(struct page *page, const struct fact_transfer *transfer)
{
	struct page_sums sums = page_transfer_sums(transfer);
	struct page_key key;
	struct page_drawn fact;
	struct page_work work;

	page_hosts_see(&page->hosts, transfer->process, transfer->start, transfer->end);
	if (!selection_passes(&page->selection, FACT_TRANSFER, transfer))
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
					     .flags = (transfer->retried ? EVENT_RETRIED : 0) |
						      derived_flag(transfer->seen) });
}

/* Only the start of the send is on a known clock: the sender's, whichever end is complete. */
static void feed_message(struct page *page, const struct fact_message *message)
{
	struct page_sums sums = { .of = { [SUM_COUNT] = 1,
					  [SUM_COPIES] = message->copies,
					  [SUM_COPY_BYTES] = message->copy_bytes } };
	struct page_key key;

	clocks_add(&page->clocks, page_host_number(page, message->src),
		   page_host_number(page, message->dst), message->send_start, message->arrival);
	if (!selection_passes(&page->selection, FACT_MESSAGE, message))
		return;
	key = page_key_of(page, PAGE_MESSAGES, message);
	key.code[PAGE_CAUSES] = page_causes_code(&page->causes, message->send);
	key.code[PAGE_RECV_CAUSES] = page_causes_code(&page->causes, message->recv);
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

/*
 * A wait is of its call: of what the call is summed by, and of its size. Its time counts once, in
 * whatever kinds of waits it is.
 */
static void sum_wait(struct page *page, const struct fact_wait *wait, uint64_t start)
{
	const struct fact_call call = { .process = wait->process,
					.function = wait->function,
					.place = wait->place };
	const struct page_sums sums = { .of = { [SUM_WAITED] = wait->fresh } };
	struct page_key key = page_key_of(page, PAGE_CALLS, &call);
	struct page_lane lane = { .layer = LEVEL_MPI,
				  .process = wait->process,
				  .host = page_host_number(page, wait->process) };

	key.code[PAGE_CAUSES] = page_causes_code(&page->causes, wait->call);
	page_cube_add(&page->cube, PAGE_CALLS, &key, start,
		      page_causes_size(&page->causes, wait->call), &sums);
	if (start && wait->fresh)
		page_timeline_wait(&page->timeline, page_lane_of(&page->timeline, &lane),
				   key.code[KEY_FUNCTION],
				   &(struct page_work){
					   .start = start, .end = wait->end, .time = wait->fresh });
}

static void feed_wait(struct page *page, const struct fact_wait *wait)
{
	uint64_t start = start_of(page, wait->process, wait->start, wait->tid);

	if (wait->end <= wait->start || !selection_passes(&page->selection, FACT_WAIT, wait))
		return;
	sum_wait(page, wait, start);
	page_waits_add(&page->events,
		       &(struct page_wait){
			       .call = wait->call,
			       .start = start,
			       .duration = wait->end - wait->start,
			       .ns = wait->ns,
			       .fresh = wait->fresh,
			       .uncertainty = wait->uncertainty,
			       .process = page_code(wait->process),
			       .culprit = page_code(wait->culprit),
			       .root = page_code(wait->root),
			       .kind = page_word_code(page, wait->kind),
			       .function = page_word_code(page, wait->culprit_function),
			       .did = page_word_code(page, wait->culprit_did),
			       .root_function = page_word_code(page, wait->root_function),
			       .root_did = page_word_code(page, wait->root_did),
			       .place = page_place_code(page, wait->culprit_place),
			       .root_place = page_place_code(page, wait->root_place),
			       .host = page_host_number(page, wait->process),
		       });
}

static void feed_window(struct page *page, const struct fact_window *fact)
{
	page_hosts_window(&page->hosts, fact);
}

static void page_fact(void *arg, enum fact_type type, const void *fact,
		      const struct fact_sums *sums)
{
	struct page *page = arg;

	page->to_report.fact(page->to_report.arg, type, fact, sums);
	switch (type) {
	case FACT_PROCESS:
		return feed_process(page, fact);
	case FACT_CLOCK:
		return feed_clock(page, fact);
	case FACT_CALL:
		return feed_call(page, fact);
	case FACT_OP:
		return feed_op(page, fact);
	case FACT_TRANSFER:
		return feed_transfer(page, fact);
	case FACT_MESSAGE:
		return feed_message(page, fact);
	case FACT_WAIT:
		return feed_wait(page, fact);
	case FACT_WINDOW:
		return feed_window(page, fact);
	case FACT_CALLS:
		return feed_calls(page, fact, sums);
	case FACT_OPS:
		return feed_ops(page, fact, sums);
	case FACT_TRANSFERS:
		return feed_transfers(page, fact, sums);
	default:
		return;
	}
}

struct fact_sink page_sink(struct page *page)
{
	return (struct fact_sink){ page, page_fact };
}
