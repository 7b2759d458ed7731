// SPDX-License-Identifier: BSD-3-Clause
/* One line per path and function, all processes together: "main;solve;MPI_Send 17". */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report/internal.h"

struct line {
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

/* A semicolon separates frames, so names cannot have one. */
static void put_frame(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name, out);
	fputc(';', out);
}

static char *line_of(const struct report *report, const struct cube_row *row)
{
	const struct stack *stack = report_stack(report, row->key[2]);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	if (stack->end)
		fprintf(out, "[%s];", stack->end);
	for (int i = stack->depth; i-- > 0;)
		put_frame(out, stack->frames[i]->frame);
	fputs(cube_key_text(&report_stacks_shape.keys[1], row->key[1]), out);
	fclose(out);
	return text;
}

static int by_text(const void *left, const void *right)
{
	return strcmp(((const struct line *)left)->text, ((const struct line *)right)->text);
}

static void print_lines(struct line *lines, size_t count, FILE *out)
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
	VEC(struct line) lines = { 0 };

	if (!report->knows_stacks)
		return -ENODATA;
	for (size_t i = 0; i < stacks->rows.len; i++)
		vec_push(&lines, ((struct line){ line_of(report, &stacks->rows.data[i]),
						 amount_of(&stacks->rows.data[i].sums, amount) }));
	if (lines.len)
		qsort(lines.data, lines.len, sizeof(*lines.data), by_text);
	errno = 0;
	print_lines(lines.data, lines.len, out);
	for (size_t i = 0; i < lines.len; i++)
		free(lines.data[i].text);
	vec_release(&lines);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
