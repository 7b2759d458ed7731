// SPDX-License-Identifier: BSD-3-Clause
/* Why messages stay alone whose order is not known: for lost records only where some were. */
#include "outcome.h"

static void attach_init(struct pair *r)
{
	pair_init_apart(r, "attach");
	job_snapshot(&r->a, &r->b);
	job_snapshot(&r->b, &r->a);
}

static void anchor(struct task *from, struct task *to, uint64_t id)
{
	send_multi(from, to, 9, id);
	receive_multi(to, 9, id);
}

static void arrive(struct task *task, uint64_t bytes)
{
	job_arrive(task, 7, bytes, 0);
	job_take(task, 7, UINT64_MAX, 7, bytes);
}

/* It arrives as nothing that was sent. */
static void mismatch(struct pair *r)
{
	job_send_short(&r->a, &r->b, 7, 3);
	arrive(&r->b, 4);
}

static void lose(struct task *task, uint64_t records, uint16_t unseen)
{
	struct ub_loss *loss;

	task->call = 0;
	task->job->cpu_seq += records;
	task->job->lost += records;
	loss = job_add(task, AT_LOSS, 0);
	loss->until = task->job->now;
	loss->records = records;
	loss->unseen = unseen;
}

static void window(struct job *job, uint64_t from, uint64_t to)
{
	json_array_append_new(job->sides, json_pack("{s:s, s:I, s:I}", "t", "window", "from",
						    (json_int_t)from, "to", (json_int_t)to));
}

static void assert_sends(const struct pair *r, const char *reason, uint64_t count)
{
	assert_int_equal(reason_count(r->out.totals.unmatched_sends, reason), count);
}

/* All that is unmatched, at either end, is so for one reason. */
static void assert_only(const struct pair *r, const char *reason, uint64_t sends, uint64_t receives)
{
	assert_sends(r, reason, sends);
	assert_int_equal(reason_sum(r->out.totals.unmatched_sends), sends);
	assert_int_equal(reason_count(r->out.totals.unmatched_receives, reason), receives);
	assert_int_equal(reason_sum(r->out.totals.unmatched_receives), receives);
}

static void arrivals_disagree(void **state)
{
	struct pair r;

	(void)state;
	for (int late = 0; late < 2; late++) {
		if (late)
			attach_init(&r);
		else
			pair_init(&r, "start");
		anchor(&r.a, &r.b, 0xabc1);
		mismatch(&r);
		pair_analyse(&r);
		assert_int_equal(r.out.totals.matched, 1);
		assert_only(&r, "order not known", 1, 1);
		pair_release(&r);
	}
}

/* From the start order is known without an anchor. */
static void arrivals_disagree_before_anchor(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	mismatch(&r);
	pair_analyse(&r);
	assert_only(&r, "order not known", 1, 1);
	pair_release(&r);
}

