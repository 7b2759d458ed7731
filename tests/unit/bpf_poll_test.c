// SPDX-License-Identifier: BSD-3-Clause
/* Loops of calls that poll, folded in the outbox: bpf/poll.bpf.h. */
#include "bpf_host.h"

#define derives 1
#include "poll.bpf.h"

enum { TEST_ROW = 5, OTHER_ROW = 6, OP_ROW = 7 };
enum { APP = 0x9000, ELSEWHERE = 0x9100, TRAMPOLINE = 0x7000 };

#define SP (HOST_USER + 8000) /* at each call's entry */
#define COMM 0x440000
#define EVERY 100 /* ns between calls */

static struct task_state state;
static struct outbox *const box = &state.outbox;

static int setup(void **unused)
{
	(void)unused;
	host_reset();
	memset(&state, 0, sizeof(state));
	box->id = host.id;
	host.now = 5000000;
	box->sent = host.now;
	detail_slices = ~0ull;
	HOST_MAP(stats);
	HOST_MAP(sites);
	HOST_MAP(cells);
	HOST_MAP(cell_numbers);
	HOST_MAP(cell_shares);
	HOST_MAP(mpi_texts);
	cells_used = UB_CELL_OTHERS;
	return 0;
}

/* As call_enter() does; true: it has joined others. */
static bool enter_at(__u64 sp, __u64 site, __u16 row, __u64 comm, bool ends)
{
	struct polled polled = { sp, host.now += EVERY, comm, row, ends };
	struct hit hit = { .task = &state, .sp = sp, .row = row, .ts = host.now };
	struct ub_call *call;

	*host_user(sp) = site;
	if (poll_joins(&state, &polled)) {
		*host_user(sp) = ends ? TRAMPOLINE : site;
		return true;
	}
	call = call_place(&hit, frame_settled(&state, sp), site, ends, UB_POLLS);
	call->comm = comm;
	poll_begins(&state, (struct ub_polls *)call);
	*host_user(sp) = ends ? TRAMPOLINE : site;
	return false;
}

static bool poll_once(void)
{
	return enter_at(SP, APP, TEST_ROW, COMM, false);
}

static const struct ub_polls *record(__u32 at)
{
	const struct ub_polls *polls = (const struct ub_polls *)(box->records + at);

	assert_true(at + sizeof(*polls) <= box->bytes);
	assert_int_equal(polls->call.h.kind, UB_POLLS);
	return polls;
}

static void a_loop_is_one_record(void **unused)
{
	const struct ub_polls *polls;

	(void)unused;
	assert_false(poll_once());
	for (int i = 1; i < 10; i++)
		assert_true(poll_once());
	polls = record(0);
	assert_int_equal(box->bytes, sizeof(*polls));
	assert_int_equal(box->kinds[UB_COUNTER(UB_POLLS)], 1);
	assert_int_equal(polls->call.h.site, TEST_ROW);
	assert_int_equal(polls->call.h.ts, 5000000 + EVERY);
	assert_int_equal(polls->call.h.seq, 1);
	assert_int_equal(polls->call.h.dur, 9 * EVERY);
	assert_int_equal(polls->call.ret_addr, APP);
	assert_int_equal(polls->call.comm, COMM);
	assert_int_equal(polls->count, 10);
	assert_int_equal(polls->last, 10);
	assert_int_equal(polls->began, 9 * EVERY);
	assert_int_equal(polls->ended, 0);
	assert_int_equal(polls->time, 0);
	assert_int_equal(state.depth, 1);
	assert_int_equal(frame_innermost(&state)->seq, 10);
}

/* It is inside the last call, and the next one begins another record. */
static void a_record_inside_ends_it(void **unused)
{
	struct hit hit = { .task = &state, .sp = SP - 64, .row = OTHER_ROW };
	struct ub_comp *comp;

	(void)unused;
	poll_once();
	poll_once();
	hit.ts = host.now += 10;
	comp = place(box, ub_comp, UB_COMP, hit.ts);
	header_inside(&comp->h, &hit, UB_COMP);
	assert_int_equal(comp->h.call, 2);
	assert_false(poll_once());
	assert_int_equal(record(0)->count, 2);
	assert_int_equal(record(sizeof(struct ub_polls) + sizeof(*comp))->call.h.seq, 3);
}

/* An operation that found nothing takes a frame number, and makes no record. */
static void an_operation_without_a_record_lies_between(void **unused)
{
	struct hit hit = { .task = &state, .sp = SP - 64, .row = OP_ROW };

	(void)unused;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(poll_once(), i > 0);
		hit.ts = host.now;
		assert_non_null(
			frame_push(&hit, UB_OP, true, parents_in(frame_settled(&state, hit.sp))));
		state.depth--;
	}
	assert_int_equal(record(0)->count, 3);
	assert_int_equal(record(0)->last, 5);
}

static void other_calls_have_records_of_their_own(void **unused)
{
	(void)unused;
	poll_once();
	assert_false(enter_at(SP, ELSEWHERE, TEST_ROW, COMM, false));
	assert_false(enter_at(SP, ELSEWHERE, OTHER_ROW, COMM, false));
	assert_false(enter_at(SP, ELSEWHERE, OTHER_ROW, COMM + 8, false));
	assert_false(enter_at(SP - 16, ELSEWHERE, OTHER_ROW, COMM + 8, false));
	assert_false(enter_at(SP - 16, ELSEWHERE, OTHER_ROW, COMM + 8, true));
	assert_int_equal(box->kinds[UB_COUNTER(UB_POLLS)], 6);
	for (__u32 i = 0; i < 6; i++)
		assert_int_equal(record(i * sizeof(struct ub_polls))->count, 1);
}

