/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of panes: what a number, a name or a time looks like, and by which key it sorts. */
#ifndef UCXBPF_SHOW_TOP_CELLS_H
#define UCXBPF_SHOW_TOP_CELLS_H

#include "show/top/panes.h"

#define CELL_LONG_NS 5000000000ull /* a call that goes on for so long is shown as trouble */

/* Control characters become ?. */
void cell_plain(char *text);

void cell_say(struct pane_cell *cell, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* NULL, NAN and negative ranks are ?. */
void cell_name(struct pane_cell *cell, const char *text);
void cell_number(struct pane_cell *cell, double value);
void cell_size(struct pane_cell *cell, double value);
void cell_percent(struct pane_cell *cell, double part);
void cell_process(struct pane_cell *cell, const struct live_process *process);

/* Bytes per second; least: it is a lower bound. */
void cell_speed(struct pane_cell *cell, double value, bool least);

void cell_age(struct pane_cell *cell, uint64_t ns, bool known);

/* The share of looks in the mask, among all looks that know. */
void cell_share(struct pane_cell *cell, uint64_t part, uint64_t looks);

#endif
