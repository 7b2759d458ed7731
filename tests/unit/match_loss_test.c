// SPDX-License-Identifier: BSD-3-Clause
/* Records were lost: which order outlives it, and why the other messages are not matched. */
#include "outcome.h"

#define COUNT 3

/* Of the job's records one is missing, or more; the thread tells of one. */
static void lose(struct task *task, uint64_t missing)
{
	struct ub_loss *loss;

	task->call = 0;
	task->job->cpu_seq += missing;
	task->job->lost += missing;
	loss = job_add(task, AT_LOSS, 0);
	loss->until = task->job->now;
	loss->records = 1;
}

/* A job in order, whose link from a to b has had an anchor. */
static void begin(struct pair *r)
{
	pair_init(r, "start");
	send_multi(&r->a, &r->b, 9, 0xabc1);
	receive_multi(&r->b, 9, 0xabc1);
}

static void send_all(struct pair *r)
{
	for (int i = 0; i < COUNT; i++)
		job_send_short(&r->a, &r->b, 7, 3);
}

static void receive(struct pair *r, int count)
{
	for (int i = 0; i < count; i++) {
		job_arrive(&r->b, 7, 3, 0);
		job_take(&r->b, 7, UINT64_MAX, 7, 3);
	}
}

static uint64_t unmatched(const struct pair *r, const char *reason)
{
	return reason_count(r->out.totals.unmatched_sends, reason);
}

static void assert_in_order(const struct outcome *out)
{
	for (size_t i = 1; i < out->messages.len; i++) {
		assert_true(out->messages.data[i - 1].send_start <
			    out->messages.data[i].send_start);
		assert_true(out->messages.data[i - 1].arrival < out->messages.data[i].arrival);
	}
}

/* What is under way arrives before anything that its sender sent unseen. */
static void sent_before_its_process_lost(void **state)
{
	struct pair r;

	(void)state;
	begin(&r);
	send_all(&r);
	lose(&r.a, 1);
	receive(&r, COUNT + 1); /* the last one was sent unseen */
	lose(&r.a, 1);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1 + COUNT);
	assert_int_equal(reason_sum(r.out.totals.unmatched_receives), 1);
	assert_in_order(&r.out);
	pair_release(&r);
}

/* An arrival whose header could not be read may have been the first of them. */
static void unreadable_after_loss(void **state)
{
	struct pair r;
	struct ub_rx *rx;

	(void)state;
	begin(&r);
	send_all(&r);
	lose(&r.a, 1);
	rx = job_rx(&r.b, AT_RX_EAGER, 11, 0, 0, 0);
	rx->h.flags = UB_F_READ_FAULT;
	r.b.rx = 0;
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	receive(&r, COUNT - 1);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	pair_release(&r);
}

/* Behind the loss, order counts nothing. */
static void sent_after_its_process_lost(void **state)
{
	struct pair r;

	(void)state;
	begin(&r);
	send_all(&r);
	lose(&r.a, 1);
	job_send_short(&r.a, &r.b, 7, 3);
	receive(&r, COUNT + 1); /* the last one may have been sent unseen */
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1 + COUNT);
	assert_int_equal(unmatched(&r, "lost records"), 1);
	assert_in_order(&r.out);
	pair_release(&r);
}

