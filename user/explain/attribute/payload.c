// SPDX-License-Identifier: BSD-3-Clause
/* A transfer's payload and protocol, by its UCP header. */
#include "explain/attribute/internal.h"

/*
 * What of a transfer is the user's. Sizes of UCP's headers and footers, equal in 1.13.1 and 1.18.1
 * (packed structs of src/ucp/tag/eager.h, proto/proto_am.h, rma/rma.h, stream/stream.h,
 * core/ucp_am.h).
 */

#define CONTROL 0xff

/* Bytes that are not the user's, by active-message id; CONTROL: none of it is. */
static const uint8_t header_bytes[32] = {
	[0] = CONTROL,
	[AM_WIREUP] = CONTROL,
	[AM_EAGER_ONLY] = 8, /* tag */
	[AM_EAGER_FIRST] = 24, /* tag, total length, message id */
	[AM_EAGER_MIDDLE] = 16, /* message id, offset */
	[5] = CONTROL,
	[AM_SYNC_ONLY] = 24, /* tag, ep id, request id */
	[AM_SYNC_FIRST] = 40, /* as 3, ep id, request id */
	[AM_SYNC_ACK] = CONTROL,
	[AM_RTS] = CONTROL,
	[AM_ATS] = CONTROL,
	[AM_RTR] = CONTROL,
	[AM_RNDV_DATA] = 16, /* request id, offset */
	[13] = CONTROL,
	[AM_OFFLOAD_SYNC_ACK] = CONTROL,
	[AM_STREAM] = 8, /* ep id */
	[AM_ATP] = CONTROL,
	[AM_PUT] = 20, /* address, ep id, memory type (4 bytes) */
	[AM_GET_REQ] = CONTROL,
	[AM_GET_REP] = 16, /* request id, offset */
	[AM_ATOMIC_REQ] = 26, /* address, ep id, request id, length, opcode */
	[AM_ATOMIC_REP] = 8, /* request id */
	[AM_CMPL] = CONTROL,
	[AM_SINGLE] = 8, /* am id, flags, header length */
	[AM_FIRST] = 8 + 24, /* and a footer: message id, ep id, total size */
	[AM_MIDDLE] = 8 + 16, /* offset; footer: message id, ep id */
	[AM_SINGLE_REPLY] = 8 + 8, /* as 23; footer: ep id */
	[AM_FIRST_PSN] = 8 + 24, /* as 24 and 25 */
	[AM_MIDDLE_PSN] = 8 + 16,
	[29] = CONTROL,
	[30] = CONTROL,
	[31] = CONTROL,
};

/* Ids whose message holds the user's own header, too: it is no part of the operation's bytes. */
#define WITH_USER_HEADER                                                                           \
	(1u << AM_SINGLE | 1u << AM_FIRST | 1u << AM_SINGLE_REPLY | 1u << AM_FIRST_PSN)

bool xfer_sent(const struct ub_xfer *xfer)
{
	return xfer->status >= 0 && xfer->length >= 0;
}

bool xfer_is_control(const struct site_info *site, const struct ub_xfer *xfer)
{
	if (site->verb == VERB_AM)
		return header_bytes[xfer->am_id & 31] == CONTROL;
	/* tcp flushes an endpoint with an empty put */
	if (site->verb == VERB_PUT && xfer->length == 0)
		return true;
	return site->verb == VERB_FLUSH || site->verb == VERB_OTHER;
}

static uint64_t user_header(const struct ub_xfer *xfer, const struct op *op)
{
	if (!(WITH_USER_HEADER >> (xfer->am_id & 31) & 1))
		return 0;
	if (xfer->h.flags & UB_F_WIRE)
		return xfer->w[0] >> 32;
	return op ? (uint32_t)op->mask : 0;
}

uint64_t xfer_payload(const struct site_info *site, const struct ub_xfer *xfer, const struct op *op)
{
	uint64_t length = xfer->length > 0 ? (uint64_t)xfer->length : 0, header;

	if (xfer_is_control(site, xfer) || !xfer_sent(xfer))
		return 0;
	if (site->verb != VERB_AM)
		return length;
	header = header_bytes[xfer->am_id & 31] + user_header(xfer, op);
	return length > header ? length - header : 0;
}

uint64_t frags_payload(const struct site_info *site, const struct ub_frags *frags,
		       const struct op *op)
{
	struct ub_xfer one = frags->xfer;
	uint64_t total;

	one.length = frags->each;
	total = (frags->count - 1) * xfer_payload(site, &one, op);
	one.length = frags->xfer.length - (int64_t)frags->each * (frags->count - 1);
	return total + xfer_payload(site, &one, op);
}

struct cell_load cell_load(const struct cell *cell)
{
	const struct ub_xfer like = { .am_id = cell->am_id, .length = cell->size_class };
	struct cell_load load = { .control = xfer_is_control(cell->xfer, &like) };
	uint64_t headers = cell->headers, least;

	if (load.control)
		return load;
	if (cell->flags & (UB_CELL_UNSIZED | UB_CELL_HEADER)) {
		load.payload = UINT64_MAX;
		return load;
	}
	least = cell->size_class ? 1ull << (cell->size_class - 1) % 64 : 0;
	/* one of them may have all of the users' headers */
	least = least > headers ? least - headers : 0;
	if (cell->xfer->verb == VERB_AM) {
		uint64_t own = header_bytes[cell->am_id & 31];

		headers += cell->count * own;
		least = least > own ? least - own : 0;
	}
	load.payload = cell->bytes > headers ? cell->bytes - headers : 0;
	load.least = least;
	return load;
}

