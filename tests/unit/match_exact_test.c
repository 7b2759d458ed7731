// SPDX-License-Identifier: BSD-3-Clause
/* Messages with ids of their own, what they fix for the others, and jobs over several captures. */
#include "outcome.h"

static void fragments(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	send_multi(&r.a, &r.b, 7, 0xabc1);
	send_multi(&r.a, &r.b, 7, 0xabc2);
	receive_multi(&r.b, 7, 0xabc1);
	receive_multi(&r.b, 7, 0xabc2);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_int_equal(r.out.messages.data[0].bytes, 10000);
	assert_int_equal(r.out.totals.data_bytes, 20000);
	assert_int_equal(r.out.totals.to_call_bytes, 20000);
	pair_release(&r);
}

static void rendezvous(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_post(&r.b, 7, UINT64_MAX, 0x9200);
	job_post(&r.b, 7, UINT64_MAX, 0x9400);
	send_rts(&r.a, &r.b, 7, 0x8000);
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0x9200);
	job_comp(&r.a, AT_SEND_CB, 0x8000, 0, 0);
	/* the sender's request is reused: same id, next generation */
	send_rts(&r.a, &r.b, 7, 0x8000);
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0x9400);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 2);
	assert_true(r.out.messages.data[0].send_start < r.out.messages.data[1].send_start);
	assert_true(r.out.messages.data[0].recv_start < r.out.messages.data[1].recv_start);
	pair_release(&r);
}

/* A receive takes the RTS that waits, not the younger message with its tag. */
static void rendezvous_first(void **state)
{
	struct pair r;
	struct ub_match *match;

	(void)state;
	pair_init(&r, "start");
	send_rts(&r.a, &r.b, 7, 0x8000);
	job_send_short(&r.a, &r.b, 7, 5);
	arrive_rts(&r.b, &r.a, 7, 0x8000, 0);
	job_arrive(&r.b, 7, 5, 0);
	job_call(&r.b, AT_MPI_RECV);
	job_op(&r.b, AT_TAG_RECV, WORKER(2), 7, 200000, 0x9200)->aux = UINT64_MAX;
	match = job_add(&r.b, AT_MATCHED, 0);
	match->worker = WORKER(2);
	match->req = 0x9200;
	match->tag = 7;
	match->ep_id = EP(2, 1);
	match->req_id = 0x8000;
	match->size = 100000;
	job_op_end(&r.b);
	job_take(&r.b, 7, UINT64_MAX, 7, 5);
	job_comp(&r.b, AT_RECV_CB, 0x9200, 7, 100000);
	job_exchange(&r.a, &r.b, 7, 3);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 3);
	pair_release(&r);
}

static void peer_not_traced(void **state)
{
	struct pair r;
	struct task stranger = { .tgid = 9 };

	(void)state;
	pair_init(&r, "start");
	job_connect(&r.a, &stranger);
	job_send_short(&r.a, &stranger, 7, 3);
	pair_analyse(&r);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "peer not traced"), 1);
	assert_int_equal(r.out.ops.data[0].peer, -1);
	pair_release(&r);
}

static void in_flight(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_send_short(&r.a, &r.b, 7, 3);
	job_post(&r.b, 8, UINT64_MAX, 0x9000);
	pair_analyse(&r);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "in flight at end"), 1);
	assert_int_equal(reason_count(r.out.totals.unmatched_receives, "in flight at end"), 1);
	pair_release(&r);
}

/* An active message with a user's header of 16 bytes, whose datatype hides how long its data is. */
static void exchange_am(struct pair *pair, uint8_t am_id, enum job_site handler, int64_t length)
{
	const uint64_t first = 5 | 16ull << 32;
	struct ub_op *op;

	op = job_op(&pair->a, AT_AM_SEND, EP(1, 2), 5, 1, 0x8000);
	op->datatype = 1;
	op->aux = 16;
	job_xfer(&pair->a, &pair->b, AT_AM_BCOPY, am_id, length, 0x8000);
	job_op_end(&pair->a);
	job_rx(&pair->b, handler, (uint32_t)length, first, 0, 0);
	pair->b.rx = 0;
}

/* The message's length is what arrived less header, user's header and footer. */
static void size_of_arrival(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	exchange_am(&r, 23, AT_RX_AM, 8 + 16 + 100);
	exchange_am(&r, 26, AT_RX_AM_REPLY, 8 + 16 + 100 + 8);
	/* of several fragments: the first one has the length of all in its footer, which is not
	 * read */
	exchange_am(&r, 24, AT_RX_AM_FIRST, 8 + 16 + 8000 + 24);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 3);
	assert_int_equal(r.out.messages.data[0].bytes, 100);
	assert_int_equal(r.out.messages.data[1].bytes, 100);
	assert_int_equal(r.out.messages.data[2].bytes, UINT64_MAX);
	pair_release(&r);
}

/* A send that is done when its call returns: it is as long as all that it has sent by then. */
static void size_of_fragments(void **state)
{
	struct ub_op *op;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	op = job_op(&r.a, AT_AM_SEND, EP(1, 2), 5, 1, 0x8000);
	op->datatype = 1;
	op->ret = 0;
	job_xfer(&r.a, &r.b, AT_AM_BCOPY, AM_FIRST, 8 + 8000 + 24, 0x8000);
	job_rx(&r.b, AT_RX_AM_FIRST, 8 + 8000 + 24, 5, 0, 0);
	r.b.rx = 0;
	job_xfer(&r.a, &r.b, AT_AM_BCOPY, AM_MIDDLE, 8 + 400 + 16, 0x8000);
	job_op_end(&r.a);
	pair_analyse(&r);
	assert_int_equal(r.out.totals.matched, 1);
	assert_int_equal(r.out.messages.data[0].bytes, 8400);
	assert_int_equal(r.out.ops.data[0].bytes, 8400);
	pair_release(&r);
}

