/* SPDX-License-Identifier: BSD-3-Clause */
/* Made-up runs for tests of comparisons, and expectations about their differences. */
#ifndef UCXBPF_TESTS_DIFF_RUNS_H
#define UCXBPF_TESTS_DIFF_RUNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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
	bool in_part; /* a budget left out the layers below it, for a time */
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

static inline void put_process(const struct fact_sink *sink, const struct made *made, int rank)
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

static inline void put_calls(const struct fact_sink *sink, int process, const char *function,
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

static inline void put_sends(const struct fact_sink *sink, const struct made *made,
			     const char *function, uint64_t rndv_from)
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

static inline void put_transfers(const struct fact_sink *sink, const char *transport,
				 unsigned int count, uint64_t bytes, uint64_t ns)
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

static inline void put_receive(const struct fact_sink *sink, uint64_t bytes, int status)
{
	fact_put(sink, FACT_OP,
		 &(struct fact_op){ .process = 0,
				    .peer = -1,
				    .op = "tag_recv",
				    .status = status,
				    .bytes = bytes });
}

static inline void put_callers(const struct fact_sink *sink, const struct made *made)
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

static inline void put_collectives(const struct fact_sink *sink, const struct made *made)
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

static inline void put_run(struct diff *diff, enum diff_side side, const struct made *made)
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
	if (made->in_part) {
		totals.self.levels[LEVEL_UCT] = true;
		totals.self.level_ns[LEVEL_MPI] = 2000;
		totals.self.level_ns[LEVEL_UCP] = totals.self.level_ns[LEVEL_UCT] = 1000;
	}
	totals.libraries = libraries;
	totals.library_count = 2;
	totals.systems = systems;
	totals.system_count = 2;
	totals.counted = made->count_only;
	diff_end(diff, &totals);
}

/* ---- expectations ---- */

/* "SECTION TABLE KEYS (RANKS) BEFORE AFTER" of all rows with the verdict, a line each. */
static inline char *rows_of(const struct diff *diff, enum diff_verdict verdict)
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

static inline void assert_rows(const struct diff *diff, enum diff_verdict verdict,
			       const char *expected)
{
	char *rows = rows_of(diff, verdict);

	assert_string_equal(rows, expected);
	free(rows);
}

static inline struct diff *compared(const struct made *before, size_t befores,
				    const struct made *after, size_t afters)
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
static inline void assert_changed(const struct made *before, size_t befores,
				  const struct made *after, size_t afters, const char *expected)
{
	struct diff *diff = compared(before, befores, after, afters);

	assert_rows(diff, DIFF_CHANGED, expected);
	diff_free(diff);
}

/* The same, and the rows of another verdict. */
static inline void assert_verdicts(const struct made *before, size_t befores,
				   const struct made *after, size_t afters, const char *changed,
				   enum diff_verdict other, const char *rows)
{
	struct diff *diff = compared(before, befores, after, afters);

	assert_rows(diff, DIFF_CHANGED, changed);
	assert_rows(diff, other, rows);
	diff_free(diff);
}

/* How many rows of the section differ. */
static inline size_t changed_in(const struct made *before, size_t befores, const struct made *after,
				size_t afters, enum diff_section section)
{
	struct diff *diff = compared(before, befores, after, afters);
	const size_t count = diff->changed[section];

	diff_free(diff);
	return count;
}

static inline bool has_note(const struct diff *diff, const char *part)
{
	for (size_t i = 0; i < diff->limits.notes.len; i++)
		if (strstr(diff->limits.notes.data[i], part))
			return true;
	return false;
}

#endif
