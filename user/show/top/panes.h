/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a live view, as text: what a screen draws. */
#ifndef UCXBPF_SHOW_TOP_PANES_H
#define UCXBPF_SHOW_TOP_PANES_H

#include <stdbool.h>

#include "show/top/top.h"

#define PANE_COLUMNS 10

enum pane_colour { PANE_PLAIN, PANE_DIM, PANE_WARN, PANE_BAD };

struct pane_cell {
	char text[160]; /* one line without control characters; "-" or "?": not known */
	double key; /* by which its column sorts; NAN: by its text, or not known */
	enum pane_colour colour;
	bool spans; /* the rest of the row */
};

#define PANE_NARROW 100 /* a window with fewer columns is narrow */
#define PANE_LEFT_OUT (-1)

struct pane_column {
	const char *head;
	int width; /* 0, only of the last one: the rest of the window */
	bool left; /* aligned */
	int narrow; /* width in a narrow window; 0: the same */
	bool tail; /* a longer text is cut at its start */
};

struct pane_row {
	struct pane_cell cells[PANE_COLUMNS];
};

struct pane {
	const char *title;
	int count; /* of columns; the first one has the node */
	struct pane_column columns[PANE_COLUMNS];
	int sort; /* initial sort column */
	bool up; /* initially ascending */
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
	PANE_NODES, /* states of nodes' views; only with several nodes */
	PANES
};

const char *pane_name(enum pane_kind kind);

/* Fills an empty pane. */
void pane_fill(struct pane *pane, enum pane_kind kind, const struct top_nodes *nodes);
void pane_release(struct pane *pane);

/* Width of a column in a window of that many columns. PANE_LEFT_OUT: it is not shown there. */
int pane_width(const struct pane *pane, int column, int window);

/* By a column; equal rows stay in their order, unknown cells come last. */
void pane_sort(struct pane *pane, int column, bool up);

/* Keeps rows of which some cell contains the text, whatever the case. */
void pane_filter(struct pane *pane, const char *text);

/* The lines above all panes. */
struct pane_head {
	char who[200];
	/* in the same line: nodes without current numbers, by name and as counts; "": none */
	char trouble[400], troubles[80];
	char much[1000]; /* traffic, and the tracer's cost */
};

void pane_head(const struct top_nodes *nodes, struct pane_head *head);

#endif
