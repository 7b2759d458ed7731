// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fragments of a message become one record (bpf/fragment.bpf.h), and records that are not stored
 * become sums (bpf/fold.bpf.h).
 */
#include "bpf_host.h"

#include "fragment.bpf.h"

#define CALL 1
#define OP 2
#define BCOPY 3
#define SHORT 4
#define UCT_EP 0x10300
#define REQUEST 0x15000

static const struct ub_layout layout = { .req_size = 240, .req_msg_id = 96, .mm_elems = 0 };
static const struct ub_site bcopy_site = {
	.kind = UB_XFER,
	.length_rule = UB_LEN_RETURN,
	.arg_am_id = 2,
	.arg_pack = 4,
};

static struct task_state task;
static struct outbox *const box = &task.outbox;

static void put_site(__u32 row, struct ub_site site)
{
	bpf_map_update_elem(&sites, &row, &site, BPF_ANY);
}

static int setup(void **state)
{
	(void)state;
	host_reset();
	memset(&task, 0, sizeof(task));
	box->id = host.id;
	HOST_MAP(stats);
	HOST_MAP(sites);
	HOST_MAP(cells);
	HOST_MAP(cell_numbers);
	HOST_MAP(ep_numbers);
	HOST_MAP(cell_shares);
	cells_used = UB_CELL_OTHERS;
	free_given = free_taken = 0;
	HOST_MAP(layouts);
	bpf_map_update_elem(&layouts, &(__u32){ 0 }, &layout, BPF_ANY);
	put_site(OP, (struct ub_site){ .kind = UB_OP });
	put_site(BCOPY, bcopy_site);
	return 0;
}

/* ---- fragments ---- */

static struct frame frame;

static struct leaving fragment(__s64 bytes)
{
	frame = (struct frame){
		.seq = ++task.next_seq,
		.kind = UB_XFER,
		.span = 1,
		.row = BCOPY,
		.ts = host.now,
		.position = FIFO_NOT_SEEN,
		.up = { .call = 1, .op = 2 },
		.args = { 0, UCT_EP, AM_EAGER_MIDDLE, 0, REQUEST },
	};
	host.now += 10;
	return (struct leaving){
		.task = &task,
		.frame = &frame,
		.site = &bcopy_site,
		.layout = &layout,
		.ret = bytes,
		.now = host.now,
	};
}

/* A message's first middle fragment, whose request is known; its operation is on the stack. */
static const struct ub_frags *begin(__s64 bytes)
{
	struct leaving leaving;

	task.depth = 1;
	task.frames[0] = (struct frame){ .kind = UB_OP, .span = 1, .seq = 2, .row = OP };
	leaving = fragment(bytes);
	assert_true(is_fragment(&leaving));
	*host_user(UCT_EP) = 0x9000;
	frame.owner = (struct owner){ .req = REQUEST, .w = { 0, 0, 77 } };
	xfer_emit(&task, &frame, bytes, host.now, false);
	return (const struct ub_frags *)(box->records + box->bytes - sizeof(struct ub_frags));
}

static bool joins(__s64 bytes)
{
	struct leaving leaving = fragment(bytes);

	return is_fragment(&leaving) && fragment_joins(&leaving, false);
}

static void one_record_for_fragments_of_a_message(void **state)
{
	const struct ub_frags *frags = begin(1000);
	__u32 bytes = box->bytes;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(joins(1000));
	assert_true(joins(300));
	assert_int_equal(box->bytes, bytes);
	assert_int_equal(box->kinds[UB_FRAGS], 1);
	assert_int_equal(frags->count, 102);
	assert_int_equal(frags->each, 1000);
	assert_int_equal(frags->xfer.length, 101300);
	assert_int_equal(frags->time, 1020);
	assert_int_equal(frags->xfer.h.ts, 1000);
	assert_int_equal(frags->xfer.h.dur, 1020);
	assert_int_equal(frags->xfer.h.seq, 1);
	/* a shorter one was the last */
	assert_false(joins(300));
	assert_int_equal(frags->count, 102);
}

static void other_transfers_do_not_join(void **state)
{
	(void)state;
	assert_false(joins(1000)); /* nothing to join */
	begin(1000);
	assert_false(joins(1001));
	assert_false(joins(0));
	assert_false(joins(-2));

	for (int i = 0; i < 4; i++) {
		struct leaving leaving = fragment(1000);

		frame.args[1] += i == 0;
		frame.row += i == 1;
		frame.up.op += i == 2;
		frame.args[2] += i == 3;
		assert_false(is_fragment(&leaving) && fragment_joins(&leaving, false));
	}
	assert_true(joins(1000));
}

