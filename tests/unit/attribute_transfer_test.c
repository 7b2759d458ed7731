// SPDX-License-Identifier: BSD-3-Clause
/* Which operation and which call a transfer belongs to. */
#include "outcome.h"

static struct ub_xfer *fragment(struct task *task, const struct task *to, uint8_t am_id,
				int64_t length, uint64_t req)
{
	struct ub_xfer *xfer = job_xfer(task, to, AT_AM_BCOPY, am_id, length, req);

	xfer->w[0] = 7;
	xfer->w[1] = 20000;
	xfer->w[2] = 0xabc;
	xfer->h.flags = UB_F_REQ;
	return xfer;
}

/* The ring fills up: the rest leaves from within another call, and is still the send's. */
static void fragments_with_retries(void **state)
{
	struct pair s;
	struct ub_xfer *xfer;

	(void)state;
	pair_init(&s, "start");
	job_call(&s.a, AT_MPI_SEND);
	job_op(&s.a, AT_TAG_SEND, EP(1, 2), 7, 20000, 0x8000);
	fragment(&s.a, &s.b, 3, 8256, 0x8000);
	xfer = fragment(&s.a, &s.b, 4, 0, 0x8000);
	xfer->status = -2;
	job_op_end(&s.a);
	job_call(&s.a, AT_MPI_RECV);
	fragment(&s.a, &s.b, 4, 8256, 0x8000);
	fragment(&s.a, &s.b, 4, 20000 - 8232 - 8240 + 16, 0x8000);
	pair_analyse(&s);
	assert_int_equal(s.out.totals.data_bytes, 20000);
	assert_int_equal(s.out.totals.to_call_bytes, 20000);
	assert_int_equal(s.out.transfers.len, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(s.out.transfers.data[i].function, "MPI_Send");
		assert_string_equal(s.out.transfers.data[i].protocol, "eager/multi/bcopy");
		assert_int_equal(s.out.transfers.data[i].retried, i == 1);
		assert_int_equal(s.out.transfers.data[i].peer, 1);
		assert_string_equal(s.out.transfers.data[i].transport, "posix");
	}
	/* without a completion seen: when the last byte left */
	assert_int_equal(s.out.ops.data[0].end_precision, TIME_EXACT);
	assert_int_equal(s.out.ops.data[0].end, s.out.transfers.data[3].end);
	pair_release(&s);
}

/* The receiver fetches: a request of UCX's own, whose parent is the receive. */
static void rendezvous_get(void **state)
{
	struct pair s;
	struct ub_xfer *xfer;
	struct ub_comp *comp;

	(void)state;
	pair_init(&s, "start");
	job_post(&s.b, 7, UINT64_MAX, 0x9000);
	job_rx(&s.b, AT_RX_RTS, 42, 7, EP(2, 1), 0x8000);
	xfer = job_xfer(&s.b, &s.a, AT_GET_ZCOPY, 0, 100000, 0x9800);
	xfer->super_req = 0x9000;
	xfer->status = 1;
	s.b.rx = 0;
	comp = job_add(&s.b, AT_UCT_COMP, 0);
	comp->req = 0x9800;
	job_comp(&s.b, AT_RECV_CB, 0x9000, 7, 100000);
	/* the acknowledgement had to wait until after the receive was over */
	xfer = job_xfer(&s.b, &s.a, AT_AM_BCOPY, 10, 17, 0x9800);
	xfer->super_req = 0x9000;
	pair_analyse(&s);
	assert_int_equal(s.out.transfers.len, 2);
	assert_string_equal(s.out.transfers.data[0].ucp_op, "tag_recv");
	assert_string_equal(s.out.transfers.data[0].function, "MPI_Recv");
	assert_string_equal(s.out.transfers.data[0].protocol, "rndv/get");
	assert_int_equal(s.out.transfers.data[0].end_precision, TIME_EXACT);
	assert_true(s.out.transfers.data[0].end > s.out.transfers.data[0].start);
	assert_int_equal(s.out.transfers.data[1].kind, KIND_CONTROL);
	assert_int_equal(s.out.transfers.data[1].bytes, 0);
	assert_string_equal(s.out.transfers.data[1].ucp_op, "tag_recv");
	assert_int_equal(s.out.ops.data[0].bytes, 100000);
	assert_int_equal(s.out.totals.unexplained_bytes, 0);
	pair_release(&s);
}

/* The target of an emulated get answers without having called anything. */
static void emulated_get(void **state)
{
	struct pair s;
	struct ub_xfer *xfer;

	(void)state;
	pair_init(&s, "start");
	job_call(&s.a, AT_MPI_SEND);
	job_op(&s.a, AT_GET, EP(1, 2), 0x4000, 3000, 0x8000);
	xfer = job_xfer(&s.a, &s.b, AT_AM_BCOPY, 18, 36, 0x8000);
	job_op_end(&s.a);
	job_rx(&s.b, AT_RX_GET_REQ, 36, 0x4000, 3000, EP(2, 1))->w[3] = 0x8000;
	xfer = job_xfer(&s.b, &s.a, AT_AM_BCOPY, 19, 3016, 0x9800);
	xfer->h.flags = UB_F_REQ;
	s.b.rx = 0;
	pair_analyse(&s);
	assert_int_equal(s.out.totals.data_bytes, 3000);
	assert_int_equal(s.out.totals.to_call_bytes, 3000);
	assert_int_equal(s.out.transfers.data[1].process, 1);
	assert_string_equal(s.out.transfers.data[1].ucp_op, "get");
	assert_string_equal(s.out.transfers.data[1].function, "MPI_Send");
	pair_release(&s);
}

/* A short send that waited for the wire-up leaves with nothing that names its request. */
static void short_send_that_waited(void **state)
{
	struct pair s;
	struct ub_xfer *xfer;

	(void)state;
	pair_init(&s, "start");
	job_call(&s.a, AT_MPI_SEND);
	job_op(&s.a, AT_TAG_SEND, EP(1, 2), 7, 3, 0x8000);
	job_op_end(&s.a);
	xfer = job_xfer(&s.a, &s.b, AT_AM_SHORT, 2, 11, 0);
	xfer->w[0] = 7;
	xfer->h.flags = UB_F_WIRE;
	pair_analyse(&s);
	assert_string_equal(s.out.transfers.data[0].ucp_op, "tag_send");
	assert_int_equal(s.out.totals.unexplained_bytes, 0);
	pair_release(&s);
}

static void unknown_is_said(void **state)
{
	struct pair s;
	struct ub_xfer *xfer;

	(void)state;
	pair_init(&s, "start");
	xfer = job_xfer(&s.a, &s.b, AT_AM_BCOPY, 2, 108, 0x8000);
	xfer->h.flags = UB_F_REQ;
	pair_analyse(&s);
	assert_int_equal(s.out.totals.unexplained_bytes, 100);
	assert_int_equal(reason_sum(s.out.totals.unexplained), 100);
	assert_string_equal(s.out.transfers.data[0].unexplained, "request of no known operation");
	assert_null(s.out.transfers.data[0].ucp_op);
	pair_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragments_with_retries), cmocka_unit_test(rendezvous_get),
		cmocka_unit_test(emulated_get),           cmocka_unit_test(short_send_that_waited),
		cmocka_unit_test(unknown_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
