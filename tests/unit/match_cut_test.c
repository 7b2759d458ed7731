// SPDX-License-Identifier: BSD-3-Clause
/* Times that nobody watched: between windows, slices with detail, captures; and losses. */
#include "outcome.h"

#define GAP 1000000u

static void window(struct job *job, uint64_t from, uint64_t to)
{
	json_array_append_new(job->sides, json_pack("{s:s, s:I, s:I}", "t", "window", "from",
						    (json_int_t)from, "to", (json_int_t)to));
}

static void assert_causal(const struct outcome *out)
{
	for (size_t i = 0; i < out->messages.len; i++)
		assert_true(out->messages.data[i].send_start < out->messages.data[i].arrival);
}

/*
 * What is under way at an edge looks like what comes after the gap. Nothing is joined across it,
 * although both processes were traced from their start.
 */
static void nothing_crosses_an_edge(void **state)
{
	struct pair r;
	uint64_t first;

	(void)state;
	pair_init(&r, "start");
	first = r.job.now;
	job_exchange(&r.a, &r.b, 7, 3);
	job_post(&r.b, 8, UINT64_MAX, 0x9000);
	job_send_short(&r.a, &r.b, 7, 3);
	window(&r.job, first, r.job.now);
	r.job.now += GAP;
	window(&r.job, r.job.now, 0);
	job_arrive(&r.b, 7, 3, 0); /* sent in the gap */
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 4);
	assert_int_equal(r.out.totals.matched, 3);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "window edge"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "window edge"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_true(r.out.messages.data[i].arrival - r.out.messages.data[i].send_start <
			    GAP);
	pair_release(&r);
}

/* Without an anchor in it, a window says nothing of order, whatever the one before it knew. */
static void each_window_needs_its_anchor(void **state)
{
	struct pair r;
	uint64_t first;

	(void)state;
	pair_init(&r, "start");
	first = r.job.now;
	job_exchange(&r.a, &r.b, 7, 3);
	window(&r.job, first, r.job.now);
	r.job.now += GAP;
	window(&r.job, r.job.now, r.job.now + GAP);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "before first anchor"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	pair_release(&r);
}

/* An endpoint that is made within a window is in order from its first message. */
static void new_endpoint_in_a_window(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "start");
	job_worker(&r.a);
	job_worker(&r.b);
	window(&r.job, 1, r.job.now);
	r.job.now += GAP;
	window(&r.job, r.job.now, 0);
	job_connect(&r.a, &r.b);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	pair_release(&r);
}

/* A request's address is its id, again and again: the RTS of before is not the one sent now. */
static void request_of_before(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	for (int i = 0; i < 4; i++) {
		if (i)
			send_rts(&r.a, &r.b, 7, 0x7ff2000);
		job_post(&r.b, 7, UINT64_MAX, 0x9000);
		arrive_rts(&r.b, &r.a, 7, 0x7ff2000, 0x9000);
		job_comp(&r.b, AT_RECV_CB, 0x9000, 7, 100000);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 3);
	assert_int_equal(r.out.totals.matched, 3);
	assert_int_equal(reason_sum(r.out.totals.unmatched_receives), 1);
	assert_causal(&r.out);
	pair_release(&r);
}

static void detail(struct job *job, uint64_t ts, const char *slices)
{
	json_array_append_new(job->sides, json_pack("{s:s, s:I, s:s}", "t", "detail", "ts",
						    (json_int_t)ts, "slices", slices));
}

/*
 * Detail in each fourth slice. A message whose send and arrival began in different slices looks
 * like another one's half: nothing is joined across the slices without detail.
 */
static void slices_without_detail(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "start");
	detail(&r.job, 1, "0x1111111111111111");
	pair_connect(&r);
	job_exchange(&r.a, &r.b, 7, 3);
	job_send_short(&r.a, &r.b, 7, 3);
	r.job.now = (4ull << UB_SLICE_SHIFT) + 1;
	job_arrive(&r.b, 7, 3, 0); /* sent in between */
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 4);
	assert_int_equal(r.out.totals.matched, 3);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "detail was thinned"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_true(r.out.messages.data[i].arrival - r.out.messages.data[i].send_start <
			    1u << UB_SLICE_SHIFT);
	pair_release(&r);
}

/* Order goes on from one slice to the next where both have detail. */
static void slices_side_by_side(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "start");
	detail(&r.job, 1, "0x3333333333333333");
	pair_connect(&r);
	r.job.now = 4ull << UB_SLICE_SHIFT;
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	r.job.now = 5ull << UB_SLICE_SHIFT;
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	pair_release(&r);
}

