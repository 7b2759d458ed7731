// SPDX-License-Identifier: BSD-3-Clause
/* Stacks of operations: outside of calls their own, inside none. */
#include "outcome.h"

#define ID 5

/* At the operation that the task is in: its stack has two frames. */
static void stack_of_op(struct task *task)
{
	const uint64_t ts = ++task->job->now;
	const struct ub_stack part = { .h = { .ts = ts,
					      .tgid = task->tgid,
					      .tid = task->tid,
					      .cpu_seq = task->job->cpu_seq++,
					      .op = task->op,
					      .kind = UB_STACK },
				       .id = ID,
				       .depth = 2,
				       .end = UB_STACK_WHOLE,
				       .pc = { 0x5500, 0x5600 } };
	struct ub_call_stack name = { .h = part.h, .stack = ID };

	name.h.kind = UB_CALL_STACK;
	name.h.cpu_seq = task->job->cpu_seq++;
	memcpy(vec_add(&task->job->records), &part, sizeof(part));
	memcpy(vec_add(&task->job->records), &name, sizeof(name));
}

/* The record is as the kernel makes it, whether or not a call seems to be around. */
static void send(struct pair *pair, uint64_t tag)
{
	struct task *task = &pair->a;
	struct ub_xfer *xfer;

	job_op(task, AT_TAG_SEND, EP(task->tgid, pair->b.tgid), tag, 8, 0);
	stack_of_op(task);
	xfer = job_xfer(task, &pair->b, AT_AM_SHORT, 2, 16, 0);
	xfer->w[0] = tag;
	xfer->h.flags = UB_F_WIRE;
	job_op_end(task);
}

/* The capture has places of code. */
static void begin(struct pair *pair)
{
	pair_init(pair, "start");
	json_array_append_new(pair->job.sides,
			      json_pack("{s:s, s:i, s:s, s:i, s:s}", "t", "address", "tgid", 1,
					"address", "0x1", "ts", 1, "reason", "a test"));
}

static const struct fact_op *send_of(const struct pair *pair)
{
	for (size_t i = 0; i < pair->out.ops.len; i++)
		if (!strcmp(pair->out.ops.data[i].op, "tag_send"))
			return &pair->out.ops.data[i];
	fail();
	return NULL;
}

static void outside_of_calls(void **state)
{
	const struct stack *stack;
	struct pair r;

	(void)state;
	begin(&r);
	send(&r, 7);
	pair_analyse(&r);
	assert_null(send_of(&r)->function);
	stack = send_of(&r)->stack;
	assert_non_null(stack);
	assert_null(stack->end);
	assert_int_equal(stack->depth, 2);
	assert_int_equal(stack->frames[0]->address, 0x5500);
	assert_int_equal(stack->frames[1]->address, 0x5600);
	pair_release(&r);
}

/* The kernel has not known MPI's code yet, or has another call on its stack. */
static void inside_of_a_call(void **state)
{
	struct pair r;

	(void)state;
	begin(&r);
	job_call(&r.a, AT_MPI_SEND);
	send(&r, 7);
	pair_analyse(&r);
	assert_string_equal(send_of(&r)->function, "MPI_Send");
	assert_null(send_of(&r)->stack);
	assert_null(r.out.calls.data[0].stack);
	pair_release(&r);
}

/* The operation before it keeps the stack that it has. */
static void of_an_operation_that_was_lost(void **state)
{
	struct pair r;

	(void)state;
	begin(&r);
	job_op(&r.a, AT_TAG_SEND, EP(r.a.tgid, r.b.tgid), 7, 8, 0);
	job_op_end(&r.a);
	r.a.op = ++r.job.seq;
	stack_of_op(&r.a);
	pair_analyse(&r);
	assert_null(send_of(&r)->stack);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outside_of_calls),
		cmocka_unit_test(inside_of_a_call),
		cmocka_unit_test(of_an_operation_that_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
