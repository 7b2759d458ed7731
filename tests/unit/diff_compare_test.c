// SPDX-License-Identifier: BSD-3-Clause
/* Made-up runs against each other: what differs is named, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "show/diff/internal.h"

#define RANKS 4

/* A run of RANKS ranks on two hosts; each member changes something. */
struct made {
	const char *tls[RANKS]; /* UCX_TLS; NULL: not set */
	const char *log; /* a variable of rank 0 */
	const char *job, *host, *kernel, *libucp;
	bool attached, count_only;
	uint32_t signal; /* that ended rank 3 */
	unsigned int undescribed; /* ranks, by bit, whose MPI is not known */
	unsigned int sends, tests; /* calls of rank 0 */
	unsigned int sends_of_1;
	uint64_t rndv_from; /* size from which on sends are a rendezvous */
	uint64_t isend_rndv_from; /* likewise of MPI_Isend; 0: there is none */
	uint64_t size_shift; /* added to all sizes */
	const char *rndv; /* its name */
	const char *transport; /* of a get; NULL: none */
	uint64_t transfer_ns, op_ns, wait_ns;
	unsigned int rare; /* transfers over another transport */
	unsigned int failed; /* receives that ended with a status below 0 */
	uint64_t received; /* bytes of a receive; 0: there is none */
	bool unsized; /* there is a receive of unknown bytes, too */
	const char *library, *role; /* that makes 7 operations outside MPI; NULL: none does */
	const char *algorithm; /* of MPI_Allreduce; NULL: there is none */
	uint64_t reduced; /* bytes of all messages of each */
	unsigned int known, unknown; /* operations of that algorithm, of no known one */
	const char
		*doubtful; /* algorithms that cannot be told apart, of 7 operations; NULL: none */
	enum level level;
	struct fact_totals totals;
};

static const struct made usual = {
	.tls = { "posix,cma", "posix,cma", "posix,cma", "posix,cma" },
	.log = "/tmp/4711/ucx.log",
	.job = "4711",
	.host = "n1",
	.kernel = "6.1",
	.libucp = "/usr/lib/libucp.so.0",
	.sends = 100,
	.tests = 17,
	.sends_of_1 = 10,
	.rndv_from = 16384,
	.rndv = "rndv/get",
	.transport = "cma",
	.transfer_ns = 1000,
	.op_ns = 2000,
	.wait_ns = 0,
	.level = LEVEL_UCT,
};

/* ---- facts ---- */

static void put_process(const struct fact_sink *sink, const struct made *made, int rank)
{
	const struct fact_variable variables[] = {
		{ rank, "UCX_TLS", made->tls[rank] },
		{ rank, "UCX_LOG_FILE", made->log },
	};
	const struct fact_ucx ucx = { rank, made->libucp, "abcd", "1.18.0", NULL };
	const bool undescribed = made->undescribed >> rank & 1;

	fact_put(sink, FACT_PROCESS,
		 &(struct fact_process){ .index = rank,
					 .host = rank / 2,
					 .host_id = rank / 2 ? "boot-b" : "boot-a",
					 .host_name = rank / 2 ? "n2" : made->host,
					 .comm = "app",
					 .exe = "/bin/app",
					 .mpi = undescribed ? NULL : "Open MPI 4.1.4",
					 .job = made->job,
					 .rank = rank,
					 .size = RANKS,
					 .from_start = !made->attached,
					 .ucx = &ucx,
					 .ucx_count = 1,
					 .environment = made->tls[rank] ? variables : variables + 1,
					 .environment_count = made->tls[rank] ? 2 : 1,
					 .undescribed = undescribed });
}

static void put_calls(const struct fact_sink *sink, int process, const char *function,
		      unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		fact_put(sink, FACT_CALL,
			 &(struct fact_call){ .process = process,
					      .function = function,
					      .start = 1000,
					      .end = 2000,
					      .end_precision = TIME_LOWER_BOUND });
}

static void put_sends(const struct fact_sink *sink, const struct made *made, const char *function,
		      uint64_t rndv_from)
{
	for (uint64_t power = 1024; power <= 1 << 20; power *= 2)
		for (int i = 0; i < 40; i++) {
			const uint64_t size = power + made->size_shift;
			const char *protocol = size < rndv_from ? "eager/bcopy" : made->rndv;

			fact_put(sink, FACT_OP,
				 &(struct fact_op){ .process = 0,
						    .peer = 2,
						    .op = "tag_send",
						    .function = function,
						    .protocol = protocol,
						    .start = 1000,
						    .end = 1000 + made->op_ns,
						    .end_precision = TIME_EXACT,
						    .bytes = size,
						    .sends = true });
		}
}

