// SPDX-License-Identifier: BSD-3-Clause
/* MPI calls and UCP operations. */
#include "explain/match/emit.h"

static const enum fact_precision precisions[] = {
	[PRECISION_EXACT] = TIME_EXACT,
	[PRECISION_UPPER] = TIME_UPPER_BOUND,
	[PRECISION_LOWER] = TIME_LOWER_BOUND,
};

int emit_index(const struct process *process)
{
	return process ? process->index : -1;
}

const struct process *emit_peer(struct emitter *emitter, struct object *ep)
{
	bool traced;

	return ep && decoder_peer(emitter->decoder, ep, &traced) ? ep->peer_process : NULL;
}

struct emitted_end emit_end(uint64_t start, struct moment end)
{
	if (end.precision == PRECISION_UNKNOWN || end.ns < start)
		return (struct emitted_end){ 0, TIME_UNKNOWN };
	return (struct emitted_end){ end.ns, precisions[end.precision] };
}

static void emit_call_seen(struct emitter *emitter, const struct call *call)
{
	const struct emitted_end end = emit_end(call->start, call->end);
	struct fact_call fact = {
		.id = call->id,
		.process = call->process->index,
		.function = call->function,
		.comm = call->comm,
		.place = call->place,
		.stack = call->stack,
		.tid = call->tid,
		.start = call->start,
		.end = end.ns,
		.end_precision = end.precision,
		.ops = call->ops,
		.bytes = call->bytes,
	};

	emitter->totals->calls.recorded++;
	emit_count(emitter);
	if (emitter->sink->call)
		emitter->sink->call(emitter->sink->arg, &fact);
}

/* Its record is missing, and it is counted elsewhere: only what is below it is added. */
static void emit_missed(struct emitter *emitter, const struct call *call)
{
	const struct fact_call fact = {
		.process = call->process->index,
		.function = call->function,
		.start = call->start,
		.end = call->end.ns,
	};
	const struct fact_sums sums = { .ops = call->ops, .bytes = call->bytes };

	if ((call->ops || call->bytes) && emitter->sink->calls)
		emitter->sink->calls(emitter->sink->arg, &fact, &sums);
}

void emit_call(struct emitter *emitter, const struct call *call)
{
	if (!call->id)
		return emit_missed(emitter, call);
	emit_call_seen(emitter, call);
}
void emit_op(struct emitter *emitter, struct op *op)
{
	const struct emitted_end end = emit_end(op->start, op->end);
	struct fact_op fact = {
		.id = op->id,
		.call = op->call,
		.process = op->process->index,
		.peer = emit_index(op->ep ? emit_peer(emitter, op->ep) : op->peer),
		.op = op->site->name,
		.function = op->function,
		.place = op->place,
		.protocol = op->protocol,
		.tid = op->tid,
		.start = op->start,
		.end = end.ns,
		.end_precision = end.precision,
		.tag = op->info ? op->info_tag : op->tag,
		.bytes = op->bytes,
		.buffer = op->buffer,
		.memory = decoder_memory_name(emitter->decoder, op->memory.kind, op->memory.device),
		.memory_reason = op->memory.reason,
		.memory_known_by = op->memory.known_by,
		.taken_as = op->taken_as,
		.status = op->status,
		.sends = op->sends,
	};

	emit_count(emitter);
	emitter->totals->ops.recorded++;
	if (emitter->sink->op)
		emitter->sink->op(emitter->sink->arg, &fact);
}
