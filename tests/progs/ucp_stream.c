// SPDX-License-Identifier: BSD-3-Clause
/* A byte stream in both directions: pieces sent, one size received. */
#include "ucp_pair.h"

#define PIECES 41
#define BYTES 10007

static void send_all(char *buffer)
{
	ucp_request_param_t param = { 0 };
	int i;

	for (i = 0; i < PIECES; i++) {
		fill(buffer, BYTES, i);
		truth_op("stream_send", BYTES);
		truth_message("stream_send", !pair.side, BYTES);
		pair_wait(ucp_stream_send_nbx(pair.ep, buffer, BYTES, &param));
	}
}

static void receive_all(char *buffer)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
				      .flags = UCP_STREAM_RECV_FLAG_WAITALL };
	size_t length;
	int i;

	for (i = 0; i < PIECES; i++) {
		truth_op("stream_recv", BYTES);
		pair_wait(ucp_stream_recv_nbx(pair.ep, buffer, BYTES, &length, &param));
		verify(buffer, BYTES, i);
	}
}

int main(int argc, char **argv)
{
	char *buffer = malloc(BYTES);
	int from;

	pair_start("ucp_stream", argc, argv, NULL);
	for (from = 0; from < 2; from++) {
		if (pair.side == from)
			send_all(buffer);
		else
			receive_all(buffer);
	}
	free(buffer);
	return pair_end();
}
