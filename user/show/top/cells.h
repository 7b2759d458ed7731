/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of panes: the text of a number, name or time, and the key by which it sorts. */
#ifndef UCXBPF_SHOW_TOP_CELLS_H
#define UCXBPF_SHOW_TOP_CELLS_H

#include "show/top/panes.h"

#define CELL_LONG_NS 5000000000ull /* calls of this length are shown in red */

/* Replaces control characters by '?'. */
void cell_plain(char *text);

void cell_say(struct pane_cell *cell, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* NULL, NAN and unknown processes are shown as '?'. */
void cell_name(struct pane_cell *cell, const char *text);
void cell_number(struct pane_cell *cell, double value);
void cell_size(struct pane_cell *cell, double value);
void cell_percent(struct pane_cell *cell, double part);
void cell_process(struct pane_cell *cell, const struct live_process *process);

/* Counts and bytes per second, and a fraction in percent. least: a lower bound, shown with ">=". */
void cell_count_rate(struct pane_cell *cell, double value, bool least);
void cell_byte_rate(struct pane_cell *cell, double value, bool least);
void cell_fraction(struct pane_cell *cell, double part, bool least);

/* The age of a call, a lower bound. 0: unknown, since only one look has found the call. */
void cell_age(struct pane_cell *cell, uint64_t ns);

/* The share of the inspections in looks that are in part as well; both are bit masks. */
void cell_share(struct pane_cell *cell, uint64_t part, uint64_t looks);

#endif
