// SPDX-License-Identifier: BSD-3-Clause
/* Requests whose address comes again, and the calls that operations belong to. */
#include "outcome.h"

/* Blocking sends reuse one address on the stack, with and without a request handed back. */
static void one_address_many_requests(void **state)
{
	struct pair s;

	(void)state;
	pair_init(&s, "start");
	for (uint64_t i = 1; i <= 4; i++) {
		struct ub_xfer *xfer;

		job_call(&s.a, AT_MPI_SEND);
		job_op(&s.a, AT_TAG_SEND, EP(1, 2), i, i * 100, 0x7ff0)->ret = i % 2 ? 0 : 0x8100;
		xfer = job_xfer(&s.a, &s.b, AT_AM_BCOPY, 2, (int64_t)i * 100 + 8, 0x7ff0);
		xfer->w[0] = i;
		xfer->h.flags = UB_F_REQ;
		job_op_end(&s.a);
	}
	pair_analyse(&s);
	assert_int_equal(s.out.totals.to_op_bytes, 1000);
	assert_int_equal(s.out.ops.len, 4);
	assert_int_equal(reason_count(s.out.totals.unmatched_sends, "in flight at end"), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(s.out.ops.data[i].protocol, "eager/bcopy");
	pair_release(&s);
}

/* A request freed by one thread while another one is being handed the same address. */
static void freed_inside_next_span(void **state)
{
	struct pair s;
	struct task other;
	struct ub_xfer *xfer;

	(void)state;
	pair_init(&s, "start");
	other = s.a;
	other.tid = 11;
	job_call(&s.a, AT_MPI_SEND);
	job_op(&s.a, AT_TAG_SEND, EP(1, 2), 1, 100, 0x8000);
	job_op_end(&s.a);
	job_call(&other, AT_MPI_RECV);
	job_op(&other, AT_TAG_SEND, EP(1, 2), 2, 200, 0x8000);
	job_comp(&s.a, AT_REQ_FREE, 0x8000, 0, 0);
	xfer = job_xfer(&other, &s.b, AT_AM_BCOPY, 2, 208, 0x8000);
	xfer->w[0] = 2;
	xfer->h.flags = UB_F_REQ;
	job_op_end(&other);
	pair_analyse(&s);
	assert_string_equal(s.out.transfers.data[0].function, "MPI_Recv");
	assert_int_equal(s.out.transfers.data[0].bytes, 200);
	pair_release(&s);
}

/* A call inside a call is the outer one's only if the MPI library made it. */
static void calls(void **state)
{
	struct pair s;
	struct ub_call *call;

	(void)state;
	pair_init(&s, "start");
	json_array_append_new(s.job.sides, json_pack("{s:s, s:i, s:I, s:s, s:[s]}", "t", "library",
						     "tgid", 1, "ts", (json_int_t)s.job.now, "base",
						     "0x700000", "roles", "mpi"));
	job_call(&s.a, AT_MPI_SEND);
	call = job_add(&s.a, AT_MPI_RECV, 0);
	job_frame(&s.a, call);
	call->ret_addr = 0x701234;
	s.a.call = call->h.seq;
	job_op(&s.a, AT_TAG_SEND, EP(1, 2), 7, 3, 0);
	job_op_end(&s.a);
	call = job_add(&s.a, AT_MPI_RECV, 0);
	job_frame(&s.a, call);
	call->ret_addr = 0x401234;
	s.a.call = call->h.seq;
	s.a.call = 0;
	job_op(&s.a, AT_TAG_SEND, EP(1, 2), 7, 3, 0);
	job_op_end(&s.a);
	pair_analyse(&s);
	assert_int_equal(s.out.calls.len, 2);
	assert_string_equal(s.out.calls.data[0].function, "MPI_Send");
	assert_int_equal(s.out.calls.data[0].ops, 1);
	assert_int_equal(s.out.calls.data[0].bytes, 3);
	assert_int_equal(s.out.calls.data[0].end_precision, TIME_LOWER_BOUND);
	assert_string_equal(s.out.calls.data[1].function, "MPI_Recv");
	assert_int_equal(s.out.calls.data[1].ops, 0);
	assert_string_equal(s.out.ops.data[0].function, "MPI_Send");
	assert_null(s.out.ops.data[1].function);
	pair_release(&s);
}

/* The length in the request of a scatter-gather list (ucp_dt_make_sgl()) is that of the list. */
static void a_list_has_no_size(void **state)
{
	struct pair s;
	struct ub_op *op;

	(void)state;
	pair_init(&s, "start");
	op = job_op(&s.a, AT_TAG_SEND, EP(1, 2), 7, 3, 0x8000);
	op->datatype = 4;
	op->req_len = 3;
	job_op_end(&s.a);
	pair_analyse(&s);
	assert_true(s.out.ops.data[0].bytes == UINT64_MAX);
	pair_release(&s);
}

static void post(struct pair *s, uint64_t address, uint64_t refused)
{
	struct ub_xfer *xfer;

	job_op(&s->a, AT_ATOMIC, EP(1, 2), address, 8, 0);
	if (refused) {
		xfer = job_xfer(&s->a, &s->b, AT_AM_BCOPY, 20, 0, refused);
		xfer->status = -2;
		xfer->h.flags = UB_F_REQ;
	}
}

/* The operation frees its request, returns success, and sends when there is room again. */
static void posted_atomics_wait(void **state)
{
	struct pair s;

	(void)state;
	pair_init(&s, "start");
	for (uint64_t i = 0; i < 3; i++) {
		post(&s, 0x100 * i, 0x8000 + 0x200 * i);
		job_comp(&s.a, AT_REQ_FREE, 0x8000 + 0x200 * i, 0, 0);
		job_op_end(&s.a);
	}
	for (uint64_t i = 0; i < 3; i++)
		job_xfer(&s.a, &s.b, AT_AM_BCOPY, 20, 8 + 26, 0x8000 + 0x200 * i)->h.flags =
			UB_F_REQ;
	/* an address that is handed out again, to one that sends at once */
	post(&s, 0x300, 0);
	job_xfer(&s.a, &s.b, AT_AM_BCOPY, 20, 8 + 26, 0x8000)->h.flags = UB_F_REQ;
	job_op_end(&s.a);
	pair_analyse(&s);
	assert_int_equal(s.out.totals.data_bytes, 4 * 8);
	assert_int_equal(s.out.totals.unexplained_bytes, 0);
	assert_int_equal(s.out.ops.len, 4);
	for (size_t i = 0; i < 3; i++) {
		const struct fact_transfer *sent = &s.out.transfers.data[3 + i];

		assert_true(sent->caused_by == s.out.transfers.data[i].caused_by);
		for (size_t k = 0; k < 4; k++)
			if (s.out.ops.data[k].id == sent->caused_by)
				assert_int_equal(s.out.ops.data[k].end, sent->end);
	}
	assert_true(s.out.transfers.data[6].caused_by != s.out.transfers.data[0].caused_by);
	pair_release(&s);
}

/* Before the wire-up nothing was tried, and what leaves after it names no request. */
static void posted_atomics_wait_for_the_wireup(void **state)
{
	struct pair s;

	(void)state;
	pair_init(&s, "start");
	post(&s, 0x100, 0);
	job_comp(&s.a, AT_REQ_FREE, 0x8000, 0, 0);
	job_op_end(&s.a);
	post(&s, 0x200, 0);
	job_comp(&s.a, AT_REQ_FREE, 0x8200, 0, 0);
	job_op_end(&s.a);
	job_xfer(&s.a, &s.b, AT_ATOMIC_POST, 0, 8, 0)->raddr = 0x200;
	job_xfer(&s.a, &s.b, AT_ATOMIC_POST, 0, 8, 0)->raddr = 0x300;
	job_xfer(&s.a, &s.b, AT_ATOMIC_POST, 0, 8, 0)->raddr = 0x100;
	pair_analyse(&s);
	assert_int_equal(s.out.totals.unexplained_bytes, 8);
	assert_true(s.out.transfers.data[2].caused_by);
	assert_true(s.out.transfers.data[0].caused_by > s.out.transfers.data[2].caused_by);
	pair_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_address_many_requests),
		cmocka_unit_test(freed_inside_next_span),
		cmocka_unit_test(calls),
		cmocka_unit_test(a_list_has_no_size),
		cmocka_unit_test(posted_atomics_wait),
		cmocka_unit_test(posted_atomics_wait_for_the_wireup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
