// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "explain/facts/silent_init.h"
#include "show/export/sorter.h"
#include "show/export/traffic.h"
#include "show/export/worlds.h"

/* Shapes are made from zero, so that bytes between their members are alike. */
static uint32_t spans_shape_number(struct spans *spans, const struct span_shape *shape)
{
	size_t n =
		rowset_add(&spans->shape_index, ROWSET_ROWS(&spans->shapes, sizeof(*shape)), shape);

	if (n == spans->shapes.len)
		memcpy(vec_add(&spans->shapes), shape, sizeof(*shape));
	return (uint32_t)n;
}

/* An enclosing span precedes the spans in it; ties are broken in a fixed order. */
static int in_order(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	const uint64_t words[][2] = {
		{ a->group, b->group }, { a->start, b->start }, { a->what, b->what },
		{ b->end, a->end },     { a->id, b->id },       { a->cause, b->cause },
		{ a->shape, b->shape }, { a->bytes, b->bytes }, { a->detail, b->detail },
		{ a->time, b->time },   { a->count, b->count }, { a->number, b->number },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i][0] != words[i][1])
			return words[i][0] < words[i][1] ? -1 : 1;
	return 0;
}

static struct spans_host *spans_host_at(struct spans *spans, int host)
{
	while (spans->hosts.len <= (size_t)host)
		vec_add(&spans->hosts);
	return &spans->hosts.data[host];
}

/* Extends the observed time of a host. */
static void spans_see(struct spans *spans, int host, uint64_t start, uint64_t end)
{
	struct spans_host *seen;

	if (host < 0 || !start)
		return;
	seen = spans_host_at(spans, host);
	if (!seen->last || start < seen->first)
		seen->first = start;
	if (start > seen->last)
		seen->last = start;
	if (end > seen->last)
		seen->last = end;
}

static struct spans_life *life_at(struct spans *spans, int process)
{
	while (spans->lives.len <= (size_t)process)
		vec_add(&spans->lives);
	return &spans->lives.data[process];
}

static void live(struct spans_life *life, uint64_t start, uint64_t end)
{
	if (!start)
		return;
	if (!life->first || start < life->first)
		life->first = start;
	if (start > life->last)
		life->last = start;
	if (end > life->last)
		life->last = end;
}

static void spans_add(struct spans *spans, const struct span *span)
{
	const uint64_t end = span->what < SPAN_FACT ? 0 : span->end;
	const int process = span_process(span);

	spans_see(spans, spans_host_of(spans, process), span->start, end);
	if (process >= 0)
		live(life_at(spans, process), span->start, end);
	if (!spans->err)
		spans->err = sorter_add(spans->sorter, span);
	spans->facts += span->what == SPAN_FACT;
	spans->summed += span->what == SPAN_SUMS;
}

void spans_init(struct spans *spans, enum level message_layer)
{
	*spans = (struct spans){ .message_layer = message_layer };
	spans->sorter = sorter_new(sizeof(struct span), in_order);
}

void spans_release(struct spans *spans)
{
	size_t at = 0;
	struct map_slot *slot;

	sorter_free(spans->sorter);
	while ((slot = map_next(&spans->stack_texts, &at)))
		free((void *)(uintptr_t)slot->value);
	map_release(&spans->stack_texts);
	rowset_release(&spans->shape_index);
	map_release(&spans->channels);
	vec_release(&spans->shapes);
	vec_release(&spans->sums);
	vec_release(&spans->processes);
	vec_release(&spans->clocks);
	clocks_release(&spans->between);
	vec_release(&spans->windows);
	vec_release(&spans->memory);
	vec_release(&spans->hosts);
	vec_release(&spans->lives);
}

int spans_finish(struct spans *spans, char why[EXPORT_WHY])
{
	int err = spans->err ? spans->err : sorter_finish(spans->sorter);

	if (err)
		snprintf(why, EXPORT_WHY,
			 "cannot sort in a temporary file in $TMPDIR or /var/tmp: %s",
			 strerror(-err));
	return err;
}

int spans_next(struct spans *spans, const struct span **span)
{
	const void *record;
	int more = sorter_next(spans->sorter, &record);

	*span = more > 0 ? record : NULL;
	return more;
}

const struct fact_process *spans_process(const struct spans *spans, int index)
{
	bool known = index >= 0 && (size_t)index < spans->processes.len &&
		     spans->processes.data[index].index >= 0;

	return known ? &spans->processes.data[index] : NULL;
}