/* Times of a damaged file cost no more than others. */
static void slices_for_ever(void **state)
{
	static const uint64_t times[] = { 1ull << 62, UINT64_MAX - 100000 };
	struct pair r;

	(void)state;
	pair_init_apart(&r, "start");
	detail(&r.job, 1, "0x1111111111111111");
	pair_connect(&r);
	job_exchange(&r.a, &r.b, 7, 3);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		r.job.now = times[i];
		job_exchange(&r.a, &r.b, 7, 3);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 3);
	assert_int_equal(r.out.totals.matched, 1);
	pair_release(&r);
}

static struct ub_loss *lose(struct task *task, uint64_t records)
{
	uint32_t call = task->call;
	struct ub_loss *loss;

	task->call = 0;
	loss = job_add(task, AT_LOSS, 0);
	loss->until = task->job->now;
	loss->records = records;
	task->call = call;
	return loss;
}

/* A request that was named before a loss may be another operation's behind it. */
static void request_of_before_a_loss(void **state)
{
	for (int lost = 0; lost < 2; lost++) {
		struct pair r;

		(void)state;
		pair_init(&r, "start");
		job_call(&r.a, AT_MPI_SEND);
		job_op(&r.a, AT_TAG_SEND, EP(1, 2), 7, 10000, 0x7ff1000);
		job_op_end(&r.a);
		lose(&r.a, lost);
		job_xfer(&r.a, &r.b, AT_AM_BCOPY, 4, 116, 0x7ff1000)->h.flags = UB_F_REQ;
		pair_analyse(&r);
		assert_int_equal(r.out.totals.data_bytes, 100);
		assert_int_equal(r.out.totals.unexplained_bytes, lost ? 100 : 0);
		pair_release(&r);
	}
}

/*
 * A receive waits while records are lost: whether it was over meanwhile is in doubt if the
 * receiver's were among them, and not if threads of other processes tell of all that is missing.
 */
static void loss_of_a_process(bool senders, uint64_t missing)
{
	bool named = senders && missing == 1;
	struct pair r;

	pair_init(&r, "start");
	job_post(&r.b, 9, UINT64_MAX, 0x9100);
	r.job.cpu_seq += missing;
	r.job.lost = missing;
	lose(senders ? &r.a : &r.b, 1);
	send_multi(&r.a, &r.b, 9, 0xabc1);
	job_rx(&r.b, AT_RX_FIRST, 8256, 9, 10000, 0xabc1);
	r.b.rx = 0;
	job_comp(&r.b, AT_RECV_CB, 0x9100, 9, 10000);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_int_equal(r.out.messages.data[i].recv_start != 0, named);
	assert_true(r.out.messages.len || !named);
	pair_release(&r);
}

static void whose_records_were_lost(void **state)
{
	(void)state;
	loss_of_a_process(true, 1);
	loss_of_a_process(false, 1);
	loss_of_a_process(true, 2); /* nobody tells whose the other one was */
}

/* The call around what is recorded again has no record of its own: it is named, and not counted. */
static void call_of_a_loss(void **state)
{
	struct pair r;
	struct ub_loss *loss;

	(void)state;
	pair_init(&r, "start");
	/* an operation was lost, too, that began before the call which is there */
	loss = lose(&r.a, 1);
	loss->call = r.job.seq + 2;
	loss->call_site = AT_MPI_SEND;
	job_call(&r.a, AT_MPI_RECV);
	job_call(&r.a, AT_MPI_SEND);
	job_lose_last(&r.job);
	job_op(&r.a, AT_TAG_SEND, EP(1, 2), 7, 3, 0);
	job_op_end(&r.a);
	job_call(&r.a, AT_MPI_SEND);
	job_lose_last(&r.job);
	job_op(&r.a, AT_TAG_SEND, EP(1, 2), 8, 3, 0);
	job_op_end(&r.a);
	pair_analyse(&r);
	assert_int_equal(r.out.calls.len, 1);
	assert_string_equal(r.out.calls.data[0].function, "MPI_Recv");
	assert_int_equal(r.out.calls.data[0].ops, 0);
	assert_int_equal(r.out.ops.len, 2);
	assert_string_equal(r.out.ops.data[0].function, "MPI_Send");
	assert_string_equal(r.out.ops.data[1].function, "unknown");
	pair_release(&r);
}

/* The later one of two captures, with the same processes and sites. */
static void rejoin(struct pair *second, const struct pair *first)
{
	json_t *capture;

	pair_init_apart(second, "attach");
	second->job.now = first->job.now + GAP;
	capture = json_array_get(second->job.sides, 0);
	json_object_set_new(capture, "ts", json_integer((json_int_t)second->job.now));
	/* made before the clock was set */
	json_array_remove(second->job.sides, json_array_size(second->job.sides) - 1);
	json_array_remove(second->job.sides, json_array_size(second->job.sides) - 1);
	second->a = job_process(&second->job, 1, 0, "attach");
	second->b = job_process(&second->job, 2, 1, "attach");
	job_snapshot(&second->a, &second->b);
	job_snapshot(&second->b, &second->a);
}

