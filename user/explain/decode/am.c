// SPDX-License-Identifier: BSD-3-Clause
/* The table of UCP's active messages. */
#include "explain/decode/am.h"

#include <stddef.h>

#include "base/vec.h"

/*
 * Sizes and words of UCP's headers, equal in 1.13.1 and 1.18.1 (packed structs of
 * src/ucp/tag/eager.h, rndv/rndv.h, proto/proto_am.h, rma/rma.h, stream/stream.h, core/ucp_am.h).
 * Words are counted from 1, 0: a header has no such word. Footers are behind the user's data.
 */
struct am_form {
	uint8_t class;
	uint8_t header, footer; /* bytes; no header: of a control message */
	uint8_t ep, req, receive, message, total; /* words */
};

static const struct am_form forms[32] = {
	[AM_EAGER_ONLY] = { CLASS_EAGER, 8 }, /* tag */
	/* tag, total length, message id */
	[AM_EAGER_FIRST] = { CLASS_MULTI, 24, .total = 2, .message = 3 },
	/* message id, offset */
	[AM_EAGER_MIDDLE] = { CLASS_NONE, 16, .message = 1 },
	/* tag, ep id, request id */
	[AM_SYNC_ONLY] = { CLASS_REQUEST, 24, .ep = 2, .req = 3 },
	/* as EAGER_FIRST; ep id, request id */
	[AM_SYNC_FIRST] = { CLASS_MULTI, 40, .total = 2, .message = 3, .ep = 4, .req = 5 },
	[AM_SYNC_ACK] = { .req = 1 },
	/* tag or AM header, ep id, request id, address, size */
	[AM_RTS] = { CLASS_REQUEST, .ep = 2, .req = 3, .total = 5 },
	[AM_ATS] = { .req = 1 },
	[AM_RTR] = { .req = 1, .receive = 2 },
	/* request id, offset */
	[AM_RNDV_DATA] = { CLASS_NONE, 16, .req = 1 },
	[AM_STREAM] = { CLASS_STREAM, 8, .ep = 1 },
	[AM_ATP] = { .req = 1 },
	[AM_PUT] = { CLASS_NONE, 20 }, /* address, ep id, memory type (4 bytes) */
	/* address, length, ep id, request id */
	[AM_GET_REQ] = { .req = 4 },
	[AM_GET_REP] = { CLASS_NONE, 16, .req = 1 }, /* request id, offset */
	/* address, ep id, request id, length and opcode (1 byte each) */
	[AM_ATOMIC_REQ] = { CLASS_NONE, 26, .req = 3 },
	[AM_ATOMIC_REP] = { CLASS_NONE, 8, .req = 1 },
	[AM_SINGLE] = { CLASS_AM, 8 }, /* AM id, flags, header length: 2, 2 and 4 bytes */
	[AM_FIRST] = { CLASS_AM_FIRST, 8, 24 }, /* as SINGLE; message id, ep id, total size */
	[AM_MIDDLE] = { CLASS_NONE, 8, 16 }, /* offset; message id, ep id */
	[AM_SINGLE_REPLY] = { CLASS_AM, 8, 8 }, /* as SINGLE; ep id */
	[AM_FIRST_PSN] = { CLASS_AM_FIRST, 8, 24 }, /* as FIRST */
	[AM_MIDDLE_PSN] = { CLASS_NONE, 8, 16 }, /* as MIDDLE */
};

static const struct am_form *form_of(uint8_t am_id)
{
	return &forms[am_id & 31];
}

enum message_class am_class(uint8_t am_id)
{
	return form_of(am_id)->class;
}

bool am_is_control(uint8_t am_id)
{
	return !form_of(am_id)->header;
}

uint64_t am_overhead(uint8_t am_id)
{
	return form_of(am_id)->header + form_of(am_id)->footer;
}

uint64_t am_user_header(uint8_t am_id, uint64_t first)
{
	return AM_WITH_USER_HEADER >> (am_id & 31) & 1 ? first >> 32 : 0;
}

uint64_t am_payload(uint8_t am_id, uint64_t length, uint64_t user_header)
{
	uint64_t other = am_overhead(am_id) + user_header;

	return !am_is_control(am_id) && length > other ? length - other : 0;
}

/* words are counted from 1 */
static uint64_t word_of(const __u64 *words, unsigned int count, uint8_t word)
{
	return word && word <= count ? words[word - 1] : 0;
}

struct am_header am_header_read(uint8_t am_id, const __u64 *words, unsigned int count,
				uint64_t length)
{
	const struct am_form *form = form_of(am_id);
	struct am_header header = {
		.first = word_of(words, count, 1),
		.ep = word_of(words, count, form->ep),
		.req = word_of(words, count, form->req),
		.receive = word_of(words, count, form->receive),
		.message = word_of(words, count, form->message),
		.total = word_of(words, count, form->total),
	};

	header.payload = am_payload(am_id, length, am_user_header(am_id, header.first));
	if (form->class == CLASS_NONE || form->class == CLASS_AM_FIRST)
		header.total = UINT64_MAX;
	else if (!form->total)
		header.total = header.payload;
	return header;
}