static void lost_before_anchor(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_exchange(&r.a, &r.b, 7, 3);
	lose(&r.a, 1, 0);
	job_send_short(&r.a, &r.b, 7, 3);
	arrive(&r.b, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_only(&r, "lost records", 1, 1);
	pair_release(&r);
}

/* Order was known again behind the loss. */
static void disagree_after_a_loss(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	lose(&r.a, 1, 0);
	anchor(&r.a, &r.b, 0xabc1);
	mismatch(&r);
	pair_analyse(&r);
	assert_only(&r, "order not known", 1, 1);
	pair_release(&r);
}

static void disagree_before_a_loss(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	anchor(&r.a, &r.b, 0xabc1);
	mismatch(&r);
	lose(&r.a, 1, 0);
	pair_analyse(&r);
	assert_only(&r, "order not known", 1, 1);
	pair_release(&r);
}

/* Each window has its own reasons. */
static void lost_in_another_window(void **state)
{
	struct pair r;
	uint64_t first;

	(void)state;
	pair_init(&r, "start");
	first = r.job.now;
	anchor(&r.a, &r.b, 0xabc1);
	lose(&r.a, 1, 0);
	window(&r.job, first, r.job.now);
	r.job.now += 1000000;
	window(&r.job, r.job.now, 0);
	anchor(&r.a, &r.b, 0xabc2);
	mismatch(&r);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_only(&r, "order not known", 1, 1);
	pair_release(&r);
}

/* A process of another host that sends nothing to the receiver. */
static void another_host_lost(void **state)
{
	struct job far, *both[2];
	struct task third;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	anchor(&r.a, &r.b, 0xabc1);
	both[0] = &r.job;
	both[1] = &far;
	job_init(&far, "host-b", "run");
	third = job_process(&far, 3, 2, "start");
	job_worker(&third);
	far.now = r.job.now;
	lose(&third, 1, 0);
	r.job.now = far.now;
	mismatch(&r);
	analyse(&r.out, both, 2);
	assert_only(&r, "order not known", 1, 1);
	pair_release(&r);
	job_release(&far);
}

/* No record is missing, but a probe was. */
static void sent_without_probe(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	anchor(&r.a, &r.b, 0xabc1);
	lose(&r.a, 0, 1);
	job_send_short(&r.a, &r.b, 7, 3);
	arrive(&r.b, 3);
	pair_analyse(&r);
	assert_only(&r, "order not known", 1, 1);
	pair_release(&r);
}

static void pass_derived(struct task *task, const struct task *to)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), 7, 3, 0)->h.dur = 4 * OP_NS;
	xfer = job_xfer(task, to, AT_AM_SHORT, 2, 11, 0);
	xfer->w[0] = 7;
	xfer->h.flags = UB_F_WIRE | UB_F_DERIVED;
	xfer->h.dur = 2 * OP_NS;
	task->op = 0;
}

/* Two threads send at once, and which of the two was first is not known. */
static void two_threads_derived(void **state)
{
	struct task thread;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	thread = r.a;
	thread.tid = 11;
	pass_derived(&r.a, &r.b);
	pass_derived(&thread, &r.b);
	r.job.now += 10 * OP_NS;
	arrive(&r.b, 3);
	arrive(&r.b, 3);
	pair_analyse(&r);
	assert_int_equal(reason_sum(r.out.totals.dropped), 0);
	assert_sends(&r, "lost records", 0);
	assert_true(reason_count(r.out.totals.unmatched_sends, "order not known") > 0);
	assert_int_equal(r.out.totals.matched +
				 reason_count(r.out.totals.unmatched_sends, "order not known"),
			 2);
	pair_release(&r);
}

/* A send that found no resources, and was done later: nothing shows when it left. */
static void left_unseen(void **state)
{
	struct pair r;

	(void)state;
	for (int away = 0; away < 2; away++) {
		pair_init(&r, "start");
		json_array_append_new(r.job.sides, json_pack("{s:s, s:[], s:{s:i, s:i}}", "t",
							     "derived", "functions", "short_sends",
							     "unproven", 1, "away_ns", away));
		job_call(&r.a, AT_MPI_SEND);
		job_op(&r.a, AT_TAG_SEND, EP(1, 2), 7, 3, 0x7ff1000)->ret = 0x7ff1000;
		job_xfer(&r.a, &r.b, AT_AM_SHORT, 2, -2, 0)->w[0] = 7;
		job_op_end(&r.a);
		job_comp(&r.a, AT_SEND_CB, 0x7ff1000, 7, 3);
		job_exchange(&r.a, &r.b, 7, 4);
		pair_analyse(&r);
		assert_int_equal(r.out.totals.matched, 1);
		assert_sends(&r, FACT_LEFT_UNSEEN, 1);
		assert_int_equal(r.out.totals.short_sends.unproven, away ? 2 : 1);
		pair_release(&r);
	}
}

/* A third process, by a snapshot: nothing tells where it stands. */
static struct task late_sender(struct pair *r)
{
	struct task c = job_process(&r->job, 3, 2, "attach");

