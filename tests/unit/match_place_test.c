// SPDX-License-Identifier: BSD-3-Clause
/* Both ends of a message tell its position in the receiver's FIFO. */
#include "outcome.h"

#define DESC 1u /* UCT_CB_PARAM_FLAG_DESC */
#define SLOTS 64u

/* A copied message, all alike; the position may be taken away until the next record. */
static struct ub_xfer *send_at(struct pair *r, uint64_t position)
{
	struct ub_xfer *xfer;

	job_call(&r->a, AT_MPI_SEND);
	job_op(&r->a, AT_TAG_SEND, EP(r->a.tgid, r->b.tgid), 7, 1000, 0);
	xfer = job_xfer(&r->a, &r->b, AT_AM_BCOPY, 2, 1008, 0);
	xfer->raddr = position;
	xfer->w[0] = 7;
	xfer->h.flags = UB_F_FIFO | UB_F_WIRE;
	r->a.op = 0;
	return xfer;
}

static void no_position(struct ub_xfer *xfer)
{
	xfer->raddr = 0;
	xfer->h.flags = UB_F_WIRE;
}

static struct ub_rx *arrive_at(struct pair *r, uint64_t position)
{
	struct ub_rx *rx = job_rx(&r->b, AT_RX_EAGER, 1008, 7, 0, 0);

	rx->data = position;
	rx->am_flags = DESC | (IFACE >> 4 & 0xffff) << 16;
	rx->h.flags = UB_F_FIFO;
	r->b.rx = 0;
	return rx;
}

static void no_place(struct ub_rx *rx)
{
	rx->data = 0x5550000;
	rx->am_flags = DESC;
	rx->h.flags = 0;
}

static void take(struct pair *r)
{
	job_take(&r->b, 7, UINT64_MAX, 7, 1000);
}

/* A receive that waits, and its message. */
static void post(struct pair *r, uint64_t request)
{
	job_post(&r->b, 7, UINT64_MAX, request);
}

static void called_back(struct pair *r, uint64_t request, uint32_t seq)
{
	struct ub_comp *comp = job_comp(&r->b, AT_RECV_CB, request, 7, 1000);

	comp->h.rx = seq;
}

static void late_init(struct pair *r)
{
	pair_init_apart(r, "attach");
	job_snapshot(&r->a, &r->b);
	job_snapshot(&r->b, &r->a);
	job_object(&r->a, AT_IFACE, IFACE, WORKER(r->a.tgid), 0);
	job_object(&r->b, AT_IFACE, IFACE, WORKER(r->b.tgid), 0);
}

static void started(struct pair *r)
{
	pair_init_apart(r, "start");
	pair_connect(r);
}

/* What was claimed: the n-th message was sent and arrived then. */
static void assert_message(const struct pair *r, size_t n, uint64_t sent, uint64_t arrived)
{
	assert_true(n < r->out.messages.len);
	assert_int_equal(r->out.messages.data[n].send_start, sent);
	assert_int_equal(r->out.messages.data[n].arrival, arrived);
}

/* One was under way at the attach; all look alike. */
static void joined_in_mid_run(void **state)
{
	struct pair r;

	(void)state;
	late_init(&r);
	arrive_at(&r, 99);
	take(&r);
	no_position(send_at(&r, 100));
	no_place(arrive_at(&r, 100));
	take(&r);
	for (uint64_t i = 101; i < 101 + 3 * SLOTS; i++) {
		if (i % 8)
			no_position(send_at(&r, i));
		else
			send_at(&r, i);
		if (i % 16)
			no_place(arrive_at(&r, i));
		else
			arrive_at(&r, i);
		take(&r);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 3 * SLOTS + 1);
	assert_int_equal(r.out.totals.matched, 3 * SLOTS + 1);
	for (size_t i = 0; i < r.out.messages.len; i++) {
		const struct fact_message *m = &r.out.messages.data[i];

		assert_true(m->arrival - m->send_start < OP_NS);
		assert_int_equal(m->recv_start, 0); /* all came before a receive asked for them */
	}
	pair_release(&r);
}

