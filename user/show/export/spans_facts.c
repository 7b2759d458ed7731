// SPDX-License-Identifier: BSD-3-Clause
/* From facts to spans. */
#include <string.h>

#include "show/export/spans.h"
#include "show/export/traffic.h"
#include "show/export/worlds.h"

static uint64_t group_of(int process, enum span_layer layer, uint32_t tid)
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

static void take_process(void *arg, const struct fact_process *process)
{
	struct spans *spans = arg;

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

static void take_clock(void *arg, const struct fact_clock *clock)
{
	vec_push(&((struct spans *)arg)->clocks, *clock);
}

static void take_window(void *arg, const struct fact_window *window)
{
	struct spans *spans = arg;

	vec_push(&spans->windows, *window);
	spans_see(spans, window->host, window->from, window->to);
}

static void take_memory(void *arg, const struct fact_memory *memory)
{
	vec_push(&((struct spans *)arg)->memory, *memory);
}

static struct span call_span(struct spans *spans, const struct fact_call *call)
{
	struct span_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.process = call->process;
	shape.peer = -1;
	shape.layer = LAYER_MPI;
	shape.precision = call->end_precision;
	shape.name = call->function;
	shape.comm = call->comm;
	shape.place = call->place;
	shape.stack = call->stack;
	return (struct span){
		.group = group_of(call->process, LAYER_MPI, call->tid),
		.start = call->start,
		.end = call->end,
		.id = call->id,
		.bytes = call->bytes,
		.detail = call->ops,
		.count = 1,
		.shape = spans_shape_number(spans, &shape),
		.what = SPAN_FACT,
	};
}

static void take_call(void *arg, const struct fact_call *call)
{
	struct spans *spans = arg;
	struct span span = call_span(spans, call);

	spans_add(spans, &span);
	if (spans->worlds)
		worlds_call(spans->worlds, call);
}

static void take_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	struct span span = call_span(arg, call);

	add_sums(arg, &span, sums);
}

static struct span op_span(struct spans *spans, const struct fact_op *op)
{
	struct span_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.process = op->process;
	shape.peer = op->peer;
	shape.layer = LAYER_UCP;
	shape.precision = op->end_precision;
	shape.status = op->status;
	shape.name = op->op;
	shape.function = op->function;
	shape.protocol = op->protocol;
	shape.memory = op->memory;
	shape.memory_reason = op->memory_reason;
	return (struct span){
		.group = group_of(op->process, LAYER_UCP, op->tid),
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

static void take_op(void *arg, const struct fact_op *op)
{
	struct span span = op_span(arg, op);

	spans_add(arg, &span);
}

static void take_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	struct span span = op_span(arg, op);

	add_sums(arg, &span, sums);
}

static struct span transfer_span(struct spans *spans, const struct fact_transfer *transfer,
				 enum fact_precision precision)
{
	struct span_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.process = transfer->process;
	shape.peer = transfer->peer;
	shape.layer = LAYER_UCT;
	shape.precision = precision;
	shape.locality = transfer->locality;
	shape.kind = transfer->kind;
	shape.retried = transfer->retried;
	shape.fetches = transfer->fetches;
	shape.name = transfer->op;
	shape.function = transfer->function;
	shape.ucp_op = transfer->ucp_op;
	shape.protocol = transfer->protocol;
	shape.transport = transfer->transport;
	shape.device = transfer->device;
	shape.src_mem = transfer->src_mem;
	shape.dst_mem = transfer->dst_mem;
	shape.src_reason = transfer->src_reason;
	shape.dst_reason = transfer->dst_reason;
	shape.unexplained = transfer->unexplained;
	return (struct span){
		.group = group_of(transfer->process, LAYER_UCT, transfer->tid),
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

static void take_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct spans *spans = arg;
	struct span span = transfer_span(spans, transfer, transfer->end_precision);

	spans_add(spans, &span);
	if (spans->traffic)
		traffic_add(spans->traffic, spans_host_of(spans, transfer->process), transfer,
			    NULL);
}

/* Fragments of one thread are a span of their own; all else is of a capture made with --count. */
static void take_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct spans *spans = arg;
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

	if (!start || (!sends && spans->message_layer == LAYER_MPI && start < message->arrival))
		start = message->arrival;

	memset(&shape, 0, sizeof(shape));
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

static void take_message(void *arg, const struct fact_message *message)
{
	struct spans *spans = arg;

	spans->messages++;
	add_end(spans, message, SPAN_SEND);
	add_end(spans, message, SPAN_RECEIVE);
	if (spans->worlds)
		worlds_message(spans->worlds, message);
}

struct fact_sink spans_sink(struct spans *spans)
{
	return (struct fact_sink){
		.arg = spans,
		.process = take_process,
		.clock = take_clock,
		.call = take_call,
		.op = take_op,
		.transfer = take_transfer,
		.message = take_message,
		.window = take_window,
		.memory = take_memory,
		.calls = take_calls,
		.ops = take_ops,
		.transfers = take_transfers,
	};
}