	job_snapshot(&c, &r->b);
	return c;
}

/* Sends of two that look alike, and an arrival. Returns the one whose order is not known. */
static struct task alike_begin(struct pair *r, bool late)
{
	struct task c;

	if (late)
		attach_init(r);
	else
		pair_init(r, "start");
	c = late_sender(r);
	anchor(&r->a, &r->b, 0xabc1);
	job_send_short(&c, &r->b, 7, 3);
	job_send_short(&r->a, &r->b, 7, 3);
	arrive(&r->b, 3);
	return c;
}

/* The order of one is known, that of the other is not: either may have sent what arrived. */
static void alike_from_a_late_one(void **state)
{
	struct pair r;

	(void)state;
	for (int late = 0; late < 2; late++) {
		alike_begin(&r, late);
		pair_analyse(&r);
		assert_int_equal(r.out.totals.matched, 1);
		assert_sends(&r, "one of several senders", 1);
		assert_sends(&r, "before first anchor", 1);
		assert_int_equal(
			reason_count(r.out.totals.unmatched_receives, "one of several senders"), 1);
		pair_release(&r);
	}
}

/* The late one's message is overtaken: it is one of two arrivals, and the other one's is, too. */
static void alike_and_overtaken(void **state)
{
	struct pair r;
	struct task c;

	(void)state;
	for (int late = 0; late < 2; late++) {
		c = alike_begin(&r, late);
		arrive(&r.b, 3);
		anchor(&c, &r.b, 0xabc2);
		pair_analyse(&r);
		assert_int_equal(r.out.totals.matched, 2);
		assert_sends(&r, "one of several senders", 1);
		assert_sends(&r, "before first anchor", 1);
		assert_int_equal(
			reason_count(r.out.totals.unmatched_receives, "one of several senders"), 2);
		pair_release(&r);
	}
}

/* One of two lost records: its message, and with it the other one's, are in doubt for that. */
static void alike_and_one_lost(void **state)
{
	struct pair r;
	struct task c;

	(void)state;
	pair_init(&r, "start");
	c = job_process(&r.job, 3, 2, "start");
	job_worker(&c);
	job_connect(&c, &r.b);
	anchor(&r.a, &r.b, 0xabc1);
	anchor(&c, &r.b, 0xabc2);
	lose(&c, 1, 0);
	job_send_short(&c, &r.b, 7, 3);
	job_send_short(&r.a, &r.b, 7, 3);
	arrive(&r.b, 3);
	arrive(&r.b, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_only(&r, "lost records", 2, 2);
	pair_release(&r);
}

/* A receive that a later one of its tag overtook had its message before, or was cancelled. */
static void receive_overtaken(void **state)
{
	struct pair r;

	(void)state;
	attach_init(&r);
	anchor(&r.a, &r.b, 0xabc1);
	job_post(&r.b, 7, UINT64_MAX, 0x9000);
	job_post(&r.b, 7, UINT64_MAX, 0x9200);
	job_send_short(&r.a, &r.b, 7, 3);
	job_arrive(&r.b, 7, 3, 0x9200);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "lost records"), 0);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "arrival not seen"), 1);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrivals_disagree),
		cmocka_unit_test(arrivals_disagree_before_anchor),
		cmocka_unit_test(lost_before_anchor),
		cmocka_unit_test(disagree_after_a_loss),
		cmocka_unit_test(disagree_before_a_loss),
		cmocka_unit_test(lost_in_another_window),
		cmocka_unit_test(another_host_lost),
		cmocka_unit_test(sent_without_probe),
		cmocka_unit_test(two_threads_derived),
		cmocka_unit_test(left_unseen),
		cmocka_unit_test(alike_from_a_late_one),
		cmocka_unit_test(alike_and_overtaken),
		cmocka_unit_test(alike_and_one_lost),
		cmocka_unit_test(receive_overtaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
