// SPDX-License-Identifier: BSD-3-Clause
/* Calls, operations, transfers and messages, as facts. */
#include "explain/analysis/emit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/order.h"

const char *iface_memory(const struct object *iface)
{
	return iface && iface->tl->host_only ? "host" : NULL;
}

/* The memory at one end of a transfer. */
struct memory_end {
	const char *name; /* NULL: unknown */
	const char *reason; /* static; why name, or the device of "gpu", is not known */
};

static struct memory_end known(const char *name)
{
	return (struct memory_end){ .name = name };
}

static struct memory_end answered(struct decoder *decoder, const struct memory_answer *answer)
{
	return (struct memory_end){ decoder_memory_name(decoder, answer->kind, answer->device),
				    answer->reason };
}

/* All that it has is the host's. */
static bool has_no_gpu(const struct process *process)
{
	return process && process->told_by && !process->gpu_library;
}

/*
 * What UCX sends as an active message it packs into memory of the host: from a GPU by a copy of its
 * own (ucp_dt_contig_pack(), src/ucp/dt/dt_contig.c), so that this one starts there.
 */
static struct memory_end packed(struct decoder *decoder, const struct transfer *transfer)
{
	const bool any = transfer->site->mode == MODE_BCOPY && transfer->process->gpu_library;
	const char *host = iface_memory(transfer->iface);

	if (transfer->here.kind == MEMORY_GPU || (transfer->control && transfer->here.reason))
		return known("host");
	if (transfer->here.kind == MEMORY_UNKNOWN && host && !any)
		return known(host);
	return answered(decoder, &transfer->here);
}

/*
 * The near side of a copy that no request has is a transport's buffer (src/ucp/dt/dt.c); one into a
 * peer's memory goes to memory that is mapped, which a GPU's is not (ucp_rndv_get_frag_rkey_ptr(),
 * src/ucp/rndv/rndv.c).
 */
static bool near_is_host(const struct transfer *transfer)
{
	const struct op *op = transfer->op;

	if (!iface_copies(transfer->iface))
		return false;
	if (transfer->copy)
		return transfer->site->mode == MODE_SHORT;
	return op && op_covers(op, transfer->raddr);
}

static struct memory_end memory_here(struct decoder *decoder, const struct transfer *transfer)
{
	const char *host = iface_memory(transfer->iface);

	if (has_no_gpu(transfer->process))
		return known("host");
	if (!transfer->laddr)
		return packed(decoder, transfer);
	if (transfer->here.kind != MEMORY_UNKNOWN)
		return answered(decoder, &transfer->here);
	if (near_is_host(transfer))
		return known("host");
	return host ? known(host) : answered(decoder, &transfer->here);
}

/* UCX's own, from where it unpacks, or of a process that has no other. */
static bool there_is_host(const struct transfer *transfer)
{
	return transfer->site->verb == VERB_AM ||
	       (transfer->ep && has_no_gpu(transfer->ep->peer_process));
}

/* The message's other operation has that memory. */
static bool is_others(const struct transfer *transfer)
{
	const struct other_end *other = matched_other(transfer->op);

	return other && transfer->raddr - other->buffer < other->bytes;
}

static struct memory_end memory_there(struct decoder *decoder, const struct transfer *transfer)
{
	const char *host = iface_memory(transfer->iface);

	if (transfer->there.kind != MEMORY_UNKNOWN)
		return answered(decoder, &transfer->there);
	if (host || there_is_host(transfer))
		return known("host");
	if (is_others(transfer))
		return answered(decoder, &matched_other(transfer->op)->memory);
	return answered(decoder, &transfer->there);
}

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

struct emitted_end {
	uint64_t ns;
	enum fact_precision precision;
};

