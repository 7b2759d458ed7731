// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations that fail: receives that are too short or cancelled, and sends to a peer that is
 * killed. The side that survives prints what UCX reported to it, as "WHAT STATUS COUNT" lines:
 *
 *   receive    receives that ended with that status, at once or later
 *   endpoint   calls of the endpoint's error handler
 *   returned   sends that ended with it at once
 *   later      sends that ended with it later
 *
 * LONG in the environment: these sends are of 1 MiB. GO names a file: it fails nothing before that
 * is there, and ends once it is gone.
 */
#include "ucp_pair.h"

#define SENDS 200
#define MESSAGES 4
#define STATUSES 101 /* by -ucs_status_t */

enum { RECEIVE, ENDPOINT, RETURNED, LATER, WHATS };
static const char *const names[WHATS] = { "receive", "endpoint", "returned", "later" };
static unsigned int ledger[WHATS][STATUSES];
static char data[1 << 20];

static void note(int what, ucs_status_t status)
{
	EXPECT(status <= 0 && status > -STATUSES);
	ledger[what][-status] += status < 0;
}

static void handler(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)arg;
	(void)ep;
	note(ENDPOINT, status);
}

static void connect_handled(void)
{
	pair_connect((ucp_ep_params_t){
		.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
		.err_mode = UCP_ERR_HANDLING_MODE_PEER,
		.err_handler.cb = handler,
	});
}

/* Until it has ended. */
static ucs_status_t ended(ucs_status_ptr_t request)
{
	ucs_status_t status;

	if (!UCS_PTR_IS_PTR(request))
		return UCS_PTR_STATUS(request);
	while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
		ucp_worker_progress(pair.worker);
	ucp_request_free(request);
	return status;
}

static ucs_status_ptr_t start_send(size_t bytes, ucp_tag_t tag)
{
	const ucp_request_param_t param = { 0 };

	return ucp_tag_send_nbx(pair.ep, data, bytes, tag, &param);
}

static ucs_status_ptr_t start_receive(size_t bytes, ucp_tag_t tag)
{
	const ucp_request_param_t param = { 0 };

	return ucp_tag_recv_nbx(pair.worker, data, bytes, tag, UINT64_MAX, &param);
}

/* Each message is longer than its receive, but the last one. */
static void receives(void)
{
	ucs_status_ptr_t requests[MESSAGES];
	int i;

	for (i = 0; i < MESSAGES; i++)
		requests[i] = start_receive(10, 1 + i);
	pair_meet("posted");
	for (i = 0; i < MESSAGES; i++)
		note(RECEIVE, ended(requests[i]));
	pair_meet("sent");
	for (i = 0; i < 200; i++)
		ucp_worker_progress(pair.worker);
	for (i = 0; i < MESSAGES; i++)
		note(RECEIVE, ended(start_receive(10, 11 + i)));
}

static void cancels(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		ucs_status_ptr_t request = start_receive(10, 100 + i);

		EXPECT(UCS_PTR_IS_PTR(request));
		ucp_request_cancel(pair.worker, request);
		note(RECEIVE, ended(request));
	}
}

static void to_the_dead(void)
{
	static ucs_status_ptr_t requests[SENDS];
	size_t bytes = getenv("LONG") ? sizeof(data) : 64;
	int i, waiting = 0;

	for (i = 0; i < SENDS; i++) {
		requests[waiting] = start_send(bytes, 1000);
		if (!UCS_PTR_IS_PTR(requests[waiting]))
			note(RETURNED, UCS_PTR_STATUS(requests[waiting]));
		else
			waiting++;
		if (i == 10) {
			EXPECT(!kill(pair.other, SIGKILL));
			EXPECT(waitpid(pair.other, NULL, 0) == pair.other);
		}
		usleep(1000);
		if (i > 10)
			ucp_worker_progress(pair.worker);
	}
	for (i = 0; i < waiting; i++)
		note(LATER, ended(requests[i]));
	ended(ucp_ep_close_nbx(
		pair.ep, &(const ucp_request_param_t){ .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
						       .flags = UCP_EP_CLOSE_FLAG_FORCE }));
}

static void wait_for(const char *name, bool there)
{
	while (name && !access(name, F_OK) != there) {
		ucp_worker_progress(pair.worker);
		usleep(1000);
	}
}

static void survive(void)
{
	int what, status;

	wait_for(getenv("GO"), true);
	receives();
	cancels();
	to_the_dead();
	for (what = 0; what < WHATS; what++)
		for (status = 0; status < STATUSES; status++)
			if (ledger[what][status])
				printf("%s %s %u\n", names[what], ucs_status_string(-status),
				       ledger[what][status]);
}

static void die(void)
{
	const size_t lengths[MESSAGES] = { 100, 5000, 100000, 10 };
	int i;

	pair_meet("posted");
	for (i = 0; i < MESSAGES; i++)
		start_send(lengths[i], 1 + i);
	for (i = 0; i < MESSAGES; i++)
		start_send(lengths[i], 11 + i);
	pair_meet("sent");
	for (;;)
		ucp_worker_progress(pair.worker);
}

int main(int argc, char **argv)
{
	pair_split(argc, argv);
	truth_begin("ucp_errors", pair.side, 2);
	pair_context();
	connect_handled();
	if (pair.side)
		die();
	survive();
	fflush(stdout);
	wait_for(getenv("GO"), false);
	ucp_worker_destroy(pair.worker);
	ucp_cleanup(pair.context);
	pair_forget();
	return 0;
}
