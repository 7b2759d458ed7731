// SPDX-License-Identifier: BSD-3-Clause
/* Facts by the sum: cells, of captures made with --count and of records that were not stored. */
#include "explain/analysis/emit.h"

#include <string.h>

#include "base/ucs_status.h"

#define BEYOND "beyond its process's share of the kernel's cells"
#define BEYOND_ENTRIES                                                                             \
	"entries beyond their process's share of the kernel's cells: the calls and operations "    \
	"around them, and paths and peers of transfers, are unknown"
#define NO_OPERATION "in progress: no operation seen around it"

static const char *name_of(const struct site_info *site)
{
	return site ? site->name : NULL;
}

static void emit_calls(struct emitter *emitter, const struct count_cell *cell,
		       const struct fact_sums *sums)
{
	const struct fact_call fact = {
		.process = emit_index(cell->process),
		.function = name_of(cell->call),
		.context = -1,
		.start = cell->first,
		.end = cell->last,
	};

	emit_count(emitter);
	fact_put_sums(emitter->sink, FACT_CALLS, &fact, sums);
}

/* Emits a call's operations, and the bytes of sends. */
static void emit_ops(struct emitter *emitter, const struct count_cell *cell)
{
	bool unsized = cell->flags & UB_CELL_UNSIZED, sends = op_sends(cell->op->op);
	const struct fact_op fact = {
		.process = emit_index(cell->process),
		.peer = -1,
		.op = cell->op->name,
		.function = name_of(cell->call),
		.start = cell->first,
		.end = cell->last,
		.sends = sends,
	};
	const struct fact_sums sums = {
		.count = cell->count,
		.bytes = cell->bytes,
		.bytes_unknown = unsized ? cell->count : 0,
		.timed = cell->timed,
		.time = cell->time,
		.precision = TIME_SAMPLED,
	};
	const struct fact_sums of_call = {
		.ops = cell->count,
		.bytes = sends ? cell->bytes : 0,
		.bytes_unknown = sends ? sums.bytes_unknown : 0,
	};

	emit_count(emitter);
	fact_put_sums(emitter->sink, FACT_OPS, &fact, &sums);
	if (cell->call)
		emit_calls(emitter, cell, &of_call);
}

static const char *without_operation(const struct count_cell *cell)
{
	return cell->flags & UB_CELL_BEYOND ? BEYOND : NO_OPERATION;
}

static void account(struct fact_totals *totals, const struct count_cell *cell,
		    const struct fact_sums *sums)
{
	totals->data_bytes += sums->bytes;
	if (!cell->op) {
		totals->unexplained_bytes += sums->bytes;
		reason_add(totals->unexplained, without_operation(cell), sums->bytes);
		return;
	}
	totals->to_op_bytes += sums->bytes;
	if (cell->call)
		totals->to_call_bytes += sums->bytes;
}

static void account_copies(struct fact_totals *totals, const struct count_cell *cell,
			   const struct fact_sums *sums)
{
	totals->copies += sums->count;
	totals->copy_bytes += sums->bytes;
	if (!cell->op)
		totals->copy_unexplained_bytes += sums->bytes;
}

/* Sums do not separate an operation's own data from its staging copies. */
static enum fact_kind kind_of(const struct count_cell *cell, const struct cell_load *load)
{
	if (load->control)
		return KIND_CONTROL;
	return iface_copies(cell->iface) ? KIND_COPY : KIND_DATA;
}

static void emit_transfers(struct emitter *emitter, const struct count_cell *cell)
{
	const char *transport = cell->iface ? cell->iface->transport : NULL;
	const char *memory = iface_memory(cell->iface);
	const struct cell_load load = cell_load(cell);
	const enum fact_kind kind = kind_of(cell, &load);
	const struct process *peer =
		kind == KIND_COPY ? cell->process : emit_peer(emitter, cell->ep);
	const bool unknown = load.payload == UINT64_MAX;
	struct fact_transfer fact = {
		.caused_in = cell->op ? emit_index(cell->process) : -1,
		.process = emit_index(cell->process),
		.peer = emit_index(peer),
		.op = cell->xfer->name,
		.transport = transport,
		.device = cell->iface ? cell->iface->device : NULL,
		.locality = emit_locality(cell->process, peer, cell->iface),
		.kind = kind,
		.ucp_op = name_of(cell->op),
		.function = cell->op ? name_of(cell->call) : NULL,
		.src_mem = memory,
		.dst_mem = memory,
		.src_reason = memory ? NULL : "sums do not tell",
		.dst_reason = memory ? NULL : "sums do not tell",
		.unexplained = cell->op || load.control ? NULL : without_operation(cell),
		.start = cell->first,
		.end = cell->last,
		.fetches = fact_fetches(cell->xfer->name, transport),
	};
	const struct fact_sums sums = {
		.count = cell->count,
		.bytes = unknown ? 0 : load.payload,
		.bytes_unknown = unknown ? cell->count : 0,
		.wire_bytes = cell->bytes,
		.least = load.least,
		.retries = cell->refused,
		.timed = cell->timed,
		.time = cell->time,
		.precision = TIME_SAMPLED,
	};

	fact.data_path = fact_data_path(&fact);
	fact.initiator = fact_initiator(&fact);
	if (kind == KIND_DATA)
		account(emitter->totals, cell, &sums);
	if (kind == KIND_COPY)
		account_copies(emitter->totals, cell, &sums);
	emit_count(emitter);
	fact_put_sums(emitter->sink, FACT_TRANSFERS, &fact, &sums);
}

