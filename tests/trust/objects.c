// SPDX-License-Identifier: BSD-3-Clause
/*
 * objects [FILE]: two workers of one process with endpoints to each other and to themselves, posted
 * receives, messages that nobody has received, and sends that wait. Maps the second MiB of FILE,
 * without a look at it. Prints "ready" and the mapping's address, and waits to be killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#define ENDPOINTS 3
#define NEED(call)                                                                                 \
	do {                                                                                       \
		if ((call) != UCS_OK) {                                                            \
			fprintf(stderr, "not so: %s\n", #call);                                    \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static ucp_worker_h workers[2];
static ucp_ep_h eps[2][ENDPOINTS];
static char large[1 << 20];

static void progress(void)
{
	for (int i = 0; i < 10000; i++)
		ucp_worker_progress(workers[i % 2]);
}

static void connect_to(int from, int to, ucp_ep_h *ep)
{
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_address_t *address;
	size_t length;

	NEED(ucp_worker_get_address(workers[to], &address, &length));
	params.address = address;
	NEED(ucp_ep_create(workers[from], &params, ep));
	ucp_worker_release_address(workers[to], address);
}

static void send_some(int from, ucp_ep_h ep)
{
	const ucp_request_param_t param = { 0 };

	ucp_tag_send_nbx(ep, large, 8, 100 + from, &param);
	ucp_tag_send_sync_nbx(ep, large, 64, 200 + from, &param);
	ucp_tag_send_nbx(ep, large, sizeof(large), 300 + from, &param);
}

/* The first byte is read, and no page ahead of any. */
static void *map_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *mapped;
	char first;

	if (fd < 0 || pread(fd, &first, 1, 0) != 1 || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		return MAP_FAILED;
	mapped = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE, fd, 1 << 20);
	close(fd);
	return mapped;
}

int main(int argc, char **argv)
{
	void *mapped = NULL;
	const ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				      .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA };
	const ucp_worker_params_t worker_params = { 0 };
	const ucp_request_param_t param = { 0 };
	ucp_context_h context;

	NEED(ucp_init(&params, NULL, &context));
	for (int i = 0; i < 2; i++)
		NEED(ucp_worker_create(context, &worker_params, &workers[i]));
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < ENDPOINTS; n++)
			connect_to(i, n % 2, &eps[i][n]);
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < ENDPOINTS; n++)
			send_some(i, eps[i][n]);
	progress();
	for (int i = 0; i < 20; i++)
		ucp_tag_recv_nbx(workers[i % 2], large, 8, 1000 + i, i % 3 ? -1 : 0xff, &param);
	if (argc > 1)
		mapped = map_file(argv[1]);
	if (mapped == MAP_FAILED) {
		perror(argv[1]);
		return 3;
	}
	printf("ready %lx\n", (unsigned long)mapped);
	fflush(stdout);
	for (;;)
		pause();
}
