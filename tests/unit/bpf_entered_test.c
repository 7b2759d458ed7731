// SPDX-License-Identifier: BSD-3-Clause
/* Functions that a task has entered (bpf/entered.bpf.h), as --count keeps them. */
#include "bpf_host.h"

#include "count.bpf.h"

static struct count_task task;

static int setup(void **state)
{
	(void)state;
	host_reset();
	memset(&task, 0, sizeof(task));
	HOST_MAP(stats);
	HOST_MAP(processes);
	host.state = &task;
	return 0;
}

static void enter(__u64 sp)
{
	struct count_op *op;

	entered_end(OPS(&task), sp);
	op = entered_at(OPS(&task), task.ops++);
	op->sp = sp;
	op->obj = sp + 1;
}

static struct count_op *leave(__u64 sp)
{
	entered_end(OPS(&task), sp - 1);
	return entered_pop(OPS(&task), sp);
}

static void returns_in_order(void **state)
{
	(void)state;
	enter(0x3000);
	enter(0x2000);
	enter(0x1000);
	assert_ptr_equal(entered_last(OPS(&task)), &task.op[2]);
	assert_int_equal(leave(0x1000)->obj, 0x1001);
	assert_int_equal(leave(0x2000)->obj, 0x2001);
	assert_null(leave(0x2000));
	assert_int_equal(leave(0x3000)->obj, 0x3001);
	assert_null(leave(0x3000));
	assert_int_equal(task.ops, 0);
}

static void an_entry_ends_those_below_it(void **state)
{
	(void)state;
	enter(0x3000);
	enter(0x2000);
	enter(0x1000);
	assert_int_equal(entered_end(OPS(&task), 0xfff), 0);
	assert_int_equal(entered_end(OPS(&task), 0x2000), 2);
	assert_int_equal(task.ops, 1);
	assert_int_equal(entered_end(OPS(&task), ~0ull), 1);
	assert_int_equal(entered_end(OPS(&task), ~0ull), 0);
}

static void a_return_ends_those_below_it(void **state)
{
	(void)state;
	enter(0x3000);
	enter(0x2000);
	enter(0x1000);
	/* entered before there were probes */
	assert_null(leave(0x2800));
	assert_int_equal(task.ops, 1);
	assert_int_equal(leave(0x3000)->obj, 0x3001);
}

static void as_deep_as_it_goes(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT_FRAMES; i++)
		enter(0x10000 - i * 0x100);
	assert_int_equal(task.ops, COUNT_FRAMES);
	/* an index beyond the end stays inside the array */
	assert_ptr_equal(entered_at(OPS(&task), COUNT_FRAMES), &task.op[0]);
	assert_int_equal(entered_end(OPS(&task), 0x10000), COUNT_FRAMES);
	assert_int_equal(task.ops, 0);
	/* two stacks of one task do not touch each other */
	assert_int_equal(task.xfers, 0);
	assert_null(entered_pop(XFERS(&task), 0));
}

static void lost_returns_add_up(void **state)
{
	(void)state;
	count_lost_returns(0);
	assert_int_equal(cpu_stats()->s.lost_returns, 0);
	count_lost_returns(3);
	count_lost_return();
	assert_int_equal(cpu_stats()->s.lost_returns, 4);
}

static void a_task_is_filtered(void **state)
{
	__u32 tgid = 7, one = 1;

	(void)state;
	assert_null(count_begin());
	filter_generation++;
	bpf_map_update_elem(&processes, &tgid, &one, BPF_ANY);
	assert_ptr_equal(count_begin(), &task);
	assert_int_equal(task.tgid, 7);
	/* asked again only once user space has added a process */
	bpf_map_delete_elem(&processes, &tgid);
	assert_ptr_equal(count_begin(), &task);
	stopped = UB_BETWEEN_WINDOWS;
	assert_null(count_begin());
	stopped = UB_RUN;
	filter_generation++;
	assert_null(count_begin());
	/* a task without storage gets it only in a traced process */
	host.state = NULL;
	assert_null(count_begin());
	assert_int_equal(cpu_stats()->s.task_nomem, 0);
	bpf_map_update_elem(&processes, &tgid, &one, BPF_ANY);
	assert_null(count_begin());
	assert_int_equal(cpu_stats()->s.task_nomem, 1);
}

static bool moves(struct count_op *op, __u64 local, __u64 length)
{
	const struct count_xfer xfer = { .local = local, .length = length };

	return moves_data_of(op, &xfer, true);
}

/* A frame that is over may seem to be under way: its buffer tells whose data moves. */
static void data_of_an_operation(void **state)
{
	struct count_op op = { .buffer = data_at(0x5000, 300, false) };

	(void)state;
	assert_false(moves(&op, 0x5100, 100));
	assert_true(moves(&op, 0x5000, 100));
	assert_true(moves(&op, 0x5000 + 100, 200));
	assert_false(moves(&op, 0x9000, 100));
	op = (struct count_op){ .buffer = data_at(0x5000, 300, true) };
	assert_true(moves(&op, 0x9000, 100));
	/* a receive of nothing, as MPI_Ibarrier makes it: no buffer either */
	op = (struct count_op){ .buffer = data_at(0, 0, false) };
	assert_false(moves(&op, 0x9000, 100));
	op = (struct count_op){ .buffer = data_at(0x5000, 0, true) };
	assert_false(moves(&op, 0x5000, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(returns_in_order, setup),
		cmocka_unit_test_setup(an_entry_ends_those_below_it, setup),
		cmocka_unit_test(data_of_an_operation),
		cmocka_unit_test_setup(a_return_ends_those_below_it, setup),
		cmocka_unit_test_setup(as_deep_as_it_goes, setup),
		cmocka_unit_test_setup(lost_returns_add_up, setup),
		cmocka_unit_test_setup(a_task_is_filtered, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
