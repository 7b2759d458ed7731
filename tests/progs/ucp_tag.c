// SPDX-License-Identifier: BSD-3-Clause
/* Tagged messages: contiguous, iov and generic datatypes, sync, probe and msg_recv. */
#include "ucp_pair.h"

#define ROUNDS 7
#define MAX_BYTES (1 << 20)
#define FULL_MASK UINT64_MAX
#define PARTS 3

static const size_t sizes[] = { 0, 1, 8, 101, 2039, 8191, 8193, 65537, 1 << 20 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static char *buffer;

static void send_one(const char *op, const void *data, size_t count, size_t bytes, ucp_tag_t tag,
		     const ucp_request_param_t *param)
{
	bool sync = !strcmp(op, "tag_send_sync");

	truth_op(op, bytes);
	truth_message(op, !pair.side, bytes);
	pair_wait((sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx)(pair.ep, data, count, tag,
								    param));
}

static void receive_one(void *data, size_t count, size_t bytes, ucp_tag_t tag, ucp_tag_t mask,
			const ucp_request_param_t *param)
{
	truth_op("tag_recv", bytes);
	pair_wait(ucp_tag_recv_nbx(pair.worker, data, count, tag, mask, param));
}

static void contiguous(const char *op, int from, ucp_tag_t mask)
{
	ucp_request_param_t param = { 0 };
	int round, i;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < SIZES; i++) {
			if (pair.side == from) {
				fill(buffer, sizes[i], i);
				send_one(op, buffer, sizes[i], sizes[i], i, &param);
			} else {
				receive_one(buffer, sizes[i], sizes[i], i, mask, &param);
				verify(buffer, sizes[i], i);
			}
		}
}

/* The message is one contiguous pattern, scattered over PARTS pieces at both ends. */
static void scattered(int from, size_t part)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
				      .datatype = ucp_dt_make_iov() };
	ucp_dt_iov_t iov[PARTS];
	int i;

	for (i = 0; i < PARTS; i++)
		iov[i] = (ucp_dt_iov_t){ buffer + i * 2 * part, part };
	if (pair.side == from) {
		for (i = 0; i < PARTS; i++)
			fill(iov[i].buffer, part, i);
		send_one("tag_send", iov, PARTS, PARTS * part, part, &param);
	} else {
		receive_one(iov, PARTS, PARTS * part, part, FULL_MASK, &param);
		for (i = 0; i < PARTS; i++)
			verify(iov[i].buffer, part, i);
	}
}

/* A generic datatype: every second byte of the buffer. */
struct strided {
	char *base;
	size_t count;
};

static void *strided_start(void *context, void *base, size_t count)
{
	struct strided *state = malloc(sizeof(*state));

	(void)context;
	*state = (struct strided){ base, count };
	return state;
}

static void *strided_start_pack(void *context, const void *base, size_t count)
{
	return strided_start(context, (void *)base, count);
}

static size_t strided_size(void *state)
{
	return ((struct strided *)state)->count;
}

static size_t strided_pack(void *state, size_t offset, void *out, size_t room)
{
	struct strided *strided = state;
	size_t i, count = strided->count - offset < room ? strided->count - offset : room;

	for (i = 0; i < count; i++)
		((char *)out)[i] = strided->base[2 * (offset + i)];
	return count;
}

static ucs_status_t strided_unpack(void *state, size_t offset, const void *in, size_t count)
{
	struct strided *strided = state;
	size_t i;

	for (i = 0; i < count; i++)
		strided->base[2 * (offset + i)] = ((const char *)in)[i];
	return UCS_OK;
}

static void generic(int from, size_t bytes)
{
	ucp_generic_dt_ops_t ops = { strided_start_pack, strided_start,  strided_size,
				     strided_pack,       strided_unpack, free };
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE };
	size_t i;

	ALWAYS_OK(ucp_dt_create_generic(&ops, NULL, &param.datatype));
	if (pair.side == from) {
		for (i = 0; i < bytes; i++)
			buffer[2 * i] = (char)(i * 7);
		send_one("tag_send", buffer, bytes, bytes, bytes, &param);
	} else {
		receive_one(buffer, bytes, bytes, bytes, FULL_MASK, &param);
		for (i = 0; i < bytes; i++)
			EXPECT(buffer[2 * i] == (char)(i * 7));
	}
	ucp_dt_destroy(param.datatype);
}

static void probed(int from, size_t bytes, ucp_tag_t tag)
{
	ucp_request_param_t param = { 0 };
	ucp_tag_recv_info_t info;
	ucp_tag_message_h message;

	if (pair.side == from) {
		fill(buffer, bytes, tag);
		send_one("tag_send", buffer, bytes, bytes, tag, &param);
		return;
	}
	while (!(message = ucp_tag_probe_nb(pair.worker, tag, FULL_MASK, 1, &info)))
		ucp_worker_progress(pair.worker);
	EXPECT(info.length == bytes && info.sender_tag == tag);
	truth_op("tag_msg_recv", bytes);
	pair_wait(ucp_tag_msg_recv_nbx(pair.worker, buffer, bytes, message, &param));
	verify(buffer, bytes, tag);
}

int main(int argc, char **argv)
{
	int from, i;

	buffer = malloc(2 * PARTS * MAX_BYTES);
	pair_start("ucp_tag", argc, argv, NULL);
	for (from = 0; from < 2; from++) {
		contiguous("tag_send", from, FULL_MASK);
		contiguous("tag_send", from, 0);
		contiguous("tag_send_sync", from, FULL_MASK);
		for (i = 1; i < SIZES; i++) {
			scattered(from, sizes[i]);
			generic(from, sizes[i]);
			probed(from, sizes[i], 1000 + i);
		}
	}
	free(buffer);
	return pair_end();
}
