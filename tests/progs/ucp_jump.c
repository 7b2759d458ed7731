// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process that sends to itself. Now and then the receive's callback, which runs inside the send,
 * leaves it by a longjmp; sends at other heights of the stack follow. Prints how many sends
 * returned and how many were left.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp_self.h"

#define ROUNDS 23
#define PER_ROUND 3

static ucp_worker_h worker;
static ucp_ep_h ep;
static jmp_buf out;
static int returned, left;

static void leave(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
	(void)request;
	(void)status;
	(void)info;
	(void)arg;
	longjmp(out, 1);
}

static void arrived(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
	(void)request;
	(void)status;
	(void)info;
	*(int *)arg = 1;
}

static void receive_one(ucp_tag_recv_nbx_callback_t callback, uint64_t *to, int *done)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.recv = callback,
		.user_data = done,
	};

	ucp_tag_recv_nbx(worker, to, sizeof(*to), 1, -1, &param);
}

static void send_one(uint64_t value)
{
	static uint64_t buffer;
	ucp_request_param_t param = { 0 };

	buffer = value;
	if (ucp_tag_send_nbx(ep, &buffer, sizeof(buffer), 1, &param))
		exit(4);
	returned++;
}

/* Deeper by so many bytes, whose contents are what a former call left there. */
static __attribute__((noinline)) void exchange(size_t deeper)
{
	volatile char *room = alloca(deeper);
	static uint64_t to;
	int done = 0;

	room[0] = 1;
	receive_one(arrived, &to, &done);
	send_one(deeper);
	while (!done)
		ucp_worker_progress(worker);
	if (to != deeper)
		exit(5);
}

static __attribute__((noinline)) void jump(size_t deeper)
{
	volatile char *room = alloca(deeper);
	static uint64_t to;

	room[0] = 1;
	receive_one(leave, &to, NULL);
	if (setjmp(out)) {
		left++;
		return;
	}
	send_one(deeper);
	exit(6);
}

int main(void)
{
	ucp_self_open(&worker, &ep);
	for (int i = 0; i < ROUNDS; i++) {
		jump(i % 2 ? 64 : 4096);
		for (int j = 0; j < PER_ROUND; j++)
			exchange((size_t)512 << j);
	}
	printf("%d returned, %d left\n", returned, left);
	return 0;
}
