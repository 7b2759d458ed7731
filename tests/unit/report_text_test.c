// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "show/report/report.h"
#include "show/report/table.h"
#include "show/report/text.h"
#include "base/text.h"
#include "base/units.h"
#include "report_facts.h"

#define MANY 4096

static char *print(const struct report_text_options *options, void (*job)(const struct fact_sink *),
		   const struct fact_totals *totals)
{
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (job)
		job(&sink);
	report_finish(report, totals);
	assert_int_equal(report_text(report, options, out), 0);
	fclose(out);
	report_free(report);
	return text;
}

/* Returns the number of lines. */
static int check_lines(char *text, int width)
{
	int lines = 0;

	for (char *line; (line = strsep(&text, "\n")) && text;) {
		if (text_width(line) > width)
			fail_msg("%d columns: %s", text_width(line), line);
		lines++;
	}
	return lines;
}

/* A job of many ranks that all talk to their neighbour over many transports. */
static void big_job(const struct fact_sink *sink)
{
	static const char *const transports[] = { "posix", "sysv", "tcp", "rc_mlx5", "dc_mlx5" };
	static const char *const ops[] = { "am_short", "am_bcopy", "am_zcopy", "get_zcopy" };
	static const char *const functions[] = {
		"MPI_Send",     "MPI_Isend", "MPI_Neighbor_alltoallw", "MPI_Wait", "MPI_Bcast",
		"MPI_Alltoall", "MPI_Ssend", "MPI_Rget_accumulate"
	};

	for (int i = 0; i < MANY; i++) {
		struct fact_process process = made_processes[0];

		process.index = i;
		process.host = i / 64;
		process.rank = i;
		process.size = MANY;
		fact_put(sink, FACT_PROCESS, &process);
	}
	for (int i = 0; i < MANY; i++) {
		struct fact_transfer transfer = { .process = i,
						  .peer = (i + 1) % MANY,
						  .op = ops[i % 4],
						  .transport = transports[i % 5],
						  .device = "mlx5_bond_0:1",
						  .locality = LOCALITY_REMOTE,
						  .kind = i % 3 == 2 ? KIND_CONTROL : KIND_DATA,
						  .protocol = "rndv_get_zcopy_multi_rail",
						  .function = functions[i % 8],
						  .bytes = UINT64_C(1) << i % 40 };

		made_transfers(sink, transfer, 1, 1 + i);
		made_call(sink, i, functions[i % 8], 1, UINT64_C(1) << i % 40, 1);
	}
}

static void fits_every_width(void **state)
{
	struct report_text_options options = { 0 };

	(void)state;
	for (options.verbose = 0; options.verbose < 3; options.verbose++)
		for (options.width = 80; options.width <= 140; options.width += 20) {
			char *text = print(&options, made_job, &made_totals);

			check_lines(text, options.width);
			free(text);
			text = print(&options, big_job, &made_totals);
			check_lines(text, options.width);
			free(text);
		}
}

static void one_screen(void **state)
{
	struct report_text_options options = { .width = 100 };
	char *text = print(&options, big_job, &made_totals);

	(void)state;
	assert_in_range(check_lines(text, options.width), 1, 50);
	free(text);
}

