/* SPDX-License-Identifier: BSD-3-Clause */
/* Which operations make which transfers, and which transports only copy. */
#ifndef UCXBPF_DECODE_MAKERS_H
#define UCXBPF_DECODE_MAKERS_H

#include "explain/decode/decode.h"

/* Active messages by their id (UCP_AM_ID_*, src/ucp/core/ucp_types.h, 1.13.1 to 1.22.0). */
enum {
	AM_WIREUP = 1,
	AM_EAGER_ONLY = 2,
	AM_EAGER_FIRST = 3,
	AM_EAGER_MIDDLE = 4,
	AM_SYNC_ONLY = 6,
	AM_SYNC_FIRST = 7,
	AM_SYNC_ACK = 8,
	AM_RTS = 9,
	AM_ATS = 10,
	AM_RTR = 11,
	AM_RNDV_DATA = 12,
	AM_OFFLOAD_SYNC_ACK = 14,
	AM_STREAM = 15,
	AM_ATP = 16,
	AM_PUT = 17,
	AM_GET_REQ = 18,
	AM_GET_REP = 19,
	AM_ATOMIC_REQ = 20,
	AM_ATOMIC_REP = 21,
	AM_CMPL = 22,
	AM_SINGLE = 23,
	AM_FIRST = 24,
	AM_MIDDLE = 25,
	AM_SINGLE_REPLY = 26,
	AM_FIRST_PSN = 27, /* since 1.21, with headers as 24 and 25, whose handlers they end in */
	AM_MIDDLE_PSN = 28,
};

#define BIT(kind) (1u << (kind))
#define RNDV_RECEIVES (BIT(OP_TAG_RECV) | BIT(OP_TAG_MSG_RECV) | BIT(OP_AM_RECV_DATA))
#define RNDV_SENDS (BIT(OP_TAG_SEND) | BIT(OP_AM_SEND))

/* Kinds of operations, as BIT()s, that can make such a transfer; 0: it is made for none. */
unsigned int transfer_makers(const struct site_info *site, uint8_t am_id);

/* Whether what goes over it stays among what its process has mapped. NULL: not known, no. */
bool transport_copies(const char *name);
bool iface_copies(const struct object *iface);

/*
 * Whether the operation that transfers of a cell were seen to be nested in can have made them. What
 * is left of its frame on the stack may look as if it went on: then it was over, and UCX progressed
 * something else.
 */
bool cell_nested(const struct cell *cell);

#endif