static const char *what_failed(const struct count_cell *cell)
{
	const struct site_info *site = cell->op;

	if (cell->xfer)
		return FACT_ERROR_TRANSFER;
	return site && site->kind == UB_COMP && site->what == UB_COMP_EP_FAILED
		       ? FACT_ERROR_ENDPOINT
		       : FACT_ERROR_OPERATION;
}

static void emit_errors(struct emitter *emitter, const struct count_cell *cell)
{
	const struct fact_error fact = {
		.process = emit_index(cell->process),
		.what = what_failed(cell),
		.status = ucs_status_name(-cell->status),
		.op = cell->op && cell->op->kind == UB_OP ? cell->op->name : NULL,
		.function = name_of(cell->call),
		.transport = cell->iface ? cell->iface->transport : NULL,
		.device = cell->iface ? cell->iface->device : NULL,
		.start = cell->first,
		.end = cell->last,
	};
	const struct fact_sums sums = { .count = cell->count };

	emit_count(emitter);
	fact_put_sums(emitter->sink, FACT_ERRORS, &fact, &sums);
}

/* Calls of a cell that were made while no operations were recorded; with several steps, at most. */
static uint64_t bare_calls(const struct capture *capture, const struct count_cell *cell)
{
	const bool bare = !capture_records(capture, LEVEL_UCP, cell->first);

	for (size_t i = 0; i < capture->windows.len; i++) {
		const uint64_t from = capture->windows.data[i].from;

		if (from > cell->first && from <= cell->last &&
		    capture_records(capture, LEVEL_UCP, from) == bare)
			return cell->count > 1 ? cell->count - 1 : cell->count;
	}
	return bare ? cell->count : 0;
}

static void emit_cell(struct emitter *emitter, const struct capture *capture,
		      const struct count_cell *cell)
{
	const uint64_t bare = bare_calls(capture, cell);
	const struct fact_sums calls = {
		.count = cell->count,
		.bytes_unknown = bare,
		.ops_unknown = bare,
	};

	if (cell->status) {
		emit_errors(emitter, cell);
		return;
	}

	if (!cell->process && cell->count)
		reason_add(emitter->totals->notes,
			   "entries that found no cell of their own (rows 'other')", cell->count);
	if (cell->flags & UB_CELL_BEYOND)
		reason_add(emitter->totals->notes, BEYOND_ENTRIES, cell->count);
	if (cell->xfer)
		emit_transfers(emitter, cell);
	else if (cell->op)
		emit_ops(emitter, cell);
	else if (cell->call)
		emit_calls(emitter, cell, &calls);
}

/* Beside records: what of all that was counted has none. */
static void add_without_detail(struct fact_totals *totals, const struct count_cell *cell)
{
	const uint32_t messages = 1u << OP_TAG_SEND | 1u << OP_AM_SEND | 1u << OP_STREAM_SEND;

	if (cell->xfer)
		totals->transfers.of += cell->count;
	else if (cell->op)
		totals->ops.of += cell->count;
	else
		totals->calls.of += cell->count;
	if (!cell->xfer && cell->op && messages >> cell->op->op & 1)
		totals->sent.of += cell->count;
}

void emit_cells(struct emitter *emitter, const struct capture *capture)
{
	for (size_t i = 0; i < capture->cells.len && !capture->counted; i++)
		if (!capture->cells.data[i].status)
			add_without_detail(emitter->totals, &capture->cells.data[i]);
	for (size_t i = 0; i < capture->cells.len; i++)
		emit_cell(emitter, capture, &capture->cells.data[i]);
}
