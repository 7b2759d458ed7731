// SPDX-License-Identifier: BSD-3-Clause
/* A transfer's payload and protocol, by its UCP header. */
#include "explain/attribute/internal.h"

bool xfer_sent(const struct ub_xfer *xfer)
{
	return xfer->status >= 0 && xfer->length >= 0;
}

bool xfer_is_control(const struct site_info *site, const struct ub_xfer *xfer)
{
	if (site->verb == VERB_AM)
		return am_is_control(xfer->am_id);
	/* tcp flushes an endpoint with an empty put */
	if (site->verb == VERB_PUT && xfer->length == 0)
		return true;
	return site->verb == VERB_FLUSH || site->verb == VERB_OTHER;
}

uint64_t xfer_payload(const struct site_info *site, const struct ub_xfer *xfer, const struct op *op)
{
	uint64_t length = xfer->length > 0 ? (uint64_t)xfer->length : 0, first = xfer->w[0];

	if (xfer_is_control(site, xfer) || !xfer_sent(xfer))
		return 0;
	if (site->verb != VERB_AM)
		return length;
	if (!(xfer->h.flags & UB_F_WIRE))
		first = op ? op->mask << 32 : 0;
	return am_payload(xfer->am_id, length, am_user_header(xfer->am_id, first));
}

uint64_t frags_payload(const struct site_info *site, const struct ub_frags *frags,
		       const struct op *op)
{
	struct ub_xfer one = frags->xfer;
	uint64_t length = (uint64_t)frags->xfer.length, before = frags->count - 1, total;

	one.length = frags->each;
	total = before * xfer_payload(site, &one, op);
	/* unsigned: numbers from a file may be anything */
	one.length = (int64_t)(length - before * frags->each);
	return total + xfer_payload(site, &one, op);
}

struct cell_load cell_load(const struct count_cell *cell)
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
		uint64_t own = am_overhead(cell->am_id);

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

enum { TRUST_NONE, TRUST_CONTROL, TRUST_ANNOUNCE, TRUST_DATA };

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

static const uint8_t am_trust[32] = {
	[AM_EAGER_ONLY] = TRUST_DATA,   [AM_EAGER_FIRST] = TRUST_DATA,
	[AM_EAGER_MIDDLE] = TRUST_DATA, [AM_SYNC_ONLY] = TRUST_DATA,
	[AM_SYNC_FIRST] = TRUST_DATA,   [AM_RTS] = TRUST_ANNOUNCE,
	[AM_ATS] = TRUST_CONTROL,       [AM_RTR] = TRUST_CONTROL,
	[AM_ATP] = TRUST_ANNOUNCE,      [AM_RNDV_DATA] = TRUST_DATA,
	[AM_STREAM] = TRUST_DATA,       [AM_PUT] = TRUST_DATA,
	[AM_GET_REQ] = TRUST_ANNOUNCE,  [AM_GET_REP] = TRUST_CONTROL,
	[AM_ATOMIC_REQ] = TRUST_DATA,   [AM_ATOMIC_REP] = TRUST_CONTROL,
	[AM_SINGLE] = TRUST_DATA,       [AM_FIRST] = TRUST_DATA,
	[AM_MIDDLE] = TRUST_DATA,       [AM_SINGLE_REPLY] = TRUST_DATA,
	[AM_FIRST_PSN] = TRUST_DATA,    [AM_MIDDLE_PSN] = TRUST_DATA,
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
	struct protocol protocol = { .trust = am ? am_trust[id] : TRUST_DATA };

	if (site->verb == VERB_FLUSH || (am && protocol.trust == TRUST_NONE))
		return protocol;
	protocol.name = v1_name(site, xfer, op);
	protocol.plain_rndv = am && PLAIN_RNDV >> id & 1;
	return protocol;
}
