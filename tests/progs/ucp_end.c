// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends to itself once, then ends as told: "ucp_end status 3", "ucp_end signal 6"; with "thread"
 * behind that, its first thread ends before, and another one ends the process. "ucp_end file PATH"
 * says that it has sent, and ends with 0 once the file is there.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ucp/api/ucp.h>

#define OK(call)                                                                                   \
	do {                                                                                       \
		if ((call) != UCS_OK) {                                                            \
			fprintf(stderr, "ucp_end: not so: %s\n", #call);                           \
			exit(99);                                                                  \
		}                                                                                  \
	} while (0)

static void send_one(void)
{
	const ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				      .features = UCP_FEATURE_TAG };
	const ucp_worker_params_t worker_params = { 0 };
	ucp_ep_params_t ep_params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	const ucp_request_param_t param = { 0 };
	static uint64_t buffer;
	ucp_context_h context;
	ucp_address_t *address;
	ucp_worker_h worker;
	size_t length;
	ucp_ep_h ep;

	OK(ucp_init(&params, NULL, &context));
	OK(ucp_worker_create(context, &worker_params, &worker));
	OK(ucp_worker_get_address(worker, &address, &length));
	ep_params.address = address;
	OK(ucp_ep_create(worker, &ep_params, &ep));
	if (UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, &buffer, sizeof(buffer), 1, &param)))
		exit(99);
}

static void *end(void *arg)
{
	char **how = arg;
	int number = atoi(how[1]);

	if (!strcmp(how[0], "file")) {
		puts("sent");
		fflush(stdout);
		while (access(how[1], F_OK))
			usleep(10000);
		exit(0);
	}
	if (!strcmp(how[0], "status"))
		exit(number);
	signal(number, SIG_DFL);
	raise(number);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 98;
	send_one();
	if (argc < 4) {
		end(argv + 1);
		return 97;
	}
	if (pthread_create(&thread, NULL, end, argv + 1))
		return 96;
	pthread_exit(NULL);
}