static void put_transfers(const struct fact_sink *sink, const char *transport, unsigned int count,
			  uint64_t bytes, uint64_t ns)
{
	for (unsigned int i = 0; i < count; i++)
		fact_put(sink, FACT_TRANSFER,
			 &(struct fact_transfer){ .process = 0,
						  .peer = 1,
						  .op = "get_zcopy",
						  .transport = transport,
						  .device = "memory",
						  .locality = LOCALITY_NODE,
						  .kind = KIND_DATA,
						  .start = 1000,
						  .end = 1000 + ns,
						  .end_precision = TIME_EXACT,
						  .bytes = bytes });
}

static void put_receive(const struct fact_sink *sink, uint64_t bytes, int status)
{
	fact_put(sink, FACT_OP,
		 &(struct fact_op){ .process = 0,
				    .peer = -1,
				    .op = "tag_recv",
				    .status = status,
				    .bytes = bytes });
}

static void put_callers(const struct fact_sink *sink, const struct made *made)
{
	const struct place place = { .library = made->library,
				     .role = made->role,
				     .module = "/opt/libcaller-1.2.so",
				     .frame = "request" };

	for (unsigned int i = 0; made->role && i < 7; i++)
		fact_put(sink, FACT_OP,
			 &(struct fact_op){ .process = 0,
					    .peer = 1,
					    .op = "put",
					    .place = &place,
					    .bytes = 10 });
}

static void put_collectives(const struct fact_sink *sink, const struct made *made)
{
	struct fact_collective one = { .function = "MPI_Allreduce",
				       .ranks = RANKS,
				       .algorithm = made->algorithm,
				       .bytes = made->reduced };
	const struct fact_collective unknown = { .function = "MPI_Allreduce",
						 .ranks = -1,
						 .reason = "not all of its messages are known" };
	const struct fact_collective pair = { .function = "MPI_Allreduce",
					      .ranks = 2,
					      .reason = "two ranks: all algorithms are the same" };

	for (unsigned int i = 0; i < made->known; i++)
		fact_put(sink, FACT_COLLECTIVE, &one);
	for (unsigned int i = 0; i < made->unknown; i++)
		fact_put(sink, FACT_COLLECTIVE, &unknown);
	one.algorithm = NULL;
	one.several = true;
	one.reason = made->doubtful;
	for (unsigned int i = 0; made->doubtful && i < 7; i++)
		fact_put(sink, FACT_COLLECTIVE, &one);
	if (made->known)
		fact_put(sink, FACT_COLLECTIVE, &pair);
}

static void put_run(struct diff *diff, enum diff_side side, const struct made *made)
{
	struct fact_sink sink = diff_begin(diff, side, "a.ucxb");
	struct fact_totals totals = made->totals;
	const struct library_use libraries[] = { { 0, "ucp", made->libucp, "abcd", "1.18.0" },
						 { 1, "ucp", made->libucp, "abcd", "1.18.0" } };
	const struct host_system systems[] = { { made->kernel, "x86_64" }, { "6.1", "x86_64" } };

	for (int rank = RANKS - 1; rank >= 0; rank--)
		put_process(&sink, made, rank);
	put_calls(&sink, 0, "MPI_Send", made->sends);
	put_calls(&sink, 1, "MPI_Send", made->sends_of_1);
	put_calls(&sink, 0, "MPI_Test", made->tests);
	put_sends(&sink, made, "MPI_Send", made->rndv_from);
	if (made->isend_rndv_from)
		put_sends(&sink, made, "MPI_Isend", made->isend_rndv_from);
	if (made->transport)
		put_transfers(&sink, made->transport, 100, 65536, made->transfer_ns);
	put_transfers(&sink, "knem", made->rare, 1024, 100);
	for (unsigned int i = 0; i < made->failed; i++)
		put_receive(&sink, 0, -21);
	if (made->received)
		put_receive(&sink, made->received, 0);
	if (made->unsized)
		put_receive(&sink, UINT64_MAX, 0);
	put_callers(&sink, made);
	put_collectives(&sink, made);
	if (made->wait_ns)
		fact_put(&sink, FACT_WAIT,
			 &(struct fact_wait){ .kind = "late_sender",
					      .function = "MPI_Recv",
					      .ns = made->wait_ns });
	for (int rank = 0; rank < RANKS; rank++)
		fact_put(&sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = rank,
						  .until = 3000,
						  .exited = true,
						  .exit_status = rank == 3 && made->signal ? -1 : 0,
						  .exit_signal = rank == 3 ? made->signal : 0 });
	totals.self.levels[made->level] = true;
	totals.libraries = libraries;
	totals.library_count = 2;
	totals.systems = systems;
	totals.system_count = 2;
	totals.counted = made->count_only;
	diff_end(diff, &totals);
}

/* ---- expectations ---- */

/* "SECTION TABLE KEYS (RANKS) BEFORE AFTER" of all rows with the verdict, a line each. */
static char *rows_of(const struct diff *diff, enum diff_verdict verdict)
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	for (size_t i = 0; i < diff->rows.len; i++) {
		const struct diff_row *row = &diff->rows.data[i];
		struct diff_line line;

		if (row->verdict != verdict)
			continue;
		line = diff_line(row, true);
		fprintf(out, "%s: %s: %s > %s\n", row->table->name, line.cells[DIFF_SUBJECT],
			line.cells[DIFF_OF_BEFORE], line.cells[DIFF_OF_AFTER]);
		diff_line_release(&line);
	}
	fclose(out);
	return text;
}

