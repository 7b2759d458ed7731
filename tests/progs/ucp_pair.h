/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes that use UCP without any MPI. Addresses and the end of the job go through files in
 * a folder that both see, so that they may live on different (namespace) nodes:
 *
 *   PROG             both sides: forks before UCX starts
 *   PROG DIRECTORY 0 one side; the other is PROG DIRECTORY 1
 */
#ifndef UCXBPF_UCP_PAIR_H
#define UCXBPF_UCP_PAIR_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>

#include "truth.h"

static struct pair {
	char directory[3072];
	int side;
	pid_t other;
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
} pair;

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: side %d: not so: %s\n", __FILE__, __LINE__,        \
				pair.side, #condition);                                            \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

#define ALWAYS_OK(call) EXPECT((call) == UCS_OK)

static inline const char *pair_path(const char *name, int side, char path[4096])
{
	snprintf(path, 4096, "%s/%s.%d", pair.directory, name, side);
	return path;
}

/* Readers never see half a file. */
static inline void pair_publish(const char *name, const void *data, size_t size)
{
	char path[4096], unfinished[4096];
	FILE *file = fopen(pair_path("unfinished", pair.side, unfinished), "w");

	EXPECT(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	EXPECT(rename(unfinished, pair_path(name, pair.side, path)) == 0);
}

/* Waits for what the other side published, keeping UCX going. */
static inline size_t pair_receive(const char *name, void *data, size_t capacity)
{
	char path[4096];
	FILE *file;
	size_t size;

	pair_path(name, !pair.side, path);
	while (!(file = fopen(path, "r"))) {
		ucp_worker_progress(pair.worker);
		usleep(100);
	}
	size = fread(data, 1, capacity, file);
	fclose(file);
	return size;
}

/* Both sides have come here. */
static inline void pair_meet(const char *name)
{
	char nothing;

	pair_publish(name, "", 0);
	pair_receive(name, &nothing, 0);
}

static inline void pair_split(int argc, char **argv)
{
	const char *temporary = getenv("TMPDIR");

	if (argc > 2) {
		snprintf(pair.directory, sizeof(pair.directory), "%s", argv[1]);
		pair.side = atoi(argv[2]);
		return;
	}
	snprintf(pair.directory, sizeof(pair.directory), "%s/ucp-pair-XXXXXX",
		 temporary ? temporary : "/tmp");
	EXPECT(mkdtemp(pair.directory));
	pair.other = fork();
	EXPECT(pair.other >= 0);
	pair.side = pair.other == 0;
	if (pair.side)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline void pair_context(void)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
					    UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
					    UCP_FEATURE_AMO64 };
	ucp_worker_params_t worker_params = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					      .thread_mode = UCS_THREAD_MODE_SINGLE };
	ucp_config_t *config;

	ALWAYS_OK(ucp_config_read(NULL, NULL, &config));
	ALWAYS_OK(ucp_init(&params, config, &pair.context));
	ucp_config_release(config);
	ALWAYS_OK(ucp_worker_create(pair.context, &worker_params, &pair.worker));
}

/* The peer's address is added to the parameters. */
static inline void pair_connect(ucp_ep_params_t params)
{
	static char peer[65536];
	ucp_address_t *address;
	size_t length;

	ALWAYS_OK(ucp_worker_get_address(pair.worker, &address, &length));
	pair_publish("address", address, length);
	ucp_worker_release_address(pair.worker, address);
	EXPECT(pair_receive("address", peer, sizeof(peer)) > 0);
	params.field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
	params.address = (ucp_address_t *)peer;
	ALWAYS_OK(ucp_ep_create(pair.worker, &params, &pair.ep));
}

/* prepare, where not NULL, runs before the sides connect: AM handlers, exposed memory. */
static inline void pair_start(const char *program, int argc, char **argv, void (*prepare)(void))
{
	pair_split(argc, argv);
	truth_begin(program, pair.side, 2);
	pair_context();
	if (prepare)
		prepare();
	pair_connect((ucp_ep_params_t){ 0 });
}

/* Completes what an _nbx function returned. */
static inline void pair_wait(ucs_status_ptr_t request)
{
	ucs_status_t status;

	if (!request)
		return;
	EXPECT(!UCS_PTR_IS_ERR(request));
	while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
		ucp_worker_progress(pair.worker);
	EXPECT(status == UCS_OK);
	ucp_request_free(request);
}

static inline void pair_flush(void)
{
	ucp_request_param_t param = { 0 };

	truth_op("ep_flush", 0);
	pair_wait(ucp_ep_flush_nbx(pair.ep, &param));
}

static inline void pair_forget(void)
{
	static const char *const names[] = { "address", "done", "key", "used" };
	char path[4096];
	int i, side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < 4; i++)
			unlink(pair_path(names[i], side, path));
	rmdir(pair.directory);
}

/* The side that closes last finds its peer gone, which over tcp is an error: nothing is lost by it.
 */
static inline void pair_close(void)
{
	ucp_request_param_t param = { 0 };
	ucs_status_ptr_t request = ucp_ep_close_nbx(pair.ep, &param);

	if (!UCS_PTR_IS_PTR(request))
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS)
		ucp_worker_progress(pair.worker);
	ucp_request_free(request);
}

static inline int pair_end(void)
{
	int status = 0;

	pair_meet("done");
	truth_end();
	pair_close();
	ucp_worker_destroy(pair.worker);
	ucp_cleanup(pair.context);
	if (pair.other > 0) {
		EXPECT(waitpid(pair.other, &status, 0) == pair.other);
		pair_forget();
	}
	return status != 0;
}

static inline void fill(void *buffer, size_t bytes, unsigned int seed)
{
	unsigned char *byte = buffer;
	size_t i;

	for (i = 0; i < bytes; i++)
		byte[i] = (unsigned char)(seed + i * 31 + (i >> 8));
}

static inline void verify(const void *buffer, size_t bytes, unsigned int seed)
{
	const unsigned char *byte = buffer;
	size_t i;

	for (i = 0; i < bytes; i++)
		EXPECT(byte[i] == (unsigned char)(seed + i * 31 + (i >> 8)));
	truth_data(buffer, bytes);
}

#endif
