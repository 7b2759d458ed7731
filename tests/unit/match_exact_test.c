// SPDX-License-Identifier: BSD-3-Clause
/* Messages with ids of their own, what they fix for the others, and jobs over several captures. */
#include "match_outcome.h"

/* First fragment of a message in several: its id is unique. */
static void send_multi(struct task *task, const struct task *to, uint64_t tag, uint64_t id)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, 10000, 0x7ff1000)->ret = 0;
	xfer = job_xfer(task, to, AT_AM_BCOPY, 3, 8256, 0x7ff1000);
	xfer->w[0] = tag;
	xfer->w[1] = 10000;
	xfer->w[2] = id;
	xfer->h.flags = UB_F_REQ;
	xfer = job_xfer(task, to, AT_AM_BCOPY, 4, 10000 - 8232 + 16, 0x7ff1000);
	xfer->h.flags = UB_F_REQ;
	job_op_end(task);
}

static void receive_multi(struct task *task, uint64_t tag, uint64_t id)
{
	job_post(task, tag, UINT64_MAX, 0x9100);
	job_rx(task, AT_RX_FIRST, 8256, tag, 10000, id);
	task->rx = 0;
	job_comp(task, AT_RECV_CB, 0x9100, tag, 10000);
}

static void send_rts(struct task *task, const struct task *to, uint64_t tag, uint64_t req)
{
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(task->tgid, to->tgid), tag, 100000, req);
	xfer = job_xfer(task, to, AT_AM_SHORT, 9, 42, 0);
	xfer->w[0] = tag;
	xfer->w[1] = EP(to->tgid, task->tgid);
	xfer->w[2] = req;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(task);
}

static void arrive_rts(struct task *task, const struct task *from, uint64_t tag, uint64_t req,
		       uint64_t taken_by)
{
	struct ub_rx *rx = job_rx(task, AT_RX_RTS, 42, tag, EP(task->tgid, from->tgid), req);
	struct ub_match *match;

	rx->w[4] = 100000;
	if (taken_by) {
		match = job_add(task, AT_MATCHED, 0);
		match->worker = WORKER(task->tgid);
		match->req = taken_by;
		match->tag = tag;
		match->ep_id = EP(task->tgid, from->tgid);
		match->req_id = req;
		match->size = 100000;
	}
	task->rx = 0;
}

struct ranks {
	struct job job;
	struct task a, b;
	struct job *jobs[1];
	struct outcome out;
};

static void ranks_init(struct ranks *r, const char *seen_from)
{
	job_init(&r->job, "host-a", seen_from[0] == 's' ? "run" : "attach");
	r->jobs[0] = &r->job;
	r->a = job_process(&r->job, 1, 0, seen_from);
	r->b = job_process(&r->job, 2, 1, seen_from);
}

static void ranks_connect(struct ranks *r)
{
	job_worker(&r->a);
	job_worker(&r->b);
	job_connect(&r->a, &r->b);
	job_connect(&r->b, &r->a);
}

static void ranks_analyse(struct ranks *r)
{
	analyse(&r->out, r->jobs, 1);
	assert_balanced(&r->out.totals);
}

static void ranks_release(struct ranks *r)
{
	outcome_release(&r->out);
	job_release(&r->job);
}

static void fragments(void **state)
{
	struct ranks r;

	(void)state;
	ranks_init(&r, "start");
	ranks_connect(&r);
	send_multi(&r.a, &r.b, 7, 0xabc1);
	send_multi(&r.a, &r.b, 7, 0xabc2);
	receive_multi(&r.b, 7, 0xabc1);
	receive_multi(&r.b, 7, 0xabc2);
	ranks_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_int_equal(r.out.messages.data[0].bytes, 10000);
	assert_int_equal(r.out.totals.data_bytes, 20000);
	assert_int_equal(r.out.totals.to_call_bytes, 20000);
	ranks_release(&r);
}

static void rendezvous(void **state)
{
	struct ranks r;

	(void)state;
	ranks_init(&r, "start");
	ranks_connect(&r);
	job_post(&r.b, 7, UINT64_MAX, 0x9200);
	job_post(&r.b, 7, UINT64_MAX, 0x9400);
	send_rts(&r.a, &r.b, 7, 0x8000);
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0x9200);
	job_comp(&r.a, AT_SEND_CB, 0x8000, 0, 0);
	/* the sender's request is reused: same id, next generation */
	send_rts(&r.a, &r.b, 7, 0x8000);
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0x9400);
	ranks_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_true(r.out.messages.data[0].send_start < r.out.messages.data[1].send_start);
	assert_true(r.out.messages.data[0].recv_start < r.out.messages.data[1].recv_start);
	ranks_release(&r);
}

/*
 * Attached in mid-run: one message was under way already, and one send was seen whose predecessors
 * were not. The first message with an id tells where both ends stand.
 */
