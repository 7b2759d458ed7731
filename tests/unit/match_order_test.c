// SPDX-License-Identifier: BSD-3-Clause
/* Messages that only their order tells apart. */
#include "outcome.h"

/* Two ranks of one host, both connected, from the start. */
static void expected_and_unexpected(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	job_post(&p.b, 7, UINT64_MAX, 0x9000);
	job_send_short(&p.a, &p.b, 7, 3);
	job_arrive(&p.b, 7, 3, 0x9000);
	job_exchange(&p.a, &p.b, 8, 5);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.messages.data[0].bytes, 3);
	assert_int_equal(p.out.messages.data[1].bytes, 5);
	assert_string_equal(p.out.messages.data[1].function, "MPI_Send");
	assert_int_equal(p.out.messages.data[1].src, 0);
	assert_int_equal(p.out.messages.data[1].dst, 1);
	pair_release(&p);
}

/* Wildcards take what comes; a later receive with a name takes what was left. */
static void wildcards(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	job_send_short(&p.a, &p.b, 0x10, 1);
	job_send_short(&p.a, &p.b, 0x20, 2);
	job_send_short(&p.a, &p.b, 0x30, 3);
	job_arrive(&p.b, 0x10, 1, 0);
	job_arrive(&p.b, 0x20, 2, 0);
	job_take(&p.b, 0x20, UINT64_MAX, 0x20, 2);
	job_post(&p.b, 0x30, UINT64_MAX, 0x9000);
	job_take(&p.b, 0, 0, 0x10, 1);
	job_arrive(&p.b, 0x30, 3, 0x9000);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(p.out.messages.data[i].tag, p.out.messages.data[i].bytes * 0x10);
	pair_release(&p);
}

/* Receives without a callback, on the stack: only the queue says which message is whose. */
static void blocking_receives(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	for (uint64_t i = 1; i <= 5; i++) {
		job_call(&p.b, AT_MPI_RECV);
		job_op(&p.b, AT_TAG_RECV, WORKER(2), i, 64, 0x7ff0000);
		job_op_end(&p.b);
		job_send_short(&p.a, &p.b, i, i * 10);
		job_arrive(&p.b, i, i * 10, 0);
	}
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 5);
	for (size_t i = 0; i < p.out.ops.len; i++)
		assert_int_equal(p.out.ops.data[i].bytes, p.out.ops.data[i].tag * 10);
	pair_release(&p);
}

static void removed_by_probe(void **state)
{
	struct pair p;
	struct ub_op *op;

	(void)state;
	pair_init(&p, "start");
	job_send_short(&p.a, &p.b, 7, 3);
	job_send_short(&p.a, &p.b, 7, 4);
	job_arrive(&p.b, 7, 3, 0);
	job_arrive(&p.b, 7, 4, 0);
	op = job_op(&p.b, AT_TAG_PROBE, WORKER(2), 7, 1, 0);
	op->ret = 0xfeed0;
	op->info_tag = 7;
	op->info_len = 3;
	op->h.flags = UB_F_INFO;
	job_op_end(&p.b);
	job_take(&p.b, 7, UINT64_MAX, 7, 4);
	op = job_op(&p.b, AT_TAG_MSG_RECV, WORKER(2), 0, 64, 0);
	op->aux = 0xfeed0;
	job_op_end(&p.b);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.messages.data[0].bytes, 4);
	assert_string_equal(p.out.messages.data[1].recv_op, "tag_msg_recv");
	assert_int_equal(p.out.messages.data[1].bytes, 3);
	pair_release(&p);
}

/* The receiver's handler runs inside the sender's transfer. */
static void to_itself(void **state)
{
	struct pair p;
	struct ub_xfer *xfer;

	(void)state;
	pair_init(&p, "start");
	job_connect(&p.a, &p.a);
	job_post(&p.a, 7, UINT64_MAX, 0x9000);
	job_call(&p.a, AT_MPI_SEND);
	job_op(&p.a, AT_TAG_SEND, EP(1, 1), 7, 3, 0);
	xfer = job_xfer(&p.a, &p.a, AT_AM_SHORT, 2, 11, 0);
	xfer->w[0] = 7;
	xfer->h.flags = UB_F_WIRE;
	job_arrive(&p.a, 7, 3, 0x9000);
	job_op_end(&p.a);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 1);
	assert_int_equal(p.out.messages.data[0].src, p.out.messages.data[0].dst);
	assert_int_equal(p.out.transfers.data[0].locality, LOCALITY_SELF);
	pair_release(&p);
}

/* Two senders, one tag, one length: nothing tells them apart, so nothing is claimed. */
static void one_tag_from_two(void **state)
{
	struct pair p;
	struct task c;

	(void)state;
	pair_init(&p, "start");
	c = job_process(&p.job, 3, 2, "start");
	job_worker(&c);
	job_connect(&c, &p.b);
	job_send_short(&p.a, &p.b, 7, 3);
	job_send_short(&c, &p.b, 7, 3);
	job_arrive(&p.b, 7, 3, 0);
	job_arrive(&p.b, 7, 3, 0);
	job_take(&p.b, 7, UINT64_MAX, 7, 3);
	job_take(&p.b, 7, UINT64_MAX, 7, 3);
	/* what differs in length is known again */
	job_send_short(&p.a, &p.b, 7, 4);
	job_send_short(&c, &p.b, 7, 5);
	job_arrive(&p.b, 7, 5, 0);
	job_arrive(&p.b, 7, 4, 0);
	job_take(&p.b, 7, UINT64_MAX, 7, 5);
	job_take(&p.b, 7, UINT64_MAX, 7, 4);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.ambiguous, 2);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.messages.data[0].src, 2);
	assert_int_equal(p.out.messages.data[0].bytes, 5);
	pair_release(&p);
}

