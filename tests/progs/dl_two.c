// SPDX-License-Identifier: BSD-3-Clause
/*
 * dl_two FOLDER [STEPS]: two processes, each with two copies of UCX: the machine's, and the one
 * that tests/renamed-ucx made in FOLDER, bound to its own libraries. Each copy has a context, a
 * worker and an endpoint to its like, and sends the same sizes under the same tags, at the same
 * time; how often, by which transport and from which function differ. What comes by the renamed
 * copy is answered by the other one out of the callback. STEPS: a folder; once both copies are
 * "loaded", "connected" and all is "sent", $TRUTH/RANK.STEP says so, and STEPS/STEP is waited for.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>

#include "truth.h"

#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

enum { STOCK, RENAMED, COPIES };

static const size_t sizes[] = { 8, 3001, 100003 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define LARGEST 100003
#define ANSWER 24 /* bytes */
#define ANSWER_TAG 77

/* The functions of one copy. */
static struct copy {
	const char *name, *transports;
	int rounds;
	__typeof__(&ucp_config_read) config_read;
	__typeof__(&ucp_config_modify) config_modify;
	__typeof__(&ucp_config_release) config_release;
	__typeof__(&ucp_init_version) init;
	__typeof__(&ucp_worker_create) worker_create;
	__typeof__(&ucp_worker_get_address) address;
	__typeof__(&ucp_ep_create) ep_create;
	__typeof__(&ucp_worker_progress) progress;
	__typeof__(&ucp_tag_send_nbx) send;
	__typeof__(&ucp_tag_recv_nbx) receive;
	__typeof__(&ucp_request_free) release;
	ucp_worker_h worker;
	ucp_ep_h ep;
	int open; /* operations that are not done */
	void *done[4]; /* to be released */
	int done_count;
	uint64_t count, bytes; /* of sends */
	unsigned char in[LARGEST], out[LARGEST];
} copies[COPIES] = {
	[STOCK] = { .name = "stock", .transports = "posix,cma,self", .rounds = 11 },
	[RENAMED] = { .name = "renamed", .transports = "sysv,self", .rounds = 7 },
};

static int side, peer; /* a socket to the other side */

static void load(struct copy *copy, const char *path, int how)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | how);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
#define FUNCTION(member, symbol)                                                                   \
	NEED(copy->member = (__typeof__(copy->member))dlsym(library, #symbol))
	FUNCTION(config_read, ucp_config_read);
	FUNCTION(config_modify, ucp_config_modify);
	FUNCTION(config_release, ucp_config_release);
	FUNCTION(init, ucp_init_version);
	FUNCTION(worker_create, ucp_worker_create);
	FUNCTION(address, ucp_worker_get_address);
	FUNCTION(ep_create, ucp_ep_create);
	FUNCTION(progress, ucp_worker_progress);
	FUNCTION(send, ucp_tag_send_nbx);
	FUNCTION(receive, ucp_tag_recv_nbx);
	FUNCTION(release, ucp_request_free);
}

static void progress_all(void)
{
	for (int i = 0; i < COPIES; i++)
		copies[i].progress(copies[i].worker);
}

static void connect_to_other(struct copy *copy)
{
	const ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				      .features = UCP_FEATURE_TAG };
	const ucp_worker_params_t worker_params = { 0 };
	ucp_ep_params_t ep_params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	char theirs[8192];
	ucp_address_t *mine;
	ucp_context_h context;
	ucp_config_t *config;
	size_t length;

	NEED(copy->config_read(NULL, NULL, &config) == UCS_OK);
	NEED(copy->config_modify(config, "TLS", copy->transports) == UCS_OK);
	NEED(copy->init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context) == UCS_OK);
	copy->config_release(config);
	NEED(copy->worker_create(context, &worker_params, &copy->worker) == UCS_OK);
	NEED(copy->address(copy->worker, &mine, &length) == UCS_OK);
	NEED(send(peer, mine, length, 0) == (ssize_t)length);
	NEED(recv(peer, theirs, sizeof(theirs), 0) > 0);
	ep_params.address = (ucp_address_t *)theirs;
	NEED(copy->ep_create(copy->worker, &ep_params, &copy->ep) == UCS_OK);
}

/* ---- messages ---- */

static void sent(void *request, ucs_status_t status, void *argument)
{
	struct copy *copy = argument;

	NEED(status == UCS_OK);
	copy->done[copy->done_count++] = request;
	copy->open--;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
		     void *copy)
{
	(void)info;
	sent(request, status, copy);
}

static inline __attribute__((always_inline)) void send_to(struct copy *copy, size_t bytes,
							  ucp_tag_t tag)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = sent,
		.user_data = copy,
	};
	ucs_status_ptr_t request = copy->send(copy->ep, copy->out, bytes, tag, &param);

	NEED(!UCS_PTR_IS_ERR(request));
	copy->open += request != NULL;
	truth_op("tag_send", bytes);
	truth_message("tag_send", !side, bytes);
	copy->count++;
	copy->bytes += bytes;
}

