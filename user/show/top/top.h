/* SPDX-License-Identifier: BSD-3-Clause */
/* A live view as JSON, back from JSON, and on a screen. */
#ifndef UCXBPF_SHOW_TOP_TOP_H
#define UCXBPF_SHOW_TOP_TOP_H

#include <jansson.h>
#include <stdio.h>

#include "base/vec.h"
#include "live/live.h"

#define TOP_SCHEMA "ucxbpf.top/1"

/* A port of a node, with its own counters. */
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
 * Such an object of any node, as the next interval of a view of it: all that a screen draws. nics
 * borrows texts of the object. False: a member is missing or of another type, *what names it, and
 * the view is as before.
 */
bool top_read(const json_t *object, struct live *live, struct top_nics *nics, const char **what);

/* ---- the screen ---- */

/* How a node's view stands. Rows are those of its last interval, while it goes on. */
enum top_state {
	TOP_STARTS, /* no interval has come */
	TOP_GOES_ON,
	TOP_LATE, /* the next interval should have come */
	TOP_ENDED,
	TOP_FAILED,
};

struct top_node {
	const char *name; /* as the user has it */
	enum top_state state;
	uint64_t silent; /* ns since something came of it, or since it was asked */
	const char *why; /* it has failed; NULL: not known */
	const struct live *live;
	const struct top_nics *nics;
};

struct top_nodes {
	VEC(struct top_node) all;
	bool named; /* rows name their nodes; else there is this node alone, which goes on */
};

struct top_screen;

/* A key asks this of the caller. */
enum top_wish { TOP_NOTHING, TOP_QUIT, TOP_WRITE };

/* Takes the terminal. NULL: no screen can be drawn on it (errno). */
struct top_screen *top_screen_open(void);
/* Gives it back as it was; NULL: nothing. */
void top_screen_close(struct top_screen *screen);

/* There is something new to show; frozen, it is not shown. note: a line for the user, or NULL. */
void top_screen_show(struct top_screen *screen, const struct top_nodes *nodes, const char *note);

/* Takes all keys that were typed, and changes of the window's size. */
enum top_wish top_screen_keys(struct top_screen *screen);

#endif