/* UCP_AM_HDR_FLAG_RESEND, bit 15 of the flags: after 1.22 (src/ucp/core/ucp_am.h) */
#define RESENT (1ull << 31)

/* The first fragment may come twice: one message all the same, and the next one is not taken for
 * it. */
static void a_fragment_that_is_sent_again(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	for (uint64_t bytes = 8000; bytes >= 4000; bytes -= 4000) {
		job_op(&r.a, AT_AM_SEND, EP(1, 2), 5, bytes, 0x8000);
		for (int again = 0; again <= (bytes == 8000); again++) {
			job_xfer(&r.a, &r.b, AT_AM_BCOPY, AM_FIRST, 8 + (int64_t)bytes + 24,
				 0x8000);
			job_rx(&r.b, AT_RX_AM_FIRST, 8 + (uint32_t)bytes + 24,
			       again ? 5 | RESENT : 5, 0, 0);
			r.b.rx = 0;
		}
		job_op_end(&r.a);
	}
	pair_analyse(&r);
	assert_int_equal(r.out.totals.sends, 2);
	assert_int_equal(r.out.totals.receives, 2);
	assert_int_equal(r.out.totals.matched, 2);
	assert_int_equal(r.out.messages.data[0].bytes, 8000);
	assert_int_equal(r.out.messages.data[1].bytes, 4000);
	pair_release(&r);
}

static const struct fact_op *op_of(const struct pair *r, uint64_t id)
{
	for (size_t i = 0; i < r->out.ops.len; i++)
		if (r->out.ops.data[i].id == id)
			return &r->out.ops.data[i];
	fail_msg("no operation %llu", (unsigned long long)id);
	return NULL;
}

static const char *call_of(const struct pair *r, uint64_t id)
{
	for (size_t i = 0; i < r->out.calls.len; i++)
		if (r->out.calls.data[i].id == id)
			return r->out.calls.data[i].function;
	fail_msg("no call %llu", (unsigned long long)id);
	return NULL;
}

/* What caused what, by ids: calls, their operations, the transfers of these, both ends of messages.
 */
static void ids(void **state)
{
	const struct fact_message *message;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_send_short(&r.a, &r.b, 7, 3);
	job_send_short(&r.a, &r.b, 7, 5);
	job_arrive(&r.b, 7, 3, 0);
	job_arrive(&r.b, 7, 5, 0);
	job_take(&r.b, 7, UINT64_MAX, 7, 3);
	job_take(&r.b, 7, UINT64_MAX, 7, 5);
	pair_analyse(&r);
	assert_int_equal(r.out.messages.len, 2);
	for (size_t i = 0; i < 2; i++) {
		message = &r.out.messages.data[i];
		assert_int_equal(op_of(&r, message->send)->bytes, message->bytes);
		assert_int_equal(op_of(&r, message->recv)->bytes, message->bytes);
		assert_int_equal(op_of(&r, message->recv)->process, 1);
		assert_string_equal(call_of(&r, op_of(&r, message->send)->call), "MPI_Send");
		assert_string_equal(call_of(&r, op_of(&r, message->recv)->call), "MPI_Recv");
		assert_int_equal(op_of(&r, r.out.transfers.data[i].caused_by)->bytes,
				 r.out.transfers.data[i].bytes);
	}
	assert_int_not_equal(op_of(&r, r.out.messages.data[0].send)->call,
			     op_of(&r, r.out.messages.data[1].send)->call);
	pair_release(&r);
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
		job_exchange(&a, &b, 7, 10 + i);
		job_exchange(&b, &a, 9, 20 + i);
	}
	send_multi(&a, &b, 8, 0xabc1);
	receive_multi(&b, 8, 0xabc1);
	for (int o = 0; o < 2; o++) {
		analyse(&out[o], orders[o], 2);
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

/* The first pair that a capture has, for hosts that have one. */
static void clocks(void **state)
{
	struct job one, two;
	struct outcome out;

	(void)state;
	job_init(&one, "host-a", "run");
	job_init(&two, "host-b", "run");
	for (int i = 0; i < 2; i++)
		json_array_append_new(two.sides, json_pack("{s:s, s:I, s:I}", "t", "clock", "mono",
							   (json_int_t)(50 + i), "real",
							   (json_int_t)(9000 + 2 * i)));
	job_process(&one, 1, 0, "start");
	job_process(&two, 2, 1, "start");
	analyse(&out, (struct job *[]){ &one, &two }, 2);
	assert_int_equal(out.clocks.len, 1);
	assert_int_equal(out.clocks.data[0].host, 1);
	assert_int_equal(out.clocks.data[0].mono, 50);
	assert_int_equal(out.clocks.data[0].real, 9000);
	outcome_release(&out);
	job_release(&one);
	job_release(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragments),
		cmocka_unit_test(rendezvous),
		cmocka_unit_test(peer_not_traced),
		cmocka_unit_test(in_flight),
		cmocka_unit_test(size_of_arrival),
		cmocka_unit_test(size_of_fragments),
		cmocka_unit_test(a_fragment_that_is_sent_again),
		cmocka_unit_test(two_hosts),
		cmocka_unit_test(clocks),
		cmocka_unit_test(ids),
		cmocka_unit_test(rendezvous_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