static void assert_rows(const struct diff *diff, enum diff_verdict verdict, const char *expected)
{
	char *rows = rows_of(diff, verdict);

	assert_string_equal(rows, expected);
	free(rows);
}

static struct diff *compared(const struct made *before, size_t befores, const struct made *after,
			     size_t afters)
{
	struct diff *diff = diff_new();

	for (size_t i = 0; i < befores; i++)
		put_run(diff, DIFF_BEFORE, &before[i]);
	for (size_t i = 0; i < afters; i++)
		put_run(diff, DIFF_AFTER, &after[i]);
	diff_compare(diff);
	return diff;
}

/* The differences, where nothing else is of interest. */
static void assert_changed(const struct made *before, size_t befores, const struct made *after,
			   size_t afters, const char *expected)
{
	struct diff *diff = compared(before, befores, after, afters);

	assert_rows(diff, DIFF_CHANGED, expected);
	diff_free(diff);
}

#define CHANGED(expected, ...)                                                                     \
	do {                                                                                       \
		struct made made_ = usual;                                                         \
                                                                                                   \
		__VA_ARGS__;                                                                       \
		assert_changed(&usual, 1, &made_, 1, expected);                                    \
	} while (0)

/* ---- one run a side ---- */

static void the_same_run_does_not_differ(void **state)
{
	(void)state;
	CHANGED("", (void)made_);
}

static void another_job_does_not_differ(void **state)
{
	struct made before = usual, after = usual;

	(void)state;
	CHANGED("", made_.job = "4712"; made_.log = "/tmp/4712/ucx.log");
	before.log = "/tmp/4711/ucx-4711-47114711.log";
	after.job = "4712";
	after.log = "/tmp/4712/ucx-4712-47124712.log";
	assert_changed(&before, 1, &after, 1, "");
	CHANGED("variables: UCX_LOG_FILE (ranks 0-3): /tmp/(job)/ucx.log > /var/4712\n",
		made_.log = "/var/4712");
}

static void variables_by_rank(void **state)
{
	(void)state;
	CHANGED("variables: UCX_TLS (ranks 1-2): posix,cma > tcp\n"
		"variables: UCX_TLS (rank 3): posix,cma > (not set)\n",
		made_.tls[1] = made_.tls[2] = "tcp";
		made_.tls[3] = NULL);
}

static void hosts_and_libraries(void **state)
{
	(void)state;
	CHANGED("system: host name (host 1): n1 > n7\n", made_.host = "n7");
	CHANGED("system: kernel (host 1): 6.1 > 6.18\n", made_.kernel = "6.18");
	CHANGED("libraries: ucp path (ranks 0-1): /usr/lib/libucp.so.0 > /opt/libucp.so.0\n",
		made_.libucp = "/opt/libucp.so.0");
}

static void mpi_is_not_known(void **state)
{
	struct made none = usual;
	struct diff *diff;
	char *line;

	(void)state;
	CHANGED("system: MPI (rank 2): Open MPI 4.1.4 > unknown\n", made_.undescribed = 1 << 2);
	none.undescribed = (1 << RANKS) - 1;
	diff = compared(&usual, 1, &none, 1);
	line = diff_run_line(&diff->runs.data[1]);
	assert_non_null(strstr(line, ", MPI unknown, UCX 1.18.0"));
	free(line);
	diff_free(diff);
}

static void counts_are_exact(void **state)
{
	struct made polled = usual;
	struct diff *diff;

	(void)state;
	CHANGED("calls: MPI_Send: 110 > 111\n", made_.sends++);
	polled.tests = 40;
	diff = compared(&usual, 1, &polled, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_VARIES, "calls: MPI_Test: 17 > 40\n");
	diff_free(diff);
}

static void paths_come_and_go(void **state)
{
	(void)state;
	CHANGED("paths: cma/memory get_zcopy node: 100, 6,553,600 B > -\n"
		"paths: xpmem/memory get_zcopy node: - > 100, 6,553,600 B\n",
		made_.transport = "xpmem");
}