static void cost_is_said(void **state)
{
	struct report_text_options options = { .width = 80 };
	struct fact_totals totals = made_totals;
	char *text;

	(void)state;
	totals.self = (struct fact_self){ .captures = 2 };
	text = print(&options, made_job, &totals);
	assert_non_null(strstr(text, "\ncost:   unknown, not recorded in the capture\n"));
	free(text);
	totals.self = (struct fact_self){ .captures = 1,
					  .known = 1,
					  .levels = { false, false, true },
					  .records = 1016032,
					  .bytes = 1819848,
					  .cpu_ns = 307482016 };
	text = print(&options, made_job, &totals);
	assert_non_null(strstr(text, ", level uct"));
	assert_non_null(strstr(text, "tracer 307 ms of CPU; 1,016,032 records in 1.74 MiB\n"));
	assert_non_null(strstr(text, "job time in BPF not known: the kernel was not asked"));
	free(text);
	strcpy(totals.self.kernel_unknown, "too few hits were measured");
	text = print(&options, made_job, &totals);
	assert_non_null(strstr(text, "job time in BPF not known: too few hits were measured\n"));
	free(text);
	totals.self.levels[0] = true;
	totals.self.captures = 2;
	totals.self.memory_peak = 55992320;
	totals.self.kernel_known = 1;
	totals.self.kernel_ns = 497662665;
	totals.self.hits = 1016024;
	totals.self.sampled_hits = 22062;
	options.width = 100;
	text = print(&options, made_job, &totals);
	assert_non_null(strstr(text, ", level mpi and uct"));
	assert_non_null(strstr(text, "307 ms of CPU, 53.4 MiB; "));
	assert_non_null(strstr(text, "; known for 1 of 2 captures\n"));
	assert_non_null(strstr(text, "job 498 ms in BPF, estimated from 22,062 of 1,016,024 hits, "
				     "plus their traps"));
	free(text);
	totals.self.spread_known = 1;
	totals.self.kernel_spread = 12000000;
	text = print(&options, made_job, &totals);
	assert_non_null(strstr(text, "job 498 ms +- 12.0 ms in BPF, estimated from "));
	free(text);
}

static void unknown_is_said(void **state)
{
	struct report_text_options options = { .width = 120 };
	char *text = print(&options, made_job, &made_totals);

	(void)state;
	assert_non_null(strstr(text, "unknown (layout unknown)"));
	assert_non_null(strstr(text, "unknown/unknown"));
	assert_non_null(strstr(text, "(request not seen 178 B)"));
	assert_non_null(strstr(text, "receiver not in the capture 2"));
	assert_non_null(strstr(text, "4 of 5,003 records"));
	assert_non_null(strstr(text, "the tracer was killed"));
	assert_non_null(strstr(text, "pid 2011 -> ?"));
	free(text);
	text = print(&options, made_undescribed, &made_totals);
	/* its program, MPI and UCX */
	assert_non_null(strstr(text, "1021  unknown  unknown  unknown"));
	free(text);
}

static void names_do_not_steer_the_terminal(void **state)
{
	struct report_text_options options = { .width = 120 };
	char *text = print(&options, made_job, &made_totals);

	(void)state;
	assert_null(strchr(text, '\033'));
	free(text);
	options.colour = true;
	text = print(&options, made_job, &made_totals);
	assert_null(strstr(text, "\033[2J"));
	assert_non_null(strstr(text, "\033[1m"));
	free(text);
}

#define HARM                                                                                       \
	"\033[2J\xc2\x9b"                                                                          \
	"31m\xe2\x80\xa8\xff\r"

/* All that the report takes from a capture as it is. */
static void harmful_job(const struct fact_sink *sink)
{
	static const struct fact_ucx ucx = { .path = HARM, .version = HARM, .layout = HARM };
	static const struct fact_window windows[] = {
		{ .host_name = HARM, .capture = 0, .to = 1, .until = 2 },
		{ .host_name = HARM, .capture = 1, .to = 1, .until = 2 },
	};
	struct fact_process process = made_processes[0];

	process.host_name = process.comm = process.mpi = HARM;
	process.ucx = &ucx;
	fact_put(sink, FACT_PROCESS, &process);
	for (int i = 0; i < 2; i++)
		fact_put(sink, FACT_WINDOW, &windows[i]);
	made_call(sink, 0, HARM, 1, 1, 1);
	made_op(sink, 0, HARM, HARM, HARM, 1, 1);
	made_transfers(sink,
		       (struct fact_transfer){ .peer = -1,
					       .op = HARM,
					       .function = HARM,
					       .transport = HARM,
					       .device = HARM,
					       .unexplained = HARM },
		       1, 1);
}

