// SPDX-License-Identifier: BSD-3-Clause
/* Several threads of a process receive at the same time. */
#include "outcome.h"

struct threads {
	struct pair pair;
	struct task other; /* of the receiving process */
};

static void threads_init(struct threads *t)
{
	pair_init(&t->pair, "start");
	t->other = t->pair.b;
	t->other.tid = 22;
}

/* Both post at the same time, then two messages come, with or without the receives' callbacks. */
static void post_and_arrive(struct threads *t, uint64_t mask, bool callbacks)
{
	struct pair *p = &t->pair;

	job_op(&p->b, AT_TAG_RECV, WORKER(2), 7, 64, 0x9000);
	job_op(&t->other, AT_TAG_RECV, WORKER(2), 7, 64, 0x9200)->aux = mask;
	job_op_end(&p->b);
	job_op_end(&t->other);
	job_send_short(&p->a, &p->b, 7, 3);
	job_send_short(&p->a, &p->b, 7, 4);
	job_arrive(&p->b, 7, 3, callbacks ? 0x9200 : 0);
	job_arrive(&p->b, 7, 4, callbacks ? 0x9000 : 0);
}

static void callbacks_tell(void **state)
{
	const struct fact_message *first, *second;
	struct threads t;

	(void)state;
	threads_init(&t);
	post_and_arrive(&t, UINT64_MAX, true);
	pair_analyse(&t.pair);
	assert_int_equal(t.pair.out.totals.matched, 2);
	first = &t.pair.out.messages.data[t.pair.out.messages.data[0].bytes == 4];
	second = &t.pair.out.messages.data[t.pair.out.messages.data[0].bytes == 3];
	assert_true(first->recv_start > second->recv_start);
	assert_int_equal(first->recv_tid, t.other.tid);
	assert_int_equal(second->recv_tid, t.pair.b.tid);
	assert_int_equal(first->send_tid, t.pair.a.tid);
	pair_release(&t.pair);
}

