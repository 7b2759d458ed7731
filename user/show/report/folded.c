// SPDX-License-Identifier: BSD-3-Clause
/*
 * One line per stack and function, over all processes: "main;solve;MPI_Send 17". Outside MPI it is
 * the operation: "main;send;tag_send 17".
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "show/report/internal.h"

struct folded_line {
	char *text;
	uint64_t amount;
};

enum report_amount report_amount_find(const char *name)
{
	static const char *const names[REPORT_AMOUNTS] = { "calls", "time", "bytes" };
	int i = 0;

	while (i < REPORT_AMOUNTS && strcmp(name, names[i]))
		i++;
	return (enum report_amount)i;
}

struct folded_lines {
	VEC(struct folded_line) all;
};

static uint64_t amount_of(const struct cube_sums *sums, enum report_amount amount)
{
	switch (amount) {
	case REPORT_TIME:
		return sums->time_sum;
	case REPORT_BYTES:
		return sums->bytes;
	case REPORT_CALLS:
	case REPORT_AMOUNTS:
		break;
	}
	return sums->count;
}

/* Semicolons separate frames and newlines separate stacks: names must not contain them. */
static void put_name(FILE *out, const char *name)
{
	char *safe = text_plain(name);

	for (const char *c = safe; *c; c++)
		fputc(*c == ';' ? ':' : *c, out);
	free(safe);
}

static char *line_of(const struct report *report, const struct cube_row *row)
{
	const struct stack *stack = report_stack(report, row->key[2]);
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	if (stack->end)
		fprintf(out, "[%s];", stack->end);
	for (int i = stack->depth; i-- > 0;) {
		put_name(out, stack->frames[i]->frame);
		fputc(';', out);
	}
	put_name(out, cube_key_text(&report_stacks_shape.keys[1], row->key[1]));
	fclose(out);
	return text;
}

/* Lines for rows of all without a stack, by process and name. */
static void add_rest(const struct cube *all, const struct cube *known, enum report_amount amount,
		     struct folded_lines *lines)
{
	for (size_t i = 0; i < all->rows.len; i++) {
		const struct cube_row *row = &all->rows.data[i];
		const struct cube_row *some = cube_find(known, row->key);
		const char *name = cube_key_text(&all->shape->keys[1], row->key[1]);
		uint64_t rest = amount_of(&row->sums, amount);
		struct folded_line line = { NULL,
					    rest - (some ? amount_of(&some->sums, amount) : 0) };

		if (!line.amount)
			continue;
		line.text = xasprintf("[no stack recorded];%s", name);
		vec_push(&lines->all, line);
	}
}

/*
 * Calls without a stack get a line per function, so that all lines add up to all calls; likewise
 * operations outside of calls, which have no stack in older captures.
 */
static void add_unknown(const struct report *report, enum report_amount amount,
			struct folded_lines *lines)
{
	static const struct cube_shape by_op = {
		2,
		{
			{ "process", CUBE_PROCESS, NULL },
			{ "op", CUBE_STRING, "unknown" },
		},
	};
	struct cube known, ops;

	cube_init(&known, &report_calls_shape);
	cube_init(&ops, &by_op);
	cube_rollup(&known, &report->stacks);
	add_rest(&report->calls, &known, amount, lines);
	if (report->knows_op_stacks) {
		cube_rollup(&ops, &report->callers);
		add_rest(&ops, &known, amount, lines);
	}
	cube_release(&ops);
	cube_release(&known);
}

static int by_text(const void *left, const void *right)
{
	return strcmp(((const struct folded_line *)left)->text,
		      ((const struct folded_line *)right)->text);
}

static void print_lines(struct folded_line *lines, size_t count, FILE *out)
{
	for (size_t i = 0, same; i < count; i = same) {
		uint64_t amount = 0;

		for (same = i; same < count && !strcmp(lines[same].text, lines[i].text); same++)
			amount += lines[same].amount;
		if (amount)
			fprintf(out, "%s %" PRIu64 "\n", lines[i].text, amount);
	}
}

int report_folded(const struct report *report, enum report_amount amount, FILE *out)
{
	const struct cube *stacks = &report->stacks;
	struct folded_lines lines = { 0 };

	if (!report->knows_stacks)
		return -ENODATA;
	for (size_t i = 0; i < stacks->rows.len; i++)
		vec_push(&lines.all,
			 ((struct folded_line){ line_of(report, &stacks->rows.data[i]),
						amount_of(&stacks->rows.data[i].sums, amount) }));
	add_unknown(report, amount, &lines);
	if (lines.all.len)
		qsort(lines.all.data, lines.all.len, sizeof(*lines.all.data), by_text);
	errno = 0;
	print_lines(lines.all.data, lines.all.len, out);
	for (size_t i = 0; i < lines.all.len; i++)
		free(lines.all.data[i].text);
	vec_release(&lines.all);
	return text_finish(out);
}
