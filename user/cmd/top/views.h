/* SPDX-License-Identifier: BSD-3-Clause */
/* The views of `top --all-nodes`, one on each node, and where they are shown. */
#ifndef UCXBPF_CMD_TOP_VIEWS_H
#define UCXBPF_CMD_TOP_VIEWS_H

#include <jansson.h>

#include "cmd/nodes/remote.h"
#include "cmd/top/aside.h"
#include "cmd/top/nodes.h"
#include "show/top/top.h"

/* What is known of one node's view. */
struct node_view {
	uint64_t objects;
	bool told; /* how it ended */
	/* for a screen: */
	uint64_t came; /* ns, CLOCK_MONOTONIC, when its last object did */
	json_t *last; /* that object */
	struct live *live;
	struct top_nics nics; /* of it */
};

/* `w`: captures of all nodes beside the view, by `attach --all-nodes`. */
struct nodes_writing {
	struct child child;
	char *folder, *log; /* for captures, and its output; NULL: it does not run */
	size_t nodes;
};

struct views {
	const struct nodes_top *top;
	const struct nodes_of_job *nodes;
	const char *temporary; /* folder */
	struct remotes remotes;
	VEC(struct node_view) list; /* in their order */
	uint64_t asked; /* ns, from when on they are expected to say something */
	bool finishes; /* they were told to end */
	int err; /* of standard output */
	/* the screen, which is there once nodes have something to show, or let the user wait */
	struct top_screen *screen;
	struct aside aside;
	bool any; /* an interval has come */
	bool fresh; /* more has come than it shows */
	uint64_t drawn; /* ns, when it was */
	char note[200]; /* for the user, */
	uint64_t noted; /* ns, since when */
	struct nodes_writing writing;
};

/* ---- on standard output (print.c) ---- */

/* With its node's name. 0 or -errno; -ECANCELED: a signal came before a reader took it. */
int views_print(struct views *views, const json_t *object, const char *node);

/* ---- on the screen (screen.c) ---- */

/* The node's next interval. */
void views_take(struct views *views, size_t which, json_t *object);

/* Shows the user a line on the screen for a while. */
void views_note(struct views *views, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the node's last interval is of now. */
bool view_goes_on(const struct views *views, size_t which);

/* Draws new intervals, and follows keys. */
void views_show(struct views *views);

/* Gives the terminal back, and frees what only a screen needs. */
void views_close(struct views *views);

/* ---- captures beside the view (write.c) ---- */

/* On the nodes whose views go on; one at a time. */
void writing_begin(struct views *views);

/* Notes its end. */
void writing_step(struct views *views);

/* Ends it early, waits for its captures, and prints their folder. */
void writing_end(struct views *views);

#endif
