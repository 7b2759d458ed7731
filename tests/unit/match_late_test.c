// SPDX-License-Identifier: BSD-3-Clause
/* Joined in mid-run: anchors, and alignment where there are none. */
#include "outcome.h"

/*
 * Attached in mid-run: one message was under way already, and one send was seen whose predecessors
 * were not. The first message with an id tells where both ends stand.
 */
static void late_attach(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	/* sent before the trace */
	job_arrive(&r.b, 7, 3, 0);
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	for (int i = 0; i < 3; i++) {
		job_exchange(&r.a, &r.b, 7, 3);
	}
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 5);
	assert_int_equal(r.out.totals.matched, 5);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_true(r.out.messages.data[i].send_start < r.out.messages.data[i].arrival);
	pair_release(&r);
}

/* Without any message with an id, nothing is claimed. */
static void late_attach_without_anchor(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 0);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "before first anchor"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	pair_release(&r);
}

/*
 * Short messages only, one under way at the attach. The receiver polls in its call for each of
 * them, so none can have been lying there.
 */
static void late_attach_polling(void **state)
{
	struct pair r;

	(void)state;
	pair_init_apart(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	for (int i = 0; i < 100; i++) {
		job_post(&r.b, 7, UINT64_MAX, 0x9000);
		r.job.now += 50000;
		if (i)
			job_send_short(&r.a, &r.b, 7, 3);
		job_arrive(&r.b, 7, 3, 0x9000);
		r.job.now += 50000;
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 99);
	assert_int_equal(r.out.totals.matched, 99);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_true(r.out.messages.data[i].arrival - r.out.messages.data[i].send_start <
			    10000);
	pair_release(&r);
}

/* What a probe has taken out turns out to be of before the trace, while its handle is still out. */
static void late_attach_with_handle(void **state)
{
	struct pair r;
	struct ub_op *op;

	(void)state;
	pair_init_apart(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	/* sent before the trace */
	job_arrive(&r.b, 7, 3, 0);
	op = job_op(&r.b, AT_TAG_PROBE, WORKER(r.b.tgid), 7, 1, 0);
	op->ret = 0xfeed0;
	op->info_tag = 7;
	op->info_len = 3;
	op->h.flags = UB_F_INFO;
	job_op_end(&r.b);
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	job_exchange(&r.a, &r.b, 7, 3);
	op = job_op(&r.b, AT_TAG_MSG_RECV, WORKER(r.b.tgid), 0, 64, 0);
	op->aux = 0xfeed0;
	job_op_end(&r.b);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 2);
	assert_int_equal(r.out.totals.matched, 2);
	assert_int_equal(r.out.totals.receives, 3);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_attach),
		cmocka_unit_test(late_attach_without_anchor),
		cmocka_unit_test(late_attach_polling),
		cmocka_unit_test(late_attach_with_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