/* Outside the operation the request is used again, and only its message's id tells. */
static void a_request_of_another_message(void **state)
{
	(void)state;
	begin(1000);
	task.depth = 0;
	*host_user(REQUEST + layout.req_msg_id) = 77;
	assert_true(joins(1000));
	*host_user(REQUEST + layout.req_msg_id) = 78;
	assert_false(joins(1000));
}

static void a_record_placed_behind_ends_it(void **state)
{
	(void)state;
	begin(1000);
	place(box, ub_rx, UB_RX, host.now);
	assert_false(joins(1000));
}

/* The outbox is as full again, with another record. */
static void a_record_that_has_left_is_not_written_to(void **state)
{
	(void)state;
	begin(1000);
	outbox_flush(box, host.now);
	assert_int_equal(box->bytes, 0);
	assert_false(joins(1000));
	place(box, ub_frags, UB_FRAGS, host.now);
	assert_false(joins(1000));
}

/* ---- folding ---- */

static struct ub_cell *cell_of(__u64 rows, __u32 ep)
{
	struct ub_cell_key key = { .tgid = 7, .ep = ep, .rows = rows };
	__u32 *index = bpf_map_lookup_elem(&cell_numbers, &key);

	return index ? cell_at(*index) : NULL;
}

static struct ub_call *put_call(__u32 rows)
{
	struct ub_call *call = place(box, ub_call, UB_CALL, host.now);

	*call = (struct ub_call){ .h = { .ts = host.now, .tgid = 7, .site = CALL } };
	call->h.kind = UB_CALL;
	call->h.cpu_seq = rows;
	return call;
}

static struct ub_op *put_op(__u64 count)
{
	struct ub_op *op = place(box, ub_op, UB_OP, host.now);

	*op = (struct ub_op){ .h = { .ts = host.now, .tgid = 7, .site = OP, .kind = UB_OP } };
	op->h.cpu_seq = UB_ROWS_CALL(CALL);
	op->h.seq = 5;
	op->obj = 0x4444;
	op->count = count;
	op->datatype = 8; /* contiguous, 1 byte */
	return op;
}

static struct ub_xfer *put_xfer(__s64 length)
{
	struct ub_xfer *xfer = place(box, ub_xfer, UB_XFER, host.now);

	*xfer = (struct ub_xfer){ .h = { .ts = host.now, .tgid = 7, .kind = UB_XFER } };
	xfer->h.site = SHORT;
	xfer->h.op = 5;
	xfer->h.cpu_seq = UB_ROWS_CALL(CALL) | UB_ROWS_OP(OP);
	xfer->uct_ep = UCT_EP;
	xfer->am_id = 2;
	xfer->length = length;
	return xfer;
}

#define ROWS_OP (UB_ROWS_CALL(CALL) | UB_ROWS_OP(OP))
#define ROWS_XFER (ROWS_OP | UB_ROWS_XFER(SHORT) | UB_ROWS_AM(2))

/* No ring: as if it was full. Every record is counted, and reported with the next batch. */
static void a_batch_that_finds_no_room(void **state)
{
	const struct ub_cell *cell;
	struct ub_stats *s = &cpu_stats()->s;

	(void)state;
	put_call(0);
	put_op(100);
	put_xfer(108);
	put_xfer(120);
	place(box, ub_rx, UB_RX, host.now);
	outbox_flush(box, 5000);
	assert_int_equal(s->produced[UB_XFER], 2);
	assert_int_equal(s->dropped[UB_XFER], 2);
	assert_int_equal(s->folded[UB_XFER], 2);
	assert_int_equal(s->folded[UB_CALL], 1);
	assert_int_equal(s->folded[UB_OP], 1);
	assert_int_equal(s->dropped[UB_RX], 1);
	assert_int_equal(s->folded[UB_RX], 0);
	assert_int_equal(box->lost, 5);
	assert_int_equal(box->lost_from, 1000);
	assert_int_equal(box->lost_until, 5000);
	assert_int_equal(box->bytes, 0);

	assert_int_equal(cell_of(UB_ROWS_CALL(CALL), 0)->count, 1);
	cell = cell_of(ROWS_OP | UB_ROWS_CLASS(7), 0);
	assert_int_equal(cell->count, 1);
	assert_int_equal(cell->bytes, 100);
	assert_int_equal(cell->obj, 0x4444);
	cell = cell_of(ROWS_XFER | UB_ROWS_CLASS(7), ep_number);
	assert_int_equal(cell->count, 2);
	assert_int_equal(cell->bytes, 228);
	/* described by its key and the operation in the same batch */
	assert_int_equal(cell->call, CALL);
	assert_int_equal(cell->op, OP);
	assert_int_equal(cell->xfer, SHORT);
	assert_int_equal(cell->am_id, 2);
	assert_int_equal(cell->size_class, 7);
	assert_int_equal(cell->flags, 0);
	assert_int_equal(cell->uct_ep, UCT_EP);
	assert_int_equal(cell->obj, 0x4444);
	assert_int_equal(cell->ts, 1000);
	assert_int_equal(cells_used, UB_CELL_OTHERS + 3);
}

