// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two hosts joined in mid-run, nothing but short messages over one TCP connection: positions in it
 * tell which is which, whichever end is read first.
 */
#include "match_outcome.h"

#define DIRECTION 0x1234567800000000ull
#define HEADER 13u /* UCT's and UCP's in front of the data */

struct pair {
	struct job here, there;
	struct task a, b;
	struct outcome out;
	uint64_t sent, arrived; /* sequence numbers */
};

/* A clock that is ahead: its records are read later. */
static void pair_init(struct pair *pair, uint64_t here_ahead, uint64_t there_ahead)
{
	memset(pair, 0, sizeof(*pair));
	job_init(&pair->here, "here", "attach");
	job_init(&pair->there, "there", "attach");
	pair->a = job_process(&pair->here, 1, 0, "attach");
	pair->b = job_process(&pair->there, 2, 1, "attach");
	job_snapshot(&pair->a, &pair->b);
	job_snapshot(&pair->b, &pair->a);
	pair->here.now += here_ahead;
	pair->there.now += there_ahead;
	pair->sent = pair->arrived = 0xffffffff; /* the next but one begins anew */
}

static void pair_analyse(struct pair *pair)
{
	struct job *jobs[] = { &pair->here, &pair->there };

	analyse(&pair->out, jobs, 2);
}

static void pair_release(struct pair *pair)
{
	outcome_release(&pair->out);
	job_release(&pair->here);
	job_release(&pair->there);
}

/* Where the connection is after a message that took this position. */
static uint64_t pass(uint64_t *position, uint64_t bytes)
{
	uint64_t at = *position;

	*position = (at + bytes + HEADER) & 0xffffffff;
	return at;
}

static void send_at(struct pair *pair, uint64_t tag, uint64_t bytes, bool told)
{
	struct task *task = &pair->a;
	uint64_t at = pass(&pair->sent, bytes);
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(1, 2), tag, bytes, 0);
	xfer = job_xfer(task, &pair->b, AT_AM_SHORT, 2, (int64_t)bytes + 8, 0);
	xfer->w[0] = tag;
	xfer->raddr = told ? DIRECTION | at : 0;
	xfer->h.flags = told ? UB_F_WIRE | UB_F_SOCKET : UB_F_WIRE;
	job_op_end(task);
}

static void arrive_at(struct pair *pair, uint64_t tag, uint64_t bytes, bool told)
{
	struct ub_rx *rx = job_rx(&pair->b, AT_RX_EAGER, (uint32_t)bytes + 8, tag, 0, 0);
	uint64_t at = pass(&pair->arrived, bytes);

	rx->data = told ? DIRECTION | at : 0x7000;
	rx->h.flags = told ? UB_F_SOCKET : 0;
	pair->b.rx = 0;
	job_take(&pair->b, tag, UINT64_MAX, tag, bytes);
}

/* The messages look alike; the first one was sent before the attach. */
static void messages(struct pair *pair)
{
	static const bool send_told[] = { false, true, false, true },
			  arrival_told[] = { false, true, true, false };

	pass(&pair->sent, 3);
	arrive_at(pair, 7, 3, false);
	for (size_t i = 0; i < 4; i++)
		send_at(pair, 7, 3, send_told[i]);
	for (size_t i = 0; i < 4; i++)
		arrive_at(pair, 7, 3, arrival_told[i]);
}

static void expect_four(struct pair *pair)
{
	messages(pair);
	pair_analyse(pair);
	assert_int_equal(pair->out.totals.sends, 4);
	assert_int_equal(pair->out.totals.matched, 4);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < i; j++)
			assert_true((pair->out.messages.data[i].send_start <
				     pair->out.messages.data[j].send_start) ==
				    (pair->out.messages.data[i].arrival <
				     pair->out.messages.data[j].arrival));
	pair_release(pair);
}

static void sends_read_first(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 0, 1000000);
	expect_four(&pair);
}

static void arrivals_read_first(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 1000000, 0);
	expect_four(&pair);
}

/* No position that both ends tell: between hosts nothing else fixes the order. */
static void no_position(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 0, 1000000);
	for (int i = 0; i < 40; i++) {
		send_at(&pair, 7, 3, i % 2);
		arrive_at(&pair, 7, 3, !(i % 2));
	}
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, 0);
	assert_int_equal(reason_count(pair.out.totals.unmatched_sends, "before first anchor"), 40);
	pair_release(&pair);
}

/* Something else at the same position: its length tells. */
static void another_message(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 0, 1000000);
	send_at(&pair, 7, 3, true);
	arrive_at(&pair, 7, 4, true);
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, 0);
	pair_release(&pair);
}

/* Other data of the connection, of which no position is told. */
static void send_data(struct pair *pair, int64_t bytes)
{
	struct task *task = &pair->a;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(1, 2), 9, (uint64_t)bytes, 0);
	job_xfer(task, &pair->b, AT_AM_BCOPY, 4, bytes, 0);
	job_op_end(task);
}

static void after_data(int64_t bytes, uint64_t expected)
{
	struct pair pair;

	pair_init(&pair, 0, 1000000);
	send_at(&pair, 7, 3, true);
	for (int i = 0; i < 4; i++)
		send_data(&pair, bytes);
	arrive_at(&pair, 7, 3, true);
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, expected);
	pair_release(&pair);
}

/* Nobody watched the receiver: what arrives is another message, 4 GiB later. */
static void lap_later(void **state)
{
	(void)state;
	after_data(1 << 30, 0);
	after_data(1 << 28, 1);
}

/* As above, but what was sent in between is lost. */
static void lap_lost(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 0, 1000000000);
	send_at(&pair, 7, 3, true);
	send_data(&pair, 1 << 20);
	job_lose_last(&pair.here);
	pair.here.now += 300000000;
	send_at(&pair, 8, 3, false);
	arrive_at(&pair, 7, 3, true);
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, 0);
	pair_release(&pair);
}

/* Nobody watched the sender: what it sends long after the arrival is another message. */
static void arrived_before(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 300000000, 0);
	arrive_at(&pair, 7, 3, true);
	send_at(&pair, 7, 3, true);
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, 0);
	pair_release(&pair);
}

/* In order, as far as anybody knows: positions say that another message arrived. */
static void order_refuted(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 0, 1000000);
	send_at(&pair, 7, 3, true);
	send_at(&pair, 7, 3, true);
	arrive_at(&pair, 7, 3, true);
	pass(&pair.arrived, 3);
	arrive_at(&pair, 7, 3, true);
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, 1);
	pair_release(&pair);
}

/* The same, counted backwards from an anchor. */
static void before_refuted(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair, 0, 1000000);
	send_at(&pair, 7, 3, true);
	send_at(&pair, 7, 3, true);
	send_at(&pair, 7, 3, true);
	pass(&pair.arrived, 3);
	pair.arrived -= 1; /* no message that was seen begins here */
	arrive_at(&pair, 7, 3, true);
	pair.arrived += 1;
	arrive_at(&pair, 7, 3, true);
	pair_analyse(&pair);
	assert_int_equal(pair.out.totals.matched, 1);
	pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_read_first), cmocka_unit_test(arrivals_read_first),
		cmocka_unit_test(no_position),      cmocka_unit_test(another_message),
		cmocka_unit_test(lap_later),        cmocka_unit_test(lap_lost),
		cmocka_unit_test(arrived_before),   cmocka_unit_test(order_refuted),
		cmocka_unit_test(before_refuted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
