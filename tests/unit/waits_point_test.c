// SPDX-License-Identifier: BSD-3-Clause
/* Waits of two ranks for each other: b receives what a sends. */
#include "outcome.h"

#define PAUSE 5000u /* ns */

/* The only wait: of that kind, so long, and for the other process. */
static void is_wait(const struct pair *pair, enum wait_kind kind, int process, uint64_t ns)
{
	const struct fact_wait *wait = pair->out.waits.data;

	assert_int_equal(pair->out.waits.len, 1);
	assert_string_equal(wait->kind, wait_kind_names[kind]);
	assert_int_equal(wait->process, process);
	assert_int_equal(wait->culprit, !process);
	assert_int_equal(wait->root, !process);
	assert_int_equal(wait->ns, ns);
	assert_int_equal(wait->fresh, ns);
	assert_true(ns >= PAUSE);
}

static void sender_is_late(void **state)
{
	const struct fact_message *message;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_post(&r.b, 7, UINT64_MAX, 0x9100);
	r.job.now += PAUSE;
	job_send_short(&r.a, &r.b, 7, 5);
	job_arrive(&r.b, 7, 5, 0x9100);
	pair_analyse(&r);
	message = &r.out.messages.data[0];
	is_wait(&r, WAIT_LATE_SENDER, 1, message->send_start - message->recv_start);
	assert_string_equal(r.out.waits.data[0].function, "MPI_Recv");
	assert_string_equal(r.out.waits.data[0].culprit_function, "MPI_Send");
	assert_string_equal(r.out.waits.data[0].culprit_did, "computing");
	pair_release(&r);
}

/* A call that sends does not wait for what arrives in it. */
static void another_call_waits_not(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_post(&r.b, 7, UINT64_MAX, 0x9100);
	job_call(&r.b, AT_MPI_SEND);
	r.job.now += PAUSE;
	job_send_short(&r.a, &r.b, 7, 5);
	job_arrive(&r.b, 7, 5, 0x9100);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_int_equal(r.out.waits.len, 0);
	pair_release(&r);
}

static void receiver_is_late(void **state)
{
	const struct fact_message *message;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	send_rts(&r.a, &r.b, 7, 0x8000);
	r.job.now += PAUSE;
	job_post(&r.b, 7, UINT64_MAX, 0x9200);
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0x9200);
	job_comp(&r.a, AT_SEND_CB, 0x8000, 0, 0);
	pair_analyse(&r);
	message = &r.out.messages.data[0];
	is_wait(&r, WAIT_LATE_RECEIVER, 0, message->recv_start - message->send_start);
	pair_release(&r);
}

/* The receive is there, but its process handles the announcement in a later call. */
static void receiver_makes_no_progress(void **state)
{
	const struct fact_message *message;
	uint64_t entered;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_post(&r.b, 7, UINT64_MAX, 0x9200);
	send_rts(&r.a, &r.b, 7, 0x8000);
	r.job.now += PAUSE;
	job_call(&r.b, AT_MPI_RECV);
	entered = r.job.now;
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0x9200);
	job_comp(&r.a, AT_SEND_CB, 0x8000, 0, 0);
	pair_analyse(&r);
	message = &r.out.messages.data[0];
	is_wait(&r, WAIT_LATE_PROGRESS, 0, entered - message->send_start);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sender_is_late),
		cmocka_unit_test(another_call_waits_not),
		cmocka_unit_test(receiver_is_late),
		cmocka_unit_test(receiver_makes_no_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