/* The message may have come before the receive was posted: then the end of its wait is unknown. */
static struct emitted_end emit_end(uint64_t start, struct moment end)
{
	if (end.precision == PRECISION_UNKNOWN || end.ns < start)
		return (struct emitted_end){ 0, TIME_UNKNOWN };
	return (struct emitted_end){ end.ns, precisions[end.precision] };
}

/* Many calls of a loop. */
static void emit_polls(struct emitter *emitter, const struct call *call)
{
	const bool exact = call->end.precision == PRECISION_EXACT;
	const struct fact_call fact = {
		.process = call->process->index,
		.function = call->function,
		.comm = call->comm,
		.context = -1,
		.seen = "probe",
		.place = call->place,
		.tid = call->tid,
		.start = call->start,
		.end = call->until,
		.end_precision = TIME_UPPER_BOUND,
		.until = call->until,
	};
	const struct fact_sums sums = {
		.count = call->count,
		.bytes_unknown = call->bare ? call->count : 0,
		.ops_unknown = call->bare ? call->count : 0,
		.timed = call->count,
		.time = call->end.ns - call->start,
		.precision = exact ? TIME_EXACT : TIME_LOWER_BOUND,
	};

	emitter->totals->calls.recorded += call->count;
	emit_count(emitter);
	fact_put_sums(emitter->sink, FACT_CALLS, &fact, &sums);
}

static void emit_call_seen(struct emitter *emitter, const struct call *call, uint64_t until,
			   bool open, struct collective_identity identity)
{
	const struct moment last = open ? (struct moment){ until, PRECISION_LOWER } : call->end;
	const struct emitted_end end = emit_end(call->start, last);
	struct fact_call fact = {
		.id = call->id,
		.process = call->process->index,
		.function = call->function,
		.comm = call->comm,
		.context = identity.context,
		.sequence = identity.sequence,
		.seen = call->derived ? "derived" : "probe",
		.place = call->place,
		.stack = call->stack,
		.tid = call->tid,
		.start = call->start,
		.end = end.ns,
		.end_precision = end.precision,
		.until = until,
		.open = open,
		.ops = call->bare ? UINT64_MAX : call->ops,
		.bytes = call->bare ? UINT64_MAX : call->bytes,
	};

	emitter->totals->calls.recorded++;
	emit_count(emitter);
	fact_put(emitter->sink, FACT_CALL, &fact);
}

/* Its record is missing, and it is counted elsewhere: adds only its transfers. */
static void emit_missed(struct emitter *emitter, const struct call *call)
{
	const struct fact_call fact = {
		.process = call->process->index,
		.function = call->function,
		.context = -1,
		.start = call->start,
		.end = call->end.ns,
	};
	const struct fact_sums sums = { .ops = call->ops, .bytes = call->bytes };

	if (call->ops || call->bytes)
		fact_put_sums(emitter->sink, FACT_CALLS, &fact, &sums);
}

void emit_call(struct emitter *emitter, const struct call *call, uint64_t until, bool open,
	       struct collective_identity identity)
{
	if (!call->id)
		return emit_missed(emitter, call);
	if (call->count > 1)
		return emit_polls(emitter, call);
	emit_call_seen(emitter, call, until, open, identity);
}

void emit_wait(struct emitter *emitter, const struct fact_wait *wait)
{
	emit_count(emitter);
	fact_put(emitter->sink, FACT_WAIT, wait);
}

void emit_collective(struct emitter *emitter, const struct fact_collective *collective)
{
	emit_count(emitter);
	fact_put(emitter->sink, FACT_COLLECTIVE, collective);
}

#define FREED_EARLY "operations that were not done when ucp_mem_unmap() freed their memory"

static bool ended_by(const struct op *op, uint64_t time)
{
	return (op->end.precision == PRECISION_EXACT || op->end.precision == PRECISION_UPPER) &&
	       op->end.ns <= time;
}

