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

void cell_number(struct pane_cell *cell, double value)
{
	char text[32] = "?";

	if (isfinite(value))
		unit_count(text, sizeof(text), (uint64_t)(value + 0.5), false);
	cell_say(cell, "%s", text);
	cell->key = value;
}

void cell_speed(struct pane_cell *cell, double value, bool least)
{
	char text[32] = "?";

	if (isfinite(value))
		unit_bytes(text, sizeof(text), (uint64_t)(value + 0.5), false);
	cell_say(cell, "%s%s", isfinite(value) && least ? ">=" : "", text);
	cell->key = value;
}

void cell_size(struct pane_cell *cell, double value)
{
	cell_speed(cell, value, false);
}

void cell_age(struct pane_cell *cell, uint64_t ns)
{
	char text[32] = "?";

	if (ns)
		unit_time(text, sizeof(text), ns, false);
	cell_say(cell, "%s%s", ns ? ">=" : "", text);
	cell->key = ns ? (double)ns : NAN;
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

void cell_percent(struct pane_cell *cell, double part)
{
	if (isfinite(part))
		cell_say(cell, "%.1f%%", 100 * part);
	else
		cell_say(cell, "?");
	cell->key = part;
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
