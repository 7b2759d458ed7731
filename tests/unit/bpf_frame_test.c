// SPDX-License-Identifier: BSD-3-Clause
/* The stack of live frames (bpf/frame.bpf.h): which frames surround a record, which have ended. */
#include "bpf_host.h"

#include "frame.bpf.h"

#define TRAMPOLINE 0x7fffe000
#define SITE_CALL 1
#define SITE_OP 2
#define SITE_XFER 3
#define SITE_RX 4

static struct task_state task;

static int setup(void **state)
{
	(void)state;
	host_reset();
	memset(&task, 0, sizeof(task));
	task.outbox.id = host.id;
	host.state = &task;
	HOST_MAP(stats);
	HOST_MAP(processes);
	return 0;
}

static struct hit hit_at(__u64 sp, __u16 row)
{
	return (struct hit){ .task = &task, .sp = sp, .row = row, .slot = 1, .ts = ++host.now };
}

/* The functions have entered at sp and called further: their return addresses are on the stack. */
static struct frame *enter_span(__u64 sp, __u8 kind, __u16 row)
{
	struct hit hit = hit_at(sp, row);

	*host_user(sp) = TRAMPOLINE;
	return frame_push(&hit, kind, true, parents_in(frame_top(&hit, kind)));
}

static struct ub_hdr enter_call(__u64 sp, __u8 kind, __u16 row)
{
	struct hit hit = hit_at(sp, row);
	struct ub_hdr h;

	*host_user(sp) = 0x400000 + sp;
	frame_enter(&h, &hit, kind, false, parents_in(frame_top(&hit, kind)), slot_value(sp));
	return h;
}

static struct frame *leave(__u64 sp, __u16 row)
{
	struct pt_regs regs = { .sp = sp + SP_AFTER_RETURN };

	host.cookie = UB_COOKIE(row, 0, 0, 0, 0);
	return frame_pop(&task, &regs);
}

static struct ub_hdr record_at_sp(__u64 sp)
{
	struct hit hit = hit_at(sp, 9);
	struct ub_hdr h;

	header_inside(&h, &hit, UB_COMP);
	return h;
}

static void a_record_names_what_is_around_it(void **state)
{
	struct ub_hdr h;

	(void)state;
	h = enter_call(0x10f00, UB_CALL, SITE_CALL);
	assert_int_equal(h.seq, 1);
	assert_int_equal(h.call, 0);
	assert_int_equal(enter_span(0x10e00, UB_OP, SITE_OP)->seq, 2);
	assert_int_equal(enter_span(0x10d00, UB_XFER, SITE_XFER)->seq, 3);
	h = enter_call(0x10c00, UB_RX, SITE_RX);
	assert_int_equal(h.seq, 4);
	assert_int_equal(h.call, 1);
	assert_int_equal(h.op, 2);
	assert_int_equal(h.rx, 0);
	h = record_at_sp(0x10b00);
	assert_int_equal(h.seq, 0);
	assert_int_equal(h.call, 1);
	assert_int_equal(h.op, 2);
	assert_int_equal(h.rx, 4);
	assert_int_equal(h.tgid, 7);
	assert_int_equal(h.tid, 8);
}

static void a_return_closes_its_own_frame(void **state)
{
	struct frame *frame;

	(void)state;
	enter_call(0x10f00, UB_CALL, SITE_CALL);
	enter_span(0x10e00, UB_OP, SITE_OP);
	enter_span(0x10d00, UB_XFER, SITE_XFER);
	frame = leave(0x10d00, SITE_XFER);
	assert_non_null(frame);
	assert_int_equal(frame->seq, 3);
	assert_int_equal(frame->up.op, 2);
	assert_int_equal(task.depth, 2);
	assert_int_equal(leave(0x10e00, SITE_OP)->seq, 2);
	assert_int_equal(frame_innermost(&task)->kind, UB_CALL);
	/* the return of something that was entered before tracing began */
	assert_null(leave(0x10e80, SITE_OP));
	assert_int_equal(task.depth, 1);
	assert_int_equal(cpu_stats()->s.lost_returns, 0);
}

