// SPDX-License-Identifier: BSD-3-Clause
/* Classifies probe sites by name: their kind, and the operations that make their transfers. */
#include <string.h>

#include "explain/decode/internal.h"

struct prefix {
	const char *text;
	uint8_t value;
};

/* Longest first where one is the beginning of another. */
static const struct op_symbol {
	const char *text;
	uint8_t op;
	bool to_peer; /* its object is the ucp_ep to its peer */
} op_symbols[] = {
	{ "ucp_tag_send", OP_TAG_SEND, true },
	{ "ucp_tag_recv", OP_TAG_RECV, false },
	{ "ucp_tag_msg_recv", OP_TAG_MSG_RECV, false },
	{ "ucp_tag_probe", OP_TAG_PROBE, false },
	{ "ucp_am_send", OP_AM_SEND, true },
	{ "ucp_am_recv_data", OP_AM_RECV_DATA, false },
	{ "ucp_stream_send", OP_STREAM_SEND, true },
	{ "ucp_stream_recv", OP_STREAM_RECV, false },
	{ "ucp_put", OP_PUT, true },
	{ "ucp_get", OP_GET, true },
	{ "ucp_atomic", OP_ATOMIC, true },
	{ "ucp_ep_flush", OP_FLUSH, false },
	{ "ucp_worker_flush", OP_FLUSH, false },
	{ "ucp_request_cancel", OP_CANCEL, false },
};

static const struct prefix verbs[] = {
	{ "am_", VERB_AM },         { "put_", VERB_PUT },     { "get_", VERB_GET },
	{ "atomic", VERB_ATOMIC },  { "cswap", VERB_ATOMIC }, { "tag_", VERB_TAG },
	{ "ep_flush", VERB_FLUSH }, { "flush", VERB_FLUSH },
};

static const struct prefix modes[] = {
	{ "short", MODE_SHORT },
	{ "bcopy", MODE_BCOPY },
	{ "zcopy", MODE_ZCOPY },
};

static const struct prefix kinds[] = {
	{ "call", UB_CALL }, { "op", UB_OP },
	{ "xfer", UB_XFER }, { "rx", UB_RX },
	{ "comp", UB_COMP }, { "match", UB_MATCH },
	{ "obj", UB_OBJ },   { "name", UB_NAME },
	{ "task", UB_TASK }, { "call_end", UB_CALL_END },
	{ "mem", UB_MEM },
};

static const struct op_symbol *op_symbol(const char *symbol)
{
	static const struct op_symbol none = { "", OP_OTHER, false };

	for (size_t i = 0; symbol && i < sizeof(op_symbols) / sizeof(*op_symbols); i++)
		if (!strncmp(symbol, op_symbols[i].text, strlen(op_symbols[i].text)))
			return &op_symbols[i];
	return &none;
}

static uint8_t by_prefix(const struct prefix *table, size_t count, const char *text)
{
	for (size_t i = 0; text && i < count; i++)
		if (!strncmp(text, table[i].text, strlen(table[i].text)))
			return table[i].value;
	return 0;
}

static uint8_t by_part(const struct prefix *table, size_t count, const char *text)
{
	for (size_t i = 0; text && i < count; i++)
		if (strstr(text, table[i].text))
			return table[i].value;
	return 0;
}

#define BY_PREFIX(table, text) by_prefix(table, sizeof(table) / sizeof(*(table)), text)
#define BY_PART(table, text) by_part(table, sizeof(table) / sizeof(*(table)), text)

static uint8_t site_kind(const json_t *side)
{
	const json_t *kind = json_object_get(side, "kind");
	const char *text = json_string_value(kind);

	if (!text)
		return json_integer_value(kind);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(text, kinds[i].text))
			return kinds[i].value;
	return 0;
}

void decode_site(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	size_t row = json_integer_value(json_object_get(side, "row"));
	const char *symbol = json_string_value(json_object_get(side, "symbol"));
	const char *name = json_string_value(json_object_get(side, "name"));
	struct site_info *site;

	if (row >= UB_MAX_SITES)
		return;
	while (capture->sites.len <= row)
		vec_add(&capture->sites);
	site = &capture->sites.data[row];
	*site = (struct site_info){
		.name = strings_intern(&decoder->strings, name ? name : symbol),
		.kind = site_kind(side),
		.what = json_integer_value(json_object_get(side, "what")),
		.am_id = json_integer_value(json_object_get(side, "am_id")),
		.op = op_symbol(symbol)->op,
		.to_peer = op_symbol(symbol)->to_peer,
		.one_op = json_is_true(json_object_get(side, "one_op")),
		.verb = BY_PREFIX(verbs, name),
		.mode = BY_PART(modes, name),
	};
}

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

/* What UCX sends without being asked: wire-up and acknowledgements, but no answers. */
static bool is_anybodys(const struct count_cell *cell)
{
	return cell->xfer->verb != VERB_AM ||
	       (cell->am_id != AM_GET_REP && cell->am_id != AM_ATOMIC_REP);
}

bool cell_nested(const struct count_cell *cell)
{
	unsigned int kinds = transfer_makers(cell->xfer, cell->am_id);

	if (!cell->op)
		return false;
	/* a send fetches only copies */
	if (cell->xfer->verb == VERB_GET && !iface_copies(cell->iface))
		kinds &= ~RNDV_SENDS;
	return kinds ? kinds & BIT(cell->op->op) : is_anybodys(cell);
}
