// SPDX-License-Identifier: BSD-3-Clause
// R19: throws COUNT: exceptions that a receive's callback throws through the send that it runs within.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <ucp/api/ucp.h>

static ucp_worker_h worker;
static ucp_ep_h ep;
static uint64_t to;

static void thrower(void *, ucs_status_t, const ucp_tag_recv_info_t *, void *)
{
	throw 1;
}

static bool send_is_left()
{
	ucp_request_param_t receive = {}, send = {};
	uint64_t value = 7;

	receive.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
	receive.cb.recv = thrower;
	ucp_tag_recv_nbx(worker, &to, sizeof(to), 1, -1, &receive);
	try {
		ucp_tag_send_nbx(ep, &value, sizeof(value), 1, &send);
	} catch (int) {
		return true;
	}
	return false;
}

int main(int, char **argv)
{
	ucp_params_t params = {};
	ucp_worker_params_t worker_params = {};
	ucp_ep_params_t ep_params = {};
	ucp_context_h context;
	ucp_address_t *address;
	size_t length;
	int left = 0;

	params.field_mask = UCP_PARAM_FIELD_FEATURES;
	params.features = UCP_FEATURE_TAG;
	if (ucp_init(&params, nullptr, &context) || ucp_worker_create(context, &worker_params, &worker) ||
	    ucp_worker_get_address(worker, &address, &length))
		return 3;
	ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
	ep_params.address = address;
	if (ucp_ep_create(worker, &ep_params, &ep))
		return 3;
	for (int i = 0; i < atoi(argv[1]); i++)
		left += send_is_left();
	std::printf("%d thrown through\n", left);
	return 0;
}