static void cancelled(void **state)
{
	struct pair p;
	struct ub_comp *comp;

	(void)state;
	pair_init(&p, "start");
	job_post(&p.b, 7, UINT64_MAX, 0x9000);
	comp = job_comp(&p.b, AT_RECV_CB, 0x9000, 0, 0);
	comp->status = -16;
	job_exchange(&p.a, &p.b, 7, 3);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 1);
	assert_int_equal(reason_count(p.out.totals.unmatched_receives, "failed or cancelled"), 1);
	pair_release(&p);
}

/* The handler's header lies in a page that was not there yet. */
static void header_not_readable(void **state)
{
	struct pair p;
	struct ub_rx *rx;

	(void)state;
	pair_init(&p, "start");
	job_send_short(&p.a, &p.b, 7, 3);
	job_send_short(&p.a, &p.b, 8, 9);
	rx = job_rx(&p.b, AT_RX_EAGER, 11, 0, 0, 0);
	rx->h.flags = UB_F_READ_FAULT;
	p.b.rx = 0;
	job_arrive(&p.b, 8, 9, 0);
	job_take(&p.b, 7, UINT64_MAX, 7, 3);
	job_take(&p.b, 8, UINT64_MAX, 8, 9);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	assert_int_equal(p.out.messages.len, 2);
	assert_int_equal(p.out.messages.data[0].tag, 7);
	assert_int_equal(p.out.messages.data[0].bytes, 3);
	assert_int_equal(p.out.messages.data[1].tag, 8);
	assert_int_equal(p.out.messages.data[1].bytes, 9);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(p.out.messages.data[i].src, 0);
		assert_int_equal(p.out.messages.data[i].dst, 1);
	}
	assert_int_equal(p.out.totals.ambiguous, 0);
	assert_int_equal(reason_sum(p.out.totals.unmatched_sends), 0);
	assert_int_equal(reason_sum(p.out.totals.unmatched_receives), 0);
	pair_release(&p);
}

static void arrive_unreadable(struct task *task)
{
	struct ub_rx *rx = job_rx(task, AT_RX_EAGER, 11, 0, 0, 0);

	rx->h.flags = UB_F_READ_FAULT;
	task->rx = 0;
}

/* Which of two links has moved on is not known: order counts nothing on either. */
static void header_of_one_of_two(void **state)
{
	struct task c;
	struct pair p;
	uint64_t first;

	(void)state;
	pair_init_apart(&p, "start");
	c = job_process(&p.job, 3, 2, "start");
	pair_connect(&p);
	job_worker(&c);
	job_connect(&c, &p.b);
	job_send_short(&p.a, &p.b, 7, 3);
	job_send_short(&c, &p.b, 8, 3);
	arrive_unreadable(&p.b);
	first = p.job.now;
	job_send_short(&p.a, &p.b, 7, 3);
	job_arrive(&p.b, 7, 3, 0);
	job_arrive(&p.b, 8, 3, 0);
	for (int i = 0; i < 2; i++)
		job_take(&p.b, 7, UINT64_MAX, 7, 3);
	job_take(&p.b, 8, UINT64_MAX, 8, 3);
	pair_analyse(&p);
	for (size_t i = 0; i < p.out.messages.len; i++)
		assert_true(p.out.messages.data[i].tag != 7 ||
			    p.out.messages.data[i].send_start > first);
	pair_release(&p);
}

/* Joined in mid-run: counting backwards from an anchor ends where one may be missing. */
static void header_before_anchor(void **state)
{
	uint64_t last = 0;
	struct pair p;

	(void)state;
	pair_init_apart(&p, "attach");
	job_snapshot(&p.a, &p.b);
	job_snapshot(&p.b, &p.a);
	for (int i = 0; i < 3; i++) {
		last = p.job.now;
		job_send_short(&p.a, &p.b, 7, 3);
	}
	job_arrive(&p.b, 7, 3, 0);
	arrive_unreadable(&p.b);
	job_arrive(&p.b, 7, 3, 0);
	for (int i = 0; i < 3; i++)
		job_take(&p.b, 7, UINT64_MAX, 7, 3);
	send_multi(&p.a, &p.b, 9, 0xabc1);
	receive_multi(&p.b, 9, 0xabc1);
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 2);
	for (size_t i = 0; i < p.out.messages.len; i++)
		assert_true(p.out.messages.data[i].send_start > last);
	pair_release(&p);
}

/* Between a loss and the next message with an id, order counts nothing. */
static void lost_records(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "start");
	for (int i = 0; i < 3; i++) {
		job_send_short(&p.a, &p.b, 7, 3);
		job_arrive(&p.b, 7, 3, 0);
		if (i == 1)
			job_lose_last(&p.job);
		job_take(&p.b, 7, UINT64_MAX, 7, 3);
	}
	pair_analyse(&p);
	assert_int_equal(p.out.totals.matched, 1);
	assert_int_equal(p.out.totals.produced,
			 p.out.totals.stored + reason_count(p.out.totals.dropped, "ring full"));
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expected_and_unexpected),
		cmocka_unit_test(wildcards),
		cmocka_unit_test(blocking_receives),
		cmocka_unit_test(removed_by_probe),
		cmocka_unit_test(to_itself),
		cmocka_unit_test(one_tag_from_two),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(header_not_readable),
		cmocka_unit_test(header_of_one_of_two),
		cmocka_unit_test(header_before_anchor),
		cmocka_unit_test(lost_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
