// SPDX-License-Identifier: BSD-3-Clause
/* From an operation's stack to the MPI call that made it: bpf/caller.bpf.h and call.bpf.h. */
#include "bpf_host.h"

#define derives 1
#include "call.bpf.h"

enum { OP_ROW = 5, SEND_ROW = 6, RECV_ROW = 7, SEND = 1, RECV = 4 };

/* Return addresses: into the plugin, into MPI_Send, into the application. */
enum { PML = 0x1000, PML_BY_BP = 0x1100, SEND_PC = 0x2000, APP = 0x9000, OTHER_APP = 0x9100 };

#define SP (HOST_USER + 8000) /* at the operation's entry */
#define PML_CFA 40 /* bytes, from behind its return address */
#define SEND_CFA 80

static struct task_state state;

/* The library's code: everything below 0x3000. */
static void knows(__u32 index, __u64 pc, __u32 what, __u32 rule, __u16 row, __u8 number)
{
	struct ub_caller caller = {
		.pc = pc, .rule = rule, .row = row, .number = number, .what = what
	};

	bpf_map_update_elem(&callers, &index, &caller, BPF_ANY);
}

#define BIAS 0x100
#define ROWS 5

static void begin(void)
{
	struct ub_caller_ranges ranges = { .range[1] = { BIAS, 0x3000, BIAS, 0, ROWS } };
	__u32 tgid = host.id >> 32;

	host_reset();
	memset(&state, 0, sizeof(state));
	tgid = host.id >> 32;
	state.outbox.id = host.id;
	HOST_MAP(callers);
	HOST_MAP(caller_ranges);
	HOST_MAP(derived);
	HOST_MAP(stats);
	HOST_MAP(mpi_texts);
	calls_away = calls_derived = calls_checked = calls_back = 0;
	memset((void *)calls_back_at, 0, sizeof(calls_back_at));
	callers_generation = 1;
	callers_unknown = 0;
	host_map(&callers)->most = ROWS;
	knows(0, 0, UB_CALLER_OTHER, 0, 0, 0);
	knows(1, PML - BIAS - 16, UB_CALLER_INNER, UB_ROW(PML_CFA / 8, UB_ROW_RSP, 0), 0, 0);
	knows(2, PML_BY_BP - BIAS - 16, UB_CALLER_INNER, UB_ROW(2, UB_ROW_RBP, 2), 0, 0);
	knows(3, SEND_PC - BIAS - 16, UB_CALLER_CALL, UB_ROW(SEND_CFA / 8, UB_ROW_RSP, 0), SEND_ROW,
	      SEND);
	knows(4, 0x2800, UB_CALLER_OTHER, 0, 0, 0);
	bpf_map_update_elem(&caller_ranges, &tgid, &ranges, BPF_ANY);
}

/* MPI_Send's stack slot, where it was called from. */
#define CALL_SP (SP + 8 + PML_CFA + SEND_CFA - 8)

static void stack_of_send(__u64 site)
{
	*host_user(SP) = PML;
	*host_user(SP + 8 + PML_CFA - 8) = SEND_PC;
	*host_user(CALL_SP) = site;
}

static const struct caller_path *path_of(__u64 sp, __u64 bp)
{
	struct op_entered op = { sp, bp, *host_user(sp) };
	int at = caller_path(&state.callers, &op);

	return at < 0 ? NULL : &state.callers.path[at];
}

static void leads_to_the_call(void **unused)
{
	const struct caller_path *path;

	(void)unused;
	begin();
	stack_of_send(APP);
	path = path_of(SP, 0);
	assert_non_null(path);
	assert_int_equal(path->number, SEND);
	assert_int_equal(path->row, SEND_ROW);
	assert_int_equal(path->call_sp, CALL_SP);
	/* again: one word is read, beside its own slot */
	host.user_reads = 0;
	assert_ptr_equal(path_of(SP, 0), path);
	assert_int_equal(host.user_reads, 1);
}

static void a_word_that_changed_is_another_path(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	assert_int_equal(path_of(SP, 0)->number, SEND);
	*host_user(SP + 8 + PML_CFA - 8) = APP;
	assert_int_equal(path_of(SP, 0)->number, 0);
}

static void goes_by_the_frame_pointer(void **unused)
{
	const __u64 bp = SP + 400;

	(void)unused;
	begin();
	*host_user(SP) = PML_BY_BP;
	*host_user(bp + 8) = SEND_PC;
	*host_user(bp + 16 + SEND_CFA - 8) = APP;
	assert_int_equal(path_of(SP, bp)->call_sp, bp + 16 + SEND_CFA - 8);
	/* the same place with another %rbp is walked anew */
	assert_int_equal(path_of(SP, bp - 64)->number, 0);
	assert_int_equal(path_of(SP, bp)->number, SEND);
}