static void records_that_are_thinned_out(void **state)
{
	struct ub_stats *s = &cpu_stats()->s;

	(void)state;
	put_op(100);
	box->closed = 1;
	outbox_flush(box, 5000);
	assert_int_equal(s->thinned[UB_OP], 1);
	assert_int_equal(s->produced[UB_OP], 0); /* user space adds them */
	assert_int_equal(box->lost, 0);
	assert_int_equal(box->thinned, 1);
	assert_int_equal(cell_of(ROWS_OP | UB_ROWS_CLASS(7), 0)->bytes, 100);
}

static void calls_that_mpi_makes_itself_do_not_count(void **state)
{
	(void)state;
	put_call(AROUND_INNER | UB_ROWS_CALL(CALL + 1));
	outbox_flush(box, 5000);
	assert_int_equal(cpu_stats()->s.folded[UB_CALL], 1);
	assert_null(cell_of(UB_ROWS_CALL(CALL), 0));
}

static void operations_by_their_datatype(void **state)
{
	(void)state;
	put_op(100)->datatype = 4 << 3;
	put_op(100)->datatype = 4; /* a list: not known */
	put_op(100)->datatype = 7;
	put_op(100)->datatype = 7;
	((struct ub_op *)(box->records + box->bytes - sizeof(struct ub_op)))->req_len = 64;
	outbox_flush(box, 5000);
	assert_int_equal(cell_of(ROWS_OP | UB_ROWS_CLASS(9), 0)->bytes, 400);
	assert_int_equal(cell_of(ROWS_OP | UB_ROWS_CLASS(7), 0)->bytes, 64);
	assert_int_equal(cell_of(ROWS_OP | UB_ROWS_FLAGS(UB_CELL_UNSIZED), 0)->count, 2);
}

static void transfers_refused_and_with_headers(void **state)
{
	const struct ub_cell *cell;
	struct ub_xfer *xfer;

	(void)state;
	put_xfer(108)->status = -2; /* nothing was sent */
	xfer = put_xfer(1000); /* with a user's header, whose length nobody knows */
	xfer->am_id = 23;
	xfer = put_xfer(1000); /* known from its operation */
	xfer->am_id = 23;
	xfer->h.cpu = 40 + 1;
	xfer = put_xfer(1000); /* known from the wire */
	xfer->am_id = 23;
	xfer->h.flags = UB_F_WIRE;
	xfer->w[0] = 50ull << 32;
	xfer = put_xfer(108); /* of no operation: of no call either */
	xfer->h.cpu_seq = UB_ROWS_CALL(CALL);
	outbox_flush(box, 5000);
	assert_int_equal(cell_of(ROWS_XFER, ep_number)->refused, 1);
	assert_int_equal(cell_of(ROWS_XFER, ep_number)->count, 0);
	cell = cell_of((ROWS_XFER & ~UB_ROWS_AM(255)) | UB_ROWS_AM(23) | UB_ROWS_CLASS(10) |
			       UB_ROWS_FLAGS(UB_CELL_HEADER),
		       ep_number);
	assert_int_equal(cell->count, 1);
	cell = cell_of((ROWS_XFER & ~UB_ROWS_AM(255)) | UB_ROWS_AM(23) | UB_ROWS_CLASS(10),
		       ep_number);
	assert_int_equal(cell->count, 2);
	assert_int_equal(cell->headers, 90);
	assert_int_equal(
		cell_of(UB_ROWS_XFER(SHORT) | UB_ROWS_AM(2) | UB_ROWS_CLASS(7), ep_number)->count,
		1);
}