int spans_host_of(const struct spans *spans, int process)
{
	const struct fact_process *fact = spans_process(spans, process);

	return fact ? fact->host : -1;
}

struct spans_life spans_life(const struct spans *spans, int process)
{
	const bool seen = process >= 0 && (size_t)process < spans->lives.len;

	return seen ? spans->lives.data[process] : (struct spans_life){ 0 };
}

const struct fact_clock *spans_clock(const struct spans *spans, int host)
{
	for (size_t i = 0; i < spans->clocks.len; i++)
		if (spans->clocks.data[i].host == host)
			return &spans->clocks.data[i];
	return NULL;
}

static uint64_t group_of(int process, enum level layer, uint32_t tid)
{
	return (uint64_t)(process + 1) << 40 | (uint64_t)layer << 32 | tid;
}

static void add_sums(struct spans *spans, struct span *span, const struct fact_sums *sums)
{
	span->what = SPAN_SUMS;
	span->bytes = sums->bytes;
	span->number = (uint32_t)spans->sums.len;
	vec_push(&spans->sums, *sums);
	spans_add(spans, span);
}

static void take_process(struct spans *spans, const struct fact_process *process)
{
	if (process->index < 0)
		return;
	while (spans->processes.len <= (size_t)process->index) {
		vec_add(&spans->processes);
		spans->processes.data[spans->processes.len - 1].index = -1;
	}
	spans->processes.data[process->index] = *process;
	if (process->host >= 0)
		spans_host_at(spans, process->host)->name = process->host_name;
}

static void take_clock(struct spans *spans, const struct fact_clock *clock)
{
	vec_push(&spans->clocks, *clock);
}

static void take_window(struct spans *spans, const struct fact_window *window)
{
	vec_push(&spans->windows, *window);
	spans_see(spans, window->host, window->from, window->to);
}

/* Comes after all calls. A process without facts has no place in a timeline. */
static void take_lifetime(struct spans *spans, const struct fact_lifetime *lifetime)
{
	struct spans_life *life;

	if (lifetime->process < 0)
		return;
	life = life_at(spans, lifetime->process);
	if (lifetime->until <= life->first || !life->first)
		return;
	live(life, lifetime->until, 0);
	spans_see(spans, spans_host_of(spans, lifetime->process), lifetime->until, 0);
}

static void take_memory(struct spans *spans, const struct fact_memory *memory)
{
	vec_push(&spans->memory, *memory);
}

static struct span call_span(struct spans *spans, const struct fact_call *call)
{
	const bool silent = fact_is_silent_init(call);
	struct span_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.process = call->process;
	shape.peer = -1;
	shape.layer = LEVEL_MPI;
	shape.precision = silent ? TIME_UPPER_BOUND : call->end_precision;
	shape.name = call->function;
	shape.comm = call->comm;
	shape.context = call->context;
	shape.derived = fact_is_derived(call->seen);
	shape.place = call->place;
	shape.stack = call->stack;
	return (struct span){
		.group = group_of(call->process, LEVEL_MPI, call->tid),
		.start = call->start,
		.end = silent ? call->until : call->end,
		.id = call->id,
		.bytes = call->bytes,
		.detail = fact_call_ops(call),
		.count = 1,
		.shape = spans_shape_number(spans, &shape),
		.number = call->sequence <= UINT32_MAX ? (uint32_t)call->sequence : 0,
		.what = SPAN_FACT,
	};
}

static void take_call(struct spans *spans, const struct fact_call *call)
{
	struct span span = call_span(spans, call);

	spans_add(spans, &span);
	if (spans->worlds)
		worlds_call(spans->worlds, call);
}

/* Calls of a loop in one thread become a span of their own; all other sums are from --count. */
static void take_calls(struct spans *spans, const struct fact_call *call,
		       const struct fact_sums *sums)
{
	struct span span = call_span(spans, call);

	if (call->tid) {
		span.count = (uint32_t)sums->count;
		span.time = sums->time;
		spans_add(spans, &span);
		return;
	}
	if (call->process >= 0)
		life_at(spans, call->process)->summed = true;
	add_sums(spans, &span, sums);
}

static const char *caller_of(const char *function, const struct place *place)
{
	return function || !place ? NULL : fact_caller(place);
}

