/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a live view, as text: what a screen draws. */
#ifndef UCXBPF_SHOW_TOP_PANES_H
#define UCXBPF_SHOW_TOP_PANES_H

#include <stdbool.h>

#include "live/live.h"
#include "show/top/top.h"

#define PANE_COLUMNS 10

enum pane_colour { PANE_PLAIN, PANE_DIM, PANE_WARN, PANE_BAD };

struct pane_cell {
	char text[96]; /* one line without control characters; "-" or "?": not known */
	double key; /* by which its column sorts; NAN: by its text, or not known */
	enum pane_colour colour;
};

struct pane_column {
	const char *head;
	int width; /* 0, of the last one: all columns of the window that are left */
	bool left; /* aligned */
};

struct pane_row {
	struct pane_cell cells[PANE_COLUMNS];
};

struct pane {
	const char *title;
	int count; /* of columns */
	struct pane_column columns[PANE_COLUMNS];
	int sort; /* column by which it is in order at first, */
	bool up; /* from the least on */
	VEC(struct pane_row) rows;
	const char *empty; /* shown if there is no row */
};

enum pane_kind {
	PANE_RANKS,
	PANE_PATHS,
	PANE_PAIRS,
	PANE_FUNCTIONS,
	PANE_SITES,
	PANE_STUCK,
	PANE_NICS,
	PANE_ERRORS,
	PANE_TRACER,
	PANES
};

/* The names of all, in their order. */
extern const char *const pane_names[PANES];

/* Fills an empty one. nics: may be NULL. */
void pane_fill(struct pane *pane, enum pane_kind kind, const struct live *live,
	       const struct top_nics *nics);
void pane_release(struct pane *pane);

/* By a column; equal rows stay in their order, unknown cells come last. */
void pane_sort(struct pane *pane, int column, bool up);

/* Keeps rows of which some cell contains the text, whatever the case. */
void pane_filter(struct pane *pane, const char *text);

/* Two lines about all processes: who they are, and how much moves and at what cost. */
void pane_head(const struct live *live, char first[160], char second[600]);

#endif
