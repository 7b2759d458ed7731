/* SPDX-License-Identifier: BSD-3-Clause */
/* A live view as JSON, back from JSON, and on a screen. */
#ifndef UCXBPF_SHOW_TOP_TOP_H
#define UCXBPF_SHOW_TOP_TOP_H

#include <jansson.h>
#include <stdio.h>

#include "base/vec.h"
#include "live/live.h"

#define TOP_SCHEMA "ucxbpf.top/1"

/* A port, with the counters of its hardware. */
struct top_nic {
	const char *name; /* as UCX names it: "mlx5_0:1", "eth0" */
	const char *state; /* NULL: unknown */
	double rate; /* B/s of its link; NAN: unknown */
	double in, out; /* B/s by the port's counters, of all traffic; NAN: unknown */
	double traced; /* B/s over it that the traced processes started; NAN: unknown */
	int numa; /* node; -1: unknown */
};

struct top_nics {
	VEC(struct top_nic) all;
};

/* B/s that traced processes moved over a device in the last interval, sent or fetched. */
double top_traced(const struct live *live, const char *device);

/* The interval as one JSON object on one line (docs/top.schema.json). 0 or -errno of a write. */
int top_json(const struct live *live, const struct top_nics *nics, FILE *out);

/*
 * Adds the interval in such an object, of any node, to a view of that node. nics borrows texts of
 * the object. False: a member is missing or has a wrong type, *what names it, and the view is
 * unchanged.
 */
bool top_read(const json_t *object, struct live *live, struct top_nics *nics, const char **what);

/* ---- the screen ---- */

/* State of a node's view, whose rows are those of its last interval. */
enum top_state {
	TOP_STARTING, /* no interval has arrived */
	TOP_RUNNING,
	TOP_LATE, /* the next interval is overdue */
	TOP_ENDED,
	TOP_FAILED,
};

struct top_node {
	const char *name; /* as the user knows it */
	enum top_state state;
	uint64_t silent; /* ns since its last interval, or since its view was started */
	const char *why; /* reason of a failure; NULL: unknown, or none */
	const struct live *live;
	const struct top_nics *nics;
};

struct top_nodes {
	VEC(struct top_node) all;
	bool named; /* rows have their node; false: there is only this node, with current numbers */
};

struct top_screen;

/* The action that a key asks of the caller. */
enum top_wish { TOP_NOTHING, TOP_QUIT, TOP_WRITE };

/* Takes the terminal. NULL: no screen can be drawn on it (errno). */
struct top_screen *top_screen_open(void);
/* Restores it. NULL: does nothing. */
void top_screen_close(struct top_screen *screen);

/* Draws the nodes, unless the user froze the screen. note: a line for the user, or NULL. */
void top_screen_show(struct top_screen *screen, const struct top_nodes *nodes, const char *note);

/* Handles all keys that were typed, and changes of the window's size. */
enum top_wish top_screen_keys(struct top_screen *screen);

#endif
