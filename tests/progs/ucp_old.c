// SPDX-License-Identifier: BSD-3-Clause
/* UCP's older functions, which call the nbx ones; side 1 exposes the memory. */
#include "ucp_pair.h"

#define BYTES 1000
#define ROUNDS 5
#define BYTE ucp_dt_make_contig(1)

struct key {
	uint64_t address;
	char packed[4096];
};

static char buffer[BYTES];
static struct key key;

static void sent(void *request, ucs_status_t status)
{
	(void)request;
	EXPECT(status == UCS_OK);
}

static void received(void *request, ucs_status_t status, ucp_tag_recv_info_t *info)
{
	(void)request;
	EXPECT(status == UCS_OK && info->length == BYTES);
}

static void streamed(void *request, ucs_status_t status, size_t length)
{
	(void)request;
	EXPECT(status == UCS_OK && length == BYTES);
}

static void send_all(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		truth_op("tag_send", BYTES);
		truth_message("tag_send", 1, BYTES);
		pair_wait(ucp_tag_send_nb(pair.ep, buffer, BYTES, BYTE, 1, sent));
		truth_op("tag_send_sync", BYTES);
		truth_message("tag_send_sync", 1, BYTES);
		pair_wait(ucp_tag_send_sync_nb(pair.ep, buffer, BYTES, BYTE, 1, sent));
		truth_op("stream_send", BYTES);
		truth_message("stream_send", 1, BYTES);
		pair_wait(ucp_stream_send_nb(pair.ep, buffer, BYTES, BYTE, sent, 0));
	}
}

static void receive_all(void)
{
	size_t length;

	for (int i = 0; i < ROUNDS; i++) {
		truth_op("tag_recv", BYTES);
		pair_wait(
			ucp_tag_recv_nb(pair.worker, buffer, BYTES, BYTE, 1, UINT64_MAX, received));
		truth_op("tag_recv", BYTES);
		pair_wait(
			ucp_tag_recv_nb(pair.worker, buffer, BYTES, BYTE, 1, UINT64_MAX, received));
		truth_op("stream_recv", BYTES);
		pair_wait(ucp_stream_recv_nb(pair.ep, buffer, BYTES, BYTE, streamed, &length,
					     UCP_STREAM_RECV_FLAG_WAITALL));
	}
}

static void put_and_get(void)
{
	ucp_rkey_h rkey;

	ALWAYS_OK(ucp_ep_rkey_unpack(pair.ep, key.packed, &rkey));
	for (int i = 0; i < ROUNDS; i++) {
		truth_op("put", BYTES);
		pair_wait(ucp_put_nb(pair.ep, buffer, BYTES, key.address, rkey, sent));
		truth_op("get", BYTES);
		pair_wait(ucp_get_nb(pair.ep, buffer, BYTES, key.address, rkey, sent));
		truth_op("put", BYTES);
		EXPECT(ucp_put_nbi(pair.ep, buffer, BYTES, key.address, rkey) >= 0);
		pair_flush();
		truth_op("put", BYTES);
		ALWAYS_OK(ucp_put(pair.ep, buffer, BYTES, key.address, rkey));
		truth_op("get", BYTES);
		ALWAYS_OK(ucp_get(pair.ep, buffer, BYTES, key.address, rkey));
		truth_op("atomic", 8);
		ALWAYS_OK(
			ucp_atomic_post(pair.ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, key.address, rkey));
		pair_flush();
	}
	ucp_rkey_destroy(rkey);
}

static ucp_mem_h expose(void)
{
	ucp_mem_map_params_t params = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
						      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
					.length = BYTES,
					.flags = UCP_MEM_MAP_ALLOCATE };
	ucp_mem_attr_t attr = { .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS };
	ucp_mem_h memory;
	size_t size;
	void *packed;

	ALWAYS_OK(ucp_mem_map(pair.context, &params, &memory));
	ALWAYS_OK(ucp_mem_query(memory, &attr));
	ALWAYS_OK(ucp_rkey_pack(pair.context, memory, &packed, &size));
	EXPECT(size <= sizeof(key.packed));
	key.address = (uintptr_t)attr.address;
	memcpy(key.packed, packed, size);
	ucp_rkey_buffer_release(packed);
	pair_publish("key", &key, sizeof(key));
	return memory;
}

int main(int argc, char **argv)
{
	ucp_mem_h memory = NULL;

	pair_start("ucp_old", argc, argv, NULL);
	snprintf(truth.tail, sizeof(truth.tail), ",\"one_sided\":true");
	if (pair.side == 0) {
		send_all();
		EXPECT(pair_receive("key", &key, sizeof(key)) == sizeof(key));
		put_and_get();
	} else {
		receive_all();
		memory = expose();
	}
	pair_meet("used");
	if (memory)
		ucp_mem_unmap(pair.context, memory);
	return pair_end();
}