static void algorithms_of_collectives(void **state)
{
	struct made before = usual, after;
	struct diff *diff;

	(void)state;
	before.algorithm = "recursive doubling";
	before.reduced = 64;
	before.known = 20;
	before.doubtful = "linear or chain fit";
	after = before;
	assert_changed(&before, 1, &after, 1, "");

	after.algorithm = "ring";
	after.reduced = 48;
	after.doubtful = "linear or ring fit";
	assert_changed(&before, 1, &after, 1,
		       "collectives: algorithm MPI_Allreduce 4 ranks 32 B to 64 B ring: - > 20\n"
		       "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		       "recursive doubling: 20 > -\n"
		       "collectives: algorithm MPI_Allreduce 4 ranks 32 B to 64 B "
		       "linear or ring fit: - > 7\n"
		       "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		       "linear or chain fit: 7 > -\n");

	/* the algorithm of some operations is known in one run alone: they may have had this one */
	after = before;
	after.known = 18;
	after.unknown = 2;
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_VARIES,
		    "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		    "recursive doubling: 20 > 18\n"
		    "collectives: algorithm MPI_Allreduce unknown: - > 2\n");
	diff_free(diff);
	after.known = 17; /* but one not */
	assert_changed(&before, 1, &after, 1,
		       "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		       "recursive doubling: 20 > 17\n");

	after.algorithm = "ring"; /* in mid-run, others may have been before */
	after.attached = true;
	assert_changed(&before, 1, &after, 1, "");
}

static void a_switch_point_moves(void **state)
{
	(void)state;
	CHANGED("protocols: protocol tag_send remote rndv/get: 280, 83,230,720 B > 200, "
		"81,264,640 B\n"
		"protocols: protocol tag_send remote eager/bcopy: 160, 614,400 B > 240, "
		"2,580,480 B\n"
		"switch_points: tag_send remote to rndv/get: above 8,192 B, at "
		"most 16,384 B > above 32,768 B, at most 65,536 B\n",
		made_.rndv_from = 65536);
}

static void functions_have_switch_points_of_their_own(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	before.isend_rndv_from = after.isend_rndv_from = 2048;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
	after.isend_rndv_from = 4096;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->changed[DIFF_SWITCHES], 1);
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table == &diff_tables[TABLE_SWITCHES] &&
		    diff->rows.data[i].verdict == DIFF_CHANGED)
			assert_string_equal(diff->rows.data[i].keys[3], "MPI_Isend");
	diff_free(diff);
}

/* Sizes that only one side has leave room for the same switch point. */
static void other_sizes_of_the_same_switch_point(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	after.size_shift = 100;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->changed[DIFF_SWITCHES], 0);
	diff_free(diff);
	/* 4,196 is a rendezvous now, 8,192 was none */
	after.rndv_from = 4096;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->changed[DIFF_SWITCHES], 1);
	diff_free(diff);
}

static void protocols_of_other_names(void **state)
{
	(void)state;
	CHANGED("protocols: protocol tag_send remote rndv/get: 280, 83,230,720 B > -\n"
		"protocols: protocol tag_send remote rndv/put: - > 280, 83,230,720 B\n"
		"switch_points: tag_send remote 16,384-1,048,576 B: rndv/get > rndv/put\n",
		made_.rndv = "rndv/put");
}

static void times_of_one_run(void **state)
{
	struct made slow = usual;
	struct diff *diff;

	(void)state;
	CHANGED("transfer_times: cma get_zcopy node 64.0 KiB to 128 KiB: 999 ns > 5,055 ns\n",
		made_.transfer_ns = 5100);
	slow.op_ns = 200000;
	slow.transfer_ns = 3000;
	diff = compared(&usual, 1, &slow, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
}

/* ---- several ---- */

#define RUNS 8

static void sets(struct made before[RUNS], struct made after[RUNS])
{
	for (int i = 0; i < RUNS; i++)
		before[i] = after[i] = usual;
}

static void times_of_several_runs(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	for (int i = 0; i < RUNS; i++) {
		before[i].op_ns = 2000 + 100 * i; /* up to 2,700 */
		after[i].op_ns = 2900 + 100 * i;
		before[i].transfer_ns = 1000 + 200 * i; /* up to 2,400 */
		after[i].transfer_ns = 2200 + 200 * i;
	}
	diff = compared(before, 8, after, 8);
	assert_int_equal(diff->outcome.differences, 11); /* a row for each size */
	assert_int_equal(diff->changed[DIFF_TIMES], 11);
	diff_free(diff);
	/* 400 of spread on each side, and the medians 900 apart */
	diff = compared(before, 5, after, 5);
	assert_int_equal(diff->changed[DIFF_TIMES], 11);
	diff_free(diff);
	for (int i = 0; i < RUNS; i++)
		after[i].op_ns -= 200;
	diff = compared(before, 5, after, 5);
	assert_int_equal(diff->changed[DIFF_TIMES], 0);
	diff_free(diff);
	/* four do not show their spread */
	diff = compared(before, 4, after, 4);
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
}

static void waits_need_several_runs(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	for (int i = 0; i < RUNS; i++)
		after[i].wait_ns = 1000000 + i;
	assert_changed(
		before, 5, after, 5,
		"waits: late_sender MPI_Recv: - > 1, 1,000,002 ns (1,000,000 ns to 1,000,004 "
		"ns)\n");
	diff = compared(before, 4, after, 5);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_int_equal(diff->changed[DIFF_WAITS], 0);
	diff_free(diff);
}

static void counts_that_vary(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	before[0].sends = 90;
	after[0].sends = 105; /* within 90 to 100, and beyond */
	assert_changed(before, 5, after, 5, "");
	for (int i = 0; i < RUNS; i++)
		after[i].sends = 200;
	assert_changed(before, 5, after, 5, "calls: MPI_Send: 110 (100 to 110) > 210\n");
	/* of one run after, nobody knows */
	diff = compared(before, 5, after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_VARIES, "calls: MPI_Send: 110 (100 to 110) > 210\n");
	diff_free(diff);
}

static void the_same_sum_of_other_ranks(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	for (int i = 0; i < RUNS; i++) {
		after[i].sends = usual.sends_of_1;
		after[i].sends_of_1 = usual.sends;
	}
	diff = compared(before, 1, after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_VARIES, "calls: MPI_Send: 110 > 110\n");
	diff_free(diff);
	assert_changed(before, 2, after, 2, "calls: MPI_Send: 110 > 110\n");
}

static void a_variable_that_varies(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	before[1].kernel = "6.18";
	diff = compared(before, 2, after, 2);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_VARIES, "system: kernel (host 1): 6.1 or 6.18 > 6.1\n");
	diff_free(diff);
	after[0].kernel = after[1].kernel = "6.19";
	assert_changed(before, 2, after, 2, "system: kernel (host 1): 6.1 or 6.18 > 6.19\n");
}

