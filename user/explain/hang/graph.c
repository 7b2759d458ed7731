// SPDX-License-Identifier: BSD-3-Clause
#include "explain/hang/graph.h"

#include <stdlib.h>

#include "base/alloc.h"

enum end { FROM, TO };

static size_t end_of(const struct graph_edge *edge, enum end end)
{
	return end == FROM ? edge->from : edge->to;
}

/* Edges in order of one of their ends, in the order in which they were added for each. */
static void sort(const struct graph *graph, enum end end, size_t **order, size_t **first)
{
	size_t *next = xcalloc(graph->nodes + 1, sizeof(*next));

	*first = xcalloc(graph->nodes + 1, sizeof(**first));
	*order = xcalloc(graph->edges.len + 1, sizeof(**order));
	for (size_t i = 0; i < graph->edges.len; i++)
		(*first)[end_of(&graph->edges.data[i], end) + 1]++;
	for (size_t i = 0; i < graph->nodes; i++) {
		(*first)[i + 1] += (*first)[i];
		next[i] = (*first)[i];
	}
	for (size_t i = 0; i < graph->edges.len; i++)
		(*order)[next[end_of(&graph->edges.data[i], end)]++] = i;
	free(next);
}

void graph_ready(struct graph *graph, size_t nodes)
{
	graph->nodes = nodes;
	graph->met = xcalloc(nodes + 1, sizeof(*graph->met));
	sort(graph, FROM, &graph->leaving, &graph->first_leaving);
	sort(graph, TO, &graph->entering, &graph->first_entering);
}

void graph_release(struct graph *graph)
{
	vec_release(&graph->edges);
	free(graph->leaving);
	free(graph->entering);
	free(graph->first_leaving);
	free(graph->first_entering);
	free(graph->met);
}

size_t graph_leaving(const struct graph *graph, size_t node)
{
	return graph->first_leaving[node + 1] - graph->first_leaving[node];
}

size_t graph_entering(const struct graph *graph, size_t node)
{
	return graph->first_entering[node + 1] - graph->first_entering[node];
}

const struct graph_edge *graph_leaving_at(const struct graph *graph, size_t node, size_t i)
{
	return &graph->edges.data[graph->leaving[graph->first_leaving[node] + i]];
}

const struct graph_edge *graph_entering_at(const struct graph *graph, size_t node, size_t i)
{
	return &graph->edges.data[graph->entering[graph->first_entering[node] + i]];
}

void graph_reaching(struct graph *graph, graph_nodes *nodes)
{
	const uint32_t round = ++graph->round;

	for (size_t i = 0; i < nodes->len; i++)
		graph->met[nodes->data[i]] = round;
	for (size_t i = 0; i < nodes->len; i++) {
		const size_t node = nodes->data[i], count = graph_entering(graph, node);

		for (size_t k = 0; k < count; k++) {
			const size_t from = graph_entering_at(graph, node, k)->from;

			if (graph->met[from] == round)
				continue;
			graph->met[from] = round;
			vec_push(nodes, from);
		}
	}
}

/* Tarjan's: a node that reaches none that was met before it is the first of its group. */
struct graph_visit {
	size_t node, next; /* edge that leaves it, to be followed */
};

struct grouping {
	const struct graph *graph;
	size_t *group;
	size_t *order, *least; /* from 1, 0: not met; the least that is reached */
	VEC(struct graph_visit) path;
	graph_nodes open; /* that belong to no group yet */
	size_t met, groups;
};

static void enter(struct grouping *grouping, size_t node)
{
	grouping->order[node] = grouping->least[node] = ++grouping->met;
	grouping->group[node] = SIZE_MAX;
	vec_push(&grouping->path, ((struct graph_visit){ node, 0 }));
	vec_push(&grouping->open, node);
}

static void reaches(struct grouping *grouping, size_t node, size_t least)
{
	if (least < grouping->least[node])
		grouping->least[node] = least;
}

static void leave(struct grouping *grouping)
{
	const size_t node = grouping->path.data[--grouping->path.len].node;
	size_t member;

	if (grouping->path.len)
		reaches(grouping, grouping->path.data[grouping->path.len - 1].node,
			grouping->least[node]);
	if (grouping->least[node] < grouping->order[node])
		return;
	do {
		member = grouping->open.data[--grouping->open.len];
		grouping->group[member] = grouping->groups;
	} while (member != node);
	grouping->groups++;
}

static void walk(struct grouping *grouping)
{
	while (grouping->path.len) {
		struct graph_visit *visit = &grouping->path.data[grouping->path.len - 1];
		const size_t node = visit->node;
		size_t to;

		if (visit->next == graph_leaving(grouping->graph, node)) {
			leave(grouping);
			continue;
		}
		to = graph_leaving_at(grouping->graph, node, visit->next++)->to;
		if (!grouping->order[to])
			enter(grouping, to);
		else if (grouping->group[to] == SIZE_MAX)
			reaches(grouping, node, grouping->order[to]);
	}
}

size_t graph_groups(const struct graph *graph, size_t *group)
{
	struct grouping grouping = {
		.graph = graph,
		.group = group,
		.order = xcalloc(graph->nodes + 1, sizeof(size_t)),
		.least = xcalloc(graph->nodes + 1, sizeof(size_t)),
	};

	for (size_t i = 0; i < graph->nodes; i++)
		if (!grouping.order[i]) {
			enter(&grouping, i);
			walk(&grouping);
		}
	free(grouping.order);
	free(grouping.least);
	vec_release(&grouping.path);
	vec_release(&grouping.open);
	return grouping.groups;
}