/* Each copy's callers are functions of their own. */
static __attribute__((noinline)) void stock_sends(size_t bytes, ucp_tag_t tag)
{
	send_to(&copies[STOCK], bytes, tag);
}

static __attribute__((noinline)) void renamed_sends(size_t bytes, ucp_tag_t tag)
{
	send_to(&copies[RENAMED], bytes, tag);
}

/* A message of the renamed copy is there: within its progress, the other copy answers. */
static void received_and_answer(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
				void *copy)
{
	received(request, status, info, copy);
	stock_sends(ANSWER, ANSWER_TAG);
}

static void receive(struct copy *copy, size_t bytes, ucp_tag_t tag,
		    ucp_tag_recv_nbx_callback_t callback)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
				UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
		.cb.recv = callback,
		.user_data = copy,
	};
	ucs_status_ptr_t request =
		copy->receive(copy->worker, copy->in, bytes, tag, UINT64_MAX, &param);

	NEED(UCS_PTR_IS_PTR(request));
	copy->open++;
	truth_op("tag_recv", bytes);
}

static void finish(void)
{
	while (copies[STOCK].open || copies[RENAMED].open)
		progress_all();
	for (struct copy *copy = copies; copy < copies + COPIES; copy++)
		while (copy->done_count)
			copy->release(copy->done[--copy->done_count]);
}

static void fill(struct copy *copy, int round, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		copy->out[i] = (unsigned char)(i + 17 * (unsigned)round + (copy == copies));
}

static void verify(const struct copy *copy, int round, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		NEED(copy->in[i] == (unsigned char)(i + 17 * (unsigned)round + (copy == copies)));
	truth_data(copy->in, bytes);
}

/* One message of a size each way, of each copy that still has rounds to do. */
static void exchange(int round, size_t bytes)
{
	const bool both = round < copies[RENAMED].rounds;

	for (int i = 0; i < COPIES; i++)
		fill(&copies[i], round, bytes);
	receive(&copies[STOCK], bytes, 0, received);
	if (both)
		receive(&copies[RENAMED], bytes, 0, received);
	stock_sends(bytes, 0);
	if (both)
		renamed_sends(bytes, 0);
	finish();
	verify(&copies[STOCK], round, bytes);
	if (both)
		verify(&copies[RENAMED], round, bytes);
}

static void answer(int round)
{
	fill(&copies[RENAMED], round, ANSWER);
	receive(&copies[STOCK], ANSWER, ANSWER_TAG, received);
	receive(&copies[RENAMED], ANSWER, 1, received_and_answer);
	renamed_sends(ANSWER, 1);
	finish();
}

/* Both sides have come here; neither stops to progress while it waits. */
static void meet(void)
{
	char byte = 0;

	NEED(send(peer, &byte, 1, 0) == 1);
	while (recv(peer, &byte, 1, MSG_DONTWAIT) != 1)
		progress_all();
}

static void wait_after(const char *step, const char *steps)
{
	char path[4096];

	if (!steps)
		return;
	fclose(truth_open(step));
	snprintf(path, sizeof(path), "%s/%s", steps, step);
	while (access(path, F_OK))
		usleep(1000);
}

static void tell(void)
{
	snprintf(truth.tail, sizeof(truth.tail),
		 ",\"copies\":{\"stock\":[%llu,%llu],\"renamed\":[%llu,%llu]}",
		 (unsigned long long)copies[STOCK].count, (unsigned long long)copies[STOCK].bytes,
		 (unsigned long long)copies[RENAMED].count,
		 (unsigned long long)copies[RENAMED].bytes);
	truth_end();
}

int main(int argc, char **argv)
{
	char path[4096];
	int ends[2], status = 0;
	pid_t other;

	NEED(argc > 1);
	NEED(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	other = fork();
	NEED(other >= 0);
	side = other == 0;
	peer = ends[side];
	if (side)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	truth_begin("dl_two", side, 2);
	snprintf(path, sizeof(path), "%s/libucp-311e600f.so.0.0.0", argv[1]);
	load(&copies[STOCK], "libucp.so.0", 0);
	load(&copies[RENAMED], path, RTLD_DEEPBIND);
	wait_after("loaded", argv[2]);
	for (int i = 0; i < COPIES; i++)
		connect_to_other(&copies[i]);
	wait_after("connected", argv[2]);
	for (int round = 0; round < copies[STOCK].rounds; round++)
		for (int i = 0; i < SIZES; i++)
			exchange(round, sizes[i]);
	for (int round = 0; round < 5; round++)
		answer(round);
	meet();
	wait_after("sent", argv[2]);
	tell();
	if (!side)
		NEED(waitpid(other, &status, 0) == other);
	return status != 0;
}