static struct span op_span(struct spans *spans, const struct fact_op *op)
{
	struct span_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.context = -1;
	shape.process = op->process;
	shape.peer = op->peer;
	shape.layer = LEVEL_UCP;
	shape.precision = op->end_precision;
	shape.status = op->status;
	shape.name = op->op;
	shape.function = op->function;
	shape.caller = caller_of(op->function, op->place);
	shape.stack = op->stack;
	shape.protocol = op->protocol;
	shape.memory = op->memory;
	shape.memory_reason = op->memory_reason;
	return (struct span){
		.group = group_of(op->process, LEVEL_UCP, op->tid),
		.start = op->start,
		.end = op->end,
		.id = op->id,
		.cause = op->call,
		.bytes = op->bytes,
		.detail = op->tag,
		.count = 1,
		.shape = spans_shape_number(spans, &shape),
		.what = SPAN_FACT,
	};
}

static void take_op(struct spans *spans, const struct fact_op *op)
{
	struct span span = op_span(spans, op);

	spans_add(spans, &span);
	if (spans->worlds)
		worlds_op(spans->worlds, op);
}

static void take_ops(struct spans *spans, const struct fact_op *op, const struct fact_sums *sums)
{
	struct span span = op_span(spans, op);

	add_sums(spans, &span, sums);
}

static struct span transfer_span(struct spans *spans, const struct fact_transfer *transfer,
				 enum fact_precision precision)
{
	struct span_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.context = -1;
	shape.process = transfer->process;
	shape.peer = transfer->peer;
	shape.layer = LEVEL_UCT;
	shape.precision = precision;
	shape.locality = transfer->locality;
	shape.kind = transfer->kind;
	shape.retried = transfer->retried;
	shape.fetches = transfer->fetches;
	shape.derived = fact_is_derived(transfer->seen);
	shape.name = transfer->op;
	shape.function = transfer->function;
	shape.caller = caller_of(transfer->function, transfer->place);
	shape.ucp_op = transfer->ucp_op;
	shape.protocol = transfer->protocol;
	shape.transport = transfer->transport;
	shape.device = transfer->device;
	shape.data_path = transfer->data_path;
	shape.initiator = transfer->initiator;
	shape.src_mem = transfer->src_mem;
	shape.dst_mem = transfer->dst_mem;
	shape.src_reason = transfer->src_reason;
	shape.dst_reason = transfer->dst_reason;
	shape.unexplained = transfer->unexplained;
	return (struct span){
		.group = group_of(transfer->process, LEVEL_UCT, transfer->tid),
		.start = transfer->start,
		.end = transfer->end,
		.cause = transfer->caused_by,
		.bytes = transfer->bytes,
		.detail = transfer->wire_bytes == UINT64_MAX ? 0 : transfer->wire_bytes,
		.count = 1,
		.shape = spans_shape_number(spans, &shape),
		.what = SPAN_FACT,
	};
}

static void take_transfer(struct spans *spans, const struct fact_transfer *transfer)
{
	struct span span = transfer_span(spans, transfer, transfer->end_precision);

	spans_add(spans, &span);
	if (spans->traffic)
		traffic_add(spans->traffic, spans_host_of(spans, transfer->process), transfer,
			    NULL);
}

/* Fragments of one thread become a span of their own; all other sums are from --count. */
static void take_transfers(struct spans *spans, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct span span =
		transfer_span(spans, transfer, transfer->tid ? sums->precision : TIME_UNKNOWN);

	if (!transfer->tid) {
		add_sums(spans, &span, sums);
		return;
	}
	span.bytes = sums->bytes;
	span.detail = sums->wire_bytes;
	span.count = (uint32_t)sums->count;
	span.time = sums->time;
	spans_add(spans, &span);
	if (spans->traffic)
		traffic_add(spans->traffic, spans_host_of(spans, transfer->process), transfer,
			    sums);
}

static uint32_t channel_of(struct spans *spans, const struct fact_message *message)
{
	uint64_t threads = (uint64_t)message->send_tid << 32 | message->recv_tid;
	uint64_t *number = map_insert(&spans->channels, message->tag, threads, NULL);

	if (!*number)
		*number = spans->channels.used;
	return (uint32_t)*number - 1;
}

