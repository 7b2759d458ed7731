// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vec.h"

#define PLAIN_WIDTH 100
#define LEAST_WIDTH 60
#define MOST_WIDTH 1000

/* NULL: not set, or empty */
static const char *set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value ? value : NULL;
}

static bool locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (int i = 0; i < 3; i++) {
		const char *value = set(variables[i]);

		if (value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static bool dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !strcmp(term, "dumb");
}

/* A pipe has no width, but COLUMNS may be set. */
static int asked_width(void)
{
	const char *columns = set("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (width <= 0 || width > MOST_WIDTH)
		return PLAIN_WIDTH;
	return width < LEAST_WIDTH ? LEAST_WIDTH : (int)width;
}

void report_text_options_detect(struct report_text_options *options, FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	options->width = asked_width();
	options->colour = options->utf8 = false;
	if (fd < 0 || !isatty(fd))
		return;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		options->width = size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
	options->colour = !set("NO_COLOR") && !dumb();
	options->utf8 = locale_is_utf8() && !dumb();
}

static const char *const escapes[] = {
	[STYLE_PLAIN] = "",
	[STYLE_BOLD] = "\033[1m",
	[STYLE_DIM] = "\033[2m",
	[STYLE_WARN] = "\033[33m",
};

void style_on(FILE *out, const struct report_text_options *options, enum style style)
{
	if (options->colour)
		fputs(escapes[style], out);
}

void style_off(FILE *out, const struct report_text_options *options, enum style style)
{
	if (options->colour && style != STYLE_PLAIN)
		fputs("\033[0m", out);
}

static bool starts_character(char byte)
{
	return (byte & 0xc0) != 0x80;
}

int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += starts_character(*text);
	return width;
}

size_t text_fit(const char *text, int width)
{
	size_t len = 0;

	while (text[len] && (width > 0 || !starts_character(text[len]))) {
		width -= starts_character(text[len]);
		len++;
	}
	return len;
}

#define INDENT 2
#define GAP 2

struct grid {
	const struct report_table *table;
	char (*cells)[TABLE_CELL]; /* row by row */
	int width[TABLE_MAX_COLUMNS];
	bool dropped[TABLE_MAX_COLUMNS];
};

/* Names come from the traced job: none may control the terminal. */
static void tame(char *cell)
{
	char *plain = text_plain(cell);

	strcpy(cell, plain); /* never longer */
	free(plain);
}

static void fill(struct grid *grid)
{
	const struct report_table *table = grid->table;
	size_t room = 0;

	grid->cells = vec_grow(NULL, &room, table->row_count * table->column_count + 1,
			       sizeof(*grid->cells));
	for (int c = 0; c < table->column_count; c++)
		grid->width[c] = text_width(table->columns[c].header);
	for (size_t r = 0; r < table->row_count; r++)
		for (int c = 0; c < table->column_count; c++) {
			char *cell = grid->cells[r * table->column_count + c];

			cell[0] = '\0';
			table->columns[c].print(cell, TABLE_CELL, table->rows[r], table->context);
			tame(cell);
			if (text_width(cell) > grid->width[c])
				grid->width[c] = text_width(cell);
		}
}

static int total_width(const struct grid *grid, bool cut)
{
	int total = INDENT - GAP;

	for (int c = 0; c < grid->table->column_count; c++) {
		int least = cut ? grid->table->columns[c].cut_to : 0;

		if (!grid->dropped[c])
			total += GAP + (least && least < grid->width[c] ? least : grid->width[c]);
	}
	return total;
}

static bool drop_one(struct grid *grid)
{
	int worst = -1;

	for (int c = 0; c < grid->table->column_count; c++)
		if (!grid->dropped[c] && grid->table->columns[c].drop &&
		    (worst < 0 || grid->table->columns[c].drop > grid->table->columns[worst].drop))
			worst = c;
	if (worst >= 0)
		grid->dropped[worst] = true;
	return worst >= 0;
}

static void cut(struct grid *grid, int width)
{
	while (total_width(grid, false) > width) {
		int widest = -1;

		for (int c = 0; c < grid->table->column_count; c++) {
			int least = grid->table->columns[c].cut_to;

			if (least && !grid->dropped[c] && grid->width[c] > least &&
			    (widest < 0 || grid->width[c] > grid->width[widest]))
				widest = c;
		}
		if (widest < 0)
			return;
		grid->width[widest]--;
	}
}

static void pad(FILE *out, int columns)
{
	if (columns > 0)
		fprintf(out, "%*s", columns, "");
}

static void print_cell(FILE *out, const struct report_text_options *options, const char *text,
		       int width, bool left, bool last)
{
	const char *mark = options->utf8 ? "…" : "~";
	bool too_wide = text_width(text) > width;
	int used = too_wide ? width : text_width(text);

	if (!left)
		pad(out, width - used);
	fwrite(text, 1, text_fit(text, too_wide ? width - 1 : width), out);
	if (too_wide)
		fputs(mark, out);
	if (left && !last)
		pad(out, width - used);
}

static int last_shown(const struct grid *grid)
{
	int c = grid->table->column_count - 1;

	while (c > 0 && grid->dropped[c])
		c--;
	return c;
}

/* The header (cells is NULL) is outdented from the rows. */
static void print_line(FILE *out, const struct report_text_options *options,
		       const struct grid *grid, char (*cells)[TABLE_CELL])
{
	int last = last_shown(grid), gap = cells ? INDENT : 0, hang = cells ? 0 : INDENT;

	for (int c = 0; c <= last; c++) {
		const struct table_column *column = &grid->table->columns[c];

		if (grid->dropped[c])
			continue;
		pad(out, gap);
		print_cell(out, options, cells ? cells[c] : column->header, grid->width[c] + hang,
			   column->left, c == last);
		gap = GAP;
		hang = 0;
	}
	fputc('\n', out);
}

void table_print(FILE *out, const struct report_text_options *options,
		 const struct report_table *table)
{
	struct grid grid = { .table = table };

	fill(&grid);
	while (total_width(&grid, true) > options->width && drop_one(&grid))
		;
	cut(&grid, options->width);
	style_on(out, options, STYLE_BOLD);
	print_line(out, options, &grid, NULL);
	style_off(out, options, STYLE_BOLD);
	for (size_t r = 0; r < table->row_count; r++)
		print_line(out, options, &grid, &grid.cells[r * table->column_count]);
	free(grid.cells);
}