/* Its receiver has lost nothing: it is on its way. */
static void not_there_at_the_end(void **state)
{
	struct pair r;

	(void)state;
	begin(&r);
	lose(&r.a, 1);
	job_send_short(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_int_equal(unmatched(&r, "in flight at end"), 1);
	pair_release(&r);
}

/* Another endpoint of the process may have overtaken. */
static void two_ways(void **state)
{
	const uint64_t other = EP(1, 2) + 0x10;
	struct ub_xfer *xfer;
	struct pair r;

	(void)state;
	begin(&r);
	job_object(&r.a, AT_EP, other, WORKER(1), UUID(2));
	job_op(&r.a, AT_TAG_SEND, other, 8, 3, 0);
	xfer = job_xfer(&r.a, &r.b, AT_AM_SHORT, 2, 11, 0);
	xfer->w[0] = 8;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(&r.a);
	job_arrive(&r.b, 8, 3, 0);
	job_take(&r.b, 8, UINT64_MAX, 8, 3);
	send_all(&r);
	lose(&r.a, 1);
	receive(&r, COUNT);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_int_equal(unmatched(&r, "lost records"), COUNT);
	pair_release(&r);
}

/* Of what is under way some has arrived unseen, or any process may have sent unseen. */
static void order_is_lost(bool receivers, uint64_t missing)
{
	struct pair r;

	begin(&r);
	send_all(&r);
	lose(receivers ? &r.b : &r.a, missing);
	receive(&r, COUNT - 1);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_int_equal(unmatched(&r, "lost records"), COUNT - 1);
	assert_int_equal(unmatched(&r, "arrival not seen"), 1);
	pair_release(&r);
}

static void others_lost(void **state)
{
	(void)state;
	order_is_lost(true, 1);
	order_is_lost(false, 2);
}

static void send_at(struct pair *r, uint64_t position)
{
	struct ub_xfer *xfer;

	job_op(&r->a, AT_TAG_SEND, EP(1, 2), 7, 3, 0);
	xfer = job_xfer(&r->a, &r->b, AT_AM_SHORT, 2, 11, 0);
	xfer->w[0] = 7;
	xfer->raddr = position;
	xfer->h.flags = UB_F_WIRE | UB_F_FIFO;
	job_op_end(&r->a);
}

static void arrive_at(struct pair *r, uint64_t position)
{
	struct ub_rx *rx = job_rx(&r->b, AT_RX_EAGER, 11, 7, 0, 0);

	rx->data = position;
	rx->am_flags = (IFACE >> 4 & 0xffff) << 16;
	rx->h.flags = UB_F_FIFO;
	r->b.rx = 0;
	job_take(&r->b, 7, UINT64_MAX, 7, 3);
}

/* What waits at another place is not what is missing, whether something overtakes it or not. */
static void another_place(bool overtaken)
{
	struct pair r;

	begin(&r);
	send_at(&r, 100);
	send_at(&r, 101);
	lose(&r.b, 1);
	arrive_at(&r, 102); /* its send was not seen */
	send_at(&r, 103);
	if (overtaken)
		arrive_at(&r, 103);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, overtaken ? 2 : 1);
	assert_int_equal(unmatched(&r, "arrival not seen"), 2);
	assert_int_equal(unmatched(&r, "in flight at end"), overtaken ? 0 : 1);
	assert_int_equal(unmatched(&r, "lost records"), 0);
	pair_release(&r);
}

static void places(void **state)
{
	(void)state;
	another_place(false);
	another_place(true);
}

/* A third process may have sent unseen: in the FIFO that comes behind, elsewhere it may not. */
static void third_process(bool placed)
{
	struct task third;
	struct pair r;

	begin(&r);
	third = job_process(&r.job, 3, 2, "start");
	send_all(&r);
	lose(&third, 1);
	if (!placed)
		receive(&r, COUNT + 1);
	for (uint64_t i = 0; placed && i < COUNT + 1; i++)
		arrive_at(&r, 100 + i);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, placed ? 1 + COUNT : 1);
	assert_in_order(&r.out);
	pair_release(&r);
}

/*
 * Two send alike. The other one's message has arrived, and it is not known as which arrival: what
 * order is left to the first one does not tell either.
 */
static void alike_from_another(void **state)
{
	struct task third;
	struct pair r;

	(void)state;
	begin(&r);
	third = job_process(&r.job, 3, 2, "start");
	job_worker(&third);
	job_connect(&third, &r.b);
	job_send_short(&third, &r.b, 7, 3);
	job_send_short(&r.a, &r.b, 7, 3);
	lose(&r.a, 1);
	receive(&r, 1);
	send_multi(&third, &r.b, 9, 0xabc2);
	receive_multi(&r.b, 9, 0xabc2);
	receive(&r, 1);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_int_equal(r.out.messages.data[i].tag, 9);
	pair_release(&r);
}

