/* SPDX-License-Identifier: BSD-3-Clause */
/* A live view as JSON and on a screen. */
#ifndef UCXBPF_SHOW_TOP_TOP_H
#define UCXBPF_SHOW_TOP_TOP_H

#include <stdio.h>

#include "base/vec.h"
#include "live/live.h"

#define TOP_SCHEMA "ucxbpf.top/1"

/* A port of this node, with its own counters. */
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

/* ---- the screen ---- */

struct top_screen;

/* A key asks this of the caller. */
enum top_wish { TOP_NOTHING, TOP_QUIT, TOP_WRITE };

/* Takes the terminal. NULL: no screen can be drawn on it (errno). */
struct top_screen *top_screen_open(void);
/* Gives it back as it was; NULL: nothing. */
void top_screen_close(struct top_screen *screen);

/* There is something new to show; frozen, it is not shown. note: a line for the user, or NULL. */
void top_screen_show(struct top_screen *screen, const struct live *live,
		     const struct top_nics *nics, const char *note);

/* Takes all keys that were typed, and changes of the window's size. */
enum top_wish top_screen_keys(struct top_screen *screen);

#endif