/* ---- captures that tell less ---- */

static bool has_note(const struct diff *diff, const char *part)
{
	for (size_t i = 0; i < diff->limits.notes.len; i++)
		if (strstr(diff->limits.notes.data[i], part))
			return true;
	return false;
}

static void damaged_captures_have_no_counts(void **state)
{
	struct made damaged = usual;
	struct diff *diff;

	(void)state;
	damaged.totals.partial = 1;
	damaged.sends = 7;
	damaged.rare = 1;
	diff = compared(&usual, 1, &damaged, 1);
	assert_true(has_note(diff, "the run after is damaged, cut short or lacks records: counts"));
	assert_rows(diff, DIFF_CHANGED, "");
	assert_true(diff->outcome.incomplete);
	diff_free(diff);
	/* its own paths are certain, missing ones are not */
	damaged.transport = "xpmem";
	assert_changed(&usual, 1, &damaged, 1,
		       "paths: xpmem/memory get_zcopy node: - > 100, 6,553,600 B\n");
}

static void a_run_that_was_killed(void **state)
{
	struct made killed = usual;
	struct diff *diff;

	(void)state;
	killed.signal = 15;
	killed.sends = 7;
	killed.transport = NULL;
	diff = compared(&usual, 1, &killed, 1);
	assert_rows(diff, DIFF_CHANGED, "system: ended by signals: no process > some processes\n");
	assert_true(has_note(diff, "the run after was ended by a signal: counts"));
	diff_free(diff);
	assert_changed(&killed, 1, &killed, 1, "");
}

static void a_run_that_was_joined(void **state)
{
	struct made attached = usual;
	struct diff *diff;

	(void)state;
	attached.attached = true;
	attached.sends = 7;
	attached.rare = 1;
	diff = compared(&attached, 1, &usual, 1);
	assert_true(has_note(diff, "the run before was joined in mid-run: counts"));
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_UNCOMPARED,
		    "paths: knem/memory get_zcopy node: 1, 1,024 B > -\n"
		    "calls: MPI_Send: 17 > 110\n"
		    "transfer_times: knem get_zcopy node 1.00 KiB to 2.00 KiB: 100 ns > -\n");
	assert_false(diff->outcome.incomplete);
	diff_free(diff);
	/* a path that carried most of the data is missed */
	attached.transport = "xpmem";
	assert_changed(&attached, 1, &usual, 1,
		       "paths: cma/memory get_zcopy node: - > 100, 6,553,600 B\n"
		       "paths: xpmem/memory get_zcopy node: 100, 6,553,600 B > -\n");
}

static void lost_records_have_no_protocols(void **state)
{
	struct made lossy = usual;
	struct diff *diff;

	(void)state;
	lossy.totals.lost = 3;
	lossy.rndv = "rndv/put";
	lossy.sends++;
	diff = compared(&lossy, 1, &lossy, 1);
	assert_true(has_note(diff, "each run has lost records: protocols"));
	assert_true(diff->outcome.incomplete);
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
	assert_changed(&usual, 1, &lossy, 1, "calls: MPI_Send: 110 > 111\n");
}

static void derived_calls_are_not_all(void **state)
{
	struct made derived = usual;
	struct diff *diff;

	(void)state;
	derived.totals.derived_count = 1;
	derived.totals.derived[0] = (struct fact_derived){ .function = "MPI_Send", .calls = 3 };
	derived.sends++;
	diff = compared(&usual, 1, &derived, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_UNCOMPARED, "calls: MPI_Send: 110 > 111\n");
	diff_free(diff);
	derived.totals.derived[0].calls = 0; /* its probe was never away */
	assert_changed(&usual, 1, &derived, 1, "calls: MPI_Send: 110 > 111\n");
}