/* A span is of a loop, not of what its thread did between two of them. */
static void a_pause_begins_another_record(void **unused)
{
	(void)unused;
	poll_once();
	host.now += BATCH_NS - EVERY;
	assert_true(poll_once());
	host.now += BATCH_NS;
	assert_false(poll_once());
}

/* A batch that has left is not changed any more. */
static void a_batch_that_leaves_ends_it(void **unused)
{
	(void)unused;
	poll_once();
	outbox_flush(box, host.now += 10);
	assert_false(poll_once());
	assert_int_equal(box->bytes, sizeof(struct ub_polls));
	assert_int_equal(record(0)->call.h.seq, 2);
}

static void slices_without_detail_are_apart(void **unused)
{
	const __u64 slice = 1ull << UB_SLICE_SHIFT;

	(void)unused;
	host.now = slice - 2 * EVERY;
	detail_slices = ~0ull << 1;
	poll_once();
	assert_int_equal(box->closed, 1);
	assert_false(poll_once());
	assert_int_equal(box->closed, 0);
	assert_int_equal(cpu_stats()->s.thinned[UB_COUNTER(UB_POLLS)], 1);
}

/* In a callback that has ended, and another one at the same place. */
static void what_is_around_them_is_the_same(void **unused)
{
	struct hit handler = { .task = &state, .sp = SP + 512, .row = OTHER_ROW };
	struct ub_hdr h;

	(void)unused;
	*host_user(handler.sp) = APP;
	frame_enter(&h, &handler, UB_RX, false, (struct parents){ 0 }, APP);
	assert_false(poll_once());
	assert_true(poll_once());
	assert_int_equal(record(0)->call.h.rx, 1);
	*host_user(handler.sp) = ELSEWHERE;
	assert_false(poll_once());
	assert_int_equal(record(sizeof(struct ub_polls))->call.h.rx, 0);
}

static bool leave(void)
{
	struct pt_regs regs = { .sp = SP + SP_AFTER_RETURN };
	struct frame *frame;

	host.cookie = UB_COOKIE(TEST_ROW, 0, 0, 0, 0);
	frame = frame_pop(&state, &regs);
	assert_non_null(frame);
	return poll_ends(&state, frame, host.now += 30);
}

static void ends_that_are_seen_add_up(void **unused)
{
	(void)unused;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(enter_at(SP, APP, TEST_ROW, COMM, true), i > 0);
		assert_true(leave());
	}
	assert_int_equal(record(0)->count, 4);
	assert_int_equal(record(0)->ended, 4);
	assert_int_equal(record(0)->time, 4 * 30);
	assert_int_equal(record(0)->call.h.dur, 3 * (EVERY + 30) + 30);
	assert_int_equal(cpu_stats()->s.lost_returns, 0);
	/* the last one is still inside, and something was recorded there */
	assert_true(enter_at(SP, APP, TEST_ROW, COMM, true));
	place(box, ub_comp, UB_COMP, host.now)->h.kind = UB_COMP;
	assert_false(leave());
	assert_int_equal(record(0)->count, 5);
	assert_int_equal(record(0)->ended, 4);
	assert_int_equal(record(0)->time, 4 * 30);
}

/* Its end was not seen, as after longjmp(). */
static void an_end_that_is_missing_ends_it(void **unused)
{
	(void)unused;
	enter_at(SP, APP, TEST_ROW, COMM, true);
	assert_false(enter_at(SP, APP, TEST_ROW, COMM, true));
	assert_true(leave());
	assert_true(enter_at(SP, APP, TEST_ROW, COMM, true));
}

/* No ring: as if it was full. */
static void a_loop_that_finds_no_room_is_summed_up(void **unused)
{
	const struct ub_cell_key key = { .tgid = host.id >> 32, .rows = UB_ROWS_CALL(TEST_ROW) };
	const __u32 *index;

	(void)unused;
	for (int i = 0; i < 7; i++)
		poll_once();
	outbox_flush(box, host.now);
	assert_int_equal(cpu_stats()->s.dropped[UB_COUNTER(UB_POLLS)], 1);
	assert_int_equal(cpu_stats()->s.folded[UB_COUNTER(UB_POLLS)], 1);
	index = bpf_map_lookup_elem(&cell_numbers, &key);
	assert_non_null(index);
	assert_int_equal(cell_at(*index)->count, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_loop_is_one_record, setup),
		cmocka_unit_test_setup(a_record_inside_ends_it, setup),
		cmocka_unit_test_setup(an_operation_without_a_record_lies_between, setup),
		cmocka_unit_test_setup(other_calls_have_records_of_their_own, setup),
		cmocka_unit_test_setup(a_pause_begins_another_record, setup),
		cmocka_unit_test_setup(a_batch_that_leaves_ends_it, setup),
		cmocka_unit_test_setup(slices_without_detail_are_apart, setup),
		cmocka_unit_test_setup(what_is_around_them_is_the_same, setup),
		cmocka_unit_test_setup(ends_that_are_seen_add_up, setup),
		cmocka_unit_test_setup(an_end_that_is_missing_ends_it, setup),
		cmocka_unit_test_setup(a_loop_that_finds_no_room_is_summed_up, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
