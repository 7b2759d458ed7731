// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "show/diff/internal.h"

static void append(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *out, size_t size, const char *format, ...)
{
	const size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, size - used, format, args);
	va_end(args);
}

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
static void measure_text(char *out, size_t size, const struct diff_measure *measure,
			 const struct diff_number *number, bool exact)
{
	char text[3][48];

	if (!number->known) {
		append(out, size, "? %s", measure->name);
		return;
	}
	number_text(text[0], sizeof(text[0]), measure->unit, number->median, exact);
	append(out, size, "%s", text[0]);
	if (number->low == number->high)
		return;
	number_text(text[1], sizeof(text[1]), measure->unit, number->low, exact);
	number_text(text[2], sizeof(text[2]), measure->unit, number->high, exact);
	append(out, size, " (%s to %s)", text[1], text[2]);
}

/* As the bytes of operations that move none. */
static bool is_zero(const struct diff_row *row, int measure)
{
	const struct diff_number *before = &row->values[DIFF_BEFORE].numbers[measure];
	const struct diff_number *after = &row->values[DIFF_AFTER].numbers[measure];

	return before->known && after->known && !before->high && !after->high;
}

static void value_text(char *out, size_t size, const struct diff_row *row, enum diff_side side,
		       bool exact)
{
	const struct diff_value *value = &row->values[side];

	*out = 0;
	if (value->text || !value->there) {
		const bool none = row->table->measures[0].name || value->text;

		snprintf(out, size, "%s", value->text ? value->text : none ? "-" : "?");
		return;
	}
	for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++) {
		if (m && is_zero(row, m))
			continue;
		append(out, size, "%s", m ? ", " : "");
		measure_text(out, size, &row->table->measures[m], &value->numbers[m], exact);
	}
}

/* "x 3.2", "/ 3.2", "+12 %"; below 1 % "+3" */
static void ratio_text(char *out, size_t size, enum diff_unit unit, uint64_t before, uint64_t after)
{
	const double ratio = (double)after / (double)before;
	char text[48];

	if (ratio >= 2) {
		append(out, size, "x %.3g", ratio);
	} else if (ratio <= 0.5) {
		append(out, size, "/ %.3g", 1 / ratio);
	} else if (ratio >= 1.01 || ratio <= 0.99) {
		append(out, size, "%+.2g %%", (ratio - 1) * 100);
	} else {
		number_text(text, sizeof(text), unit,
			    after > before ? after - before : before - after, true);
		append(out, size, "%c%s", after > before ? '+' : '-', text);
	}
}

static void change_text(char *out, size_t size, const struct diff_row *row)
{
	const struct diff_value *before = &row->values[DIFF_BEFORE];
	const struct diff_value *after = &row->values[DIFF_AFTER];
	const char *between = "";

	if (before->text || after->text || (before->there && !after->there) ||
	    (!before->there && after->there)) {
		append(out, size, "%s",
		       !row->table->measures[0].name ? "changed"
		       : after->there                ? "new"
						     : "gone");
		return;
	}
	for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++) {
		const struct diff_number *a = &before->numbers[m], *b = &after->numbers[m];

		if (!a->known || !b->known || a->median == b->median)
			continue;
		append(out, size, "%s%s ", between,
		       row->table->measures[1].name ? row->table->measures[m].name : "");
		if (a->median && b->median)
			ratio_text(out, size, row->table->measures[m].unit, a->median, b->median);
		else
			append(out, size, "%s", b->median ? "new" : "gone");
		between = ", ";
	}
}

/* ---- lines ---- */

/* Names of the tables in front of keys that do not speak for themselves. */
static const char *const prefixes[DIFF_TABLES] = {
	[TABLE_CONTROL] = "control ",
	[TABLE_RETRIES] = "retries ",
	[TABLE_FAILED] = "failed ",
	[TABLE_PROTOCOLS] = "protocol ",
};

static void subject_text(char *out, size_t size, const struct diff_row *row)
{
	const char *prefix = prefixes[row->table - diff_tables];

	append(out, size, "%s", prefix ? prefix : "");
	for (int i = 0; i < DIFF_KEYS && row->table->keys[i]; i++) {
		const char *name = row->table->keys[i], *key = row->keys[i];

		if (!strcmp(name, "memory") && (!key || !strcmp(key, "host")))
			continue;
		if (!strcmp(name, "function") && !key && row->table == &diff_tables[TABLE_SWITCHES])
			continue;
		if (!strcmp(name, "kind") && key && !strcmp(key, "data"))
			continue;
		append(out, size, "%s%s", i ? !strcmp(name, "device") ? "/" : " " : "",
		       key ? key : "unknown");
	}
	if (!row->ranks)
		return;
	if (*row->ranks >= '0' && *row->ranks <= '9')
		append(out, size, " (rank%s %s)", strpbrk(row->ranks, "-,") ? "s" : "", row->ranks);
	else
		append(out, size, " (%s)", row->ranks);
}

void diff_line(const struct diff_row *row, bool exact, char cells[DIFF_COLUMNS][DIFF_CELL])
{
	for (int i = 0; i < DIFF_COLUMNS; i++)
		cells[i][0] = 0;
	subject_text(cells[DIFF_SUBJECT], DIFF_CELL, row);
	value_text(cells[DIFF_OF_BEFORE], DIFF_CELL, row, DIFF_BEFORE, exact);
	value_text(cells[DIFF_OF_AFTER], DIFF_CELL, row, DIFF_AFTER, exact);
	if (row->reason)
		append(cells[DIFF_CHANGE], DIFF_CELL, "%s", row->reason);
	else if (row->verdict == DIFF_SAME)
		append(cells[DIFF_CHANGE], DIFF_CELL, "none");
	else
		change_text(cells[DIFF_CHANGE], DIFF_CELL, row);
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

void diff_verdict(const struct diff *diff, char *out, size_t size)
{
	const size_t differences = diff->outcome.differences;
	const char *between = differences ? ": " : " in ";

	*out = 0;
	if (differences)
		append(out, size, "%zu difference%s", differences, differences > 1 ? "s" : "");
	else
		append(out, size, "no difference found");
	for (int i = 0; i < DIFF_SECTIONS; i++) {
		if (differences ? !diff->changed[i] : !is_compared(diff, (enum diff_section)i))
			continue;
		append(out, size, "%s%s", between, diff_sections[i].title);
		if (differences)
			append(out, size, " %zu", diff->changed[i]);
		between = ", ";
	}
}

static void count_text(char *out, size_t size, size_t count, const char *of, const char *more)
{
	append(out, size, "%zu %s%s", count, of, count == 1 ? "" : more);
}

void diff_run_line(const struct diff_run *run, char *out, size_t size)
{
	*out = 0;
	append(out, size, "%s: ", run->name);
	count_text(out, size, run->processes, "process", "es");
	append(out, size, ", ");
	count_text(out, size, run->hosts, "host", "s");
	append(out, size, ", level %s", level_names[run->level]);
	if (run->counted)
		append(out, size, ", --count");
	append(out, size, ", %s", run->mpi ? run->mpi : "no MPI");
	append(out, size, ", UCX %s", run->ucx ? run->ucx : "unknown");
}

bool diff_shows(const struct diff_row *row, int verbose)
{
	return row->verdict == DIFF_CHANGED || (verbose && row->verdict != DIFF_SAME);
}
