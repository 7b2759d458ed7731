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

static void nobody_waits_for_itself(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_connect(&r.a, &r.a);
	job_post(&r.a, 7, UINT64_MAX, 0x9100);
	r.job.now += PAUSE;
	job_pass_short(&r.a, &r.a, 7, 5);
	job_arrive(&r.a, 7, 5, 0x9100);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_int_equal(r.out.waits.len, 0);
	pair_release(&r);
}

/* In a loop of MPI_Test whose calls' ends are not known, inside of them or not. */
static void sender_polls(void **state)
{
	struct pair r;

	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		struct ub_polls *polls;

		pair_init(&r, "start");
		job_post(&r.b, 7, UINT64_MAX, 0x9100);
		polls = job_polls(&r.a, 101, PAUSE / 100);
		if (exact) {
			polls->ended = polls->count;
			polls->time = polls->count * (PAUSE / 100 - 5);
			polls->call.h.dur += PAUSE / 100 - 5;
		}
		job_send_short(&r.a, &r.b, 7, 5);
		job_arrive(&r.b, 7, 5, 0x9100);
		pair_analyse(&r);
		assert_int_equal(r.out.waits.len, 1);
		if (exact)
			assert_string_equal(r.out.waits.data[0].culprit_did, "communicating");
		else
			assert_null(r.out.waits.data[0].culprit_did);
		pair_release(&r);
	}
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

/*
 * Joined in mid-run: calls of b that block, each for a message that comes late, while another one
 * comes first. left: the one that it leaves, kept: so many of these waits are known.
 */
static void joins(uint64_t wanted, uint64_t mask, uint64_t other, uint64_t left, size_t kept)
{
	struct pair r;

	pair_init(&r, "attach");
	send_multi(&r.a, &r.b, 9, 0xabc1); /* tells where both ends stand */
	receive_multi(&r.b, 9, 0xabc1);
	for (uint64_t i = 0; i < 3; i++) {
		job_post(&r.b, wanted, mask, 0x9100 + 0x100 * i);
		job_send_short(&r.a, &r.b, other, 5);
		job_arrive(&r.b, other, 5, 0);
		r.job.now += PAUSE;
		job_send_short(&r.a, &r.b, wanted, 5);
		job_arrive(&r.b, wanted, 5, 0);
		job_take(&r.b, left, UINT64_MAX, left, 5);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 7);
	assert_int_equal(r.out.waits.len, kept);
	for (size_t i = 0; i < r.out.waits.len; i++) {
		assert_string_equal(r.out.waits.data[i].kind, wait_kind_names[WAIT_LATE_SENDER]);
		assert_string_equal(r.out.waits.data[i].function, "MPI_Recv");
		assert_true(r.out.waits.data[i].ns >= PAUSE);
	}
	/* the others were no longer than their calls had lasted by then */
	assert_true(r.out.totals.waits_hidden.waits >= (3 - kept) * PAUSE);
	assert_true(r.out.totals.waits_hidden.waits < (3 - kept) * 2 * PAUSE + PAUSE);
	assert_int_equal(r.out.totals.waits_hidden.progress, 0);
	assert_int_equal(r.out.totals.waits_hidden.collectives, 0);
	pair_release(&r);
}

static void joined_among_other_messages(void **state)
{
	(void)state;
	joins(7, UINT64_MAX, 8, 8, 3);
	joins(0x107, ~0xffull, 0x208, 0x208, 3);
	/* it would take both, so which one it got is not proved */
	joins(0x107, ~0xffull, 0x108, 0x107, 0);
}

/* The proof is tried for so many masks. */
static void joined_with_many_masks(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "attach");
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	for (uint64_t i = 0; i < 12; i++) {
		job_post(&r.b, i << 32, ~0ull << i, 0x9100 + 0x100 * i);
		r.job.now += PAUSE;
		job_send_short(&r.a, &r.b, i << 32, 5);
		job_arrive(&r.b, i << 32, 5, 0);
	}
	job_post(&r.b, 99ull << 32, UINT64_MAX, 0xf100);
	pair_analyse(&r);
	assert_int_equal(r.out.waits.len, 8);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sender_is_late),
		cmocka_unit_test(joined_among_other_messages),
		cmocka_unit_test(joined_with_many_masks),
		cmocka_unit_test(nobody_waits_for_itself),
		cmocka_unit_test(sender_polls),
		cmocka_unit_test(another_call_waits_not),
		cmocka_unit_test(receiver_is_late),
		cmocka_unit_test(receiver_makes_no_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
