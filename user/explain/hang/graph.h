/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits-for graph, directed: algorithms in time linear in its nodes and edges. */
#ifndef UCXBPF_HANG_GRAPH_H
#define UCXBPF_HANG_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct graph_edge {
	size_t from, to;
	bool certain; /* for the caller */
};

typedef VEC(size_t) graph_nodes;

/* Zeroed at first; edges are added, then the graph is made ready, then queried. */
struct graph {
	VEC(struct graph_edge) edges;
	size_t nodes;
	size_t *leaving, *entering; /* edges in order of from, of to; */
	size_t *first_leaving, *first_entering; /* by node, and one more behind the last */
	uint32_t *met, round; /* by graph_reaching(): in which round a node was met last */
};

/* nodes: more than any edge names. */
void graph_ready(struct graph *graph, size_t nodes);
void graph_release(struct graph *graph);

/* Number of edges that leave a node, that enter it. */
size_t graph_leaving(const struct graph *graph, size_t node);
size_t graph_entering(const struct graph *graph, size_t node);

/* Edge i of those. */
const struct graph_edge *graph_leaving_at(const struct graph *graph, size_t node, size_t i);
const struct graph_edge *graph_entering_at(const struct graph *graph, size_t node, size_t i);

/* Appends the nodes from which some path leads to one of the nodes, each once. */
void graph_reaching(struct graph *graph, graph_nodes *nodes);

/*
 * Puts nodes that reach each other into one group, and numbers groups from 0: group[i] is that of
 * node i. Edges between groups lead from higher numbers to lower ones. Returns how many there are.
 */
size_t graph_groups(const struct graph *graph, size_t *group);

#endif
