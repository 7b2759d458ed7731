/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of nodes' views, as rows of panes. */
#ifndef UCXBPF_SHOW_TOP_NODES_H
#define UCXBPF_SHOW_TOP_NODES_H

#include "show/top/panes.h"

/* Whether the rows of its last interval are shown: the next one is expected, or late. */
bool node_has_rows(const struct top_node *node);

/* Fills a row of the pane of nodes, except the node's name. */
void node_state_cells(struct pane_cell *cells, const struct top_node *node);

/* Fills the row of a node without ranks in their pane. empty: the text if its view is current. */
void node_without_ranks(struct pane_cell *cells, const struct top_node *node, const char *empty);

/* Prefixes a cell of a late node with the age of its interval. */
void node_outdated(struct pane_cell *cell, const struct top_node *node);

#endif
