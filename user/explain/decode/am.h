/* SPDX-License-Identifier: BSD-3-Clause */
/* UCP's active messages: what their headers tell, and how much of them is the user's. */
#ifndef UCXBPF_DECODE_AM_H
#define UCXBPF_DECODE_AM_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "ucxbpf_am.h"

/* First fragments, by what identifies them. */
enum message_class {
	CLASS_NONE, /* another active message */
	CLASS_EAGER, /* tag and order only */
	CLASS_MULTI, /* message id */
	CLASS_REQUEST, /* request id: RTS, sync */
	CLASS_AM, /* AM id and order */
	CLASS_AM_FIRST,
	CLASS_STREAM, /* order */
};

enum message_class am_class(uint8_t am_id);

/* Whether nothing of it is the user's. */
bool am_is_control(uint8_t am_id);

/* Bytes of UCP's header and footer; 0 of control messages. */
uint64_t am_overhead(uint8_t am_id);

/* Length of the user's own header, by the first word of UCP's. It is no part of the payload. */
uint64_t am_user_header(uint8_t am_id, uint64_t first);

/* The user's share of a message of so many bytes; user_header: am_user_header(). */
uint64_t am_payload(uint8_t am_id, uint64_t length, uint64_t user_header);

/* Ids are 0 where a header has none, or where it was not read so far. */
struct am_header {
	uint64_t first; /* word: a tag; AM id, flags and length of the user's header; another id */
	uint64_t ep; /* the receiver's endpoint to the sender */
	uint64_t req; /* the sender's request; in an answer, the one that it answers */
	uint64_t receive; /* the receiver's request, in an RTR */
	uint64_t message; /* id that all fragments of a message share */
	uint64_t payload; /* bytes of the user's in this one */
	uint64_t total; /* and in its whole message; UINT64_MAX: only its last bytes tell */
};

/* words: the first ones of the header; length: bytes of the active message. */
struct am_header am_header_read(uint8_t am_id, const __u64 *words, unsigned int count,
				uint64_t length);

#endif
