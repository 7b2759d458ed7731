// SPDX-License-Identifier: BSD-3-Clause
/* Active messages: header only, eager of every form, rendezvous, with and without a reply ep. */
#include "ucp_pair.h"

#define AM_PLAIN 7
#define AM_REPLY 11
#define ROUNDS 5
#define MAX_BYTES (1 << 20)

static const size_t sizes[] = { 0, 8, 61, 1021, 8191, 9001, 100003, 1 << 20 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static const size_t headers[] = { 0, 13, 8 };
#define HEADERS 3

#define ANNOUNCED_MAX 64

static int received, expected;
static char *incoming;

/* Rendezvous data may not be fetched from inside a handler: it waits here. */
static struct announced {
	void *descriptor;
	size_t length;
} announced[ANNOUNCED_MAX];
static int announced_count;

struct header {
	char text[16];
};

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data,
			       size_t length, const ucp_am_recv_param_t *recv_param)
{
	(void)arg;
	(void)header;
	EXPECT(header_length <= sizeof(struct header));
	if (recv_param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
		EXPECT(announced_count < ANNOUNCED_MAX);
		announced[announced_count++] = (struct announced){ data, length };
		return UCS_INPROGRESS;
	}
	verify(data, length, length);
	received++;
	return UCS_OK;
}

static void fetch_announced(void)
{
	ucp_request_param_t param = { 0 };
	struct announced one;

	while (announced_count) {
		one = announced[--announced_count];
		truth_op("am_recv_data", one.length);
		pair_wait(ucp_am_recv_data_nbx(pair.worker, one.descriptor, incoming, one.length,
					       &param));
		verify(incoming, one.length, one.length);
		received++;
	}
}

static void reply_sent(void *request, ucs_status_t status, void *user_data)
{
	(void)user_data;
	EXPECT(status == UCS_OK);
	ucp_request_free(request);
}

/* An eager reply from inside the handler: an op whose only parent is an arrival. */
static ucs_status_t on_request(void *arg, const void *header, size_t header_length, void *data,
			       size_t length, const ucp_am_recv_param_t *recv_param)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
				      .cb.send = reply_sent };
	ucs_status_ptr_t request;

	(void)arg;
	(void)header;
	(void)header_length;
	EXPECT(recv_param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
	EXPECT(!(recv_param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
	verify(data, length, length);
	truth_op("am_send", 0);
	truth_message("am_send", !pair.side, 0);
	request = ucp_am_send_nbx(recv_param->reply_ep, AM_PLAIN, NULL, 0, NULL, 0, &param);
	EXPECT(!UCS_PTR_IS_ERR(request));
	received++;
	return UCS_OK;
}

static void register_handlers(void)
{
	ucp_am_handler_param_t param = { .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
						       UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
						       UCP_AM_HANDLER_PARAM_FIELD_CB,
					 .id = AM_PLAIN,
					 .flags = UCP_AM_FLAG_WHOLE_MSG,
					 .cb = on_message };

	ALWAYS_OK(ucp_worker_set_am_recv_handler(pair.worker, &param));
	param.id = AM_REPLY;
	param.cb = on_request;
	ALWAYS_OK(ucp_worker_set_am_recv_handler(pair.worker, &param));
}

static void send_one(char *buffer, unsigned int id, size_t header_length, size_t bytes,
		     uint32_t flags)
{
	ucp_request_param_t param = { .op_attr_mask = flags ? UCP_OP_ATTR_FIELD_FLAGS : 0,
				      .flags = flags };
	struct header header = { "header" };

	fill(buffer, bytes, bytes);
	truth_op("am_send", bytes);
	truth_message("am_send", !pair.side, bytes);
	pair_wait(ucp_am_send_nbx(pair.ep, id, &header, header_length, buffer, bytes, &param));
}

static void until_received(int count)
{
	expected += count;
	while (received < expected) {
		ucp_worker_progress(pair.worker);
		fetch_announced();
	}
}

static void plain(char *buffer, int from)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < SIZES; i++) {
			if (pair.side == from)
				send_one(buffer, AM_PLAIN, headers[(round + i) % HEADERS], sizes[i],
					 0);
			else
				until_received(1);
		}
}

static void replied(char *buffer, int from)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; sizes[i] < 8192; i++) {
			if (pair.side == from)
				send_one(buffer, AM_REPLY, 13, sizes[i],
					 UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER);
			until_received(1);
		}
}

int main(int argc, char **argv)
{
	char *buffer = malloc(MAX_BYTES);

	incoming = malloc(MAX_BYTES);
	pair_start("ucp_am", argc, argv, register_handlers);
	plain(buffer, 0);
	plain(buffer, 1);
	replied(buffer, 0);
	replied(buffer, 1);
	free(buffer);
	return pair_end();
}
