/* SPDX-License-Identifier: BSD-3-Clause */
/* The views of `top --all-nodes`, one on each node, and where they are shown. */
#ifndef UCXBPF_CMD_TOP_VIEWS_H
#define UCXBPF_CMD_TOP_VIEWS_H

#include <jansson.h>

#include "cmd/nodes/remote.h"
#include "cmd/top/aside.h"
#include "cmd/top/nodes.h"
#include "show/top/top.h"

/* The view of one node. */
struct node_view {
	uint64_t objects;
	bool told; /* its end was reported */
	/* only for a screen: */
	uint64_t came; /* ns, CLOCK_MONOTONIC, of its last object */
	json_t *last; /* its last object */
	struct live *live;
	struct top_nics nics; /* from that object */
};

/* `w`: captures of all nodes beside the view, by `attach --all-nodes`. */
struct nodes_writing {
	struct child child;
	char *folder, *log; /* of the captures, and of the child's output; NULL: no child runs */
};

struct views {
	const struct nodes_top *top;
	const struct nodes_of_job *nodes;
	const char *temporary; /* folder */
	struct remotes remotes;
	VEC(struct node_view) list; /* in the order of remotes */
	uint64_t asked; /* ns, since when an answer is expected */
	bool finishes; /* the nodes were asked to end */
	int err; /* of a write to standard output, or of the screen */
	/* opened at the first interval, or when it takes long to arrive */
	struct top_screen *screen;
	struct aside aside;
	bool any; /* an interval has arrived */
	bool fresh; /* something has changed since it was drawn */
	uint64_t drawn; /* ns, of the last drawing */
	char note[200]; /* for the user */
	uint64_t noted; /* ns, when the note was set */
	struct nodes_writing writing;
};

/* ---- on standard output (print.c) ---- */

/* Prints the object with its node's name. 0 or -errno; -ECANCELED: a signal interrupted it. */
int views_print(struct views *views, const json_t *object, const char *node);

/* ---- on the screen (screen.c) ---- */

/* Adds the node's next interval. */
void views_take(struct views *views, size_t which, json_t *object);

/* Shows the user a line on the screen for a while. */
void views_note(struct views *views, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the node's last interval is current. */
bool view_is_current(const struct views *views, size_t which);

/* Draws new intervals, and handles keys. */
void views_show(struct views *views);

/* Closes the screen, and frees the data that only a screen needs. */
void views_close(struct views *views);

/* ---- captures beside the view (write.c) ---- */

/* On the nodes whose views are current. Only one runs at a time. */
void writing_begin(struct views *views);

/* Shows its result once it has ended. */
void writing_step(struct views *views);

/* Ends it early, waits for the captures, and prints their folder. */
void writing_end(struct views *views);

#endif
