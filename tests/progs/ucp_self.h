/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker with an endpoint to itself, for programs of one process. */
#ifndef UCXBPF_UCP_SELF_H
#define UCXBPF_UCP_SELF_H

#include <stdio.h>
#include <stdlib.h>
#include <ucp/api/ucp.h>

#define UCP_NEED(call)                                                                             \
	do {                                                                                       \
		if ((call) != UCS_OK) {                                                            \
			fprintf(stderr, "not so: %s\n", #call);                                    \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static ucp_context_h ucp_self_open(ucp_worker_h *worker, ucp_ep_h *ep)
{
	const ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				      .features = UCP_FEATURE_TAG };
	const ucp_worker_params_t worker_params = { 0 };
	ucp_ep_params_t ep_params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_context_h context;
	ucp_address_t *address;
	size_t length;

	UCP_NEED(ucp_init(&params, NULL, &context));
	UCP_NEED(ucp_worker_create(context, &worker_params, worker));
	UCP_NEED(ucp_worker_get_address(*worker, &address, &length));
	ep_params.address = address;
	UCP_NEED(ucp_ep_create(*worker, &ep_params, ep));
	return context;
}

#endif