static void late_attach(void **state)
{
	struct ranks r;

	(void)state;
	ranks_init(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	/* sent before the trace */
	job_arrive(&r.b, 7, 3, 0);
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	for (int i = 0; i < 3; i++) {
		job_send_short(&r.a, &r.b, 7, 3);
		job_arrive(&r.b, 7, 3, 0);
		job_take(&r.b, 7, UINT64_MAX, 7, 3);
	}
	send_multi(&r.a, &r.b, 9, 0xabc1);
	receive_multi(&r.b, 9, 0xabc1);
	job_send_short(&r.a, &r.b, 7, 3);
	job_arrive(&r.b, 7, 3, 0);
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	ranks_analyse(&r);
	assert_int_equal(r.out.totals.sends, 5);
	assert_int_equal(r.out.totals.matched, 5);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_true(r.out.messages.data[i].send_start < r.out.messages.data[i].arrival);
	ranks_release(&r);
}

/* Without any message with an id, nothing is claimed. */
static void late_attach_without_anchor(void **state)
{
	struct ranks r;

	(void)state;
	ranks_init(&r, "attach");
	job_snapshot(&r.a, &r.b);
	job_snapshot(&r.b, &r.a);
	job_send_short(&r.a, &r.b, 7, 3);
	job_arrive(&r.b, 7, 3, 0);
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	ranks_analyse(&r);
	assert_int_equal(r.out.totals.matched, 0);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "before first anchor"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	ranks_release(&r);
}

/*
 * Short messages only, one under way at the attach. The receiver polls in its call for each of
 * them, so none can have been lying there.
 */
static void late_attach_polling(void **state)
{
	struct ranks r;

	(void)state;
	ranks_init(&r, "attach");
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
	ranks_analyse(&r);
	assert_int_equal(r.out.totals.sends, 99);
	assert_int_equal(r.out.totals.matched, 99);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "before first anchor"), 1);
	for (size_t i = 0; i < r.out.messages.len; i++)
		assert_true(r.out.messages.data[i].arrival - r.out.messages.data[i].send_start <
			    10000);
	ranks_release(&r);
}

static void peer_not_traced(void **state)
{
	struct ranks r;
	struct task stranger = { .tgid = 9 };

	(void)state;
	ranks_init(&r, "start");
	ranks_connect(&r);
	job_connect(&r.a, &stranger);
	job_send_short(&r.a, &stranger, 7, 3);
	ranks_analyse(&r);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "peer not traced"), 1);
	assert_int_equal(r.out.ops.data[0].peer, -1);
	ranks_release(&r);
}

static void in_flight(void **state)
{
	struct ranks r;

	(void)state;
	ranks_init(&r, "start");
	ranks_connect(&r);
	job_send_short(&r.a, &r.b, 7, 3);
	job_post(&r.b, 8, UINT64_MAX, 0x9000);
	ranks_analyse(&r);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "in flight at end"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "in flight at end"), 1);
	ranks_release(&r);
}

/* Hosts whose clocks differ by hours; the order in which their files are named must not matter. */
static void two_hosts(void **state)
{
	struct job one, two;
	struct job *orders[2][2] = { { &one, &two }, { &two, &one } };
	struct outcome out[2];
	struct task a, b;

	(void)state;
	job_init(&one, "host-a", "run");
	job_init(&two, "host-b", "run");
	two.now += 3600000000000u;
	a = job_process(&one, 1, 0, "start");
	b = job_process(&two, 1, 1, "start");
	b.tgid = b.tid = 2;
	json_object_set_new(json_array_get(two.sides, json_array_size(two.sides) - 1), "tgid",
			    json_integer(2));
	job_worker(&a);
	job_worker(&b);
	job_connect(&a, &b);
	job_connect(&b, &a);
	for (int i = 0; i < 3; i++) {
		job_send_short(&a, &b, 7, 10 + i);
		job_arrive(&b, 7, 10 + i, 0);
		job_take(&b, 7, UINT64_MAX, 7, 10 + i);
		job_send_short(&b, &a, 9, 20 + i);
		job_arrive(&a, 9, 20 + i, 0);
		job_take(&a, 9, UINT64_MAX, 9, 20 + i);
	}
	send_multi(&a, &b, 8, 0xabc1);
	receive_multi(&b, 8, 0xabc1);
	for (int o = 0; o < 2; o++) {
		analyse(&out[o], orders[o], 2);
		assert_balanced(&out[o].totals);
		assert_int_equal(out[o].totals.matched, 7);
		assert_int_equal(out[o].transfers.data[0].locality, LOCALITY_REMOTE);
	}
	assert_int_equal(out[0].messages.len, out[1].messages.len);
	for (size_t i = 0; i < out[0].messages.len; i++)
		assert_int_equal(out[0].messages.data[i].bytes, out[1].messages.data[i].bytes);
	for (int o = 0; o < 2; o++)
		outcome_release(&out[o]);
	job_release(&one);
	job_release(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragments),           cmocka_unit_test(rendezvous),
		cmocka_unit_test(late_attach),         cmocka_unit_test(late_attach_without_anchor),
		cmocka_unit_test(late_attach_polling), cmocka_unit_test(peer_not_traced),
		cmocka_unit_test(in_flight),           cmocka_unit_test(two_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
