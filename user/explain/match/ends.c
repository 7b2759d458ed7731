// SPDX-License-Identifier: BSD-3-Clause
/* Whose memory the two ends of a transfer are of. */
#include <string.h>

#include "explain/match/emit.h"

/* Transports that only ever move host memory, and which of them do not leave the node. */
static const struct {
	const char *name;
	enum fact_locality locality;
} host_transports[] = {
	{ "self", LOCALITY_SELF },   { "posix", LOCALITY_NODE }, { "sysv", LOCALITY_NODE },
	{ "xpmem", LOCALITY_NODE },  { "cma", LOCALITY_NODE },   { "knem", LOCALITY_NODE },
	{ "tcp", LOCALITY_UNKNOWN },
};

static int host_transport(const char *name)
{
	for (size_t i = 0; name && i < sizeof(host_transports) / sizeof(*host_transports); i++)
		if (!strcmp(name, host_transports[i].name))
			return (int)i;
	return -1;
}

const char *transport_memory(const char *transport)
{
	return host_transport(transport) < 0 ? NULL : "host";
}

enum fact_locality transport_locality(const char *transport)
{
	int row = host_transport(transport);

	return row < 0 ? LOCALITY_UNKNOWN : host_transports[row].locality;
}

bool fact_fetches(const char *op, const char *transport)
{
	return op && !strncmp(op, "get", strlen("get")) && !transport_copies(transport);
}

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

static const char *transport_of(const struct transfer *transfer)
{
	return transfer->iface ? transfer->iface->transport : NULL;
}

/*
 * What UCX sends as an active message it packs into memory of the host: from a GPU by a copy of its
 * own (ucp_dt_contig_pack(), src/ucp/dt/dt_contig.c), so that this one starts there.
 */
static struct memory_end packed(struct decoder *decoder, const struct transfer *transfer)
{
	const bool any = transfer->site->mode == MODE_BCOPY && transfer->process->gpu_library;
	const char *host = transport_memory(transport_of(transfer));

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

struct memory_end memory_here(struct decoder *decoder, const struct transfer *transfer)
{
	const char *host = transport_memory(transport_of(transfer));

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
	const struct op *op = transfer->op;

	return op && transfer->raddr - op->other.buffer < op->other.bytes;
}

struct memory_end memory_there(struct decoder *decoder, const struct transfer *transfer)
{
	const char *host = transport_memory(transport_of(transfer));

	if (transfer->there.kind != MEMORY_UNKNOWN)
		return answered(decoder, &transfer->there);
	if (host || there_is_host(transfer))
		return known("host");
	if (is_others(transfer))
		return answered(decoder, &transfer->op->other.memory);
	return answered(decoder, &transfer->there);
}