static void two_captures(bool swapped)
{
	struct pair r, again;
	struct job *jobs[2];

	pair_init_apart(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	job_exchange(&r.a, &r.b, 7, 3);
	job_send_short(&r.a, &r.b, 7, 3); /* arrives between the captures */
	rejoin(&again, &r);
	job_arrive(&again.b, 7, 3, 0); /* sent between the captures */
	job_take(&again.b, 7, UINT64_MAX, 7, 3);
	job_exchange(&again.a, &again.b, 7, 3);
	send_multi(&again.a, &again.b, 9, 0xabc2);
	receive_multi(&again.b, 9, 0xabc2);
	jobs[swapped] = &r.job;
	jobs[!swapped] = &again.job;
	analyse(&r.out, jobs, 2);
	assert_int_equal(r.out.processes.len, 2);
	assert_int_equal(r.out.totals.sends, 5);
	assert_int_equal(r.out.totals.matched, 4);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "between captures"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "send not seen"), 1);
	assert_causal(&r.out);
	outcome_release(&r.out);
	job_release(&r.job);
	job_release(&again.job);
}

static void one_capture_after_the_other(void **state)
{
	(void)state;
	two_captures(false);
	two_captures(true);
}

/*
 * A rank on each of two hosts, whose windows overlap but do not begin together. What was under way
 * at an edge of either is not joined with what comes after.
 */
static void two_hosts(void **state)
{
	struct job jobs[2], *both[2] = { &jobs[0], &jobs[1] };
	struct outcome out;
	struct task a, b;

	(void)state;
	job_init(&jobs[0], "host-a", "attach");
	job_init(&jobs[1], "host-b", "attach");
	a = job_process(&jobs[0], 1, 0, "attach");
	b = job_process(&jobs[1], 2, 1, "attach");
	job_snapshot(&a, &b);
	job_snapshot(&b, &a);
	for (uint64_t round = 0; round < 3; round++) {
		jobs[0].now = (round + 1) * GAP;
		jobs[1].now = (round + 1) * GAP + 500;
		window(&jobs[0], jobs[0].now, jobs[0].now + GAP / 2);
		window(&jobs[1], jobs[1].now, jobs[1].now + GAP / 2);
		jobs[0].now += 1000;
		jobs[1].now += 1100; /* behind the send, as read */
		send_multi(&a, &b, 9, 0xabc1 + round);
		receive_multi(&b, 9, 0xabc1 + round);
		for (int i = 0; i < 2; i++) {
			jobs[1].now = jobs[0].now + 10000;
			job_exchange(&a, &b, 7, 3);
			jobs[0].now += 20000;
		}
		job_send_short(&a, &b, 7, 3); /* arrives when nobody looks */
	}
	analyse(&out, both, 2);
	assert_int_equal(out.totals.sends, 12);
	assert_int_equal(out.totals.matched, 9);
	assert_int_equal(reason_count(out.totals.unmatched_sends, "window edge"), 2);
	assert_int_equal(reason_count(out.totals.unmatched_sends, "in flight at end"), 1);
	assert_int_equal(out.totals.receives, 9);
	outcome_release(&out);
	job_release(&jobs[0]);
	job_release(&jobs[1]);
}

/* Who attaches to other processes of the host meanwhile ends nothing. */
static void others_do_not_matter(void **state)
{
	struct pair r, other;
	struct job *jobs[2] = { &r.job, &other.job };
	struct task c;

	(void)state;
	pair_init(&r, "start");
	job_init(&other.job, "host-a", "attach");
	job_send_short(&r.a, &r.b, 7, 3);
	other.job.now = r.job.now + 10;
	c = job_process(&other.job, 3, 0, "attach");
	job_call(&c, AT_MPI_SEND);
	r.job.now += GAP;
	job_arrive(&r.b, 7, 3, 0);
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	analyse(&r.out, jobs, 2);
	assert_int_equal(r.out.totals.matched, 1);
	outcome_release(&r.out);
	job_release(&r.job);
	job_release(&other.job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_crosses_an_edge),
		cmocka_unit_test(each_window_needs_its_anchor),
		cmocka_unit_test(new_endpoint_in_a_window),
		cmocka_unit_test(request_of_before),
		cmocka_unit_test(one_capture_after_the_other),
		cmocka_unit_test(two_hosts),
		cmocka_unit_test(others_do_not_matter),
		cmocka_unit_test(slices_without_detail),
		cmocka_unit_test(slices_side_by_side),
		cmocka_unit_test(slices_for_ever),
		cmocka_unit_test(request_of_before_a_loss),
		cmocka_unit_test(whose_records_were_lost),
		cmocka_unit_test(call_of_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