static void other_levels(void **state)
{
	struct made mpi = usual;
	struct diff *diff;

	(void)state;
	mpi.level = LEVEL_MPI;
	mpi.transport = NULL;
	mpi.rndv = "rndv/put";
	diff = compared(&usual, 1, &mpi, 1);
	assert_true(has_note(diff, "some runs were recorded with --level mpi"));
	assert_int_equal(diff->outcome.differences, 0);
	for (size_t i = 0; i < diff->rows.len; i++)
		assert_int_equal(diff->rows.data[i].table->level, LEVEL_MPI);
	diff_free(diff);
}

static void sums_have_no_protocols(void **state)
{
	struct made counted = usual;
	struct diff *diff;

	(void)state;
	counted.count_only = true;
	counted.rndv = "rndv/put";
	diff = compared(&usual, 1, &counted, 1);
	assert_true(has_note(diff, "the run after was made with --count: protocols"));
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
}

static void callers_outside_mpi(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	before.library = "ucxx";
	before.role = "ucxx";
	after.role = "other";
	assert_changed(&before, 1, &after, 1,
		       "callers: caller libcaller-1.2.so request put: - > 7, 70 B\n"
		       "callers: caller ucxx request put: 7, 70 B > -\n");
	/* calls of MPI that were not seen */
	after = before;
	before.role = after.role = "mpi_plugin";
	diff = compared(&before, 1, &after, 1);
	for (size_t i = 0; i < diff->rows.len; i++)
		assert_ptr_not_equal(diff->rows.data[i].table, &diff_tables[TABLE_CALLERS]);
	assert_false(has_note(diff, "callers"));
	diff_free(diff);
	/* one whose caller is not known could be anyone's */
	before.role = after.role = "ucxx";
	before.received = after.received = 8;
	after.library = "UCX-Py";
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_true(has_note(diff, "callers of UCP are not compared"));
	diff_free(diff);
}

/* ---- many texts ---- */

#define MANY 4000 /* joined one by one, their texts would take 500 MB */

/* A run of programs without ranks: process i has value VALUES[i] of UCX_TLS. */
static void put_programs(struct diff *diff, enum diff_side side, const char *const *comms,
			 const char *const *values, int count)
{
	struct fact_sink sink = diff_begin(diff, side, "a.ucxb");
	struct fact_totals totals = { 0 };

	for (int i = 0; i < count; i++) {
		const struct fact_variable variable = { i, "UCX_TLS", values[i] };

		fact_put(&sink, FACT_PROCESS,
			 &(struct fact_process){ .index = i,
						 .host = -1,
						 .comm = comms[i],
						 .exe = "/bin/app",
						 .rank = -1,
						 .size = -1,
						 .from_start = true,
						 .environment = &variable,
						 .environment_count = 1 });
	}
	totals.self.levels[LEVEL_UCT] = true;
	diff_end(diff, &totals);
}

/* Long texts that sort by their number. */
static void make_texts(char texts[MANY][64], const char *list[MANY])
{
	for (int i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%04d-%058d", i, 0);
		list[i] = texts[i];
	}
}

static const struct diff_row *variable_row(const struct diff *diff)
{
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table == &diff_tables[TABLE_VARIABLES])
			return &diff->rows.data[i];
	fail();
	return NULL;
}

static void many_values_of_one_program(void **state)
{
	static char texts[MANY][64];
	static const char *values[MANY], *comms[MANY];
	const struct diff_row *row;
	struct diff *diff;

	(void)state;
	make_texts(texts, values);
	for (int i = 0; i < MANY; i++)
		comms[i] = "worker";
	for (int other = 0; other < 2; other++) {
		diff = diff_new();
		put_programs(diff, DIFF_BEFORE, comms, values, MANY);
		if (other) /* the last one, which is not shown */
			texts[MANY - 1][60] = 'x';
		put_programs(diff, DIFF_AFTER, comms, values, MANY);
		diff_compare(diff);
		row = variable_row(diff);
		assert_int_equal(row->verdict, other ? DIFF_CHANGED : DIFF_SAME);
		assert_memory_equal(row->values[DIFF_BEFORE].text, texts[0], 63);
		assert_non_null(strstr(row->values[DIFF_BEFORE].text, ", and 3936 more (digest "));
		assert_true(strlen(row->values[DIFF_BEFORE].text) < 64 * 65 + 64);
		diff_free(diff);
	}
}

