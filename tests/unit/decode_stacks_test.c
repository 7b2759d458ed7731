// SPDX-License-Identifier: BSD-3-Clause
/* Stacks from their parts, and folded lines from stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain/decode/decode.h"
#include "show/report/report.h"

struct bed {
	struct decoder decoder;
	struct capture capture;
	json_t *sides;
};

static void bed_init(struct bed *bed)
{
	memset(bed, 0, sizeof(*bed));
	decoder_init(&bed->decoder);
	bed->sides =
		json_pack("[{s:s, s:{s:s, s:s}, s:s, s:i}, {s:s, s:i, s:s, s:i, s:s}]", "t",
			  "capture", "host", "id", "h1", "name", "n1", "mode", "run", "ts", 1, "t",
			  "address", "tgid", 7, "address", "0x1", "ts", 2, "reason", "a test");
	decoder_add_capture(&bed->decoder, &bed->capture, bed->sides);
	decoder_ready(&bed->decoder);
}

static void bed_release(struct bed *bed)
{
	capture_release(&bed->capture);
	decoder_release(&bed->decoder);
	json_decref(bed->sides);
}

static struct event feed(struct bed *bed, const struct ub_hdr *h)
{
	struct event event;

	assert_true(decoder_event(&bed->decoder, &bed->capture, h, &event));
	return event;
}

/* Frame n returns to 0x100 + n. */
static void feed_part(struct bed *bed, uint64_t id, unsigned int depth, unsigned int from,
		      unsigned int end)
{
	struct ub_stack part = { .h = { .ts = 100, .tgid = 7, .tid = 7, .kind = UB_STACK },
				 .id = id,
				 .depth = depth,
				 .from = from,
				 .end = end };

	for (unsigned int i = 0; i < UB_STACK_PART; i++)
		part.pc[i] = 0x100 + from + i;
	feed(bed, &part.h);
}

static const struct stack *stack_of(struct bed *bed, uint64_t id)
{
	struct ub_call_stack record = {
		.h = { .ts = 101, .tgid = 7, .tid = 7, .call = 1, .kind = UB_CALL_STACK },
		.stack = id
	};
	struct event event = feed(bed, &record.h);

	return decoder_stack(&bed->decoder, &event, id);
}

static void parts_make_a_stack(void **state)
{
	const struct stack *stack;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	feed_part(&bed, 5, 11, 8, UB_STACK_WHOLE);
	feed_part(&bed, 5, 11, 0, UB_STACK_WHOLE);
	stack = stack_of(&bed, 5);
	assert_int_equal(stack->depth, 11);
	assert_null(stack->end);
	for (int i = 0; i < 11; i++)
		assert_int_equal(stack->frames[i]->address, 0x100 + i);
	bed_release(&bed);
}

/* MPI was called by a binding for the program; a binding alone tells nothing of the program. */
static void behind_a_binding(void **state)
{
	static const struct place mpifh = { .module = "/usr/lib/libmpi_mpifh.so.40.30.0" };
	static const struct place f08 = { .module = "/usr/lib/libmpi_usempif08-3f2a.so" };
	static const struct place app = { .module = "/home/me/app" };
	static const struct place unknown = { .reason = "a test" };
	const struct place *frames[] = { &mpifh, &f08, &app, &mpifh };
	const struct place *plain[] = { &unknown, &app };

	(void)state;
	assert_ptr_equal(decoder_call_site(&(struct stack){ .frames = frames, .depth = 4 }), &app);
	assert_null(decoder_call_site(&(struct stack){ .frames = frames, .depth = 2 }));
	assert_null(decoder_call_site(&(struct stack){ .depth = 0 }));
	assert_ptr_equal(decoder_call_site(&(struct stack){ .frames = plain, .depth = 2 }),
			 &unknown);
}

/* What was lost is said, and what is there before it is kept. */
static void lost_parts(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	feed_part(&bed, 5, 20, 0, UB_STACK_WHOLE);
	feed_part(&bed, 5, 20, 16, UB_STACK_WHOLE);
	assert_int_equal(stack_of(&bed, 5)->depth, 8);
	assert_string_equal(stack_of(&bed, 5)->end, "its record was lost");
	assert_int_equal(stack_of(&bed, 6)->depth, 0);
	assert_string_equal(stack_of(&bed, 6)->end, "its record was lost");
	/* it comes again: whoever holds the stack sees it whole */
	feed_part(&bed, 5, 20, 8, UB_STACK_WHOLE);
	assert_int_equal(stack_of(&bed, 5)->depth, 20);
	assert_null(stack_of(&bed, 5)->end);
	bed_release(&bed);
}

