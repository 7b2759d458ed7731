// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "show/diff/internal.h"

/* ---- numbers ---- */

static void number_text(char *out, size_t size, enum diff_unit unit, uint64_t number, bool exact)
{
	switch (unit) {
	case UNIT_BYTES:
		return unit_bytes(out, size, number, exact);
	case UNIT_NS:
		return unit_time(out, size, number, exact);
	default:
		return unit_count(out, size, number, exact);
	}
}

/* "2.06 us (1.90 us to 2.40 us)" */
static void measure_text(FILE *out, const struct diff_measure *measure,
			 const struct diff_number *number, bool exact)
{
	char text[3][48];

	if (!number->known) {
		fprintf(out, "? %s", measure->name);
		return;
	}
	number_text(text[0], sizeof(text[0]), measure->unit, number->median, exact);
	fprintf(out, "%s", text[0]);
	if (number->low == number->high)
		return;
	number_text(text[1], sizeof(text[1]), measure->unit, number->low, exact);
	number_text(text[2], sizeof(text[2]), measure->unit, number->high, exact);
	fprintf(out, " (%s to %s)", text[1], text[2]);
}

/* As the bytes of operations that move none. */
static bool is_zero(const struct diff_row *row, int measure)
{
	const struct diff_number *before = &row->values[DIFF_BEFORE].numbers[measure];
	const struct diff_number *after = &row->values[DIFF_AFTER].numbers[measure];

	return before->known && after->known && !before->high && !after->high;
}

static void value_text(FILE *out, const struct diff_row *row, enum diff_side side, bool exact)
{
	const struct diff_value *value = &row->values[side];

	if (value->text || !value->there) {
		const bool none = row->table->measures[0].name || value->text;

		fputs(value->text ? value->text : none ? "-" : "?", out);
		return;
	}
	for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++) {
		if (m && is_zero(row, m))
			continue;
		fprintf(out, "%s", m ? ", " : "");
		measure_text(out, &row->table->measures[m], &value->numbers[m], exact);
	}
}

/* "x 3.2", "/ 3.2", "+12 %"; below 1 % "+3" */
static void ratio_text(FILE *out, enum diff_unit unit, uint64_t before, uint64_t after)
{
	const double ratio = (double)after / (double)before;
	char text[48];

	if (ratio >= 2) {
		fprintf(out, "x %.3g", ratio);
	} else if (ratio <= 0.5) {
		fprintf(out, "/ %.3g", 1 / ratio);
	} else if (ratio >= 1.01 || ratio <= 0.99) {
		fprintf(out, "%+.2g %%", (ratio - 1) * 100);
	} else {
		number_text(text, sizeof(text), unit,
			    after > before ? after - before : before - after, true);
		fprintf(out, "%c%s", after > before ? '+' : '-', text);
	}
}

static void change_text(FILE *out, const struct diff_row *row)
{
	const struct diff_value *before = &row->values[DIFF_BEFORE];
	const struct diff_value *after = &row->values[DIFF_AFTER];
	const char *between = "";

	if (before->text || after->text || (before->there && !after->there) ||
	    (!before->there && after->there)) {
		fprintf(out, "%s",
			!row->table->measures[0].name ? "changed"
			: after->there                ? "new"
						      : "gone");
		return;
	}
	for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++) {
		const struct diff_number *a = &before->numbers[m], *b = &after->numbers[m];

		if (!a->known || !b->known || a->median == b->median)
			continue;
		fprintf(out, "%s%s ", between,
			row->table->measures[1].name ? row->table->measures[m].name : "");
		if (a->median && b->median)
			ratio_text(out, row->table->measures[m].unit, a->median, b->median);
		else
			fprintf(out, "%s", b->median ? "new" : "gone");
		between = ", ";
	}
}

/* ---- lines ---- */

/* Names of the tables in front of keys that do not speak for themselves. */
static const char *const prefixes[DIFF_TABLES] = {
	[TABLE_CONTROL] = "control ",       [TABLE_RETRIES] = "retries ",
	[TABLE_FAILED] = "failed ",         [TABLE_PROTOCOLS] = "protocol ",
	[TABLE_COLLECTIVES] = "algorithm ", [TABLE_CALLERS] = "caller ",
};