void emit_op(struct emitter *emitter, struct op *op)
{
	const struct emitted_end end = emit_end(op->start, matched_end(op));
	struct fact_op fact = {
		.id = op->id,
		.call = op->call,
		.process = op->process->index,
		.peer = emit_index(op->ep ? emit_peer(emitter, op->ep) : matched_peer(op)),
		.op = op->site->name,
		.function = op->function,
		.place = op->place,
		.stack = op->stack,
		.protocol = matched_protocol(op),
		.tid = op->tid,
		.start = op->start,
		.end = end.ns,
		.end_precision = end.precision,
		.tag = op->info ? op->info_tag : matched_tag(op),
		.bytes = matched_bytes(op),
		.buffer = op->buffer,
		.memory = decoder_memory_name(emitter->decoder, op->memory.kind, op->memory.device),
		.memory_reason = op->memory.reason,
		.memory_known_by = op->memory.known_by,
		.taken_as = op->taken_as,
		.status = op->status,
		.freed =
			op->freed && op->end.precision == PRECISION_EXACT && op->end.ns > op->freed,
		.sends = op->sends,
	};

	if (fact.freed)
		reason_add(emitter->totals->notes, FREED_EARLY, 1);
	else if (op->freed && !ended_by(op, op->freed))
		emitter->totals->freed_unsure++;
	emit_count(emitter);
	emitter->totals->ops.recorded++;
	fact_put(emitter->sink, FACT_OP, &fact);
}

enum fact_locality emit_locality(const struct process *process, const struct process *peer,
				 const struct object *iface)
{
	static const enum fact_locality of_reach[] = {
		[REACH_UNKNOWN] = LOCALITY_UNKNOWN,
		[REACH_SELF] = LOCALITY_SELF,
		[REACH_NODE] = LOCALITY_NODE,
	};

	if (!peer)
		return of_reach[iface ? iface->tl->reach : REACH_UNKNOWN];
	if (peer == process)
		return LOCALITY_SELF;
	return peer->host == process->host ? LOCALITY_NODE : LOCALITY_REMOTE;
}

static void account_copy(struct fact_totals *totals, const struct transfer *transfer)
{
	totals->copies += transfer->count;
	totals->copy_bytes += transfer->bytes;
	if (!transfer->op)
		totals->copy_unexplained_bytes += transfer->bytes;
}

static void account(struct fact_totals *totals, const struct transfer *transfer)
{
	if (transfer->control || transfer->retried)
		return;
	if (transfer->copy)
		return account_copy(totals, transfer);
	totals->data_bytes += transfer->bytes;
	if (!transfer->op) {
		totals->unexplained_bytes += transfer->bytes;
		reason_add(totals->unexplained, transfer->reason, transfer->bytes);
		return;
	}
	totals->to_op_bytes += transfer->bytes;
	if (transfer->op->function)
		totals->to_call_bytes += transfer->bytes;
}

static void emit_fragments(struct emitter *emitter, const struct transfer *transfer,
			   const struct fact_transfer *fact)
{
	const struct fact_sums sums = {
		.count = transfer->count,
		.bytes = transfer->bytes,
		.wire_bytes = transfer->wire_bytes,
		.timed = transfer->count,
		.time = transfer->time,
		.precision = fact->end_precision,
	};

	fact_put_sums(emitter->sink, FACT_TRANSFERS, fact, &sums);
}

static enum fact_kind kind_of(const struct transfer *transfer)
{
	if (transfer->control)
		return KIND_CONTROL;
	return transfer->copy ? KIND_COPY : KIND_DATA;
}

static const struct process *peer_of(struct emitter *emitter, const struct transfer *transfer)
{
	return transfer->copy ? transfer->process : emit_peer(emitter, transfer->ep);
}

static void note_way(const struct transfer *transfer, const struct fact_transfer *fact)
{
	struct way *way = matched_way(transfer->op);
	const struct leg leg = { .transport = fact->transport,
				 .src = fact->src_mem,
				 .dst = fact->dst_mem };

	if (way && !transfer->retried && !transfer->control && transfer->bytes)
		way_add(way, transfer->copy, &leg, transfer->count, transfer->bytes);
}

