// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/emit.h"

enum fact_locality emit_locality(const struct process *process, const struct process *peer,
				 const char *transport)
{
	if (!peer)
		return transport_locality(transport);
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

	if (emitter->sink->transfers)
		emitter->sink->transfers(emitter->sink->arg, fact, &sums);
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
	struct op *op = transfer->op;
	const struct leg leg = { fact->transport, fact->src_mem, fact->dst_mem };

	if (op && op->way && !transfer->retried && !transfer->control && transfer->bytes)
		way_add(op->way, transfer->copy, &leg, transfer->count, transfer->bytes);
}

void emit_transfer(struct emitter *emitter, const struct transfer *transfer)
{
	const struct process *peer = peer_of(emitter, transfer);
	const char *transport = transfer->iface ? transfer->iface->transport : NULL;
	const struct memory_end here = memory_here(emitter->decoder, transfer);
	const struct memory_end there = memory_there(emitter->decoder, transfer);
	const struct emitted_end end = emit_end(transfer->start, transfer->end);
	const bool fetches = transfer->site->verb == VERB_GET;
	const struct op *op = transfer->op;
	struct fact_transfer fact = {
		.caused_by = op ? op->id : 0,
		.process = transfer->process->index,
		.peer = emit_index(peer),
		.op = transfer->site->name,
		.transport = transport,
		.device = transfer->iface ? transfer->iface->device : NULL,
		.locality = emit_locality(transfer->process, peer, transport),
		.kind = kind_of(transfer),
		.ucp_op = op ? op->site->name : NULL,
		.function = op ? op->function : NULL,
		.place = op ? op->place : NULL,
		.protocol = transfer->protocol,
		.src_mem = fetches ? there.name : here.name,
		.dst_mem = fetches ? here.name : there.name,
		.src_reason = fetches ? there.reason : here.reason,
		.dst_reason = fetches ? here.reason : there.reason,
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
		.fetches = fact_fetches(transfer->site->name, transport),
	};

	account(emitter->totals, transfer);
	emitter->totals->transfers.recorded += transfer->retried ? 0 : transfer->count;
	note_way(transfer, &fact);
	emit_count(emitter);
	if (transfer->count > 1)
		emit_fragments(emitter, transfer, &fact);
	else if (emitter->sink->transfer)
		emitter->sink->transfer(emitter->sink->arg, &fact);
}