static void subject_text(FILE *out, const struct diff_row *row)
{
	const char *prefix = prefixes[row->table - diff_tables];

	fprintf(out, "%s", prefix ? prefix : "");
	for (int i = 0; i < DIFF_KEYS && row->table->keys[i]; i++) {
		const char *name = row->table->keys[i], *key = row->keys[i];

		if (row->table == &diff_tables[TABLE_COLLECTIVES] && !row->keys[3] && i)
			continue;
		if (!strcmp(name, "memory") && (!key || !strcmp(key, "host")))
			continue;
		if (!strcmp(name, "function") && !key && row->table == &diff_tables[TABLE_SWITCHES])
			continue;
		if (!strcmp(name, "kind") && key && !strcmp(key, "data"))
			continue;
		fprintf(out, "%s%s", i ? !strcmp(name, "device") ? "/" : " " : "",
			key ? key : "unknown");
	}
	if (row->table == &diff_tables[TABLE_COLLECTIVES] && !row->keys[3])
		fputs(" unknown", out);
	if (!row->ranks)
		return;
	if (*row->ranks >= '0' && *row->ranks <= '9')
		fprintf(out, " (rank%s %s)", strpbrk(row->ranks, "-,") ? "s" : "", row->ranks);
	else
		fprintf(out, " (%s)", row->ranks);
}

static void cell_text(FILE *out, const struct diff_row *row, enum diff_column column, bool exact)
{
	switch (column) {
	case DIFF_SUBJECT:
		return subject_text(out, row);
	case DIFF_OF_BEFORE:
		return value_text(out, row, DIFF_BEFORE, exact);
	case DIFF_OF_AFTER:
		return value_text(out, row, DIFF_AFTER, exact);
	default:
		break;
	}
	if (row->reason)
		fputs(row->reason, out);
	else if (row->verdict == DIFF_SAME)
		fputs("none", out);
	else
		change_text(out, row);
}

struct diff_line diff_line(const struct diff_row *row, bool exact)
{
	struct diff_line line;
	size_t size;

	for (int column = 0; column < DIFF_COLUMNS; column++) {
		FILE *out = xmemstream(&line.cells[column], &size);

		cell_text(out, row, (enum diff_column)column, exact);
		fclose(out);
	}
	return line;
}

void diff_line_release(struct diff_line *line)
{
	for (int column = 0; column < DIFF_COLUMNS; column++)
		free(line->cells[column]);
}

/* The sections of which no difference was found, though they were compared. */
static bool is_compared(const struct diff *diff, enum diff_section section)
{
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table->section == section &&
		    diff->rows.data[i].verdict != DIFF_UNCOMPARED &&
		    diff->rows.data[i].verdict != DIFF_VARIES)
			return true;
	return false;
}

char *diff_verdict(const struct diff *diff)
{
	const size_t differences = diff->outcome.differences;
	const char *between = differences ? ": " : " in ";
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	if (differences)
		fprintf(out, "%zu difference%s", differences, differences > 1 ? "s" : "");
	else
		fputs("no difference found", out);
	for (int i = 0; i < DIFF_SECTIONS; i++) {
		if (differences ? !diff->changed[i] : !is_compared(diff, (enum diff_section)i))
			continue;
		fprintf(out, "%s%s", between,
			i == DIFF_COUNTS && !differences && diff->limits.unsized
				? "counts and a part of the bytes"
				: diff_sections[i].title);
		if (differences)
			fprintf(out, " %zu", diff->changed[i]);
		between = ", ";
	}
	fclose(out);
	return text;
}

char *diff_run_line(const struct diff_run *run)
{
	const char *no_mpi = run->undescribed ? "MPI unknown" : "no MPI";

	return xasprintf("%s: %zu process%s, %zu host%s, level %s%s, %s, UCX %s", run->name,
			 run->processes, run->processes == 1 ? "" : "es", run->hosts,
			 run->hosts == 1 ? "" : "s", level_names[run->level],
			 run->counted ? ", --count" : "", run->mpi ? run->mpi : no_mpi,
			 run->ucx ? run->ucx : "unknown");
}

bool diff_shows(const struct diff_row *row, int verbose)
{
	return row->verdict == DIFF_CHANGED || (verbose && row->verdict != DIFF_SAME);
}
