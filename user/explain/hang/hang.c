// SPDX-License-Identifier: BSD-3-Clause
#include "explain/hang/hang.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi_function.h"
#include "explain/hang/internal.h"

static bool waits(const struct hang_graph *graph, size_t node)
{
	return graph_leaving(&graph->graph, node) > 0;
}

/* Sets are asked before the processes that wait for them. */
static bool is_held(const struct hang_graph *graph, size_t node)
{
	const size_t count = graph_leaving(&graph->graph, node);

	for (size_t i = 0; i < count; i++) {
		const struct graph_edge *edge = graph_leaving_at(&graph->graph, node, i);

		if (edge->certain &&
		    graph->nodes.data[edge->to].group == graph->nodes.data[node].group &&
		    (!graph->nodes.data[edge->to].set || graph->nodes.data[edge->to].held))
			return true;
	}
	return false;
}

static void find_groups(struct hang_graph *graph)
{
	size_t *group = xcalloc(graph->nodes.len + 1, sizeof(*group));
	const size_t count = graph_groups(&graph->graph, group);

	for (size_t i = 0; i < count; i++)
		vec_push(&graph->groups, ((struct hang_group){ .certain = true }));
	for (size_t i = 0; i < graph->nodes.len; i++) {
		struct hang_group *own = &graph->groups.data[group[i]];

		graph->nodes.data[i].group = group[i];
		own->nodes++;
	}
	for (size_t i = 0; i < graph->graph.edges.len; i++) {
		const struct graph_edge *edge = &graph->graph.edges.data[i];

		if (group[edge->from] != group[edge->to])
			graph->groups.data[group[edge->from]].led = true;
	}
	for (size_t i = graph->nodes.len; i-- > 0;) {
		struct hang_node *node = &graph->nodes.data[i];

		node->held = is_held(graph, i);
		if (!node->set && !node->held)
			graph->groups.data[group[i]].certain = false;
	}
	free(group);
}

/* By how many processes these nodes are awaited, through others too. */
static struct hang_awaited reaching(struct hang_graph *graph, graph_nodes *nodes)
{
	const size_t before = nodes->len;
	struct hang_awaited awaited = { 0 };

	graph_reaching(&graph->graph, nodes);
	for (size_t i = 0; i < nodes->len; i++) {
		const struct hang_node *node = &graph->nodes.data[nodes->data[i]];

		awaited.waiting += i >= before && !node->set;
		if (node->open && hang_is_longer(node->open, awaited.longest))
			awaited.longest = node->open;
	}
	return awaited;
}

static struct hang_awaited reaching_one(struct hang_graph *graph, size_t node)
{
	struct hang_awaited awaited;
	graph_nodes nodes = { 0 };

	vec_push(&nodes, node);
	awaited = reaching(graph, &nodes);
	vec_release(&nodes);
	return awaited;
}

/* Members of one set, and of no other, are awaited by the same processes: found once. */
static struct hang_awaited awaited_of(struct hang_graph *graph, size_t node)
{
	const bool one = graph_entering(&graph->graph, node) == 1;
	const size_t from = one ? graph_entering_at(&graph->graph, node, 0)->from : node;
	struct hang_node *set = &graph->nodes.data[from];

	if (!one || !set->set)
		return reaching_one(graph, node);
	if (!set->counted)
		set->awaited = reaching_one(graph, from);
	set->counted = true;
	return set->awaited;
}

/* One that waits for nobody, and is waited for. */
static void add_behind(struct hang_graph *graph, size_t at, hang_rows *rows)
{
	const struct hang_node *node = &graph->nodes.data[at];
	const bool traced = at < graph->processes->count;
	const size_t count = graph_entering(&graph->graph, at);
	const struct hang_awaited awaited = awaited_of(graph, at);
	struct hang_row row = {
		.rank = traced ? -1 : node->rank,
		.waiting = awaited.waiting,
		.longest = awaited.longest,
		.thread = node->thread,
		.missing = node->missing,
		.sequence = node->sequence,
		.entered = node->entered,
	};

	for (size_t i = 0; i < count && !row.certain; i++)
		row.certain = graph_entering_at(&graph->graph, at, i)->certain;
	if (traced)
		vec_push(&row.processes, (int)at);
	vec_push(rows, row);
}

