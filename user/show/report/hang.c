// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/hang.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi_function.h"
#include "show/report/internal.h"

/* From a process that waits to one that it waits for, by number. */
struct hang_edge {
	size_t from, to;
	bool certain;
};

/*
 * Processes come first, by index, then ranks that are not traced, each once. A process that is
 * stopped waits for nobody: it would not go on if it could.
 */
struct hang_node {
	const struct fact_open *open; /* what it waits in; NULL: it does not wait */
	const struct fact_thread *thread;
	const char *missing;
	int rank; /* of a node that is no process, */
	size_t job; /* and a process of its job */
	bool stopped;
	bool waits; /* has an edge */
	bool behind; /* waits for nobody, and is waited for: */
	bool certain; /* for certain */
	bool led; /* waits for such a node, perhaps through others */
	size_t group; /* of nodes that wait for each other: the least one */
};

struct hang_graph {
	const struct report *report;
	VEC(struct hang_node) nodes;
	VEC(struct hang_edge) edges;
};

static bool is_stopped(const struct fact_thread *thread)
{
	return thread->state && !strncmp(thread->state, "stopped", strlen("stopped"));
}

static void add_threads(struct hang_graph *graph)
{
	const struct report_waits *waits = &graph->report->waits;

	for (size_t i = 0; i < waits->threads.len; i++) {
		const struct fact_thread *thread = &waits->threads.data[i];
		struct hang_node *node;

		if (thread->process < 0 || (size_t)thread->process >= graph->nodes.len)
			continue;
		node = &graph->nodes.data[thread->process];
		if (!node->thread || (thread->function && !node->thread->function))
			node->thread = thread;
		node->stopped = node->stopped || is_stopped(thread);
	}
}

bool hang_noticed(const struct fact_open *open)
{
	return open->certain && open->until - open->since >= HANG_NOTICED;
}

/* The oldest of each process: they are in that order. */
static void add_open(struct hang_graph *graph)
{
	const struct report_waits *waits = &graph->report->waits;

	for (size_t i = 0; i < waits->every_open.len; i++) {
		const struct fact_open *open = &waits->every_open.data[i];
		struct hang_node *node;

		if (!hang_noticed(open) || open->process < 0 ||
		    (size_t)open->process >= graph->nodes.len)
			continue;
		node = &graph->nodes.data[open->process];
		if (!node->open && !node->stopped)
			node->open = open;
	}
}

static bool same_job(const struct fact_process *a, const struct fact_process *b)
{
	return a->job == b->job && a->size == b->size;
}

static const struct fact_process *process_of(const struct hang_graph *graph, size_t node)
{
	return &graph->report->processes.data[node].fact;
}

/* The node of a rank of that process's job: a process, or made for a rank that is not traced. */
static size_t node_of_rank(struct hang_graph *graph, size_t of, int rank)
{
	const size_t processes = graph->report->processes.len;

	for (size_t i = 0; i < processes; i++)
		if (graph->report->processes.data[i].known && process_of(graph, i)->rank == rank &&
		    same_job(process_of(graph, i), process_of(graph, of)))
			return i;
	for (size_t i = processes; i < graph->nodes.len; i++)
		if (graph->nodes.data[i].rank == rank &&
		    same_job(process_of(graph, graph->nodes.data[i].job), process_of(graph, of)))
			return i;
	vec_push(&graph->nodes, ((struct hang_node){ .rank = rank, .job = of }));
	return graph->nodes.len - 1;
}

static void wait_for(struct hang_graph *graph, size_t from, size_t to, bool certain)
{
	if (from == to)
		return;
	vec_push(&graph->edges, ((struct hang_edge){ from, to, certain }));
	graph->nodes.data[from].waits = true;
}

/*
 * Its peer is not known, as in a communicator whose ranks are not: whoever waits for nobody may be
 * what it waits for, perhaps through others.
 */
static void wait_for_any(struct hang_graph *graph, size_t from)
{
	const struct fact_open *open = graph->nodes.data[from].open;

	for (size_t i = 0; i < graph->report->processes.len; i++) {
		struct hang_node *node = &graph->nodes.data[i];

		if (node->open || !graph->report->processes.data[i].known ||
		    !same_job(process_of(graph, i), process_of(graph, from)))
			continue;
		if (mpi_function(open->function).collective)
			node->missing = open->function;
		wait_for(graph, from, i, false);
	}
}

/* Where it is, or was when it was looked at; NULL: outside of MPI, or not known. */
static const char *where_is(const struct hang_node *node)
{
	if (node->open)
		return node->open->function;
	return node->thread ? node->thread->function : NULL;
}

static bool is_in(const struct hang_node *node, const char *function)
{
	const char *in = where_is(node);

	return in && !strcmp(in, function);
}

