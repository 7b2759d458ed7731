// SPDX-License-Identifier: BSD-3-Clause
/*
 * Judges a capture of mpi_pingpong by what cannot be: strict [-w] FILE...
 *
 * Its MPI_Sends are in lock-step: none begins before the one before it has arrived at the other
 * side. A message that is matched with the arrival of an earlier or a later one, of the same tag
 * and length, breaks that. -w: of the records outside of windows, only those that may be there are.
 * Prints what it counted; exits with 1 where something cannot be.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "explain/analysis/analysis.h"
#include "file/file.h"

struct send {
	int src, dst;
	uint64_t start, arrival; /* arrival 0: an operation, else a message */
};

struct sends {
	VEC(struct send) all;
};

static bool is_send(const char *function)
{
	return function && !strcmp(function, "MPI_Send");
}

static void got_op(struct sends *sends, const struct fact_op *op)
{
	if (op->sends && is_send(op->function))
		vec_push(&sends->all, ((struct send){ op->process, op->peer, op->start, 0 }));
}

static void got_message(struct sends *sends, const struct fact_message *message)
{
	if (is_send(message->function))
		vec_push(&sends->all, ((struct send){ message->src, message->dst,
						      message->send_start, message->arrival }));
}

static void sends_fact(void *arg, enum fact_type type, const void *fact,
		       const struct fact_sums *sums)
{
	(void)sums;
	if (type == FACT_OP)
		got_op(arg, fact);
	else if (type == FACT_MESSAGE)
		got_message(arg, fact);
}

/* By link and time; an operation before its message. */
static int by_start(const void *left, const void *right)
{
	const struct send *a = left, *b = right;

	if (a->src != b->src)
		return a->src - b->src;
	if (a->dst != b->dst)
		return a->dst - b->dst;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->arrival > 0) - (b->arrival > 0);
}

static int judge_messages(struct sends *sends)
{
	uint64_t messages = 0, wrong = 0;

	if (sends->all.len)
		qsort(sends->all.data, sends->all.len, sizeof(*sends->all.data), by_start);
	for (size_t i = 0; i < sends->all.len; i++) {
		const struct send *a = &sends->all.data[i], *b = a + 1;
		bool same_link = i + 1 < sends->all.len && a->src == b->src && a->dst == b->dst;

		if (!a->arrival)
			continue;
		messages++;
		wrong += a->arrival < a->start || (same_link && a->arrival > b->start);
	}
	printf("%" PRIu64 " messages of MPI_Send, %" PRIu64 " cannot be\n", messages, wrong);
	return wrong || !messages;
}

static int match(char **paths)
{
	struct analysis *analysis = analysis_new();
	struct sends sends = { 0 };
	struct fact_sink sink = { &sends, sends_fact };
	struct fact_totals totals;
	const char *why = "";
	int err = 0, bad;

	for (; !err && *paths; paths++)
		err = analysis_add_file(analysis, *paths, &why);
	if (!err)
		err = analysis_run(analysis, &sink, &totals);
	if (err)
		fprintf(stderr, "strict: %s\n", why);
	bad = err ? 1 : judge_messages(&sends);
	vec_release(&sends.all);
	analysis_free(analysis);
	return bad;
}

static bool in_window(const json_t *sides, uint64_t ts)
{
	const json_t *side;
	bool open = false; /* the last window, if the tracer was killed within it */
	size_t i;

	json_array_foreach(sides, i, side)
	{
		uint64_t from = json_integer_value(json_object_get(side, "from"));
		uint64_t to = json_integer_value(json_object_get(side, "to"));

		if (strcmp(json_string_value(json_object_get(side, "t")), "window") != 0)
			continue;
		if (ts >= from && ts <= to)
			return true;
		open = !to && ts >= from;
	}
	return open;
}

/* Names are told by the programs of operations and transfers. */
static int judge_records(const char *path)
{
	const unsigned int always = 1u << UB_OBJ | 1u << UB_TASK | 1u << UB_MEM;
	uint64_t inside = 0, outside = 0, wrong = 0;
	struct file_reader *reader;
	const struct ub_hdr *h;
	const char *why = "";

	if (file_reader_open(&reader, path, &why)) {
		fprintf(stderr, "strict: %s: %s\n", path, why);
		return 1;
	}
	while (file_reader_next(reader, &h) == 1) {
		bool within = in_window(file_reader_sides(reader), h->ts);

		inside += within;
		outside += !within;
		wrong += !within && !(always >> h->kind & 1);
	}
	file_reader_free(reader);
	printf("%" PRIu64 " records in windows, %" PRIu64 " outside, %" PRIu64 " cannot be\n",
	       inside, outside, wrong);
	return wrong || !inside;
}

int main(int argc, char **argv)
{
	bool windows = argc > 1 && !strcmp(argv[1], "-w");
	char **paths = argv + 1 + windows;
	int bad = 0;

	for (char **path = paths; windows && *path; path++)
		bad |= judge_records(*path);
	return match(paths) | bad;
}