/* No program is on both sides: all count as one, and equal values once, in any order. */
static void values_of_other_programs(void **state)
{
	struct diff *diff = diff_new();

	(void)state;
	put_programs(diff, DIFF_BEFORE, (const char *[]){ "a", "b", "c" },
		     (const char *[]){ "tcp", "cma", "tcp" }, 3);
	put_programs(diff, DIFF_AFTER, (const char *[]){ "d", "e" },
		     (const char *[]){ "cma", "tcp" }, 2);
	diff_compare(diff);
	assert_int_equal(variable_row(diff)->verdict, DIFF_SAME);
	assert_string_equal(variable_row(diff)->values[DIFF_BEFORE].text, "cma, tcp");
	diff_free(diff);
}

/* Programs may be called as a rank, a host or the job would be. */
static void programs_of_hostile_names(void **state)
{
	static const char *const comms[] = { "0", "host 1", "the job" };
	struct diff *diff = diff_new();

	(void)state;
	put_programs(diff, DIFF_BEFORE, comms, (const char *[]){ "tcp", "tcp", "tcp" }, 3);
	put_programs(diff, DIFF_AFTER, comms, (const char *[]){ "cma", "ib", "self" }, 3);
	diff_compare(diff);
	assert_rows(diff, DIFF_CHANGED,
		    "variables: UCX_TLS (program 0): tcp > cma\n"
		    "variables: UCX_TLS (program host 1): tcp > ib\n"
		    "variables: UCX_TLS (program the job): tcp > self\n");
	diff_free(diff);
	/* rank 0 of the one side is not the program "0" of the other */
	diff = diff_new();
	put_run(diff, DIFF_BEFORE, &usual);
	put_programs(diff, DIFF_AFTER, comms, (const char *[]){ "cma", "ib", "self" }, 3);
	diff_compare(diff);
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table == &diff_tables[TABLE_VARIABLES])
			assert_null(diff->rows.data[i].ranks); /* all processes count as one */
	diff_free(diff);
}

static void put_protocols(struct diff *diff, enum diff_side side, const char *const *list,
			  int count)
{
	struct fact_sink sink = diff_begin(diff, side, "a.ucxb");
	struct fact_totals totals = { 0 };

	for (int i = 0; i < count; i++)
		fact_put(&sink, FACT_OP,
			 &(struct fact_op){ .process = -1,
					    .peer = -1,
					    .op = "tag_send",
					    .protocol = list[i],
					    .bytes = 8,
					    .sends = true });
	totals.self.levels[LEVEL_UCT] = true;
	diff_end(diff, &totals);
}

static size_t switches_of(const char *const *before, const char *const *after, int afters)
{
	struct diff *diff = diff_new();
	size_t count;

	put_protocols(diff, DIFF_BEFORE, before, MANY);
	put_protocols(diff, DIFF_AFTER, after, afters);
	diff_compare(diff);
	count = diff->changed[DIFF_SWITCHES];
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table->section == DIFF_SWITCHES)
			assert_non_null(strstr(diff->rows.data[i].values[DIFF_BEFORE].text,
					       ", and 3936 more (digest "));
	diff_free(diff);
	return count;
}

static void many_protocols_of_one_size(void **state)
{
	static char texts[MANY][64], others[MANY][64];
	static const char *list[MANY], *other[MANY];

	(void)state;
	make_texts(texts, list);
	make_texts(others, other);
	assert_int_equal(switches_of(list, other, MANY), 0);
	assert_int_equal(switches_of(list, other, MANY - 1), 0); /* all of them are before, too */
	others[MANY - 1][60] = 'x';
	assert_int_equal(switches_of(list, other, MANY), 1);
}

/* Sums have no statuses, so that they have no failure does not show that no operation failed. */
static void failed_operations_need_detail(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	before.failed = 7;
	assert_changed(&before, 1, &after, 1,
		       "operations: tag_recv: 7 > -\nfailed: failed tag_recv status -21: 7 > -\n");
	for (int how = 0; how < 3; how++) {
		after = before;
		after.failed = 0;
		after.count_only = how == 0;
		after.totals.lost = how == 1;
		after.totals.thinned = how == 2;
		diff = compared(&before, 1, &after, 1);
		assert_rows(diff, DIFF_CHANGED, "operations: tag_recv: 7 > -\n");
		assert_rows(diff, DIFF_UNCOMPARED, "failed: failed tag_recv status -21: 7 > -\n");
		assert_true(has_note(diff, "failed operations"));
		diff_free(diff);
	}
}

/* A receive of unknown bytes on each side: what the others received may differ or not. */
static void unknown_bytes_are_not_compared(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;
	char *line;

	(void)state;
	before.received = 8;
	after.received = 4096;
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "operations: tag_recv: 1, 8 B > 1, 4,096 B\n");
	assert_false(has_note(diff, "bytes of"));
	diff_free(diff);
	before.unsized = after.unsized = true;
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_UNCOMPARED, "operations: tag_recv: 2, ? bytes > 2, ? bytes\n");
	assert_true(has_note(diff, "bytes of 1 row are not known in full"));
	line = diff_verdict(diff);
	assert_non_null(strstr(line, ", counts and a part of the bytes, times"));
	free(line);
	diff_free(diff);
	/* the count still is */
	after.failed = 1;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->changed[DIFF_COUNTS], 2);
	diff_free(diff);
}