/* More than a turn of the FIFO lies between a position and the next. */
static void turns_without_a_position(void **state)
{
	uint64_t sent[2], arrived[2];
	struct pair r;

	(void)state;
	late_init(&r);
	for (uint64_t i = 0; i < 2; i++) {
		sent[i] = send_at(&r, 5 + i * 10 * SLOTS)->h.ts - 100;
		arrived[i] = arrive_at(&r, 5 + i * 10 * SLOTS)->h.ts;
		take(&r);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	for (size_t i = 0; i < 2; i++)
		assert_message(&r, i, sent[i], arrived[i]);
	pair_release(&r);
}

/* The second send is lost: its arrival is not the third one's. */
static void send_lost(void **state)
{
	uint64_t sent, arrived;
	struct pair r;

	(void)state;
	started(&r);
	send_at(&r, 5);
	arrive_at(&r, 5);
	take(&r);
	send_at(&r, 6);
	job_lose_last(&r.job);
	sent = send_at(&r, 7)->h.ts - 100;
	arrive_at(&r, 6);
	take(&r);
	arrived = arrive_at(&r, 7)->h.ts;
	take(&r);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_message(&r, 1, sent, arrived);
	pair_release(&r);
}

/* The second arrival is lost; the third one is not the second send's, nor is its receive. */
static void arrival_lost(void **state)
{
	uint64_t sent, arrived;
	struct pair r;

	(void)state;
	started(&r);
	send_at(&r, 5);
	arrive_at(&r, 5);
	take(&r);
	post(&r, 0x9000);
	send_at(&r, 6);
	sent = send_at(&r, 7)->h.ts - 100;
	arrive_at(&r, 6);
	job_lose_last(&r.job);
	arrived = arrive_at(&r, 7)->h.ts;
	take(&r);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 3);
	assert_int_equal(r.out.totals.matched, 2);
	assert_message(&r, 1, sent, arrived);
	assert_int_equal(r.out.messages.data[1].recv_start, 0);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "arrival not seen"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "lost records"), 1);
	pair_release(&r);
}

/* Positions begin again, or are of an interface that nobody knows: nothing is claimed by them. */
static void another_fifo(void **state)
{
	struct pair r;

	(void)state;
	late_init(&r);
	send_at(&r, 50);
	arrive_at(&r, 90);
	arrive_at(&r, 50);
	send_at(&r, 91);
	arrive_at(&r, 91)->am_flags = DESC | 0x777u << 16;
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 0);
	pair_release(&r);
}

/*
 * A receive was posted before the attach, so that the first message is its own. The next one's
 * receive calls back from inside its handler; from then on all is known.
 */
static void receive_from_before(void **state)
{
	uint64_t start[3];
	struct pair r;

	(void)state;
	late_init(&r);
	send_at(&r, 5);
	arrive_at(&r, 5);
	for (uint64_t i = 0; i < 3; i++) {
		post(&r, 0x9000 + i * 0x1000);
		start[i] = r.job.records.data[r.job.records.len - 1].h.ts;
		send_at(&r, 6 + i);
		if (i < 2)
			called_back(&r, 0x9000 + i * 0x1000, arrive_at(&r, 6 + i)->h.seq);
		else
			arrive_at(&r, 6 + i);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 4);
	assert_int_equal(r.out.totals.matched, 3);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "receive operation not seen"),
			 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(r.out.messages.data[i].recv_start, start[i]);
	pair_release(&r);
}

/* The second message was sent before the attach. The receive that takes it is not the third's. */
static void taken_without_its_send(void **state)
{
	uint64_t start[3];
	struct pair r;

	(void)state;
	late_init(&r);
	post(&r, 0x9000);
	called_back(&r, 0x9000, arrive_at(&r, 50)->h.seq);
	no_place(arrive_at(&r, 51));
	for (uint64_t i = 52; i < 54; i++) {
		send_at(&r, i);
		arrive_at(&r, i);
	}
	for (size_t i = 0; i < 3; i++) {
		take(&r);
		start[i] = r.job.records.data[r.job.records.len - 1].h.ts;
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(r.out.messages.data[i].recv_start, start[i + 1]);
	pair_release(&r);
}

/* Two send alike, both in order: the one that tells another position is not the sender. */
static void not_at_that_position(void **state)
{
	uint64_t sent[2], arrived[2];
	struct task third;
	struct pair r;

	(void)state;
	started(&r);
	third = job_process(&r.job, 3, 2, "start");
	job_object(&r.a, AT_IFACE, IFACE, WORKER(r.a.tgid), 0);
	job_object(&r.b, AT_IFACE, IFACE, WORKER(r.b.tgid), 0);
	job_worker(&third);
	job_connect(&third, &r.b);
	sent[0] = r.job.now + 200;
	job_send_short(&third, &r.b, 7, 1000);
	sent[1] = send_at(&r, 101)->h.ts - 100;
	for (uint64_t i = 0; i < 2; i++) {
		arrived[i] = arrive_at(&r, 100 + i)->h.ts;
		take(&r);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.ambiguous, 0);
	assert_int_equal(r.out.totals.matched, 2);
	for (size_t i = 0; i < 2; i++)
		assert_message(&r, i, sent[i], arrived[i]);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_in_mid_run),
		cmocka_unit_test(turns_without_a_position),
		cmocka_unit_test(send_lost),
		cmocka_unit_test(arrival_lost),
		cmocka_unit_test(another_fifo),
		cmocka_unit_test(receive_from_before),
		cmocka_unit_test(taken_without_its_send),
		cmocka_unit_test(not_at_that_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