/*
 * Whether a rank that is elsewhere cannot have been in that collective already: nobody leaves a
 * barrier, or gets data from all, before all have entered.
 */
static bool must_enter(const struct hang_node *node, const char *function)
{
	const enum collective_flow flow = mpi_function(function).flow;
	const bool elsewhere = where_is(node) || (node->thread && node->thread->outside);

	return elsewhere && (flow == FLOW_BARRIER || flow == FLOW_ALL);
}

#define UNTRACED_MOST 64 /* more ranks that are not traced are not named one by one */

/*
 * Each rank that is not traced may be in the collective as well. Where there are many, none is
 * named, and the others wait for somebody who is not known.
 */
static void wait_for_untraced(struct hang_graph *graph, size_t from, const bool *traced, int size)
{
	int untraced = 0;

	for (int i = 0; i < size; i++)
		untraced += !traced[i];
	for (int i = 0; untraced <= UNTRACED_MOST && i < size; i++)
		if (!traced[i])
			wait_for(graph, from, node_of_rank(graph, from, i), false);
}

#define SIZE_MOST (1 << 22) /* ranks; a larger size is not believed */

/* All ranks of MPI_COMM_WORLD that are not in the same collective; false: there is none. */
static bool wait_for_missing(struct hang_graph *graph, size_t from)
{
	const struct fact_open *open = graph->nodes.data[from].open;
	const int size = process_of(graph, from)->size;
	VEC(bool) traced = { 0 };
	bool found = false;

	if (size > SIZE_MOST)
		return false;
	vec_reserve(&traced, size > 0 ? (size_t)size : 1);
	for (int i = 0; i < size; i++)
		vec_push(&traced, false);
	for (size_t i = 0; i < graph->report->processes.len; i++) {
		const struct fact_process *process = process_of(graph, i);

		if (!graph->report->processes.data[i].known || process->rank < 0 ||
		    process->rank >= size || !same_job(process, process_of(graph, from)))
			continue;
		traced.data[process->rank] = true;
		if (i == from || is_in(&graph->nodes.data[i], open->function))
			continue;
		graph->nodes.data[i].missing = open->function;
		wait_for(graph, from, i, must_enter(&graph->nodes.data[i], open->function));
		found = true;
	}
	if (!found)
		wait_for_untraced(graph, from, traced.data, size);
	vec_release(&traced);
	return found;
}

static void add_edges(struct hang_graph *graph)
{
	for (size_t i = 0; i < graph->report->processes.len; i++) {
		const struct fact_open *open = graph->nodes.data[i].open;
		const bool world = open && open->comm && !strcmp(open->comm, "MPI_COMM_WORLD");

		if (!open || (world && mpi_function(open->function).collective &&
			      wait_for_missing(graph, i)))
			continue;
		if (open->peer >= 0 && (size_t)open->peer < graph->report->processes.len)
			wait_for(graph, i, (size_t)open->peer, true);
		else if (open->peer_rank >= 0)
			wait_for(graph, i, node_of_rank(graph, i, open->peer_rank), true);
		else
			wait_for_any(graph, i);
	}
}

enum spread { TO_AWAITED, TO_WAITING };

/* Marks the nodes that those marked wait for, through others too, or that wait for them. */
static void spread(const struct hang_graph *graph, enum spread direction, bool past_led,
		   bool *reached)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < graph->edges.len; i++) {
			const struct hang_edge *edge = &graph->edges.data[i];
			const bool back = direction == TO_WAITING;
			const size_t from = back ? edge->to : edge->from;
			const size_t to = back ? edge->from : edge->to;

			if (reached[from] && !reached[to] &&
			    (past_led || !graph->nodes.data[to].led))
				reached[to] = more = true;
		}
	}
}

static bool *no_nodes(const struct hang_graph *graph)
{
	return xcalloc(graph->nodes.len, sizeof(bool));
}

/* Nodes that wait for nobody, and from there on all that wait for one. */
static void find_behind(struct hang_graph *graph)
{
	bool *reached = no_nodes(graph);

	for (size_t i = 0; i < graph->edges.len; i++) {
		struct hang_node *to = &graph->nodes.data[graph->edges.data[i].to];

		to->behind = !to->waits;
		to->certain = to->certain || graph->edges.data[i].certain;
	}
	for (size_t i = 0; i < graph->nodes.len; i++)
		reached[i] = graph->nodes.data[i].behind;
	spread(graph, TO_WAITING, true, reached);
	for (size_t i = 0; i < graph->nodes.len; i++)
		graph->nodes.data[i].led = reached[i] && !graph->nodes.data[i].behind;
	free(reached);
}