/* ---- outputs ---- */

static char *page_of(const struct diff *diff, int (*print)(const struct diff *diff, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	assert_int_equal(print(diff, out), 0);
	fclose(out);
	return text;
}

static void names_are_no_markup(void **state)
{
	struct made hostile = usual;
	struct diff *diff;
	char *page;

	(void)state;
	hostile.tls[0] = "<script>alert(1)</script>\x1b[2J\xff";
	hostile.tls[1] = "\x7f\xc2\x9b"
			 "31m\xe2\x80\xae"
			 "a";
	hostile.host = "\"><img src=x>&amp;";
	hostile.transport = "<b>";
	diff = compared(&usual, 1, &hostile, 1);
	page = page_of(diff, diff_html);
	assert_null(strstr(page, "<script"));
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "<b>"));
	assert_null(strchr(page, '\x1b'));
	assert_null(strchr(page, '\xff'));
	assert_non_null(strstr(page, "&lt;script&gt;alert(1)&lt;/script&gt;?[2J?"));
	assert_non_null(strstr(page, "&quot;&gt;&lt;img src=x&gt;&amp;amp;"));
	free(page);
	page = page_of(diff, diff_json);
	assert_null(strchr(page, '\xff'));
	assert_null(strchr(page, '\x1b'));
	assert_null(strchr(page, '\x7f'));
	assert_null(strstr(page, "\xc2\x9b"));
	assert_null(strstr(page, "\xe2\x80\xae"));
	assert_non_null(strstr(page, "\"\\u007f\\u009b31m\\u202ea\""));
	free(page);
	diff_free(diff);
}

static int print_text(const struct diff *diff, FILE *out)
{
	return diff_text(diff, &(struct report_text_options){ .width = 80 }, out);
}

/* A text differs at its end: all of it is shown. */
static void texts_are_not_cut(void **state)
{
	static char values[DIFF_SIDES][2048];
	struct made before = usual, after = usual;
	struct diff *diff;
	char *page;

	(void)state;
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
		memset(values[side], 'a', sizeof(values[side]) - 1);
		memcpy(&values[side][sizeof(values[side]) - 6], side ? "-new" : "-old", 5);
	}
	before.log = values[DIFF_BEFORE];
	after.log = values[DIFF_AFTER];
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->outcome.differences, 1);
	for (int html = 0; html < 2; html++) {
		page = page_of(diff, html ? diff_html : print_text);
		assert_non_null(strstr(page, values[DIFF_BEFORE]));
		assert_non_null(strstr(page, values[DIFF_AFTER]));
		free(page);
	}
	diff_free(diff);
}

static void no_difference_names_what_was_compared(void **state)
{
	struct diff *diff = compared(&usual, 1, &usual, 1);
	char *line = diff_verdict(diff);

	(void)state;
	assert_string_equal(line, "no difference found in environment, libraries, paths and "
				  "protocols, switch points, counts and bytes, times");
	free(line);
	diff_free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_run_does_not_differ),
		cmocka_unit_test(another_job_does_not_differ),
		cmocka_unit_test(variables_by_rank),
		cmocka_unit_test(hosts_and_libraries),
		cmocka_unit_test(mpi_is_not_known),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(paths_come_and_go),
		cmocka_unit_test(algorithms_of_collectives),
		cmocka_unit_test(a_switch_point_moves),
		cmocka_unit_test(functions_have_switch_points_of_their_own),
		cmocka_unit_test(other_sizes_of_the_same_switch_point),
		cmocka_unit_test(protocols_of_other_names),
		cmocka_unit_test(times_of_one_run),
		cmocka_unit_test(times_of_several_runs),
		cmocka_unit_test(waits_need_several_runs),
		cmocka_unit_test(counts_that_vary),
		cmocka_unit_test(the_same_sum_of_other_ranks),
		cmocka_unit_test(a_variable_that_varies),
		cmocka_unit_test(damaged_captures_have_no_counts),
		cmocka_unit_test(a_run_that_was_killed),
		cmocka_unit_test(a_run_that_was_joined),
		cmocka_unit_test(lost_records_have_no_protocols),
		cmocka_unit_test(derived_calls_are_not_all),
		cmocka_unit_test(other_levels),
		cmocka_unit_test(sums_have_no_protocols),
		cmocka_unit_test(callers_outside_mpi),
		cmocka_unit_test(failed_operations_need_detail),
		cmocka_unit_test(unknown_bytes_are_not_compared),
		cmocka_unit_test(many_values_of_one_program),
		cmocka_unit_test(values_of_other_programs),
		cmocka_unit_test(programs_of_hostile_names),
		cmocka_unit_test(many_protocols_of_one_size),
		cmocka_unit_test(names_are_no_markup),
		cmocka_unit_test(texts_are_not_cut),
		cmocka_unit_test(no_difference_names_what_was_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
