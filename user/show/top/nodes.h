/* SPDX-License-Identifier: BSD-3-Clause */
/* How the views of nodes stand. */
#ifndef UCXBPF_SHOW_TOP_NODES_H
#define UCXBPF_SHOW_TOP_NODES_H

#include "show/top/panes.h"

/* Whether its last interval is shown: it has one, and the next one is expected. */
bool node_has_rows(const struct top_node *node);

/* A row of the pane of nodes, behind the node's name. */
void node_stands(struct pane_cell *cells, const struct top_node *node);

/* Likewise: in the pane of ranks, where the node has none to show. empty: it goes on without any.
 */
void node_lacks(struct pane_cell *cells, const struct top_node *node, const char *empty);

/* A cell of such a last interval says when that was, where it is not now. */
void node_was(struct pane_cell *cell, const struct top_node *node);

#endif