void emit_transfer(struct emitter *emitter, const struct transfer *transfer)
{
	const struct process *peer = peer_of(emitter, transfer);
	const char *transport = transfer->iface ? transfer->iface->transport : NULL;
	const struct memory_end here = memory_here(emitter->decoder, transfer);
	const struct memory_end there = memory_there(emitter->decoder, transfer);
	const struct emitted_end end = emit_end(transfer->start, transfer->end);
	const bool reads = transfer->site->verb == VERB_GET; /* from the remote address */
	const struct op *op = transfer->op;
	struct fact_transfer fact = {
		.caused_by = op ? op->id : 0,
		.caused_in = op ? op->process->index : -1,
		.process = transfer->process->index,
		.peer = emit_index(peer),
		.op = transfer->site->name,
		.transport = transport,
		.device = transfer->iface ? transfer->iface->device : NULL,
		.locality = emit_locality(transfer->process, peer, transfer->iface),
		.kind = kind_of(transfer),
		.ucp_op = op ? op->site->name : NULL,
		.function = op ? op->function : NULL,
		.place = op ? op->place : NULL,
		.protocol = transfer->protocol,
		.src_mem = reads ? there.name : here.name,
		.dst_mem = reads ? here.name : there.name,
		.src_reason = reads ? there.reason : here.reason,
		.dst_reason = reads ? here.reason : there.reason,
		.unexplained = transfer->retried ? NULL : transfer->reason,
		.tid = transfer->tid,
		.start = transfer->start,
		.end = end.ns,
		.end_precision = end.precision,
		.bytes = transfer->bytes,
		.wire_bytes = transfer->wire_bytes,
		.laddr = transfer->laddr,
		.raddr = transfer->raddr,
		.retried = transfer->retried,
		.seen = transfer->derived ? "derived" : "probe",
		.fetches = fact_fetches(transfer->site->name, transport),
	};

	fact.data_path = fact_data_path(&fact);
	fact.initiator = fact_initiator(&fact);
	if (fact_emulates(fact.protocol) && transfer->ep)
		fact.lanes = decoder_lanes(emitter->decoder, transfer->ep);
	account(emitter->totals, transfer);
	emitter->totals->transfers.recorded += transfer->retried ? 0 : transfer->count;
	note_way(transfer, &fact);
	emit_count(emitter);
	if (transfer->count > 1)
		emit_fragments(emitter, transfer, &fact);
	else
		fact_put(emitter->sink, FACT_TRANSFER, &fact);
}

/*
 * Messages, as facts: at once, or, where a process has a GPU library, when all of their way is
 * known. Whether transfers have their bytes is summed when the way is over.
 */

/* A matched message whose ways are still open; freed when they are over. */
struct open_message {
	struct way *send, *recv; /* held; NULL */
	uint64_t bytes;
	struct message *message; /* to emit then; NULL: it was emitted */
};

static void fill_memory(struct emitter *emitter, const struct way *way, const char **name,
			const char **reason)
{
	const struct memory_answer *memory = way ? way->memory : NULL;

	if (memory)
		*name = decoder_memory_name(emitter->decoder, memory->kind, memory->device);
	*reason = memory ? memory->reason : "no operation's buffer is known";
}

static bool is_named(const struct message *message)
{
	const struct way *send = message->src_way, *recv = message->dst_way;

	return (send && send->memory) || (recv && recv->memory);
}

static void account_way(struct fact_totals *totals, uint64_t bytes, const char *lacks)
{
	if (bytes == UINT64_MAX)
		return;
	totals->way_bytes = order_sum(totals->way_bytes, bytes);
	if (!lacks || !bytes)
		return;
	totals->wayless_bytes = order_sum(totals->wayless_bytes, bytes);
	reason_add(totals->wayless, lacks, bytes);
}