/* Which of two receives it was makes a difference to its time alone, where both take the same. */
static void nothing_tells(void **state)
{
	static const struct {
		uint64_t mask;
		bool alike;
	} others[] = { { UINT64_MAX, true }, { 0xff, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct threads t;

		threads_init(&t);
		post_and_arrive(&t, others[i].mask, false);
		pair_analyse(&t.pair);
		assert_int_equal(t.pair.out.totals.matched, others[i].alike ? 2 : 0);
		assert_int_equal(t.pair.out.totals.ambiguous, others[i].alike ? 0 : 2);
		for (size_t k = 0; others[i].alike && k < 2; k++) {
			assert_int_equal(t.pair.out.messages.data[k].recv_start, 0);
			assert_int_equal(t.pair.out.messages.data[k].recv_tid, 0);
		}
		pair_release(&t.pair);
	}
}

/* A receive that waits for the lock until long after it began. */
static void wait_for_lock(struct threads *t)
{
	struct ub_op *op;

	job_call(&t->other, AT_MPI_RECV);
	op = job_op(&t->other, AT_TAG_RECV, WORKER(2), 7, 1024, 0);
	op->info_tag = 7;
	op->info_len = 3;
	op->h.flags = UB_F_INFO;
	op->h.dur = 100 * OP_NS;
}

/* A thread enters first and waits for the lock while another one receives. */
static void overtaken(void **state)
{
	struct threads t;
	struct pair *p = &t.pair;

	(void)state;
	threads_init(&t);
	wait_for_lock(&t);
	for (unsigned int i = 0; i < 3; i++) {
		job_send_short(&p->a, &p->b, 7, 3);
		job_arrive(&p->b, 7, 3, 0);
		if (i < 2)
			job_take(&p->b, 7, UINT64_MAX, 7, 3);
	}
	p->job.now += 100 * OP_NS;
	job_op_end(&t.other);
	pair_analyse(p);
	assert_int_equal(p->out.totals.sends, 3);
	assert_int_equal(p->out.totals.matched, 3);
	pair_release(p);
}

/* Two messages, each in a handler of that thread; between them the request of the first is used
 * again. */
static void arrive_twice(struct threads *t, struct task *thread)
{
	struct pair *p = &t->pair;

	job_send_short(&p->a, &p->b, 7, 3);
	job_arrive(thread, 7, 3, 0);
	p->job.now += 8 * OP_NS;
	job_op(&p->b, AT_TAG_RECV, WORKER(2), 8, 64, 0x9000);
	job_op_end(&p->b);
	job_send_short(&p->a, &p->b, 7, 3);
	job_arrive(&p->b, 7, 3, 0);
	p->job.now += 100 * OP_NS;
	job_op_end(&t->other);
	pair_analyse(p);
	assert_int_equal(p->out.totals.matched, 2);
	assert_int_equal(p->out.messages.len, 2);
}

/* Meanwhile another receive is queued: what arrives then is its, which it says only by being over.
 */
static void queued_meanwhile(void **state)
{
	const struct fact_message *messages;
	struct threads t;
	uint64_t posted;

	(void)state;
	threads_init(&t);
	wait_for_lock(&t);
	job_call(&t.pair.b, AT_MPI_RECV);
	posted = job_op(&t.pair.b, AT_TAG_RECV, WORKER(2), 7, 1024, 0x9000)->h.ts;
	job_op_end(&t.pair.b);
	arrive_twice(&t, &t.pair.b);
	messages = t.pair.out.messages.data;
	assert_int_equal(messages[messages[0].arrival > messages[1].arrival].recv_start, posted);
	assert_int_equal(messages[messages[0].arrival < messages[1].arrival].recv_tid, t.other.tid);
	pair_release(&t.pair);
}

/* As above, but it arrives, in a third thread, before that one is known to be queued. */
static void queued_perhaps(void **state)
{
	struct threads t;
	struct task third;

	(void)state;
	threads_init(&t);
	third = t.other;
	third.tid = 23;
	wait_for_lock(&t);
	job_call(&t.pair.b, AT_MPI_RECV);
	job_op(&t.pair.b, AT_TAG_RECV, WORKER(2), 7, 1024, 0x9000)->h.dur = 8 * OP_NS;
	arrive_twice(&t, &third);
	assert_int_equal(t.pair.out.messages.data[0].recv_start, 0);
	assert_int_equal(t.pair.out.messages.data[1].recv_start, 0);
	pair_release(&t.pair);
}

/* Two receives are swapped while a third one waits: the one that is put back was before it. */
static void put_back_in_order(void **state)
{
	const struct fact_message *last;
	struct threads t;
	struct pair *p = &t.pair;
	struct task third;
	struct ub_op *op;
	uint64_t posted;

	(void)state;
	threads_init(&t);
	third = t.other;
	third.tid = 23;
	job_call(&p->b, AT_MPI_RECV);
	op = job_op(&p->b, AT_TAG_RECV, WORKER(2), 7, 1024, 0x9000);
	op->info_tag = 16;
	op->h.flags = UB_F_POSTED;
	op->h.dur = 8 * OP_NS;
	job_send_short(&p->a, &p->b, 7, 3);
	job_arrive(&third, 7, 3, 0);
	job_take(&t.other, 7, UINT64_MAX, 7, 3);
	p->job.now += 8 * OP_NS;
	job_call(&third, AT_MPI_RECV);
	op = job_op(&third, AT_TAG_RECV, WORKER(2), 7, 1024, 0x9200);
	op->info_tag = 17;
	op->h.flags = UB_F_POSTED;
	posted = op->h.ts;
	job_op_end(&third);
	for (unsigned int i = 4; i < 6; i++) {
		job_send_short(&p->a, &p->b, 7, i);
		job_arrive(&third, 7, i, 0);
	}
	job_op(&p->b, AT_TAG_RECV, WORKER(2), 8, 64, 0x9000);
	job_op_end(&p->b);
	pair_analyse(p);
	assert_int_equal(p->out.totals.matched, 3);
	assert_int_equal(p->out.messages.len, 3);
	for (size_t i = 0; i < 3; i++) {
		last = &p->out.messages.data[i];
		assert_int_equal(last->recv_start, last->bytes == 5 ? posted : 0);
	}
	pair_release(p);
}

/* A receive waits for the lock while one that is seen to begin later takes what is there. */
static void taken_by_a_later_one(void **state)
{
	struct threads t;
	struct pair *p = &t.pair;
	uint64_t taken;

	(void)state;
	threads_init(&t);
	job_send_short(&p->a, &p->b, 7, 3);
	job_arrive(&p->b, 7, 3, 0);
	job_call(&p->b, AT_MPI_RECV);
	job_op(&p->b, AT_TAG_RECV, WORKER(2), 7, 1024, 0x9000)->h.dur = 8 * OP_NS;
	job_take(&t.other, 7, UINT64_MAX, 7, 3);
	taken = p->job.records.data[p->job.records.len - 1].h.ts;
	p->job.now += 8 * OP_NS;
	p->b.op = 0;
	job_send_short(&p->a, &p->b, 7, 4);
	job_arrive(&p->b, 7, 4, 0x9000);
	pair_analyse(p);
	assert_int_equal(p->out.totals.matched, 2);
	assert_int_equal(p->out.messages.len, 2);
	for (size_t i = 0; i < 2; i++)
		if (p->out.messages.data[i].bytes == 3)
			assert_int_equal(p->out.messages.data[i].recv_start, taken);
	pair_release(p);
}

/* What was inferred of receives that are over leaves nothing behind for those that follow. */
static void inferred_is_over(void **state)
{
	struct threads t;
	struct pair *p = &t.pair;

	(void)state;
	threads_init(&t);
	for (unsigned int i = 0; i < 8; i++) {
		job_post(&p->b, 7, UINT64_MAX, 0x9000);
		job_send_short(&p->a, &p->b, 7, 3);
		job_post(&p->b, 7, UINT64_MAX, 0x9000);
		job_post(&t.other, 8, UINT64_MAX, 0x9200);
		job_send_short(&p->a, &p->b, 7, 3);
		job_send_short(&p->a, &p->b, 8, 3);
		job_arrive(&p->b, 7, 3, 0x9000);
		job_arrive(&t.other, 8, 3, 0x9200);
	}
	pair_analyse(p);
	assert_int_equal(p->out.totals.sends, 24);
	assert_int_equal(p->out.totals.matched, 24);
	pair_release(p);
}

/* UCX's own numbers tell in which order threads got their receives queued. */
static void numbered_by_ucx(void **state)
{
	const struct fact_message *first, *second;
	struct threads t;
	struct pair *p = &t.pair;
	struct ub_op *op;

	(void)state;
	threads_init(&t);
	for (unsigned int i = 0; i < 2; i++) {
		op = job_op(i ? &t.other : &p->b, AT_TAG_RECV, WORKER(2), 7, 64,
			    0x9000 + i * 0x200);
		op->info_tag = 17 - i;
		op->h.flags = UB_F_POSTED;
	}
	job_op_end(&p->b);
	job_op_end(&t.other);
	for (unsigned int i = 0; i < 2; i++) {
		job_send_short(&p->a, &p->b, 7, 3 + i);
		job_arrive(&p->b, 7, 3 + i, 0);
	}
	pair_analyse(p);
	assert_int_equal(p->out.totals.matched, 2);
	assert_int_equal(p->out.totals.ambiguous, 0);
	assert_int_equal(p->out.messages.len, 2);
	first = &p->out.messages.data[p->out.messages.data[0].bytes == 4];
	second = &p->out.messages.data[p->out.messages.data[0].bytes == 3];
	assert_true(first->recv_start > second->recv_start);
	pair_release(p);
}

/* The message arrives in another thread while the receive waits for the worker's lock. */
static void arrived_while_posting(void **state)
{
	struct threads t;
	struct pair *p = &t.pair;
	struct ub_op *op;

	(void)state;
	threads_init(&t);
	job_send_short(&p->a, &p->b, 7, 3);
	op = job_op(&p->b, AT_TAG_RECV, WORKER(2), 7, 64, 0);
	op->info_tag = 7;
	op->info_len = 3;
	op->h.flags = UB_F_INFO;
	job_arrive(&t.other, 7, 3, 0);
	job_op_end(&p->b);
	job_send_short(&p->a, &p->b, 7, 3);
	job_arrive(&t.other, 7, 3, 0);
	job_take(&p->b, 7, UINT64_MAX, 7, 3);
	pair_analyse(p);
	assert_int_equal(p->out.totals.matched, 2);
	assert_int_equal(p->out.messages.len, 2);
	pair_release(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_by_a_later_one), cmocka_unit_test(put_back_in_order),
		cmocka_unit_test(inferred_is_over),     cmocka_unit_test(callbacks_tell),
		cmocka_unit_test(nothing_tells),        cmocka_unit_test(overtaken),
		cmocka_unit_test(queued_meanwhile),     cmocka_unit_test(queued_perhaps),
		cmocka_unit_test(numbered_by_ucx),      cmocka_unit_test(arrived_while_posting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
