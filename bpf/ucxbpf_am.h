/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * UCP's active messages by their id (UCP_AM_ID_*, src/ucp/core/ucp_types.h, since 1.13), and sets
 * of them as bits. Read by both sides.
 */
#ifndef UCXBPF_AM_H
#define UCXBPF_AM_H

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

/* They hold a header of the user's behind UCP's, whose length is in UCP's (core/ucp_am.h). */
#define AM_WITH_USER_HEADER                                                                        \
	(1u << AM_SINGLE | 1u << AM_FIRST | 1u << AM_SINGLE_REPLY | 1u << AM_FIRST_PSN)

/* First fragments of messages without an id: they are identified by their order. */
#define AM_WITHOUT_ID (1u << AM_EAGER_ONLY | 1u << AM_STREAM | AM_WITH_USER_HEADER)

#endif
