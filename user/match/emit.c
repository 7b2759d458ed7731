// SPDX-License-Identifier: BSD-3-Clause
#include "match/emit.h"

static const enum fact_precision precisions[] = {
	[PRECISION_UNKNOWN] = TIME_UNKNOWN,
	[PRECISION_EXACT] = TIME_EXACT,
	[PRECISION_UPPER] = TIME_UPPER_BOUND,
	[PRECISION_LOWER] = TIME_LOWER_BOUND,
};

void emitter_release(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->lists.len; i++)
		free(emitter->lists.data[i]);
	vec_release(&emitter->lists);
	emitted_devices_release(emitter);
}

static void *list_of(struct emitter *emitter, size_t length, size_t size)
{
	void *list = calloc(length + 1, size);

	if (!list)
		abort();
	vec_push(&emitter->lists, list);
	return list;
}

static const struct fact_ucx *ucx_facts(struct emitter *emitter, const struct process *process)
{
	struct fact_ucx *ucx = list_of(emitter, process->ucx.len, sizeof(*ucx));

	for (size_t i = 0; i < process->ucx.len; i++) {
		const struct ucx_library *library = &process->ucx.data[i];

		ucx[i] = (struct fact_ucx){ library->path, library->build_id, library->version,
					    library->layout };
	}
	return ucx;
}

static const struct fact_variable *environment_facts(struct emitter *emitter,
						     const struct process *process)
{
	struct fact_variable *environment =
		list_of(emitter, process->environment.len, sizeof(*environment));

	for (size_t i = 0; i < process->environment.len; i++)
		environment[i] = (struct fact_variable){ process->environment.data[i].name,
							 process->environment.data[i].value };
	return environment;
}

static void emit_process(struct emitter *emitter, const struct process *process)
{
	const struct host *host = &emitter->decoder->hosts.data[process->host];
	struct fact_process fact = {
		.index = process->index,
		.host = process->host,
		.host_id = host->id,
		.host_name = host->name,
		.pid = process->ns_pid,
		.tgid = process->tgid,
		.start_time = process->start_time,
		.comm = process->comm,
		.exe = process->exe,
		.mpi = process->mpi,
		.job = process->job,
		.rank = process->rank,
		.size = process->size,
		.from_start = process->from_start,
		.ucx = ucx_facts(emitter, process),
		.ucx_count = (int)process->ucx.len,
		.gpu_library = process->gpu_library,
		.environment = environment_facts(emitter, process),
		.environment_count = (int)process->environment.len,
		.environment_cut = process->environment_cut,
		.cpus = process->cpus,
	};

	if (emitter->sink->process)
		emitter->sink->process(emitter->sink->arg, &fact);
}

void emit_processes(struct emitter *emitter)
{
	while (emitter->processes < emitter->decoder->shown) {
		for (size_t i = 0; i < emitter->decoder->processes.len; i++) {
			struct process *process = emitter->decoder->processes.data[i];

			if (process->index == emitter->processes)
				emit_process(emitter, process);
		}
		emitter->processes++;
	}
}

static bool host_told(const inputs *inputs, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (inputs->data[i]->capture.host == inputs->data[before]->capture.host &&
		    inputs->data[i]->real)
			return true;
	return false;
}

void emit_clocks(struct emitter *emitter, const inputs *inputs)
{
	for (size_t i = 0; emitter->sink->clock && i < inputs->len; i++) {
		const struct input *input = inputs->data[i];

		if (input->real && !host_told(inputs, i))
			emitter->sink->clock(emitter->sink->arg,
					     &(struct fact_clock){ input->capture.host, input->mono,
								   input->real });
	}
}

static int index_of(const struct process *process)
{
	return process ? process->index : -1;
}

const struct process *emit_peer(struct emitter *emitter, struct object *ep)
{
	bool traced;

	return ep && decoder_peer(emitter->decoder, ep, &traced) ? ep->peer_process : NULL;
}

/* What a receive waited for may have come before it was posted: when it was done is then not known.
 */
