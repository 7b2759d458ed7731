// SPDX-License-Identifier: BSD-3-Clause
/* Active messages by rendezvous: which of them an operation fetches is known, or it is not. */
#include "match_ways.h"

#define ID 7
#define BYTES 100003
#define RTS_BYTES 58

static const char nobody[] = "the operation that received it is not known";

/* The number-th message of a process, whose first request is that. */
static uint64_t request(uint64_t first, unsigned int number)
{
	return first + number * 0x800u;
}

static void announce(struct pair *p, struct task *from, unsigned int number, uint64_t address)
{
	const uint64_t req = request(SEND_REQ + from->tgid * 0x10000u, number);
	const uint64_t ep = EP(p->b.tgid, from->tgid);
	struct ub_xfer *xfer;
	struct ub_rx *rx;

	job_op(from, AT_AM_SEND, EP(from->tgid, p->b.tgid), ID, BYTES, req)->buffer = address;
	xfer = job_xfer(from, &p->b, AT_AM_SHORT, 9, RTS_BYTES, 0);
	xfer->w[0] = ID;
	xfer->w[1] = ep;
	xfer->w[2] = req;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(from);
	rx = job_rx(&p->b, AT_RX_RTS, RTS_BYTES, ID, ep, req);
	rx->w[3] = address;
	rx->w[4] = BYTES;
	p->b.rx = 0;
}

/* Out of the handler, as ucp_am_recv_data_nbx() is called with data that waits. */
static void fetch(struct pair *p, const struct task *from, unsigned int number, uint64_t address,
		  uint64_t iface)
{
	const uint64_t req = request(RECV_REQ + from->tgid * 0x10000u, number);

	job_op(&p->b, AT_AM_RECV_DATA, WORKER(p->b.tgid), 0, BYTES, req)->buffer = TARGET;
	ways_move(&p->b, from, AT_GET_ZCOPY, iface, BYTES, TARGET, address, req + 0x400, req);
	job_op_end(&p->b);
}

static void answer(struct pair *p, struct task *to, unsigned int number)
{
	const uint64_t req = request(SEND_REQ + to->tgid * 0x10000u, number);

	ways_control(&p->b, to, AT_AM_SHORT, 10, req, AT_RX_ATS);
	job_comp(to, AT_SEND_CB, req, 0, 0);
}

static void analyse_two(struct pair *p, struct task *second)
{
	answer(p, second, 1);
	answer(p, &p->a, 0);
	pair_analyse(p);
	assert_int_equal(p->out.totals.to_op_bytes, 2 * BYTES);
	assert_int_equal(p->out.totals.matched, 2);
	assert_int_equal(p->out.totals.way_bytes, 2 * BYTES);
}

/* Fetched in the other order than they came. */
static void two(struct pair *p, struct task *second, uint64_t second_at)
{
	announce(p, &p->a, 0, SOURCE);
	announce(p, second, 1, second_at);
	fetch(p, second, 1, second_at, OVER_CMA);
	fetch(p, &p->a, 0, SOURCE, OVER_CMA);
	analyse_two(p, second);
}

static void wayless_is(const struct pair *p, uint64_t bytes)
{
	assert_int_equal(p->out.totals.wayless_bytes, bytes);
	assert_int_equal(reason_count(p->out.totals.wayless, nobody), bytes);
}

static void host_init(struct pair *p, const char *seen_from)
{
	pair_init(p, seen_from);
	job_iface(&p->b, OVER_CMA, "cma");
}

static void by_address(void **state)
{
	struct pair p;

	(void)state;
	host_init(&p, "start");
	two(&p, &p.a, SOURCE + BYTES);
	wayless_is(&p, 0);
	pair_release(&p);
}

/* Each process has its own addresses. */
static void by_sender(void **state)
{
	struct task third;
	struct pair p;

	(void)state;
	host_init(&p, "start");
	third = job_process(&p.job, 3, 2, "start");
	job_worker(&third);
	job_connect(&third, &p.b);
	job_connect(&p.b, &third);
	two(&p, &third, SOURCE);
	wayless_is(&p, 0);
	pair_release(&p);
}

/* Two sends of one buffer: each fetch may be of either, unless one was fetched before. */
static void of_one_buffer(void **state)
{
	struct pair p;

	(void)state;
	host_init(&p, "start");
	two(&p, &p.a, SOURCE);
	wayless_is(&p, 2 * BYTES);
	pair_release(&p);
	host_init(&p, "start");
	for (unsigned int i = 0; i < 2; i++) {
		announce(&p, &p.a, i, SOURCE);
		fetch(&p, &p.a, i, SOURCE, OVER_CMA);
	}
	analyse_two(&p, &p.a);
	wayless_is(&p, 0);
	pair_release(&p);
}

/* Others may have been announced before, or meanwhile. */
static void not_all_seen(void **state)
{
	struct pair p;

	(void)state;
	host_init(&p, "attach");
	two(&p, &p.a, SOURCE + BYTES);
	wayless_is(&p, 2 * BYTES);
	pair_release(&p);
	host_init(&p, "start");
	announce(&p, &p.a, 8, SOURCE);
	job_lose_last(&p.job);
	two(&p, &p.a, SOURCE + BYTES);
	wayless_is(&p, 2 * BYTES);
	pair_release(&p);
}

/* An announcement whose send is not known may be of the memory that is read. */
static void of_unknown_send(void **state)
{
	struct pair p;

	(void)state;
	host_init(&p, "start");
	job_rx(&p.b, AT_RX_RTS, RTS_BYTES, ID, EP(2, 1), 0x4400)->w[4] = BYTES;
	p.b.rx = 0;
	two(&p, &p.a, SOURCE + BYTES);
	wayless_is(&p, 2 * BYTES);
	pair_release(&p);
}

static void between_gpus(void **state)
{
	const struct fact_message *message;
	struct pair p;

	(void)state;
	ways_init(&p);
	announce(&p, &p.a, 0, SOURCE);
	fetch(&p, &p.a, 0, SOURCE, OVER_IPC);
	answer(&p, &p.a, 0);
	pair_analyse(&p);
	assert_int_equal(p.out.messages.len, 1);
	message = &p.out.messages.data[0];
	assert_string_equal(message->src_mem, "gpu0");
	assert_string_equal(message->dst_mem, "gpu1");
	assert_string_equal(message->chain, "gpu0,gpu1");
	assert_string_equal(message->via, "cuda_ipc");
	wayless_is(&p, 0);
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_address),      cmocka_unit_test(by_sender),
		cmocka_unit_test(of_one_buffer),   cmocka_unit_test(not_all_seen),
		cmocka_unit_test(of_unknown_send), cmocka_unit_test(between_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
