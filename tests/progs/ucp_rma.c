// SPDX-License-Identifier: BSD-3-Clause
/* Put, get, posted and fetching atomics, compare and swap, flush; side 1 exposes the memory. */
#include "ucp_pair.h"

#define REGION (1 << 20)
#define ROUNDS 3
#define ADDS 17
#define SWAPS 5
#define COUNTER (REGION - 64)

static const size_t sizes[] = { 8, 61, 1021, 8191, 65537, 500009 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

struct key {
	uint64_t address;
	char packed[4096];
};

static void *region;
static ucp_mem_h memory;
static struct key key;
static ucp_rkey_h rkey;

static void expose(void)
{
	ucp_mem_map_params_t params = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
						      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
						      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
					.length = REGION,
					.flags = UCP_MEM_MAP_ALLOCATE };
	ucp_mem_attr_t attr = { .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS };
	size_t size;
	void *packed;

	ALWAYS_OK(ucp_mem_map(pair.context, &params, &memory));
	ALWAYS_OK(ucp_mem_query(memory, &attr));
	region = attr.address;
	memset(region, 0, REGION);
	ALWAYS_OK(ucp_rkey_pack(pair.context, memory, &packed, &size));
	EXPECT(size <= sizeof(key.packed));
	key.address = (uintptr_t)region;
	memcpy(key.packed, packed, size);
	ucp_rkey_buffer_release(packed);
	pair_publish("key", &key, sizeof(key));
}

static void put_and_get(char *buffer)
{
	ucp_request_param_t param = { 0 };
	int round, i;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < SIZES; i++) {
			fill(buffer, sizes[i], i);
			truth_op("put", sizes[i]);
			pair_wait(
				ucp_put_nbx(pair.ep, buffer, sizes[i], key.address, rkey, &param));
			pair_flush();
			memset(buffer, 0, sizes[i]);
			truth_op("get", sizes[i]);
			pair_wait(
				ucp_get_nbx(pair.ep, buffer, sizes[i], key.address, rkey, &param));
			verify(buffer, sizes[i], i);
		}
}

static void atomics(void)
{
	ucp_request_param_t post = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
				     .datatype = ucp_dt_make_contig(8) };
	uint64_t one = 1, reply, swap = 1000;
	ucp_request_param_t fetch = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
						      UCP_OP_ATTR_FIELD_REPLY_BUFFER,
				      .datatype = ucp_dt_make_contig(8),
				      .reply_buffer = &reply };
	int i;

	for (i = 0; i < ADDS; i++) {
		truth_op("atomic", 8);
		pair_wait(ucp_atomic_op_nbx(pair.ep, UCP_ATOMIC_OP_ADD, &one, 1,
					    key.address + COUNTER, rkey, &post));
		pair_flush();
		truth_op("atomic", 8);
		pair_wait(ucp_atomic_op_nbx(pair.ep, UCP_ATOMIC_OP_ADD, &one, 1,
					    key.address + COUNTER, rkey, &fetch));
		EXPECT(reply == 2ull * i + 1);
	}
	for (i = 0; i < SWAPS; i++) {
		one = i ? 1000 + i - 1 : 2 * ADDS;
		reply = swap + i;
		truth_op("atomic", 8);
		pair_wait(ucp_atomic_op_nbx(pair.ep, UCP_ATOMIC_OP_CSWAP, &one, 1,
					    key.address + COUNTER, rkey, &fetch));
		EXPECT(reply == one);
	}
}

int main(int argc, char **argv)
{
	char *buffer = malloc(REGION);

	pair_start("ucp_rma", argc, argv, NULL);
	snprintf(truth.tail, sizeof(truth.tail), ",\"one_sided\":true");
	if (pair.side == 0) {
		EXPECT(pair_receive("key", &key, sizeof(key)) == sizeof(key));
		ALWAYS_OK(ucp_ep_rkey_unpack(pair.ep, key.packed, &rkey));
		put_and_get(buffer);
		atomics();
		pair_flush();
		ucp_rkey_destroy(rkey);
	} else {
		expose();
	}
	pair_meet("used");
	if (memory) {
		EXPECT(*(uint64_t *)((char *)region + COUNTER) == 1000 + SWAPS - 1);
		ucp_mem_unmap(pair.context, memory);
	}
	free(buffer);
	return pair_end();
}