static void each_address_is_in_the_row_around_it(void **unused)
{
	const struct {
		__u64 pc;
		int number; /* -1: the code is not known */
	} cases[] = {
		/* the call instruction counts, which ends one byte before */
		{ SEND_PC - 15, SEND },
		{ SEND_PC - 16, 0 },
		{ BIAS + 0x2800, SEND },
		{ BIAS + 0x2801, 0 },
		{ 0x3001, -1 },
		{ BIAS, -1 },
		{ BIAS + 1, 0 },
		{ (1ull << 32) + SEND_PC, -1 },
		{ 0, -1 },
	};

	const struct caller_path *path;

	(void)unused;
	begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		*host_user(SP) = cases[i].pc;
		path = path_of(SP, 0);
		assert_int_equal(path ? (int)path->number : -1, cases[i].number);
	}
}

static void a_process_that_is_not_known_is_counted(void **unused)
{
	__u32 tgid = host.id >> 32;

	(void)unused;
	begin();
	stack_of_send(APP);
	bpf_map_delete_elem(&caller_ranges, &tgid);
	assert_null(path_of(SP, 0));
	assert_int_equal(callers_unknown, 1);
}

/* MPI may have loaded it just now. */
static void code_that_is_not_known_is_counted(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	*host_user(SP) = APP;
	assert_null(path_of(SP, 0));
	assert_int_equal(callers_unknown, 1);
}

static void a_path_does_not_outlive_its_ranges(void **unused)
{
	struct ub_caller_ranges none = { 0 };
	__u32 tgid = host.id >> 32;

	(void)unused;
	begin();
	stack_of_send(APP);
	assert_int_equal(path_of(SP, 0)->number, SEND);
	bpf_map_update_elem(&caller_ranges, &tgid, &none, BPF_ANY);
	callers_generation++;
	assert_null(path_of(SP, 0));
}

static void a_path_without_an_end_leads_nowhere(void **unused)
{
	(void)unused;
	begin();
	for (__u64 at = SP; at < SP + 4000; at += PML_CFA)
		*host_user(at) = PML;
	assert_int_equal(path_of(SP, 0)->number, 0);
	/* a frame that lies below the one before it */
	*host_user(SP) = PML_BY_BP;
	assert_int_equal(path_of(SP, SP - 800)->number, 0);
	/* memory that is not there */
	*host_user(SP) = PML_BY_BP;
	assert_int_equal(path_of(SP, 1ull << 46)->number, 0);
}

static const struct ub_derived *counts(__u32 number)
{
	return bpf_map_lookup_elem(&derived, &number);
}

static bool on_top(void)
{
	return call_on_top(&state, path_of(SP, 0), host.now);
}

static void enter_call(__u64 sp, __u64 site, __u16 row, __u8 number)
{
	const struct ub_site wire = { .kind = UB_CALL, .derivable = number };
	struct hit hit = { .task = &state, .site = &wire, .sp = sp, .row = row, .ts = host.now };

	call_place(&hit, frame_top(&hit, UB_CALL), site, false, UB_CALL);
	call_awaits(&hit);
}

static void a_call_that_was_seen_is_not_made_again(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	calls_checked = 1;
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	assert_true(on_top());
	assert_int_equal(state.depth, 1);
	assert_int_equal(counts(SEND)->seen, 1);
	assert_int_equal(counts(SEND)->checked, 1);
	/* a second operation of one call differs, as long as the probe is in place */
	assert_false(on_top());
	assert_int_equal(counts(SEND)->differing, 1);
	assert_int_equal(counts(SEND)->derived, 0);
}

static void an_unseen_call_is_made_each_time(void **unused)
{
	const struct ub_call *record;

	(void)unused;
	begin();
	stack_of_send(APP);
	calls_derived = calls_away = 1u << SEND;
	for (int i = 1; i <= 3; i++) {
		assert_true(on_top());
		assert_int_equal(state.depth, 1);
		assert_int_equal(counts(SEND)->derived, i);
	}
	assert_int_equal(state.outbox.kinds[UB_CALL], 3);
	record = (const struct ub_call *)state.outbox.records;
	assert_int_equal(record->h.flags, UB_F_DERIVED);
	assert_int_equal(record->h.site, SEND_ROW);
	assert_int_equal(record->ret_addr, APP);
	assert_int_equal(record->h.seq, 1);
	assert_int_equal(frame_innermost(&state)->sp, CALL_SP);
}

/* A probe that is on its way out or back: either it has seen the call, or the operation shows it.
 */
static void each_call_is_made_once_while_probes_move(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	calls_derived = calls_away = 1u << SEND;
	assert_true(on_top());
	assert_int_equal(counts(SEND)->derived, 0);
	assert_true(on_top());
	assert_int_equal(counts(SEND)->derived, 1);
	calls_away = 0;
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	assert_true(on_top());
	assert_int_equal(counts(SEND)->derived, 1);
	assert_int_equal(state.outbox.kinds[UB_CALL], 3);
}

static bool op_on_call(void)
{
	const struct hit hit = { .task = &state, .sp = SP, .ret = *host_user(SP), .ts = host.now };
	struct pt_regs regs = {};
	const struct frame *frame = frame_around_op(&hit, &regs);

	return frame && frame->sp == CALL_SP;
}