static void fragments_become_as_many_transfers(void **state)
{
	const struct ub_cell *cell;

	(void)state;
	begin(1000);
	joins(1000);
	joins(300);
	outbox_flush(box, 5000);
	assert_int_equal(cpu_stats()->s.folded[UB_FRAGS], 1);
	cell = cell_of(UB_ROWS_XFER(BCOPY) | UB_ROWS_AM(AM_EAGER_MIDDLE) | UB_ROWS_CLASS(10),
		       ep_number);
	assert_int_equal(cell->count, 3);
	assert_int_equal(cell->bytes, 2300);
	assert_int_equal(cell->iface, 0x9000);
}

#define BEYOND (UB_ROWS_FLAGS(UB_CELL_BEYOND) | UB_ROWS_CLASS(1))
#define XFER_BEYOND (UB_ROWS_XFER(SHORT) | UB_ROWS_AM(2) | BEYOND)

static void no_cell_left(void **state)
{
	(void)state;
	cells_used = UB_MAX_CELLS - 1;
	put_op(100);
	put_op(1000);
	put_call(0);
	put_xfer(1000);
	outbox_flush(box, 5000);
	assert_int_equal(cell_of(UB_ROWS_OP(OP) | BEYOND, 0)->bytes, 1100);
	assert_int_equal(cell_at(UB_OTHER_CALLS)->count, 1);
	assert_int_equal(cell_at(UB_OTHER_XFERS)->bytes, 1000);
	assert_int_equal(cpu_stats()->s.folded[UB_OP], 2);
}

static struct ub_cell *cell_of_process(__u32 tgid, __u64 rows, __u32 ep)
{
	struct ub_cell_key key = { .tgid = tgid, .ep = ep, .rows = rows };
	__u32 *index = bpf_map_lookup_elem(&cell_numbers, &key);

	return index ? cell_at(*index) : NULL;
}

/* Its share: as many cells as are free besides those left aside. */
static void one_process_cannot_take_all(void **state)
{
	const struct ub_cell *beyond;
	__u32 first = ep_number + 1, last;

	(void)state;
	cells_used = UB_MAX_CELLS - UB_CELLS_ASIDE - 40;
	for (int i = 0; i < 60; i++) {
		put_xfer(100)->uct_ep += i * 0x100;
		if (i % 7 == 0)
			outbox_flush(box, 5000);
	}
	put_xfer(0)->uct_ep += 0x10000; /* an empty one tells by itself */
	outbox_flush(box, 5000);
	last = ep_number;
	assert_int_equal(last, first + 19);
	assert_int_equal(host_map(&ep_numbers)->count, 20);
	for (__u32 ep = first; ep <= last; ep++)
		assert_int_equal(cell_of(ROWS_XFER | UB_ROWS_CLASS(7), ep)->bytes, 100);
	beyond = cell_of(XFER_BEYOND, 0);
	assert_int_equal(beyond->count, 40);
	assert_int_equal(beyond->bytes, 4000);
	assert_int_equal(beyond->tgid, 7);
	assert_int_equal(beyond->xfer, SHORT);
	assert_int_equal(beyond->am_id, 2);
	assert_int_equal(beyond->flags, UB_CELL_BEYOND);
	assert_int_equal(beyond->op, 0);
	assert_int_equal(beyond->uct_ep, 0);
	assert_true(beyond->ts);
	assert_int_equal(cell_of(XFER_BEYOND & ~UB_ROWS_CLASS(1), 0)->count, 1);
	assert_int_equal(cell_at(UB_OTHER_XFERS)->count, 0);

	/* another process has its own; what user space gave back counts for the first again */
	put_xfer(100)->h.tgid = 9;
	bpf_map_update_elem(&cell_shares, &((struct ub_share_key){ 7, UB_SHARE_RETURNED }),
			    &(__u32){ 5 }, BPF_ANY);
	put_xfer(100)->uct_ep += 60 * 0x100;
	outbox_flush(box, 5000);
	assert_non_null(cell_of_process(9, ROWS_XFER | UB_ROWS_CLASS(7), first));
	assert_int_equal(ep_number, last + 1);
	assert_int_equal(cell_of(ROWS_XFER | UB_ROWS_CLASS(7), last + 1)->bytes, 100);
}

