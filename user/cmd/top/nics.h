/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of this node with the rates of their counters, between two readings. */
#ifndef UCXBPF_CMD_TOP_NICS_H
#define UCXBPF_CMD_TOP_NICS_H

#include "show/top/top.h"

struct inventory;

/* Zeroed at first. */
struct node_nics {
	struct inventory *last; /* NULL: not read yet */
	struct top_nics nics; /* borrows texts of it */
};

/* Reads all counters again. */
void node_nics_read(struct node_nics *node, const struct live *live);
void node_nics_release(struct node_nics *node);

#endif
