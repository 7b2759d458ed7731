// SPDX-License-Identifier: BSD-3-Clause
/* Several threads of a process receive at the same time. */
#include "match_pair.h"

/* Two threads post the same receive at the same time: callbacks tell, order alone does not. */
static void posted_by_two_threads(void **state)
{
	const struct fact_message *first, *second;
	struct pair p;
	struct task other;

	(void)state;
	pair_init(&p, "start");
	other = p.b;
	other.tid = 22;
	for (int round = 0; round < 2; round++) {
		job_op(&p.b, AT_TAG_RECV, WORKER(2), 7, 64, 0x9000);
		job_op(&other, AT_TAG_RECV, WORKER(2), 7, 64, 0x9200);
		job_op_end(&p.b);
		job_op_end(&other);
		job_send_short(&p.a, &p.b, 7, 3);
		job_send_short(&p.a, &p.b, 7, 4);
		job_arrive(&p.b, 7, 3, round ? 0 : 0x9200);
		job_arrive(&p.b, 7, 4, round ? 0 : 0x9000);
	}
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.totals.ambiguous, 2);
	first = &p.out.messages.data[p.out.messages.data[0].bytes == 4];
	second = &p.out.messages.data[p.out.messages.data[0].bytes == 3];
	assert_true(first->recv_start > second->recv_start);
	pair_release(&p);
}

/* UCX's own numbers tell in which order threads got their receives queued. */
static void numbered_by_ucx(void **state)
{
	const struct fact_message *first, *second;
	struct pair p;
	struct task other;
	struct ub_op *op;

	(void)state;
	pair_init(&p, "start");
	other = p.b;
	other.tid = 22;
	for (unsigned int i = 0; i < 2; i++) {
		op = job_op(i ? &other : &p.b, AT_TAG_RECV, WORKER(2), 7, 64, 0x9000 + i * 0x200);
		op->info_tag = 17 - i;
		op->h.flags = UB_F_POSTED;
	}
	job_op_end(&p.b);
	job_op_end(&other);
	for (unsigned int i = 0; i < 2; i++) {
		job_send_short(&p.a, &p.b, 7, 3 + i);
		job_arrive(&p.b, 7, 3 + i, 0);
	}
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.totals.ambiguous, 0);
	assert_int_equal(p.out.messages.len, 2);
	first = &p.out.messages.data[p.out.messages.data[0].bytes == 4];
	second = &p.out.messages.data[p.out.messages.data[0].bytes == 3];
	assert_true(first->recv_start > second->recv_start);
	pair_release(&p);
}

/* The message arrives in another thread while the receive waits for the worker's lock. */
static void arrived_while_posting(void **state)
{
	struct pair p;
	struct task other;
	struct ub_op *op;

	(void)state;
	pair_init(&p, "start");
	other = p.b;
	other.tid = 22;
	job_send_short(&p.a, &p.b, 7, 3);
	op = job_op(&p.b, AT_TAG_RECV, WORKER(2), 7, 64, 0);
	op->info_tag = 7;
	op->info_len = 3;
	op->h.flags = UB_F_INFO;
	job_arrive(&other, 7, 3, 0);
	job_op_end(&p.b);
	job_send_short(&p.a, &p.b, 7, 3);
	job_arrive(&other, 7, 3, 0);
	job_take(&p.b, 7, UINT64_MAX, 7, 3);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.messages.len, 2);
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posted_by_two_threads),
		cmocka_unit_test(numbered_by_ucx),
		cmocka_unit_test(arrived_while_posting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