/* longjmp() leaves functions without their return. */
static void a_return_drops_the_frames_above_its_own(void **state)
{
	(void)state;
	enter_span(0x10e00, UB_OP, SITE_OP);
	enter_span(0x10d00, UB_XFER, SITE_XFER);
	enter_call(0x10c00, UB_RX, SITE_RX);
	enter_span(0x10b00, UB_XFER, SITE_XFER);
	assert_int_equal(leave(0x10e00, SITE_OP)->seq, 1);
	assert_int_equal(task.depth, 0);
	/* entry-only frames have no return to lose */
	assert_int_equal(cpu_stats()->s.lost_returns, 2);
}

/* A function whose last act is a jump to another is over once that one is entered. */
static void a_tail_call_ends_its_caller(void **state)
{
	(void)state;
	enter_span(0x10e00, UB_OP, SITE_OP);
	assert_int_equal(enter_span(0x10e00, UB_XFER, SITE_XFER)->up.op, 0);
	assert_int_equal(leave(0x10e00, SITE_XFER)->seq, 2);
	assert_null(leave(0x10e00, SITE_OP));
	assert_int_equal(cpu_stats()->s.lost_returns, 1);
}

static void a_return_is_of_its_site(void **state)
{
	(void)state;
	enter_span(0x10e00, UB_XFER, SITE_XFER);
	assert_null(leave(0x10e00, SITE_OP));
	assert_int_equal(task.depth, 0);
	assert_int_equal(cpu_stats()->s.lost_returns, 1);
}

static void an_entry_only_frame_lives_while_its_slot_is_untouched(void **state)
{
	(void)state;
	enter_call(0x10f00, UB_CALL, SITE_CALL);
	assert_int_equal(record_at_sp(0x10e00).call, 1);
	/* at the same depth or above it, the call has returned */
	assert_int_equal(record_at_sp(0x10f00).call, 0);
	assert_int_equal(task.depth, 0);

	enter_call(0x10f00, UB_CALL, SITE_CALL);
	*host_user(0x10f00) = 0x1234;
	assert_int_equal(record_at_sp(0x10e00).call, 0);
	assert_int_equal(cpu_stats()->s.lost_returns, 0);
}

static void another_tracer_awaits_the_call(void **state)
{
	(void)state;
	host.trampoline = TRAMPOLINE;
	enter_call(0x10f00, UB_CALL, SITE_CALL);
	*host_user(0x10f00) = TRAMPOLINE;
	assert_int_equal(record_at_sp(0x10e00).call, 1);
}

static void a_task_learns_its_trampoline(void **state)
{
	struct frame *span;
	__u32 reads;

	(void)state;
	enter_span(0x10e00, UB_OP, SITE_OP);
	leave(0x10e00, SITE_OP);
	assert_int_equal(task.trampoline, 0); /* nothing was recorded inside, so nobody looked */
	span = enter_span(0x10e00, UB_OP, SITE_OP);
	assert_int_equal(span->ret, 0);
	assert_int_equal(record_at_sp(0x10d00).op, 2);
	assert_int_equal(span->ret, TRAMPOLINE);
	assert_int_equal(task.trampoline, 0);
	leave(0x10e00, SITE_OP);
	assert_int_equal(task.trampoline, TRAMPOLINE);

	/* a span whose slot holds something else is over, although its return was not seen */
	enter_span(0x10e00, UB_OP, SITE_OP);
	*host_user(0x10e00) = 0x1234;
	assert_int_equal(record_at_sp(0x10d00).op, 0);
	assert_int_equal(cpu_stats()->s.lost_returns, 1);

	/* a transfer does not look twice at the operation that it is in */
	enter_span(0x10e00, UB_OP, SITE_OP);
	enter_span(0x10d00, UB_XFER, SITE_XFER);
	leave(0x10d00, SITE_XFER);
	reads = host.user_reads;
	assert_int_equal(enter_span(0x10d00, UB_XFER, SITE_XFER)->up.op, 4);
	assert_int_equal(host.user_reads, reads);
}