static void every_end_has_a_reason(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int end = 0; end < 20; end++) {
		feed_part(&bed, 100 + end, 1, 0, end);
		if (end == UB_STACK_WHOLE)
			assert_null(stack_of(&bed, 100 + end)->end);
		else
			assert_non_null(stack_of(&bed, 100 + end)->end);
	}
	bed_release(&bed);
}

static void nonsense(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	feed_part(&bed, 5, 1000, 0, UB_STACK_WHOLE); /* deeper than there is room */
	feed_part(&bed, 5, 60, 64, UB_STACK_WHOLE); /* beyond the last part */
	feed_part(&bed, 5, 60, 3, UB_STACK_WHOLE); /* between two */
	assert_int_equal(stack_of(&bed, 5)->depth, 0);
	bed_release(&bed);
}

static char *folded(const struct fact_call *calls, int count, const struct fact_op *ops,
		    int op_count, enum report_amount amount)
{
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	struct fact_totals totals = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; i < count; i++)
		fact_put(&sink, FACT_CALL, &calls[i]);
	for (int i = 0; i < op_count; i++)
		fact_put(&sink, FACT_OP, &ops[i]);
	report_finish(report, &totals);
	assert_int_equal(report_folded(report, amount, out), 0);
	fclose(out);
	report_free(report);
	return text;
}

/* Paths of several processes add up; a name may not break a line apart. */
static void folded_lines(void **state)
{
	static const struct place inner = { .key = "k1", .frame = "solve" };
	static const struct place outer = { .key = "k2", .frame = "main;x\n" };
	const struct place *frames[] = { &inner, &outer };
	const struct stack whole = { "a", frames, 2, NULL }, cut = { "b", frames, 1, "a reason" };
	const struct fact_call calls[] = {
		{ .process = 0, .function = "MPI_Send", .stack = &whole, .bytes = 10 },
		{ .process = 1, .function = "MPI_Send", .stack = &whole, .bytes = 7 },
		{ .process = 1, .function = "MPI_Recv", .stack = &cut },
		{ .process = 1, .function = "MPI_Send", .bytes = 3 },
	};
	char *text;

	(void)state;
	text = folded(calls, 4, NULL, 0, REPORT_CALLS);
	assert_string_equal(text, "[a reason];solve;MPI_Recv 1\n[no stack recorded];MPI_Send 1\n"
				  "main:x?;solve;MPI_Send 2\n");
	free(text);
	text = folded(calls, 4, NULL, 0, REPORT_BYTES);
	assert_string_equal(text, "[no stack recorded];MPI_Send 3\nmain:x?;solve;MPI_Send 17\n");
	free(text);
}

/*
 * Operations outside of calls, by their name. One without a stack has a line where others have one:
 * older captures have stacks of calls alone.
 */
static void folded_operations(void **state)
{
	static const struct place inner = { .key = "k1", .frame = "solve" };
	const struct place *frames[] = { &inner };
	const struct stack whole = { "a", frames, 1, NULL };
	const struct fact_call call = { .function = "MPI_Send", .stack = &whole, .bytes = 10 };
	const struct fact_op ops[] = {
		{ .op = "tag_send", .function = "MPI_Send", .bytes = 10 },
		{ .op = "tag_send", .bytes = 5, .place = &inner },
		{ .op = "tag_send", .bytes = 7, .place = &inner, .stack = &whole },
		{ .op = "tag_send", .process = 1, .bytes = 9, .place = &inner, .stack = &whole },
	};
	char *text;

	(void)state;
	text = folded(&call, 1, ops, 2, REPORT_CALLS);
	assert_string_equal(text, "solve;MPI_Send 1\n");
	free(text);
	text = folded(&call, 1, ops, 4, REPORT_CALLS);
	assert_string_equal(text, "[no stack recorded];tag_send 1\nsolve;MPI_Send 1\n"
				  "solve;tag_send 2\n");
	free(text);
	text = folded(&call, 1, ops, 4, REPORT_BYTES);
	assert_string_equal(text, "[no stack recorded];tag_send 5\nsolve;MPI_Send 10\n"
				  "solve;tag_send 16\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_make_a_stack),     cmocka_unit_test(lost_parts),
		cmocka_unit_test(every_end_has_a_reason), cmocka_unit_test(nonsense),
		cmocka_unit_test(folded_lines),           cmocka_unit_test(folded_operations),
		cmocka_unit_test(behind_a_binding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