static struct moment end_of(uint64_t start, struct moment end)
{
	return end.precision == PRECISION_UNKNOWN || end.ns < start ? (struct moment){ 0 } : end;
}

void emit_call(struct emitter *emitter, const struct call *call)
{
	const struct moment end = end_of(call->start, call->end);
	struct fact_call fact = {
		.id = call->id,
		.process = call->process->index,
		.function = call->function,
		.place = call->place,
		.stack = call->stack,
		.tid = call->tid,
		.start = call->start,
		.end = end.ns,
		.end_precision = precisions[end.precision],
		.ops = call->ops,
		.bytes = call->bytes,
	};

	if (emitter->sink->call)
		emitter->sink->call(emitter->sink->arg, &fact);
}

void emit_op(struct emitter *emitter, struct op *op)
{
	const struct moment end = end_of(op->start, op->end);
	struct fact_op fact = {
		.id = op->id,
		.call = op->call,
		.process = op->process->index,
		.peer = index_of(op->ep ? emit_peer(emitter, op->ep) : op->peer),
		.op = op->site->name,
		.function = op->function,
		.place = op->place,
		.protocol = op->protocol,
		.tid = op->tid,
		.start = op->start,
		.end = end.ns,
		.end_precision = precisions[end.precision],
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

	if (emitter->sink->op)
		emitter->sink->op(emitter->sink->arg, &fact);
}

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
	const struct moment end = end_of(transfer->start, transfer->end);
	const bool fetches = transfer->site->verb == VERB_GET;
	const struct op *op = transfer->op;
	struct fact_transfer fact = {
		.caused_by = op ? op->id : 0,
		.process = transfer->process->index,
		.peer = index_of(peer),
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
		.end_precision = precisions[end.precision],
		.bytes = transfer->bytes,
		.wire_bytes = transfer->wire_bytes,
		.laddr = transfer->laddr,
		.raddr = transfer->raddr,
		.retried = transfer->retried,
		.fetches = fact_fetches(transfer->site->name, transport),
	};

	account(emitter->totals, transfer);
	note_way(transfer, &fact);
	if (transfer->count > 1)
		emit_fragments(emitter, transfer, &fact);
	else if (emitter->sink->transfer)
		emitter->sink->transfer(emitter->sink->arg, &fact);
}

/* Of the captures that told of a process, the end of the last one. */
static uint64_t watched_until(const inputs *inputs, const struct process *process)
{
	uint64_t until = 0;

	for (size_t i = 0; i < inputs->len; i++) {
		const struct input *input = inputs->data[i];
		const uint64_t *has = map_find(&input->capture.tgids, process->tgid, 0);
		uint64_t end = input->capture.ended ? input->capture.ended : input->last;

		if (input->capture.host == process->host && has && *has == (uintptr_t)process &&
		    end > until)
			until = end;
	}
	return until;
}

void emit_lifetimes(struct emitter *emitter, const inputs *inputs)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; emitter->sink->lifetime && i < decoder->processes.len; i++) {
		const struct process *process = decoder->processes.data[i];
		const struct fact_lifetime fact = {
			.process = process->index,
			.until = process->exited ? process->exited_at
						 : watched_until(inputs, process),
			.exited = process->exited,
		};

		if (process->index >= 0 && fact.until)
			emitter->sink->lifetime(emitter->sink->arg, &fact);
	}
}

void emit_windows(struct emitter *emitter, const struct input *input, int number)
{
	const struct capture *capture = &input->capture;
	uint64_t until = capture->ended ? capture->ended : input->last;

	for (size_t i = 0; emitter->sink->window && i < capture->windows.len; i++) {
		const struct window *window = &capture->windows.data[i];
		struct fact_window fact = {
			.host = capture->host,
			.host_name = emitter->decoder->hosts.data[capture->host].name,
			.capture = number,
			.from = window->from,
			.to = window->to ? window->to : input->last,
			.until = until,
		};

		if (fact.to < fact.from)
			fact.to = fact.from;
		emitter->sink->window(emitter->sink->arg, &fact);
	}
}