/* Its frame stays, since nobody sees its end. */
static void a_call_whose_operation_came_is_no_later_one(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	assert_true(op_on_call());
	calls_derived = calls_away = 1u << SEND;
	assert_true(op_on_call());
	assert_int_equal(counts(SEND)->derived, 1);
	assert_int_equal(state.outbox.kinds[UB_CALL], 2);
}

/* A call that waits for a CPU, from before its probe came back until after. */
static void an_unseen_call_may_make_its_operation_late(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	calls_back = calls_back_at[SEND] = 1;
	calls_checked = 2;
	assert_true(op_on_call());
	assert_int_equal(counts(SEND)->derived, 1);
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	assert_true(op_on_call());
	assert_int_equal(counts(SEND)->derived, 1);
	assert_int_equal(counts(SEND)->checked, 1);
	/* its probe is in place: a second operation is no call of its own */
	op_on_call();
	assert_int_equal(counts(SEND)->derived, 1);
	assert_int_equal(counts(SEND)->differing, 1);
}

/* Probes of other functions have gone and come back while it waited. */
static void a_late_call_is_remembered(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	calls_back_at[SEND] = 1;
	calls_back = calls_back_at[SEND + 1] = 2;
	assert_true(op_on_call());
	assert_int_equal(counts(SEND)->derived, 1);
	/* a call of the task was seen in between: since then its calls are seen */
	begin();
	stack_of_send(APP);
	state.callers.back = calls_back_at[SEND] = 1;
	calls_back = calls_back_at[SEND + 1] = 2;
	op_on_call();
	assert_int_equal(counts(SEND)->derived, 0);
}

/* Another tracer's return probe hides a return address: that is no other way. */
static void what_another_tracer_hides_is_not_known(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(APP);
	host.trampoline = 0x7000;
	calls_derived = calls_away = 1u << SEND;
	*host_user(SP + 8 + PML_CFA - 8) = host.trampoline;
	assert_null(path_of(SP, 0));
	assert_int_equal(callers_unknown, 1);
	*host_user(SP + 8 + PML_CFA - 8) = SEND_PC;
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	*host_user(CALL_SP) = host.trampoline;
	assert_true(on_top());
	assert_int_equal(counts(SEND)->derived, 0);
	assert_true(on_top());
	assert_int_equal(counts(SEND)->derived, 1);
	assert_int_equal(((const struct ub_call *)state.outbox.records)[1].ret_addr, 0);
}

static void a_call_without_an_operation_is_counted(void **unused)
{
	(void)unused;
	begin();
	calls_checked = 1;
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	enter_call(CALL_SP, APP, RECV_ROW, RECV);
	assert_int_equal(counts(SEND)->without, 1);
	/* what another check has left open is not this one's */
	calls_checked = 2;
	enter_call(CALL_SP, APP, SEND_ROW, SEND);
	assert_int_equal(counts(RECV)->without, 0);
}

static void another_call_from_there_ends_the_one_before(void **unused)
{
	(void)unused;
	begin();
	stack_of_send(OTHER_APP);
	calls_derived = calls_away = 1u << SEND;
	enter_call(CALL_SP, APP, RECV_ROW, RECV);
	assert_true(on_top());
	assert_int_equal(state.depth, 1);
	assert_int_equal(frame_innermost(&state)->row, SEND_ROW);
	/* one below it as well, and none above */
	enter_call(CALL_SP - 64, APP, RECV_ROW, RECV);
	assert_true(on_top());
	assert_int_equal(state.depth, 1);
}

/* A stack that keeps old return addresses: no call is nested nine deep in others from outside. */
static void calls_that_seem_to_go_on_make_room(void **unused)
{
	(void)unused;
	begin();
	for (int i = 0; i < 4 * FRAMES; i++) {
		*host_user(SP - i * 8) = APP;
		enter_call(SP - i * 8, APP, SEND_ROW, SEND);
		assert_int_equal(frame_innermost(&state)->sp, SP - i * 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leads_to_the_call),
		cmocka_unit_test(a_word_that_changed_is_another_path),
		cmocka_unit_test(goes_by_the_frame_pointer),
		cmocka_unit_test(each_address_is_in_the_row_around_it),
		cmocka_unit_test(a_process_that_is_not_known_is_counted),
		cmocka_unit_test(code_that_is_not_known_is_counted),
		cmocka_unit_test(a_path_does_not_outlive_its_ranges),
		cmocka_unit_test(a_path_without_an_end_leads_nowhere),
		cmocka_unit_test(a_call_that_was_seen_is_not_made_again),
		cmocka_unit_test(an_unseen_call_is_made_each_time),
		cmocka_unit_test(each_call_is_made_once_while_probes_move),
		cmocka_unit_test(a_call_whose_operation_came_is_no_later_one),
		cmocka_unit_test(an_unseen_call_may_make_its_operation_late),
		cmocka_unit_test(a_late_call_is_remembered),
		cmocka_unit_test(what_another_tracer_hides_is_not_known),
		cmocka_unit_test(a_call_without_an_operation_is_counted),
		cmocka_unit_test(another_call_from_there_ends_the_one_before),
		cmocka_unit_test(calls_that_seem_to_go_on_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
