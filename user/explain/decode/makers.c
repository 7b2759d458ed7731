// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "explain/decode/makers.h"

/* Kinds of operations that make an active message, by its id. */
static const unsigned int am_makers[32] = {
	[AM_EAGER_ONLY] = BIT(OP_TAG_SEND),
	[AM_EAGER_FIRST] = BIT(OP_TAG_SEND),
	[AM_EAGER_MIDDLE] = BIT(OP_TAG_SEND),
	[AM_SYNC_ONLY] = BIT(OP_TAG_SEND),
	[AM_SYNC_FIRST] = BIT(OP_TAG_SEND),
	[AM_RTS] = RNDV_SENDS,
	[AM_ATS] = RNDV_RECEIVES,
	[AM_RTR] = RNDV_RECEIVES,
	[AM_RNDV_DATA] = RNDV_SENDS,
	[AM_STREAM] = BIT(OP_STREAM_SEND),
	[AM_ATP] = RNDV_SENDS,
	[AM_PUT] = BIT(OP_PUT),
	[AM_GET_REQ] = BIT(OP_GET),
	[AM_ATOMIC_REQ] = BIT(OP_ATOMIC),
	[AM_SINGLE] = BIT(OP_AM_SEND),
	[AM_FIRST] = BIT(OP_AM_SEND),
	[AM_MIDDLE] = BIT(OP_AM_SEND),
	[AM_SINGLE_REPLY] = BIT(OP_AM_SEND),
	[AM_FIRST_PSN] = BIT(OP_AM_SEND),
	[AM_MIDDLE_PSN] = BIT(OP_AM_SEND),
};

unsigned int transfer_makers(const struct site_info *site, uint8_t am_id)
{
	switch (site->verb) {
	case VERB_AM:
		return am_makers[am_id & 31];
	case VERB_PUT:
		return BIT(OP_PUT) | RNDV_SENDS | RNDV_RECEIVES;
	case VERB_GET:
		return BIT(OP_GET) | RNDV_RECEIVES | RNDV_SENDS;
	case VERB_ATOMIC:
		return BIT(OP_ATOMIC);
	case VERB_TAG:
		return BIT(OP_TAG_SEND) | RNDV_RECEIVES;
	case VERB_FLUSH:
		return BIT(OP_FLUSH) | BIT(OP_PUT);
	}
	return 0;
}

bool transport_copies(const char *name)
{
	static const char *const transports[] = { "cuda_copy", "gdr_copy", "rocm_copy", "rocm_gdr",
						  "ze_copy" };

	if (!name || !strchr(name, '_')) /* asked for each transfer: most have none */
		return false;
	for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++)
		if (!strcmp(name, transports[i]))
			return true;
	return false;
}

bool iface_copies(const struct object *iface)
{
	return iface && transport_copies(iface->transport);
}

/* What UCX sends without being asked: wire-up and acknowledgements, but no answers. */
static bool is_anybodys(const struct cell *cell)
{
	return cell->xfer->verb != VERB_AM ||
	       (cell->am_id != AM_GET_REP && cell->am_id != AM_ATOMIC_REP);
}

bool cell_nested(const struct cell *cell)
{
	unsigned int kinds = transfer_makers(cell->xfer, cell->am_id);

	if (!cell->op)
		return false;
	/* a send fetches nothing but what it copies */
	if (cell->xfer->verb == VERB_GET && !iface_copies(cell->iface))
		kinds &= ~RNDV_SENDS;
	return kinds ? kinds & BIT(cell->op->op) : is_anybodys(cell);
}