/*
 * Protocol names. Protocol v2 names its own; for v1, and for transfers of v2 without a request, the
 * name follows from the transfers (ucx: the same ids and verbs mean the same scheme in both).
 */

enum { RANK_NONE, RANK_CONTROL, RANK_ANNOUNCE, RANK_DATA };

#define MODES(base)                                                                                \
	{                                                                                          \
		base, base "/short", base "/bcopy", base "/zcopy"                                  \
	}

/* By active-message id and verb mode. */
static const char *const am_names[32][4] = {
	[AM_EAGER_ONLY] = MODES("eager"),
	[AM_EAGER_FIRST] = MODES("eager/multi"),
	[AM_EAGER_MIDDLE] = MODES("eager/multi"),
	[AM_SYNC_ONLY] = MODES("eager/sync"),
	[AM_SYNC_FIRST] = MODES("eager/sync/multi"),
	[AM_RTS] = { "rndv", "rndv", "rndv", "rndv" },
	[AM_ATS] = { "rndv", "rndv", "rndv", "rndv" },
	[AM_RTR] = { "rndv", "rndv", "rndv", "rndv" },
	[AM_ATP] = { "rndv/put", "rndv/put", "rndv/put", "rndv/put" },
	[AM_RNDV_DATA] = MODES("rndv/am"),
	[AM_STREAM] = MODES("stream"),
	[AM_PUT] = MODES("put/am"),
	[AM_GET_REQ] = { "get/am", "get/am", "get/am", "get/am" },
	[AM_GET_REP] = { "get/am", "get/am", "get/am", "get/am" },
	[AM_ATOMIC_REQ] = { "amo/am", "amo/am", "amo/am", "amo/am" },
	[AM_ATOMIC_REP] = { "amo/am", "amo/am", "amo/am", "amo/am" },
	[AM_SINGLE] = MODES("am"),
	[AM_FIRST] = MODES("am/multi"),
	[AM_MIDDLE] = MODES("am/multi"),
	[AM_SINGLE_REPLY] = MODES("am"),
	[AM_FIRST_PSN] = MODES("am/multi"),
	[AM_MIDDLE_PSN] = MODES("am/multi"),
};

static const char *const put_names[4] = MODES("put");
static const char *const get_names[4] = MODES("get");

static const uint8_t am_ranks[32] = {
	[AM_EAGER_ONLY] = RANK_DATA,   [AM_EAGER_FIRST] = RANK_DATA,
	[AM_EAGER_MIDDLE] = RANK_DATA, [AM_SYNC_ONLY] = RANK_DATA,
	[AM_SYNC_FIRST] = RANK_DATA,   [AM_RTS] = RANK_ANNOUNCE,
	[AM_ATS] = RANK_CONTROL,       [AM_RTR] = RANK_CONTROL,
	[AM_ATP] = RANK_ANNOUNCE,      [AM_RNDV_DATA] = RANK_DATA,
	[AM_STREAM] = RANK_DATA,       [AM_PUT] = RANK_DATA,
	[AM_GET_REQ] = RANK_ANNOUNCE,  [AM_GET_REP] = RANK_CONTROL,
	[AM_ATOMIC_REQ] = RANK_DATA,   [AM_ATOMIC_REP] = RANK_CONTROL,
	[AM_SINGLE] = RANK_DATA,       [AM_FIRST] = RANK_DATA,
	[AM_MIDDLE] = RANK_DATA,       [AM_SINGLE_REPLY] = RANK_DATA,
	[AM_FIRST_PSN] = RANK_DATA,    [AM_MIDDLE_PSN] = RANK_DATA,
};

/* The same transfer serves both: without its operation it is not known which. */
static const char *rma_name(const struct op *op, enum op_kind kind, const char *own,
			    const char *rendezvous)
{
	if (!op)
		return NULL;
	return op->site->op == kind ? own : rendezvous;
}

static const char *v1_name(const struct site_info *site, const struct ub_xfer *xfer,
			   const struct op *op)
{
	switch (site->verb) {
	case VERB_AM:
		return am_names[xfer->am_id & 31][site->mode];
	case VERB_PUT:
		return rma_name(op, OP_PUT, put_names[site->mode], "rndv/put");
	case VERB_GET:
		return rma_name(op, OP_GET, get_names[site->mode], "rndv/get");
	case VERB_ATOMIC:
		return "amo";
	}
	return NULL;
}

/* These tell that there is a rendezvous, but not which. */
#define PLAIN_RNDV (1u << AM_RTS | 1u << AM_ATS | 1u << AM_RTR)

struct protocol xfer_protocol(const struct site_info *site, const struct ub_xfer *xfer,
			      const struct op *op)
{
	bool am = site->verb == VERB_AM;
	uint8_t id = xfer->am_id & 31;
	struct protocol protocol = { .rank = am ? am_ranks[id] : RANK_DATA };

	if (site->verb == VERB_FLUSH || (am && protocol.rank == RANK_NONE))
		return protocol;
	protocol.name = v1_name(site, xfer, op);
	protocol.plain_rndv = am && PLAIN_RNDV >> id & 1;
	return protocol;
}
