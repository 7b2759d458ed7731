// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two hosts joined in mid-run, nothing but short messages over one TCP connection: positions in it
 * tell which is which, whichever end is read first.
 */
#include "outcome.h"

#define DIRECTION 0x1234567800000000ull
#define HEADER 13u /* UCT's and UCP's in front of the data */

struct hosts {
	struct job here, there;
	struct task a, b;
	struct outcome out;
	uint64_t sent, arrived; /* sequence numbers */
};

/* A clock that is ahead: its records are read later. */
static void hosts_init(struct hosts *hosts, uint64_t here_ahead, uint64_t there_ahead)
{
	memset(hosts, 0, sizeof(*hosts));
	job_init(&hosts->here, "here", "attach");
	job_init(&hosts->there, "there", "attach");
	hosts->a = job_process(&hosts->here, 1, 0, "attach");
	hosts->b = job_process(&hosts->there, 2, 1, "attach");
	job_snapshot(&hosts->a, &hosts->b);
	job_snapshot(&hosts->b, &hosts->a);
	hosts->here.now += here_ahead;
	hosts->there.now += there_ahead;
	hosts->sent = hosts->arrived = 0xffffffff; /* the next but one begins anew */
}

static void hosts_analyse(struct hosts *hosts)
{
	struct job *jobs[] = { &hosts->here, &hosts->there };

	analyse(&hosts->out, jobs, 2);
}

static void hosts_release(struct hosts *hosts)
{
	outcome_release(&hosts->out);
	job_release(&hosts->here);
	job_release(&hosts->there);
}

/* Where the connection is after a message that took this position. */
static uint64_t pass(uint64_t *position, uint64_t bytes)
{
	uint64_t at = *position;

	*position = (at + bytes + HEADER) & 0xffffffff;
	return at;
}

static void send_at(struct hosts *hosts, uint64_t tag, uint64_t bytes, bool told)
{
	struct task *task = &hosts->a;
	uint64_t at = pass(&hosts->sent, bytes);
	struct ub_xfer *xfer;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(1, 2), tag, bytes, 0);
	xfer = job_xfer(task, &hosts->b, AT_AM_SHORT, 2, (int64_t)bytes + 8, 0);
	xfer->w[0] = tag;
	xfer->raddr = told ? DIRECTION | at : 0;
	xfer->h.flags = told ? UB_F_WIRE | UB_F_SOCKET : UB_F_WIRE;
	job_op_end(task);
}

static void arrive_at(struct hosts *hosts, uint64_t tag, uint64_t bytes, bool told)
{
	struct ub_rx *rx = job_rx(&hosts->b, AT_RX_EAGER, (uint32_t)bytes + 8, tag, 0, 0);
	uint64_t at = pass(&hosts->arrived, bytes);

	rx->data = told ? DIRECTION | at : 0x7000;
	rx->h.flags = told ? UB_F_SOCKET : 0;
	hosts->b.rx = 0;
	job_take(&hosts->b, tag, UINT64_MAX, tag, bytes);
}

/* The messages look alike; the first one was sent before the attach. */
static void messages(struct hosts *hosts)
{
	static const bool send_told[] = { false, true, false, true },
			  arrival_told[] = { false, true, true, false };

	pass(&hosts->sent, 3);
	arrive_at(hosts, 7, 3, false);
	for (size_t i = 0; i < 4; i++)
		send_at(hosts, 7, 3, send_told[i]);
	for (size_t i = 0; i < 4; i++)
		arrive_at(hosts, 7, 3, arrival_told[i]);
}

static void expect_four(struct hosts *hosts)
{
	messages(hosts);
	hosts_analyse(hosts);
	assert_int_equal(hosts->out.totals.sends, 4);
	assert_int_equal(hosts->out.totals.matched, 4);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < i; j++)
			assert_true((hosts->out.messages.data[i].send_start <
				     hosts->out.messages.data[j].send_start) ==
				    (hosts->out.messages.data[i].arrival <
				     hosts->out.messages.data[j].arrival));
	hosts_release(hosts);
}

static void sends_read_first(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 0, 1000000);
	expect_four(&hosts);
}

static void arrivals_read_first(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 1000000, 0);
	expect_four(&hosts);
}

/* No position that both ends tell: between hosts nothing else fixes the order. */
static void no_position(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 0, 1000000);
	for (int i = 0; i < 40; i++) {
		send_at(&hosts, 7, 3, i % 2);
		arrive_at(&hosts, 7, 3, !(i % 2));
	}
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, 0);
	assert_int_equal(reason_count(hosts.out.totals.unmatched_sends, "before first anchor"), 40);
	hosts_release(&hosts);
}

/* Something else at the same position: its length tells. */
static void another_message(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 0, 1000000);
	send_at(&hosts, 7, 3, true);
	arrive_at(&hosts, 7, 4, true);
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, 0);
	hosts_release(&hosts);
}

/* Other data of the connection, of which no position is told. */
static void send_data(struct hosts *hosts, int64_t bytes)
{
	struct task *task = &hosts->a;

	job_call(task, AT_MPI_SEND);
	job_op(task, AT_TAG_SEND, EP(1, 2), 9, (uint64_t)bytes, 0);
	job_xfer(task, &hosts->b, AT_AM_BCOPY, 4, bytes, 0);
	job_op_end(task);
}

static void after_data(int64_t bytes, uint64_t expected)
{
	struct hosts hosts;

	hosts_init(&hosts, 0, 1000000);
	send_at(&hosts, 7, 3, true);
	for (int i = 0; i < 4; i++)
		send_data(&hosts, bytes);
	arrive_at(&hosts, 7, 3, true);
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, expected);
	hosts_release(&hosts);
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
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 0, 1000000000);
	send_at(&hosts, 7, 3, true);
	send_data(&hosts, 1 << 20);
	job_lose_last(&hosts.here);
	hosts.here.now += 300000000;
	send_at(&hosts, 8, 3, false);
	arrive_at(&hosts, 7, 3, true);
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, 0);
	hosts_release(&hosts);
}

/* Nobody watched the sender: what it sends long after the arrival is another message. */
static void arrived_before(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 300000000, 0);
	arrive_at(&hosts, 7, 3, true);
	send_at(&hosts, 7, 3, true);
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, 0);
	hosts_release(&hosts);
}

/* In order, as far as anybody knows: positions say that another message arrived. */
static void order_refuted(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 0, 1000000);
	send_at(&hosts, 7, 3, true);
	send_at(&hosts, 7, 3, true);
	arrive_at(&hosts, 7, 3, true);
	pass(&hosts.arrived, 3);
	arrive_at(&hosts, 7, 3, true);
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, 1);
	hosts_release(&hosts);
}

/* The same, counted backwards from an anchor. */
static void before_refuted(void **state)
{
	struct hosts hosts;

	(void)state;
	hosts_init(&hosts, 0, 1000000);
	send_at(&hosts, 7, 3, true);
	send_at(&hosts, 7, 3, true);
	send_at(&hosts, 7, 3, true);
	pass(&hosts.arrived, 3);
	hosts.arrived -= 1; /* no message that was seen begins here */
	arrive_at(&hosts, 7, 3, true);
	hosts.arrived += 1;
	arrive_at(&hosts, 7, 3, true);
	hosts_analyse(&hosts);
	assert_int_equal(hosts.out.totals.matched, 1);
	hosts_release(&hosts);
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