/* Finds the processes that are in another collective of MPI_COMM_WORLD than most. */
static void tell_apart(const struct hang_graph *graph, struct hang_row *row)
{
	const char *in[2] = { NULL, NULL };
	size_t count[2] = { 0, 0 };

	for (size_t i = 0; i < row->processes.len; i++) {
		const struct fact_open *open = graph->nodes.data[row->processes.data[i]].open;
		size_t k;

		if (!open || !hang_is_world(open) || !mpi_function(open->function).collective)
			return;
		for (k = 0; k < 2 && in[k] && strcmp(in[k], open->function); k++)
			;
		if (k == 2)
			return;
		in[k] = open->function;
		count[k]++;
	}
	if (!count[1] || count[0] == count[1])
		return;
	row->apart_in = in[count[0] > count[1]];
	row->others_in = in[count[0] < count[1]];
	for (size_t i = 0; i < row->processes.len; i++)
		if (hang_is_in(&graph->nodes.data[row->processes.data[i]], row->apart_in))
			vec_push(&row->apart, row->processes.data[i]);
}

/* All nodes of its group, which waits for no other one. */
static void add_circle(struct hang_graph *graph, const struct hang_group *group,
		       const graph_nodes *members, hang_rows *rows)
{
	struct hang_row row = { .certain = group->certain, .rank = -1 };
	struct hang_awaited awaited;
	graph_nodes nodes = { 0 };

	for (size_t i = 0; i < members->len; i++) {
		vec_push(&nodes, members->data[i]);
		if (members->data[i] < graph->processes->count)
			vec_push(&row.processes, (int)members->data[i]);
	}
	awaited = reaching(graph, &nodes);
	row.waiting = awaited.waiting;
	row.longest = awaited.longest;
	vec_release(&nodes);
	tell_apart(graph, &row);
	vec_push(rows, row);
}

static void add_circles(struct hang_graph *graph, hang_rows *rows)
{
	graph_nodes *members = xcalloc(graph->groups.len + 1, sizeof(*members));

	for (size_t i = 0; i < graph->nodes.len; i++)
		vec_push(&members[graph->nodes.data[i].group], i);
	for (size_t i = 0; i < graph->groups.len; i++) {
		const struct hang_group *group = &graph->groups.data[i];

		if (group->nodes > 1 && !group->led)
			add_circle(graph, group, &members[i], rows);
		vec_release(&members[i]);
	}
	free(members);
}

static int by_waiting(const void *left, const void *right)
{
	const struct hang_row *a = left, *b = right;
	const int first_a = a->processes.len ? a->processes.data[0] : a->rank;
	const int first_b = b->processes.len ? b->processes.data[0] : b->rank;

	if (a->certain != b->certain)
		return b->certain - a->certain;
	if (a->waiting != b->waiting)
		return a->waiting < b->waiting ? 1 : -1;
	return first_a - first_b;
}

static void release(struct hang_graph *graph)
{
	for (size_t i = 0; i < graph->jobs.len; i++)
		vec_release(&graph->jobs.data[i].untraced);
	vec_release(&graph->jobs);
	vec_release(&graph->nodes);
	vec_release(&graph->groups);
	map_release(&graph->job_numbers);
	map_release(&graph->ranks);
	map_release(&graph->sets);
	graph_release(&graph->graph);
}

void hang_find(const struct hang_facts *facts, const struct hang_processes *processes,
	       hang_rows *rows)
{
	struct hang_graph graph = { .processes = processes };

	hang_edges(&graph, facts);
	graph_ready(&graph.graph, graph.nodes.len);
	find_groups(&graph);
	for (size_t i = 0; i < graph.nodes.len; i++)
		if (!graph.nodes.data[i].set && !waits(&graph, i) &&
		    graph_entering(&graph.graph, i))
			add_behind(&graph, i, rows);
	add_circles(&graph, rows);
	if (rows->len)
		qsort(rows->data, rows->len, sizeof(*rows->data), by_waiting);
	release(&graph);
}

void hang_facts_release(struct hang_facts *facts)
{
	vec_release(&facts->open);
	vec_release(&facts->threads);
	vec_release(&facts->lifetimes);
}

void hang_release(hang_rows *rows)
{
	for (size_t i = 0; i < rows->len; i++) {
		vec_release(&rows->data[i].processes);
		vec_release(&rows->data[i].apart);
	}
	vec_release(rows);
}
