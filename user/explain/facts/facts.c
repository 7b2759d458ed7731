// SPDX-License-Identifier: BSD-3-Clause
/* Names in facts, and what follows from a fact alone. */
#include "explain/facts/facts.h"

#include <string.h>

#include "base/library_role.h"
#include "base/order.h"
#include "base/text.h"
#include "base/transport.h"
#include "base/vec.h"

const char *const fact_kind_names[] = {
	[KIND_DATA] = "data", [KIND_CONTROL] = "control", [KIND_COPY] = "copy", NULL
};

const char *const fact_precision_names[] = {
	[TIME_UNKNOWN] = "unknown",         [TIME_EXACT] = "exact",
	[TIME_UPPER_BOUND] = "upper_bound", [TIME_LOWER_BOUND] = "lower_bound",
	[TIME_SAMPLED] = "sampled",         NULL,
};

const char *const fact_locality_names[] = {
	[LOCALITY_UNKNOWN] = "unknown",
	[LOCALITY_SELF] = "self",
	[LOCALITY_NODE] = "node",
	[LOCALITY_REMOTE] = "remote",
	NULL,
};

const char *const wait_kind_names[WAIT_KINDS] = {
	[WAIT_LATE_SENDER] = "late_sender",     [WAIT_LATE_RECEIVER] = "late_receiver",
	[WAIT_LATE_PROGRESS] = "late_progress", [WAIT_AT_BARRIER] = "wait_at_barrier",
	[WAIT_AT_NXN] = "wait_at_nxn",          [WAIT_LATE_BROADCAST] = "late_broadcast",
	[WAIT_EARLY_REDUCE] = "early_reduce",   [WAIT_OUT_OF_RESOURCES] = "out_of_resources",
};

enum fact_extent fact_recorded(const struct fact_self *self, enum level level)
{
	bool some = false;

	for (int i = level; i < LEVELS; i++)
		some = some || self->levels[i];
	if (!some && (self->levels[LEVEL_MPI] || self->levels[LEVEL_UCP]))
		return RECORDED_NEVER;
	return self->level_ns[level] < self->level_ns[LEVEL_MPI] ? RECORDED_PARTLY
								 : RECORDED_ALWAYS;
}

const char *fact_mpi(const struct fact_process *process)
{
	return process->undescribed ? "unknown" : process->mpi;
}

const char *fact_mpi_word(const struct fact_process *process)
{
	const char *mpi = fact_mpi(process);

	return mpi ? mpi : "none";
}

const char *fact_caller(const struct place *place)
{
	if (!place || !place->role)
		return "unknown";
	if (library_role_by_name(place->role) & (LIB_MPI | LIB_MPI_PLUGIN | LIB_MPI_UCC))
		return NULL;
	if (place->library)
		return place->library;
	return strcmp(place->role, "other") ? place->role : basename(place->module);
}

const char *fact_outside(const char *caller)
{
	return caller && *caller && strcmp(caller, "unknown") ? caller : FACT_OUTSIDE_MPI;
}

bool fact_fetches(const char *op, const char *transport)
{
	return text_begins(op, "get") && !transport_named(transport)->copies;
}

bool fact_is_derived(const char *seen)
{
	return seen && !strcmp(seen, "derived");
}

bool fact_emulates(const char *protocol)
{
	/* those of v1 are derived (attribute/payload.c), those of v2 UCX's own */
	static const char *const starts[] = { "put/am", "get/am", "amo/am", "amo/post/sw",
					      "amo/fetch/sw" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (text_begins(protocol, starts[i]))
			return true;
	return false;
}

/* Sums of the kernel have no protocol, answers to an emulated get no operation in their process. */
static bool is_emulated(const struct fact_transfer *transfer)
{
	const char *ucp_op = transfer->ucp_op;

	return text_begins(transfer->op, "am_") &&
	       (fact_emulates(transfer->protocol) || text_begins(ucp_op, "put") ||
		text_begins(ucp_op, "get") || text_begins(ucp_op, "atomic"));
}

const char *fact_data_path(const struct fact_transfer *transfer)
{
	if (transfer->kind == KIND_CONTROL)
		return "control";
	if (transfer->kind == KIND_COPY)
		return "staged";
	if (is_emulated(transfer))
		return "emulated";
	if (text_ends(transfer->op, "_zcopy"))
		return "direct";
	if (text_ends(transfer->op, "_short") || text_ends(transfer->op, "_short_iov") ||
	    text_ends(transfer->op, "_bcopy"))
		return "buffered";
	return NULL;
}

const char *fact_initiator(const struct fact_transfer *transfer)
{
	static const struct {
		const char *start, *own, *other; /* of an operation's name; who its process is */
	} ops[] = {
		{ "tag_send", "sender", "receiver" },
		{ "am_send", "sender", "receiver" },
		{ "stream_send", "sender", "receiver" },
		{ "tag_recv", "receiver", "sender" },
		{ "tag_msg_recv", "receiver", "sender" },
		{ "am_recv_data", "receiver", "sender" },
		{ "stream_recv", "receiver", "sender" },
		{ "put", "origin", "target" },
		{ "get", "origin", "target" },
		{ "atomic", "origin", "target" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (text_begins(transfer->ucp_op, ops[i].start))
			return transfer->caused_in == transfer->process ? ops[i].own : ops[i].other;
	return NULL;
}

void reason_add(struct fact_reason *reasons, const char *reason, uint64_t count)
{
	int at = 0;

	while (at < FACT_MAX_REASONS - 1 && reasons[at].reason && reasons[at].reason != reason)
		at++;
	if (!reasons[at].reason)
		reasons[at].reason = at < FACT_MAX_REASONS - 1 ? reason : "other reasons";
	reasons[at].count = order_sum(reasons[at].count, count);
}