#define NO_GROUP SIZE_MAX

/* Nodes that reach each other are a circle. */
static void find_groups(struct hang_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.len; i++) {
		struct hang_node *node = &graph->nodes.data[i];
		bool *awaited, *waiting;

		if (!node->waits || node->led || node->group != NO_GROUP)
			continue;
		awaited = no_nodes(graph);
		waiting = no_nodes(graph);
		awaited[i] = waiting[i] = true;
		spread(graph, TO_AWAITED, false, awaited);
		spread(graph, TO_WAITING, false, waiting);
		for (size_t k = i; k < graph->nodes.len; k++)
			if (awaited[k] && waiting[k])
				graph->nodes.data[k].group = i;
		free(awaited);
		free(waiting);
	}
}

/* A circle that waits for another one is not where it begins. */
static void leave_out_groups(struct hang_graph *graph)
{
	bool *leads = no_nodes(graph);

	for (size_t i = 0; i < graph->edges.len; i++) {
		const struct hang_node *from = &graph->nodes.data[graph->edges.data[i].from];
		const struct hang_node *to = &graph->nodes.data[graph->edges.data[i].to];

		if (!from->led && !to->led && from->group != to->group)
			leads[from->group] = true;
	}
	for (size_t i = 0; i < graph->nodes.len; i++) {
		struct hang_node *node = &graph->nodes.data[i];

		if (node->group != NO_GROUP && leads[node->group])
			node->led = true;
	}
	free(leads);
}

/*
 * The others lead to circles. Whoever is in one has another one of them that waits for it: those
 * that have none are left out, until all have.
 */
static void find_circles(struct hang_graph *graph)
{
	bool more = true;

	for (size_t i = 0; i < graph->nodes.len; i++)
		graph->nodes.data[i].group = NO_GROUP;
	while (more) {
		bool *awaited = no_nodes(graph);

		more = false;
		for (size_t i = 0; i < graph->edges.len; i++)
			if (!graph->nodes.data[graph->edges.data[i].from].led)
				awaited[graph->edges.data[i].to] = true;
		for (size_t i = 0; i < graph->nodes.len; i++) {
			struct hang_node *node = &graph->nodes.data[i];

			if (node->waits && !node->led && !awaited[i])
				node->led = more = true;
		}
		free(awaited);
	}
	find_groups(graph);
	leave_out_groups(graph);
}

/* Processes that wait for these nodes, through others too. */
static uint64_t count_waiting(const struct hang_graph *graph, size_t group, bool circle)
{
	bool *reached = no_nodes(graph);
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < graph->nodes.len; i++) {
		const struct hang_node *node = &graph->nodes.data[i];

		reached[i] =
			circle ? node->waits && !node->led && node->group == group : i == group;
		before += reached[i];
	}
	spread(graph, TO_WAITING, true, reached);
	for (size_t i = 0; i < graph->nodes.len; i++)
		after += reached[i];
	free(reached);
	return after - before;
}

static void add_row(const struct hang_graph *graph, size_t at, hang_rows *rows)
{
	const struct hang_node *node = &graph->nodes.data[at];
	const bool circle = node->waits;
	struct hang_row row = {
		.certain = circle || node->certain,
		.rank = at < graph->report->processes.len ? -1 : node->rank,
		.waiting = count_waiting(graph, at, circle),
	};

	if (!circle) {
		row.thread = node->thread;
		row.missing = node->missing;
	}
	for (size_t i = at; i < graph->report->processes.len; i++) {
		const struct hang_node *other = &graph->nodes.data[i];

		if (i == at || (circle && other->waits && !other->led && other->group == at))
			vec_push(&row.processes, (int)i);
	}
	vec_push(rows, row);
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

void hang_find(const struct report *report, hang_rows *rows)
{
	struct hang_graph graph = { .report = report };

	for (size_t i = 0; i < report->processes.len; i++)
		vec_push(&graph.nodes, ((struct hang_node){ .rank = -1 }));
	add_threads(&graph);
	add_open(&graph);
	add_edges(&graph);
	find_behind(&graph);
	find_circles(&graph);
	for (size_t i = 0; i < graph.nodes.len; i++) {
		const struct hang_node *node = &graph.nodes.data[i];

		if (node->behind || (node->waits && !node->led && node->group == i))
			add_row(&graph, i, rows);
	}
	if (rows->len)
		qsort(rows->data, rows->len, sizeof(*rows->data), by_waiting);
	vec_release(&graph.nodes);
	vec_release(&graph.edges);
}

void hang_release(hang_rows *rows)
{
	for (size_t i = 0; i < rows->len; i++)
		vec_release(&rows->data[i].processes);
	vec_release(rows);
}