static void a_full_stack_counts_and_goes_on(void **state)
{
	__u64 sp = 0x17f00;
	struct ub_hdr h;

	(void)state;
	for (int i = 0; i < FRAMES; i++, sp -= 0x100)
		assert_int_equal(enter_span(sp, UB_OP, SITE_OP)->seq, i + 1);
	for (int i = 0; i < 3; i++)
		assert_null(enter_span(sp - i * 0x100, UB_XFER, SITE_XFER));
	h = enter_call(sp - 0x300, UB_RX, SITE_RX);
	assert_int_equal(h.flags, UB_F_DEEP);
	assert_int_equal(h.op, FRAMES);
	/* numbers are used up all the same: they never name two frames */
	assert_int_equal(h.seq, FRAMES + 4);
	assert_int_equal(task.depth, FRAMES);
	assert_int_equal(cpu_stats()->s.deep, 4);
	/* returns of what had no place find nothing, those below them still do */
	assert_null(leave(sp, SITE_XFER));
	for (int i = FRAMES; i > 0; i--) {
		sp += 0x100;
		assert_int_equal(leave(sp, SITE_OP)->seq, i);
	}
	assert_null(frame_innermost(&task));
	assert_int_equal(cpu_stats()->s.lost_returns, 0);
}

/* Cells: an operation inside another counts for the inner one, a handler's for none. */
static void rows_go_with_the_frames(void **state)
{
	struct frame *outer, *inner, *handler;

	(void)state;
	outer = enter_span(0x10e00, UB_OP, SITE_OP);
	assert_int_equal(outer->up.rows, UB_ROWS_OP(SITE_OP));
	enter_call(0x10d00, UB_RX, SITE_RX);
	handler = frame_innermost(&task);
	assert_int_equal(handler->up.rows, 0);
	inner = enter_span(0x10c00, UB_OP, SITE_OP + 5);
	assert_int_equal(inner->up.rows, UB_ROWS_OP(SITE_OP + 5));
}

static void a_new_window_begins_with_no_frames(void **state)
{
	__u32 tgid = 7, one = 1;

	(void)state;
	bpf_map_update_elem(&processes, &tgid, &one, BPF_ANY);
	assert_ptr_equal(task_state(), &task);
	enter_call(0x10f00, UB_CALL, SITE_CALL);
	enter_span(0x10e00, UB_OP, SITE_OP);
	task.with_op_open = 1;
	window++;
	filter_generation++;
	assert_ptr_equal(task_state(), &task);
	assert_int_equal(task.depth, 0);
	assert_int_equal(task.with_op_open, 0);
	assert_int_equal(cpu_stats()->s.lost_returns, 2);
	bpf_map_delete_elem(&processes, &tgid);
	assert_ptr_equal(task_state(), &task);
	filter_generation++;
	assert_null(task_state());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_record_names_what_is_around_it, setup),
		cmocka_unit_test_setup(a_return_closes_its_own_frame, setup),
		cmocka_unit_test_setup(a_return_drops_the_frames_above_its_own, setup),
		cmocka_unit_test_setup(a_tail_call_ends_its_caller, setup),
		cmocka_unit_test_setup(a_return_is_of_its_site, setup),
		cmocka_unit_test_setup(an_entry_only_frame_lives_while_its_slot_is_untouched,
				       setup),
		cmocka_unit_test_setup(another_tracer_awaits_the_call, setup),
		cmocka_unit_test_setup(a_task_learns_its_trampoline, setup),
		cmocka_unit_test_setup(a_full_stack_counts_and_goes_on, setup),
		cmocka_unit_test_setup(rows_go_with_the_frames, setup),
		cmocka_unit_test_setup(a_new_window_begins_with_no_frames, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
