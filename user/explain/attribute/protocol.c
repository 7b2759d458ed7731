// SPDX-License-Identifier: BSD-3-Clause
/*
 * Protocol names. UCX's protocol v2 says its own; for v1, and for what v2 sends without a request,
 * the name follows from what was sent (ucx: the same ids and verbs mean the same scheme in both).
 */
#include "explain/attribute/internal.h"

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

const char *xfer_protocol(const struct site_info *site, const struct ub_xfer *xfer,
			  const struct op *op, uint8_t *rank)
{
	*rank = site->verb == VERB_AM ? am_ranks[xfer->am_id & 31] : RANK_DATA;
	if (site->verb == VERB_FLUSH || (site->verb == VERB_AM && *rank == RANK_NONE))
		return NULL;
	return v1_name(site, xfer, op);
}
