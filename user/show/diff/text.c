// SPDX-License-Identifier: BSD-3-Clause
/* The comparison for a terminal: the verdict, both sides, then a table for each section. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "show/diff/internal.h"
#include "show/report/table.h"

#define MOST_ROWS 12 /* of a section, without -v */
#define MOST_RUNS 4 /* of a side, likewise */

typedef VEC(struct diff_line) diff_lines;

struct diff_writing {
	const struct diff *diff;
	const struct report_text_options *options;
	FILE *out;
};

static void print_cell(char *cell, size_t size, const struct diff_line *line, int column)
{
	char *plain = text_plain(line->cells[column]);

	snprintf(cell, size, "%.*s", (int)text_fit(plain, (int)size / 4), plain);
	free(plain);
}

#define CELL_PRINTER(name, column)                                                                 \
	static void name(char *cell, size_t size, const void *row, const void *context)            \
	{                                                                                          \
		(void)context;                                                                     \
		print_cell(cell, size, row, column);                                               \
	}
CELL_PRINTER(print_subject, DIFF_SUBJECT)
CELL_PRINTER(print_before, DIFF_OF_BEFORE)
CELL_PRINTER(print_after, DIFF_OF_AFTER)
CELL_PRINTER(print_change, DIFF_CHANGE)

static void print_table(const struct diff_writing *text, const char *title,
			const struct diff_line *lines, size_t count)
{
	const struct table_column columns[DIFF_COLUMNS] = {
		{ title, true, 0, 0, print_subject },
		{ "before", true, 0, 0, print_before },
		{ "after", true, 0, 0, print_after },
		{ "change", true, 0, 0, print_change },
	};
	const void **rows = xcalloc(count, sizeof(*rows));
	const struct report_table table = { columns, DIFF_COLUMNS, NULL, rows, count };

	for (size_t i = 0; i < count; i++)
		rows[i] = &lines[i];
	table_print(text->out, text->options, &table);
	free(rows);
}

static void print_plain(const struct diff_writing *text, const char *head, const char *line)
{
	char *plain = text_plain(line);

	fprintf(text->out, "%s%s\n", head, plain);
	free(plain);
}

/* A row that is too long for a table: nothing of it may be cut, its end may be what differs. */
static void print_stacked(const struct diff_writing *text, const struct diff_line *line)
{
	static const char *const heads[DIFF_COLUMNS] = { "  ", "    before  ", "    after   ",
							 "    change  " };

	for (int column = 0; column < DIFF_COLUMNS; column++)
		print_plain(text, heads[column], line->cells[column]);
}

/* Whether a table of these lines has room for this one, too; widths: the columns' so far. */
static bool fits(const struct diff_writing *text, const struct diff_line *line,
		 int widths[DIFF_COLUMNS])
{
	int total = 2 * DIFF_COLUMNS, wider[DIFF_COLUMNS];

	for (int column = 0; column < DIFF_COLUMNS; column++) {
		const int width = text_width(line->cells[column]);

		wider[column] = width > widths[column] ? width : widths[column];
		total += wider[column];
		if (width >= TABLE_CELL / 4)
			return false;
	}
	if (total > text->options->width)
		return false;
	memcpy(widths, wider, sizeof(wider));
	return true;
}

static void print_lines(const struct diff_writing *text, const char *title, const diff_lines *lines)
{
	int widths[DIFF_COLUMNS] = { text_width(title), 6, 5, 6 };
	diff_lines short_ones = { 0 };
	bool *stacked = xcalloc(lines->len, sizeof(*stacked));

	for (size_t i = 0; i < lines->len; i++) {
		stacked[i] = !fits(text, &lines->data[i], widths);
		if (!stacked[i])
			vec_push(&short_ones, lines->data[i]);
	}
	if (short_ones.len)
		print_table(text, title, short_ones.data, short_ones.len);
	else
		fprintf(text->out, "%s\n", title);
	for (size_t i = 0; i < lines->len; i++)
		if (stacked[i])
			print_stacked(text, &lines->data[i]);
	vec_release(&short_ones);
	free(stacked);
}

static void print_section(const struct diff_writing *text, enum diff_section section)
{
	const struct diff *diff = text->diff;
	diff_lines lines = { 0 };
	char title[32];
	size_t left_out = 0;

	for (size_t i = 0; i < diff->rows.len; i++) {
		const struct diff_row *row = &diff->rows.data[i];

		if (row->table->section != section || !diff_shows(row, text->options->verbose))
			continue;
		if (lines.len >= MOST_ROWS && !text->options->verbose)
			left_out++;
		else
			vec_push(&lines, diff_line(row, text->options->exact));
	}
	if (!lines.len)
		return;
	snprintf(title, sizeof(title), "%s", diff_sections[section].title);
	for (char *c = title; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	fputc('\n', text->out);
	print_lines(text, title, &lines);
	if (left_out)
		fprintf(text->out, "  ... %zu more (-v)\n", left_out);
	for (size_t i = 0; i < lines.len; i++)
		diff_line_release(&lines.data[i]);
	vec_release(&lines);
}

static void print_side(const struct diff_writing *text, enum diff_side side)
{
	const struct diff *diff = text->diff;
	size_t shown = 0;

	for (size_t i = 0; i < diff->runs.len; i++) {
		char *line;

		if (diff->runs.data[i].side != side)
			continue;
		if (shown == MOST_RUNS && !text->options->verbose) {
			fprintf(text->out, "         ... %zu more runs (-v)\n",
				diff->run_count[side] - shown);
			return;
		}
		line = diff_run_line(&diff->runs.data[i]);
		print_plain(text,
			    shown++               ? "         "
			    : side == DIFF_BEFORE ? "before:  "
						  : "after:   ",
			    line);
		free(line);
	}
}

/* Rows that -v would show: how many there are of each verdict. */
static void print_rest(const struct diff_writing *text)
{
	size_t count[DIFF_VERDICTS] = { 0 };

	for (size_t i = 0; i < text->diff->rows.len; i++)
		count[text->diff->rows.data[i].verdict]++;
	if (text->options->verbose || !(count[DIFF_VARIES] + count[DIFF_UNCOMPARED]))
		return;
	fprintf(text->out,
		"\nnot counted (-v): %zu rows that vary by timing or between runs, %zu that were not compared\n",
		count[DIFF_VARIES], count[DIFF_UNCOMPARED]);
}

int diff_text(const struct diff *diff, const struct report_text_options *options, FILE *out)
{
	const struct diff_writing text = { diff, options, out };
	char *verdict = diff_verdict(diff);

	style_on(out, options, diff->outcome.differences ? STYLE_WARN : STYLE_BOLD);
	fputs(verdict, out);
	free(verdict);
	style_off(out, options, STYLE_BOLD);
	fputc('\n', out);
	print_side(&text, DIFF_BEFORE);
	print_side(&text, DIFF_AFTER);
	for (size_t i = 0; i < diff->limits.notes.len; i++)
		print_plain(&text, "note:    ", diff->limits.notes.data[i]);
	for (int i = 0; i < DIFF_SECTIONS; i++)
		print_section(&text, (enum diff_section)i);
	print_rest(&text);
	return text_finish(out);
}