static void nothing_else_steers_it_either(void **state)
{
	struct report_text_options options = { .width = 120, .verbose = 2 };
	struct fact_totals totals = made_totals;
	char *text;
	size_t bytes;

	(void)state;
	totals.notes[0].reason = totals.dropped[0].reason = HARM;
	totals.unexplained[0].reason = HARM;
	text = print(&options, harmful_job, &totals);
	assert_non_null(strstr(text, "?[2J?31m"));
	for (const char *c = text; *c; c += bytes) {
		unsigned int code;

		bytes = text_character(c, &code);
		assert_true(bytes > 0);
		assert_true(code == '\n' || !text_steers(code));
	}
	free(text);
}

static void put_call(const struct fact_sink *sink, uint64_t ops, uint64_t bytes)
{
	fact_put(sink, FACT_CALL,
		 &(struct fact_call){ .function = made_send,
				      .start = 1000000,
				      .end = 1600000,
				      .until = 1600000,
				      .end_precision = TIME_EXACT,
				      .ops = ops,
				      .bytes = bytes });
}

static void calls_alone(const struct fact_sink *sink)
{
	fact_put(sink, FACT_PROCESS, &made_processes[0]);
	put_call(sink, UINT64_MAX, UINT64_MAX);
	fact_put(sink, FACT_LIFETIME, &(struct fact_lifetime){ .until = 3000000 });
}

static void calls_without_operations(const struct fact_sink *sink)
{
	fact_put(sink, FACT_PROCESS, &made_processes[0]);
	put_call(sink, 0, 0);
	fact_put(sink, FACT_LIFETIME, &(struct fact_lifetime){ .until = 3000000 });
}

static void calls_in_part(const struct fact_sink *sink)
{
	fact_put(sink, FACT_PROCESS, &made_processes[0]);
	put_call(sink, UINT64_MAX, UINT64_MAX);
	put_call(sink, 2, 2048);
	fact_put(sink, FACT_WINDOW,
		 &(struct fact_window){
			 .to = 3000000, .until = 3000000, .step = "mpi", .reason = "start" });
	fact_put(sink, FACT_LIFETIME, &(struct fact_lifetime){ .until = 3000000 });
}

/* With --level mpi nobody knows of operations, transfers and waits: no 0. */
static void what_a_level_does_not_see(void **state)
{
	struct report_text_options options = { .width = 160 };
	struct fact_totals totals = { .self = { .captures = 1, .known = 1, .levels = { true } } };
	char *text = print(&options, calls_alone, &totals);

	(void)state;
	assert_non_null(
		strstr(text, " 600 us (0)          1.00  598 us  598 us    ?           ?  ?\n"));
	assert_non_null(
		strstr(text, "  0              2.00 ms  600 us  30.0 %        ?      1.40 ms\n"));
	free(text);
	totals.self.levels[LEVEL_UCT] = true;
	text = print(&options, calls_without_operations, &totals);
	assert_non_null(
		strstr(text, " 600 us (0)          1.00  598 us  598 us    0         0 B  -\n"));
	assert_non_null(
		strstr(text, "  0              2.00 ms  600 us  30.0 %     0 ns      1.40 ms\n"));
	free(text);
}

/* Numbers that follow from a layer of some windows alone are lower bounds. */
static void what_a_budget_left_out(void **state)
{
	struct report_text_options options = { .width = 160 };
	struct fact_totals totals = { .self = { .captures = 1,
						.known = 1,
						.levels = { true, true, true },
						.level_ns = { 5330000000, 3000000000,
							      1070000000 } } };
	char *text = print(&options, calls_in_part, &totals);

	(void)state;
	assert_non_null(strstr(text, "  >=2  >=2.00 KiB  ?\n"));
	assert_non_null(strstr(text, "  60.0 %        ?       800 us\n"));
	assert_non_null(strstr(text, "  layers       operations were recorded in 3.00 s of 5.33 s; "
				     "transfers were recorded in 1.07 s of 5.33 s; --budget none "
				     "records all layers\n"));
	free(text);
	totals.self.levels[LEVEL_UCT] = false;
	totals.self.level_ns[LEVEL_UCT] = 0;
	text = print(&options, calls_in_part, &totals);
	assert_null(strstr(text, "0 ns  "));
	assert_null(strstr(text, "unattributed"));
	assert_non_null(strstr(text, " 5.33 s; transfers were not recorded, so that no message or "
				     "wait is known; --budget none"));
	free(text);
}