static void add_end(struct spans *spans, const struct fact_message *message, enum span_what what)
{
	bool sends = what == SPAN_SEND;
	int process = sends ? message->src : message->dst;
	uint64_t start = sends ? message->send_start : message->recv_start;
	struct span_shape shape;

	if (!start || (!sends && spans->message_layer == LEVEL_MPI && start < message->arrival))
		start = message->arrival;

	memset(&shape, 0, sizeof(shape));
	shape.context = -1;
	shape.process = process;
	shape.peer = sends ? message->dst : message->src;
	shape.layer = spans->message_layer;
	shape.name = sends ? message->send_op : message->recv_op;
	shape.function = message->function;
	shape.message = true;
	shape.src_mem = message->src_mem;
	shape.dst_mem = message->dst_mem;
	shape.src_reason = message->src_reason;
	shape.dst_reason = message->dst_reason;
	shape.chain = message->chain;
	shape.via = message->via;
	shape.chain_reason = message->chain_reason;
	spans_add(spans, &(struct span){
				 .group = group_of(process, spans->message_layer,
						   sends ? message->send_tid : message->recv_tid),
				 .start = start,
				 .end = message->copy_bytes,
				 .id = sends ? message->send : message->recv,
				 .cause = spans->messages,
				 .bytes = message->bytes,
				 .detail = message->tag,
				 .time = message->arrival,
				 .count = (uint32_t)message->copies,
				 .shape = spans_shape_number(spans, &shape),
				 .what = what,
				 .number = channel_of(spans, message),
			 });
}

static void take_message(struct spans *spans, const struct fact_message *message)
{
	spans->messages++;
	clocks_add(&spans->between, spans_host_of(spans, message->src),
		   spans_host_of(spans, message->dst), message->send_start, message->arrival);
	add_end(spans, message, SPAN_SEND);
	add_end(spans, message, SPAN_RECEIVE);
	if (spans->worlds)
		worlds_message(spans->worlds, message);
}

static void spans_fact(void *arg, enum fact_type type, const void *fact,
		       const struct fact_sums *sums)
{
	struct spans *spans = arg;

	switch (type) {
	case FACT_PROCESS:
		return take_process(spans, fact);
	case FACT_CLOCK:
		return take_clock(spans, fact);
	case FACT_CALL:
		return take_call(spans, fact);
	case FACT_OP:
		return take_op(spans, fact);
	case FACT_TRANSFER:
		return take_transfer(spans, fact);
	case FACT_MESSAGE:
		return take_message(spans, fact);
	case FACT_WINDOW:
		return take_window(spans, fact);
	case FACT_MEMORY:
		return take_memory(spans, fact);
	case FACT_LIFETIME:
		return take_lifetime(spans, fact);
	case FACT_CALLS:
		return take_calls(spans, fact, sums);
	case FACT_OPS:
		return take_ops(spans, fact, sums);
	case FACT_TRANSFERS:
		return take_transfers(spans, fact, sums);
	default:
		return;
	}
}

struct fact_sink spans_sink(struct spans *spans)
{
	return (struct fact_sink){ spans, spans_fact };
}

void lanes_release(struct lanes *lanes)
{
	free(lanes->least);
	*lanes = (struct lanes){ 0 };
}

void lanes_clear(struct lanes *lanes)
{
	if (lanes->room)
		memset(lanes->least, 0, 2 * lanes->room * sizeof(*lanes->least));
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Node n has the children 2n and 2n + 1; the root is 1, the leaves begin at room. */
static void update(struct lanes *lanes, size_t lane, uint64_t end)
{
	size_t node = lanes->room + lane;

	lanes->least[node] = end;
	while (node /= 2)
		lanes->least[node] = lesser(lanes->least[2 * node], lanes->least[2 * node + 1]);
}

static void grow(struct lanes *lanes)
{
	struct lanes larger = { .room = lanes->room ? 2 * lanes->room : 1 };

	larger.least = xcalloc(2 * larger.room, sizeof(*larger.least));
	for (size_t i = 0; i < lanes->room; i++)
		update(&larger, i, lanes->least[lanes->room + i]);
	free(lanes->least);
	*lanes = larger;
}

size_t lanes_take(struct lanes *lanes, uint64_t start, uint64_t end)
{
	size_t node = 1;

	if (!lanes->room || lanes->least[1] > start)
		grow(lanes);
	while (node < lanes->room)
		node = 2 * node + (lanes->least[2 * node] > start);
	update(lanes, node - lanes->room, end > start ? end : start);
	return node - lanes->room;
}