/* As Open MPI makes it: MPI's tag 5 from rank 0 of a communicator. */
#define MPI_TAG(context) (5ull << 40 | (context))

/* a's sends arrive, and nothing else with their tag does. */
static void exchange_behind(struct pair *r, struct task *third, struct task *b, uint64_t tag)
{
	for (int i = 0; i < COUNT; i++)
		job_send_short(&r->a, b, tag, 3);
	b->job->now = r->job.now;
	lose(third, 1);
	for (int i = 0; i < COUNT; i++) {
		job_arrive(b, tag, 3, 0);
		job_take(b, tag, UINT64_MAX, tag, 3);
	}
}

/* A third process can send nothing with the tag of rank 0, whatever was lost of it. */
static void another_process_lost_in_mpi(void **state)
{
	for (int mpi = 0; mpi < 2; mpi++) {
		struct task third;
		struct pair r;

		(void)state;
		begin(&r);
		if (mpi)
			job_mpi(&r.a);
		third = job_process(&r.job, 3, 2, "start");
		exchange_behind(&r, &third, &r.b, MPI_TAG(3));
		pair_analyse(&r);
		assert_int_equal(r.out.totals.matched, mpi ? 1 + COUNT : 1);
		assert_in_order(&r.out);
		pair_release(&r);
	}
}

/*
 * Between hosts, a message with the context of a communicator that was freed may come late. That of
 * MPI_COMM_WORLD is of no other one.
 */
static void between_hosts(uint64_t context, bool known)
{
	struct job far, *both[2];
	struct task b, third;
	struct pair r;

	job_init(&r.job, "host-a", "run");
	job_init(&far, "host-b", "run");
	both[0] = &r.job;
	both[1] = &far;
	r.a = job_process(&r.job, 1, 0, "start");
	job_mpi(&r.a);
	b = job_process(&far, 2, 1, "start");
	third = job_process(&far, 3, 2, "start");
	job_worker(&r.a);
	job_worker(&b);
	job_worker(&third);
	job_connect(&r.a, &b);
	job_connect(&third, &b);
	send_multi(&r.a, &b, 9, 0xabc1);
	far.now = r.job.now;
	receive_multi(&b, 9, 0xabc1);
	r.job.now = far.now;
	exchange_behind(&r, &third, &b, MPI_TAG(context));
	analyse(&r.out, both, 2);
	assert_int_equal(r.out.totals.matched, known ? 1 + COUNT : 1);
	assert_in_order(&r.out);
	pair_release(&r);
	job_release(&far);
}

static void another_process_lost_between_hosts(void **state)
{
	(void)state;
	between_hosts(0, true);
	between_hosts(3, false);
}

static void another_process_lost(void **state)
{
	(void)state;
	third_process(true);
	third_process(false);
}

/* A process of another host may have sent unseen: its message may come before any that is under
 * way. */
static void another_host_lost(void **state)
{
	struct job far, *both[2];
	struct task third;
	struct pair r;

	(void)state;
	begin(&r);
	both[0] = &r.job;
	both[1] = &far;
	job_init(&far, "host-b", "run");
	third = job_process(&far, 3, 2, "start");
	job_worker(&third);
	job_connect(&third, &r.b);
	far.now = r.job.now;
	lose(&third, 1);
	r.job.now = far.now;
	job_send_short(&r.a, &r.b, 7, 3);
	receive(&r, 2);
	analyse(&r.out, both, 2);
	assert_int_equal(r.out.totals.matched, 1);
	pair_release(&r);
	job_release(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sent_before_its_process_lost),
		cmocka_unit_test(unreadable_after_loss),
		cmocka_unit_test(sent_after_its_process_lost),
		cmocka_unit_test(not_there_at_the_end),
		cmocka_unit_test(two_ways),
		cmocka_unit_test(others_lost),
		cmocka_unit_test(places),
		cmocka_unit_test(alike_from_another),
		cmocka_unit_test(another_process_lost),
		cmocka_unit_test(another_process_lost_in_mpi),
		cmocka_unit_test(another_process_lost_between_hosts),
		cmocka_unit_test(another_host_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
