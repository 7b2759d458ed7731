// SPDX-License-Identifier: BSD-3-Clause
/*
 * How close the lower bound of a call's end comes: callends CAPTURE [PATTERN], made with
 * --call-ends. Reads it twice, with the exact ends and without them, and compares call by call;
 * functions that match PATTERN, an extended regular expression, are left out.
 */
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/attribute/attribute.h"
#include "base/map.h"
#include "file/file.h"

struct pair {
	const char *function;
	uint64_t exact, bound; /* durations, ns */
};

struct comparison {
	bool with_ends; /* the pass that is under way */
	regex_t *left_out; /* NULL: nothing */
	VEC(struct pair) pairs;
	struct map by_call; /* (start, thread) -> index + 1 */
	uint64_t calls, ends, inexact;
};

static uint64_t thread_key(const struct call *call)
{
	return (uint64_t)call->process->id << 32 | call->tid;
}

static void on_call(void *arg, const struct call *call)
{
	struct comparison *c = arg;
	uint64_t *slot, duration = call->end.ns - call->start;

	if (c->left_out && !regexec(c->left_out, call->function, 0, NULL, 0))
		return;
	if (c->with_ends && call->end.precision != PRECISION_EXACT) {
		c->inexact++;
	} else if (c->with_ends) {
		vec_push(&c->pairs, ((struct pair){ strdup(call->function), duration, 0 }));
		*map_insert(&c->by_call, call->start, thread_key(call), NULL) = c->pairs.len;
	} else {
		slot = map_find(&c->by_call, call->start, thread_key(call));
		if (slot)
			c->pairs.data[*slot - 1].bound = duration;
	}
}

static void count(struct comparison *c, const struct ub_hdr *h)
{
	const struct ub_polls *polls = (const struct ub_polls *)h;

	c->calls += h->kind == UB_CALL ? 1 : h->kind == UB_POLLS ? polls->count : 0;
	c->ends += h->kind == UB_CALL_END ? 1 : h->kind == UB_POLLS ? polls->ended : 0;
}

static int pass(struct comparison *c, const char *path)
{
	struct attribute_sink sink = { .arg = c, .call = on_call };
	struct decoder decoder;
	struct capture capture = { 0 };
	struct attribute *attribute;
	struct file_reader *reader;
	const struct ub_hdr *h;
	struct event event;
	const char *why = NULL;

	if (file_reader_open(&reader, path, &why)) {
		fprintf(stderr, "callends: %s: %s\n", path, why);
		return 2;
	}
	decoder_init(&decoder);
	decoder_add_capture(&decoder, &capture, file_reader_sides(reader));
	decoder_ready(&decoder);
	attribute = attribute_new(&decoder, &sink);
	while (file_reader_next(reader, &h) == 1) {
		if (c->with_ends)
			count(c, h);
		if ((c->with_ends || h->kind != UB_CALL_END) &&
		    decoder_event(&decoder, &capture, h, &event))
			attribute_event(attribute, &event);
	}
	attribute_finish(attribute);
	attribute_free(attribute);
	capture_release(&capture);
	decoder_release(&decoder);
	file_reader_free(reader);
	return 0;
}

static int by_function(const void *left, const void *right)
{
	return strcmp(((const struct pair *)left)->function,
		      ((const struct pair *)right)->function);
}

static int by_number(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double total(const struct pair *pairs, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pairs[i].exact;
	return sum;
}

static void print_row(const char *name, const struct pair *pairs, size_t n)
{
	double *share = calloc(n, sizeof(*share)), *lacking = calloc(n, sizeof(*lacking));
	double exact = total(pairs, n), bound = 0;

	if (!share || !lacking)
		abort();
	for (size_t i = 0; i < n; i++) {
		bound += pairs[i].bound;
		share[i] = pairs[i].exact ? (double)pairs[i].bound / pairs[i].exact : 1;
		lacking[i] = (double)pairs[i].exact - (double)pairs[i].bound;
	}
	qsort(share, n, sizeof(*share), by_number);
	qsort(lacking, n, sizeof(*lacking), by_number);
	printf("| %s | %zu | %.2f | %.2f | %.1f %% | %.0f %% | %.0f %% | %.2f | %.2f |\n", name, n,
	       exact / 1e6, bound / 1e6, exact > 0 ? 100 * bound / exact : 100.0,
	       100 * share[n / 2], 100 * share[n / 20], lacking[n / 2] / 1e3,
	       lacking[n - 1 - n / 20] / 1e3);
	free(share);
	free(lacking);
}

#define WORTH_A_ROW 1e-3 /* of all time */

static void print_table(const struct comparison *c)
{
	const struct pair *pairs = c->pairs.data;
	double all = total(pairs, c->pairs.len);

	puts("| function | calls | exact, ms | lower bound, ms | of exact | per call: median | p5 | "
	     "lacking, us: median | p95 |\n"
	     "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	for (size_t i = 0, n; i < c->pairs.len; i += n) {
		for (n = 1;
		     i + n < c->pairs.len && !strcmp(pairs[i].function, pairs[i + n].function); n++)
			;
		if (total(pairs + i, n) >= WORTH_A_ROW * all)
			print_row(pairs[i].function, pairs + i, n);
	}
	print_row("all", pairs, c->pairs.len);
}

int main(int argc, char **argv)
{
	struct comparison c = { .with_ends = true };
	regex_t pattern;
	int err = 2;

	if (argc == 3 && !regcomp(&pattern, argv[2], REG_EXTENDED | REG_NOSUB))
		c.left_out = &pattern;
	if (argc == 2 || c.left_out)
		err = pass(&c, argv[1]);
	c.with_ends = false;
	if (!err)
		err = pass(&c, argv[1]);
	if (err || !c.pairs.len) {
		fprintf(stderr, "usage: callends CAPTURE [PATTERN], made with --call-ends\n");
		return 2;
	}
	qsort(c.pairs.data, c.pairs.len, sizeof(*c.pairs.data), by_function);
	printf("%" PRIu64 " calls, %" PRIu64 " ends; outermost calls without an exact end: %" PRIu64
	       "\n\n",
	       c.calls, c.ends, c.inexact);
	print_table(&c);
	if (c.left_out)
		regfree(c.left_out);
	return 0;
}
