// SPDX-License-Identifier: BSD-3-Clause
#include "show/top/cells.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"

void cell_plain(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

void cell_say(struct pane_cell *cell, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(cell->text, sizeof(cell->text), format, args);
	va_end(args);
	cell_plain(cell->text);
	cell->key = NAN;
}

void cell_name(struct pane_cell *cell, const char *text)
{
	cell_say(cell, "%s", text ? text : "?");
}

static void say_value(struct pane_cell *cell, const char *text, double value, bool least)
{
	cell_say(cell, "%s%s", isfinite(value) && least ? ">=" : "", text);
	cell->key = value;
}

void cell_count_rate(struct pane_cell *cell, double value, bool least)
{
	char text[32] = "?";

	if (isfinite(value))
		unit_count(text, sizeof(text), (uint64_t)(value + 0.5), false);
	say_value(cell, text, value, least);
}

void cell_number(struct pane_cell *cell, double value)
{
	cell_count_rate(cell, value, false);
}

void cell_byte_rate(struct pane_cell *cell, double value, bool least)
{
	char text[32] = "?";

	if (isfinite(value))
		unit_bytes(text, sizeof(text), (uint64_t)(value + 0.5), false);
	say_value(cell, text, value, least);
}

void cell_size(struct pane_cell *cell, double value)
{
	cell_byte_rate(cell, value, false);
}

void cell_age(struct pane_cell *cell, uint64_t ns)
{
	char text[32] = "?";

	if (ns)
		unit_time(text, sizeof(text), ns, false);
	say_value(cell, text, ns ? (double)ns : NAN, true);
	cell->colour = ns >= CELL_LONG_NS ? PANE_BAD : PANE_PLAIN;
}

void cell_share(struct pane_cell *cell, uint64_t part, uint64_t looks)
{
	unsigned int all = live_looks(looks), some = live_looks(part & looks);

	if (!all)
		cell_say(cell, "-");
	else
		cell_say(cell, "%.0f%%", 100.0 * some / all);
	cell->key = all ? (double)some / all : NAN;
}

void cell_fraction(struct pane_cell *cell, double part, bool least)
{
	char text[32] = "?";

	if (isfinite(part))
		snprintf(text, sizeof(text), "%.1f%%", 100 * part);
	say_value(cell, text, part, least);
}

void cell_percent(struct pane_cell *cell, double part)
{
	cell_fraction(cell, part, false);
}

void cell_process(struct pane_cell *cell, const struct live_process *process)
{
	if (!process)
		cell_say(cell, "?");
	else if (process->rank >= 0)
		cell_say(cell, "%d", process->rank);
	else
		cell_say(cell, "pid %u", process->pid);
	cell->key = process && process->rank >= 0 ? process->rank : NAN;
}