/* The cells left aside are for all: a process has so many of them, then those of no process. */
static void cells_beyond_the_share_are_bounded(void **state)
{
	__u32 used;

	(void)state;
	cells_used = used = UB_MAX_CELLS - UB_CELLS_ASIDE;
	for (int i = 0; i < UB_CELLS_BEYOND + 9; i++) {
		put_call(0)->h.site = 1 + i;
		outbox_flush(box, 5000);
	}
	assert_int_equal(cells_used, used + UB_CELLS_BEYOND);
	assert_int_equal(cell_at(UB_OTHER_CALLS)->count, 9);
	put_call(0)->h.tgid = 9;
	outbox_flush(box, 5000);
	assert_int_equal(cell_at(UB_OTHER_CALLS)->count, 9);
	assert_int_equal(
		cell_of_process(9, UB_ROWS_CALL(CALL) | UB_ROWS_FLAGS(UB_CELL_BEYOND), 0)->count,
		1);
}

static void no_endpoint_number_left(void **state)
{
	(void)state;
	host_map(&ep_numbers)->most = 1;
	put_xfer(100);
	put_xfer(200)->uct_ep += 0x100;
	put_xfer(50);
	outbox_flush(box, 5000);
	assert_int_equal(cell_of(XFER_BEYOND, 0)->bytes, 200);
	assert_int_equal(cell_of(ROWS_XFER | UB_ROWS_CLASS(7), ep_number - 1)->bytes, 100);
	assert_int_equal(cell_of(ROWS_XFER | UB_ROWS_CLASS(6), ep_number - 1)->bytes, 50);
}

static void an_address_that_is_used_again(void **state)
{
	(void)state;
	put_xfer(100);
	outbox_flush(box, 5000);
	ep_gone(box->space, UCT_EP);
	put_xfer(100);
	outbox_flush(box, 6000);
	assert_int_equal(cell_of(ROWS_XFER | UB_ROWS_CLASS(7), ep_number - 1)->count, 1);
	assert_int_equal(cell_of(ROWS_XFER | UB_ROWS_CLASS(7), ep_number)->count, 1);
}

static void a_full_outbox(void **state)
{
	__u32 records = 0;

	(void)state;
	for (; box->bytes <= OUTBOX_ENOUGH; records++)
		put_call(0);
	outbox_settle(box, host.now);
	assert_int_equal(box->bytes, 0);
	assert_int_equal(cell_of(UB_ROWS_CALL(CALL), 0)->count, records);
	assert_int_equal(cpu_stats()->s.dropped[UB_CALL], records);
}

static void size_classes(void **state)
{
	(void)state;
	assert_int_equal(size_class(0), 0);
	for (int bit = 0; bit < 64; bit++) {
		assert_int_equal(size_class(1ull << bit), bit + 1);
		assert_int_equal(size_class((2ull << bit) - 1), bit + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_record_for_fragments_of_a_message, setup),
		cmocka_unit_test_setup(other_transfers_do_not_join, setup),
		cmocka_unit_test_setup(a_request_of_another_message, setup),
		cmocka_unit_test_setup(a_record_placed_behind_ends_it, setup),
		cmocka_unit_test_setup(a_record_that_has_left_is_not_written_to, setup),
		cmocka_unit_test_setup(a_batch_that_finds_no_room, setup),
		cmocka_unit_test_setup(records_that_are_thinned_out, setup),
		cmocka_unit_test_setup(calls_that_mpi_makes_itself_do_not_count, setup),
		cmocka_unit_test_setup(operations_by_their_datatype, setup),
		cmocka_unit_test_setup(transfers_refused_and_with_headers, setup),
		cmocka_unit_test_setup(fragments_become_as_many_transfers, setup),
		cmocka_unit_test_setup(no_cell_left, setup),
		cmocka_unit_test_setup(one_process_cannot_take_all, setup),
		cmocka_unit_test_setup(cells_beyond_the_share_are_bounded, setup),
		cmocka_unit_test_setup(no_endpoint_number_left, setup),
		cmocka_unit_test_setup(an_address_that_is_used_again, setup),
		cmocka_unit_test_setup(a_full_outbox, setup),
		cmocka_unit_test_setup(size_classes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
