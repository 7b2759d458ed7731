// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process that sends to itself over the transport self, where a receive's callback runs within
 * the send:
 *
 *   ucp_nest nest DEPTH ROUNDS  the callback sends again: DEPTH sends lie within each other
 *   ucp_nest signal COUNT       sends go on while a timer's handler sends, COUNT times, by a worker
 *                               of its own
 *
 * Prints how many sends were made, which is how many receives were. DEPTH from 1.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "ucp_self.h"

#define PERIOD_US 400

/* Who sends: the program, its handler. */
static struct side {
	ucp_worker_h worker;
	ucp_ep_h ep;
	uint64_t to, sent, received;
	long deeper; /* sends that are still to be made within the next one */
} main_side, handler_side;

static volatile sig_atomic_t handled;

static void exchange(struct side *side);

static void arrived(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
	struct side *side = arg;

	(void)status;
	(void)info;
	side->received++;
	if (side->deeper-- > 0)
		exchange(side);
	ucp_request_free(request);
}

/* A receive, and the send that it is the other end of. */
static void exchange(struct side *side)
{
	const ucp_request_param_t receive = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.recv = arrived,
		.user_data = side,
	};
	const ucp_request_param_t send = { 0 };
	uint64_t value = side->sent;

	if (UCS_PTR_IS_ERR(
		    ucp_tag_recv_nbx(side->worker, &side->to, sizeof(side->to), 1, -1, &receive)) ||
	    ucp_tag_send_nbx(side->ep, &value, sizeof(value), 1, &send))
		exit(4);
	side->sent++;
}

static void on_timer(int number)
{
	(void)number;
	exchange(&handler_side);
	handled++;
}

static void nest(long depth, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		main_side.deeper = depth - 1;
		exchange(&main_side);
	}
}

static void signals(long count)
{
	const struct itimerval period = { { 0, PERIOD_US }, { 0, PERIOD_US } }, none = { 0 };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

	/* its pools are grown before: a handler must not allocate */
	ucp_self_open(&handler_side.worker, &handler_side.ep);
	for (int i = 0; i < 64; i++) {
		handler_side.deeper = 0;
		exchange(&handler_side);
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &period, NULL);
	while (handled < count) {
		main_side.deeper = 2;
		exchange(&main_side);
	}
	setitimer(ITIMER_REAL, &none, NULL);
}

int main(int argc, char **argv)
{
	ucp_self_open(&main_side.worker, &main_side.ep);
	if (argc == 4 && !strcmp(argv[1], "nest"))
		nest(atol(argv[2]), atol(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "signal"))
		signals(atol(argv[2]));
	else
		return 2;
	if (main_side.sent != main_side.received || handler_side.sent != handler_side.received)
		return 5;
	printf("%lu sends\n", main_side.sent + handler_side.sent);
	return 0;
}