static void fill_way(struct emitter *emitter, struct fact_message *fact, const struct way *send,
		     const struct way *recv)
{
	struct chain chain;

	fill_memory(emitter, send, &fact->src_mem, &fact->src_reason);
	fill_memory(emitter, recv, &fact->dst_mem, &fact->dst_reason);
	chain = chain_of(&emitter->decoder->strings, send, recv, fact->src_mem, fact->dst_mem,
			 fact->bytes);
	fact->chain = chain.nodes;
	fact->via = chain.hops;
	fact->chain_reason = chain.reason;
	fact->copies = (send ? send->copies.count : 0) + (recv ? recv->copies.count : 0);
	fact->copy_bytes = (send ? send->copies.bytes : 0) + (recv ? recv->copies.bytes : 0);
	account_way(emitter->totals, fact->bytes, chain.reason);
}

static void fill_identity(struct emitter *emitter, const struct message *message,
			  struct fact_message *fact)
{
	const struct identity identity = decoder_identity(emitter->decoder, message->send_caller,
							  message->send_op, message->tag);

	fact->library = identity.library;
	fact->kind = identity.kind;
	fact->team = identity.team;
	fact->sender = identity.sender;
	fact->number = identity.number;
}

static void emit_message_fact(struct emitter *emitter, const struct message *message)
{
	struct fact_message fact = {
		.src = message->src->index,
		.dst = message->dst->index,
		.send = message->send,
		.recv = message->recv,
		.send_tid = message->send_tid,
		.recv_tid = message->recv_tid,
		.function = message->function,
		.send_op = message->send_op,
		.recv_op = message->recv_op,
		.tag = message->tag,
		.bytes = message->bytes,
		.send_start = message->send_start,
		.recv_start = message->recv_start,
		.arrival = message->arrival,
		.sender = -1,
		.number = -1,
	};

	fill_identity(emitter, message, &fact);
	if (is_named(message))
		fill_way(emitter, &fact, message->src_way, message->dst_way);
	emit_count(emitter);
	fact_put(emitter->sink, FACT_MESSAGE, &fact);
}

static bool is_over(const struct way *way)
{
	return !way || way->over;
}

static void attach(struct way *way, struct open_message *waiting)
{
	if (way)
		way->waiting = waiting;
}

static void emit_if_over(struct emitter *emitter, struct open_message *waiting)
{
	struct way *send = waiting->send, *recv = waiting->recv;

	if (!is_over(send) || !is_over(recv))
		return;
	if (waiting->message)
		emit_message_fact(emitter, waiting->message);
	else
		account_way(emitter->totals, waiting->bytes, way_lacks(send, recv, waiting->bytes));
	attach(send, NULL);
	attach(recv, NULL);
	way_drop(send);
	way_drop(recv);
	free(waiting->message);
	free(waiting);
}

void emit_message(struct emitter *emitter, const struct message *message)
{
	struct open_message *waiting = xmalloc(sizeof(*waiting));

	*waiting = (struct open_message){ .send = way_hold(message->src_way),
					  .recv = way_hold(message->dst_way),
					  .bytes = message->bytes };
	attach(waiting->send, waiting);
	attach(waiting->recv, waiting);
	if (is_named(message)) {
		waiting->message = xmalloc(sizeof(*message));
		*waiting->message = *message;
	} else {
		emit_message_fact(emitter, message);
	}
	emit_if_over(emitter, waiting);
}

void emit_way_joined(const struct way *send, struct way *recv)
{
	struct open_message *waiting = send->waiting;

	if (!waiting || waiting->recv)
		return;
	waiting->recv = way_hold(recv);
	attach(recv, waiting);
	if (waiting->message)
		waiting->message->dst_way = recv;
}

void emit_way_over(struct emitter *emitter, struct way *way)
{
	way->over = true;
	if (way->waiting)
		emit_if_over(emitter, way->waiting);
}