static void empty_capture(void **state)
{
	struct report_text_options options = { .width = 80 };
	char *text = print(&options, NULL, &(struct fact_totals){ 0 });

	(void)state;
	assert_non_null(strstr(text, "No UCX or MPI activity was captured."));
	assert_non_null(strstr(text, "0 of 0 sends"));
	free(text);
}

/* That sums have all is said only where the capture has all. */
static void sums_of_what_has_no_detail(void **state)
{
	struct report_text_options options = { .width = 200 };
	struct fact_totals totals = { .calls = { .recorded = 1, .of = 4 } };
	char *whole = print(&options, NULL, &totals), *partial;

	(void)state;
	totals.partial = 1;
	partial = print(&options, NULL, &totals);
	assert_non_null(strstr(whole, "; the rest is in all sums"));
	assert_null(strstr(partial, "the rest is in all sums"));
	assert_non_null(strstr(partial, "; sums lack what the capture lacks"));
	free(whole);
	free(partial);
}

static void check_unit(void (*unit)(char *, size_t, uint64_t, bool), uint64_t value, bool exact,
		       const char *want)
{
	char text[40];

	unit(text, sizeof(text), value, exact);
	assert_string_equal(text, want);
}

static void check_share(const struct text_report *as, const char *bound, uint64_t part,
			const char *want)
{
	char share[16];

	text_share(as, share, sizeof(share), bound, part, 1000000);
	assert_string_equal(share, want);
}

/* One sign before a number, not two. */
static void bounds_of_shares(void **state)
{
	const struct text_report as = { .at_least = ">=" };

	(void)state;
	check_share(&as, "", 1, "<0.1 %");
	check_share(&as, "~", 1, "<0.1 %");
	check_share(&as, as.at_least, 1, ">0 %");
	check_share(&as, as.at_least, 500000, ">=50.0 %");
	check_share(&as, "~", 500000, "~50.0 %");
	check_share(&as, as.at_least, 999999, ">99.9 %");
	check_share(&as, "", 999999, ">99.9 %");
}

static void units(void **state)
{
	char text[16];

	(void)state;
	check_unit(unit_count, 9999999, false, "9,999,999");
	check_unit(unit_count, 12345678, false, "12.3 M");
	check_unit(unit_count, 12345678, true, "12,345,678");
	check_unit(unit_bytes, 1023, false, "1,023 B");
	check_unit(unit_bytes, 1536, false, "1.50 KiB");
	check_unit(unit_bytes, 1048575, false, "1.00 MiB");
	check_unit(unit_bytes, UINT64_MAX, true, "18,446,744,073,709,551,615 B");
	check_unit(unit_time, 999, false, "999 ns");
	check_unit(unit_time, 999999, false, "1.00 ms");
	check_unit(unit_time, 59000000000, false, "59.0 s");
	unit_share(text, sizeof(text), 1, 1000000);
	assert_string_equal(text, "<0.1 %");
	unit_share(text, sizeof(text), 999999, 1000000);
	assert_string_equal(text, ">99.9 %");
	unit_share(text, sizeof(text), 0, 0);
	assert_string_equal(text, "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fits_every_width),
		cmocka_unit_test(one_screen),
		cmocka_unit_test(cost_is_said),
		cmocka_unit_test(unknown_is_said),
		cmocka_unit_test(names_do_not_steer_the_terminal),
		cmocka_unit_test(nothing_else_steers_it_either),
		cmocka_unit_test(what_a_level_does_not_see),
		cmocka_unit_test(what_a_budget_left_out),
		cmocka_unit_test(empty_capture),
		cmocka_unit_test(sums_of_what_has_no_detail),
		cmocka_unit_test(bounds_of_shares),
		cmocka_unit_test(units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
