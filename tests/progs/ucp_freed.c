// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives into memory that ucp_mem_map() allocated, which ucp_mem_unmap() frees while they are
 * open ("early"), or after they were done ("late"), or into memory of the program's own that was
 * mapped ("own"): "ucp_freed FILE early=3 late=2 own=4". Until FILE is there it receives "late";
 * its output is the number of all receives.
 */
#include <string.h>
#include <unistd.h>

#include "ucp_self.h"

#define BYTES 8192

static ucp_context_h context;
static ucp_worker_h worker;
static int done;

/* It begins by saving a register, which the kernel need not step over in a probe. */
static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
		     void *user_data)
{
	(void)request, (void)status, (void)info;
	fflush(stdout);
	++*(int *)user_data;
}

static void *map_one(int allocate, void *own, ucp_mem_h *memory)
{
	const ucp_mem_map_params_t params = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
							    UCP_MEM_MAP_PARAM_FIELD_LENGTH |
							    UCP_MEM_MAP_PARAM_FIELD_FLAGS,
					      .address = own,
					      .length = BYTES,
					      .flags = allocate ? UCP_MEM_MAP_ALLOCATE : 0 };
	ucp_mem_attr_t attr = { .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS };

	UCP_NEED(ucp_mem_map(context, &params, memory));
	UCP_NEED(ucp_mem_query(*memory, &attr));
	return attr.address;
}

/* Nothing is sent: the receive is cancelled. */
static void receive(int allocate, int unmap_first)
{
	static char own[BYTES];
	const ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
							    UCP_OP_ATTR_FIELD_USER_DATA,
					    .cb.recv = received,
					    .user_data = &done };
	const int before = done;
	ucp_mem_h memory;
	char *buffer = map_one(allocate, own, &memory);
	void *request = ucp_tag_recv_nbx(worker, buffer + 64, 1000, 7, ~0ul, &param);

	if (!UCS_PTR_IS_PTR(request))
		exit(4);
	if (unmap_first)
		UCP_NEED(ucp_mem_unmap(context, memory));
	ucp_request_cancel(worker, request);
	while (done == before)
		ucp_worker_progress(worker);
	ucp_request_free(request);
	if (!unmap_first)
		UCP_NEED(ucp_mem_unmap(context, memory));
}

int main(int argc, char **argv)
{
	ucp_ep_h ep;

	context = ucp_self_open(&worker, &ep);
	for (; argc > 1 && access(argv[1], F_OK); usleep(1000))
		receive(1, 0);
	for (int i = 2; i < argc; i++) {
		const char *number = strchr(argv[i], '=');

		for (int k = number ? atoi(number + 1) : 0; k > 0; k--)
			receive(*argv[i] != 'o', *argv[i] != 'l');
	}
	printf("%d\n", done);
	return 0;
}
