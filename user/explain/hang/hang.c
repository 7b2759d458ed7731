// SPDX-License-Identifier: BSD-3-Clause
#include "explain/hang/hang.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/mpi_function.h"
#include "explain/hang/graph.h"

#define NONE SIZE_MAX

struct hang_awaited {
	size_t waiting; /* processes that wait for it, or for them */
	const struct fact_open *longest; /* that one of them waits in; NULL: none does */
};

/*
 * Processes come first, by index, then, in any order, ranks that are not traced and sets, each
 * once. Who waits for one of several, or for all of them, has an edge to their set, and that has an
 * edge to each. A process that is stopped waits for nobody: it would not go on if it could.
 */
struct hang_node {
	const struct fact_open *open; /* the call that it waits in; NULL: it does not wait */
	const struct fact_thread *thread;
	const char *missing;
	int rank; /* of a rank that is not traced */
	size_t job; /* of a process */
	size_t next; /* process of its job; NONE */
	bool stopped;
	bool set, filled; /* filled: it has members */
	bool held; /* waits, for certain, for one of its own group */
	size_t group; /* of nodes that wait for each other */
	bool counted; /* a set: */
	struct hang_awaited awaited;
};

struct hang_job {
	size_t first, last; /* known processes, NONE: it has none */
	bool looked;
	graph_nodes untraced; /* once looked at: its ranks that are not traced, if they are few */
};

/* Nodes that reach each other. */
struct hang_group {
	size_t nodes;
	bool led; /* waits for another one */
	bool certain; /* each of its processes waits for one of them, for certain */
};

struct hang_graph {
	const struct hang_processes *processes;
	VEC(struct hang_node) nodes;
	VEC(struct hang_job) jobs;
	struct map job_numbers; /* (job, size) -> number + 1 */
	struct map ranks; /* (number of a job, rank) -> node + 1 */
	struct map sets; /* (number of a job and kind of set, function) -> node + 1 */
	struct graph graph;
	VEC(struct hang_group) groups;
};

static bool is_stopped(const struct fact_thread *thread)
{
	return thread->state && !strncmp(thread->state, "stopped", strlen("stopped"));
}

static void add_threads(struct hang_graph *graph, const struct hang_facts *facts)
{
	for (size_t i = 0; i < facts->threads.len; i++) {
		const struct fact_thread *thread = &facts->threads.data[i];
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

/* other: NULL: none */
static bool is_longer(const struct fact_open *open, const struct fact_open *other)
{
	const uint64_t age = open->until - open->since;
	const uint64_t other_age = other ? other->until - other->since : 0;

	if (!other || age != other_age)
		return !other || age > other_age;
	return open->process == other->process ? open->tid < other->tid
					       : open->process < other->process;
}

/* The longest of each process. */
static void add_open(struct hang_graph *graph, const struct hang_facts *facts)
{
	for (size_t i = 0; i < facts->open.len; i++) {
		const struct fact_open *open = &facts->open.data[i];
		struct hang_node *node;

		if (!hang_noticed(open) || open->process < 0 ||
		    (size_t)open->process >= graph->nodes.len)
			continue;
		node = &graph->nodes.data[open->process];
		if (!node->stopped && is_longer(open, node->open))
			node->open = open;
	}
}

static const struct fact_process *process_of(const struct hang_graph *graph, size_t node)
{
	static const struct fact_process unknown;
	const struct fact_process *process = graph->processes->at(graph->processes->arg, node);

	return process ? process : &unknown;
}

static size_t job_number(struct hang_graph *graph, const struct fact_process *process)
{
	uint64_t *number = map_insert(&graph->job_numbers, (uintptr_t)process->job,
				      (uint64_t)(int64_t)process->size, NULL);

	if (!*number) {
		vec_push(&graph->jobs, ((struct hang_job){ .first = NONE, .last = NONE }));
		*number = graph->jobs.len;
	}
	return *number - 1;
}

static void add_processes(struct hang_graph *graph)
{
	for (size_t i = 0; i < graph->processes->count; i++) {
		const struct fact_process *process = process_of(graph, i);
		const size_t number = job_number(graph, process);
		struct hang_job *job = &graph->jobs.data[number];
		uint64_t *of_rank;

		vec_push(&graph->nodes, ((struct hang_node){ .job = number, .next = NONE }));
		if (!graph->processes->at(graph->processes->arg, i))
			continue;
		if (job->first == NONE)
			job->first = i;
		else
			graph->nodes.data[job->last].next = i;
		job->last = i;
		of_rank = map_insert(&graph->ranks, number, (uint64_t)(int64_t)process->rank, NULL);
		if (!*of_rank)
			*of_rank = i + 1;
	}
}

/* The node of a rank of a job: a process, or made for a rank that is not traced. */
static size_t node_of_rank(struct hang_graph *graph, size_t job, int rank)
{
	uint64_t *node = map_insert(&graph->ranks, job, (uint64_t)(int64_t)rank, NULL);

	if (!*node) {
		vec_push(&graph->nodes,
			 ((struct hang_node){ .rank = rank, .job = job, .next = NONE }));
		*node = graph->nodes.len;
	}
	return *node - 1;
}

static void wait_for(struct hang_graph *graph, size_t from, size_t to, bool certain)
{
	if (from != to)
		vec_push(&graph->graph.edges, ((struct graph_edge){ from, to, certain }));
}

enum set_kind { SET_ANY, SET_MISSING, SET_KINDS };

/* The set of that kind for a collective, "" for other calls; *fresh: it is empty. */
static size_t find_set(struct hang_graph *graph, enum set_kind kind, size_t job,
		       const char *function, bool *fresh)
{
	uint64_t *node =
		map_insert(&graph->sets, job * SET_KINDS + kind, map_text(function), fresh);

	if (*fresh) {
		vec_push(&graph->nodes,
			 ((struct hang_node){ .set = true, .job = job, .next = NONE }));
		*node = graph->nodes.len;
	}
	return *node - 1;
}

/* certain: whoever waits for the set waits for this one */
static void add_member(struct hang_graph *graph, size_t set, size_t node, bool certain)
{
	wait_for(graph, set, node, certain);
	graph->nodes.data[set].filled = true;
}

static void wait_for_set(struct hang_graph *graph, size_t from, size_t set)
{
	if (graph->nodes.data[set].filled)
		wait_for(graph, from, set, true);
}

/*
 * Its peer is not known, as in a communicator with unknown ranks: it may wait for any process that
 * waits for nobody, perhaps through others.
 */
static void wait_for_any(struct hang_graph *graph, size_t from)
{
	const struct hang_node *waits = &graph->nodes.data[from];
	const char *function = waits->open->function;
	const bool collective = mpi_function(function).collective;
	const size_t job = waits->job;
	bool fresh;
	const size_t set = find_set(graph, SET_ANY, job, collective ? function : "", &fresh);

	for (size_t i = graph->jobs.data[job].first; fresh && i != NONE;
	     i = graph->nodes.data[i].next) {
		if (graph->nodes.data[i].open)
			continue;
		if (collective)
			graph->nodes.data[i].missing = function;
		add_member(graph, set, i, false);
	}
	wait_for_set(graph, from, set);
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
#define SIZE_MOST (1 << 22) /* ranks; a larger size is not believed */

/*
 * Each rank of the job that is not traced may be in the collective as well. Where there are many,
 * none is named, and the others wait for somebody who is not known.
 */
static const graph_nodes *untraced_of(struct hang_graph *graph, size_t job)
{
	const size_t first = graph->jobs.data[job].first;
	const int size = process_of(graph, first)->size;
	graph_nodes untraced = { 0 };
	VEC(bool) traced = { 0 };

	if (graph->jobs.data[job].looked)
		return &graph->jobs.data[job].untraced;
	vec_reserve(&traced, size > 0 ? (size_t)size : 1);
	for (int i = 0; i < size; i++)
		vec_push(&traced, false);
	for (size_t i = first; i != NONE; i = graph->nodes.data[i].next)
		if (process_of(graph, i)->rank >= 0 && process_of(graph, i)->rank < size)
			traced.data[process_of(graph, i)->rank] = true;
	for (int i = 0; i < size && untraced.len <= UNTRACED_MOST; i++)
		if (!traced.data[i])
			vec_push(&untraced, (size_t)i);
	if (untraced.len > UNTRACED_MOST)
		untraced.len = 0;
	for (size_t i = 0; i < untraced.len; i++)
		untraced.data[i] = node_of_rank(graph, job, (int)untraced.data[i]);
	graph->jobs.data[job].looked = true;
	graph->jobs.data[job].untraced = untraced;
	vec_release(&traced);
	return &graph->jobs.data[job].untraced;
}

/* Traced ranks are its members, and then it has the function; else ranks that are not traced. */
static void fill_missing(struct hang_graph *graph, size_t set, size_t job, const char *function)
{
	const int size = process_of(graph, graph->jobs.data[job].first)->size;
	const graph_nodes *untraced;

	if (size > SIZE_MOST)
		return;
	for (size_t i = graph->jobs.data[job].first; i != NONE; i = graph->nodes.data[i].next) {
		struct hang_node *node = &graph->nodes.data[i];
		const int rank = process_of(graph, i)->rank;

		if (rank < 0 || rank >= size || is_in(node, function))
			continue;
		node->missing = function;
		add_member(graph, set, i, must_enter(node, function));
	}
	if (graph->nodes.data[set].filled) {
		graph->nodes.data[set].missing = function;
		return;
	}
	untraced = untraced_of(graph, job);
	for (size_t i = 0; i < untraced->len; i++)
		add_member(graph, set, untraced->data[i], false);
}

/* All ranks of MPI_COMM_WORLD that are not in the same collective; false: none of them is traced.
 */
static bool wait_for_missing(struct hang_graph *graph, size_t from)
{
	const char *function = graph->nodes.data[from].open->function;
	const size_t job = graph->nodes.data[from].job;
	bool fresh;
	const size_t set = find_set(graph, SET_MISSING, job, function, &fresh);

	if (fresh)
		fill_missing(graph, set, job, function);
	wait_for_set(graph, from, set);
	return graph->nodes.data[set].missing != NULL;
}

static void add_edges(struct hang_graph *graph)
{
	for (size_t i = 0; i < graph->processes->count; i++) {
		const struct fact_open *open = graph->nodes.data[i].open;
		const bool world = open && open->comm && !strcmp(open->comm, "MPI_COMM_WORLD");

		if (!open || (world && mpi_function(open->function).collective &&
			      wait_for_missing(graph, i)))
			continue;
		if (open->peer >= 0 && (size_t)open->peer < graph->processes->count)
			wait_for(graph, i, (size_t)open->peer, open->peer_certain);
		else if (open->peer_rank >= 0)
			wait_for(graph, i,
				 node_of_rank(graph, graph->nodes.data[i].job, open->peer_rank),
				 open->peer_certain);
		else
			wait_for_any(graph, i);
	}
}

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
		if (node->open && is_longer(node->open, awaited.longest))
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
	};

	for (size_t i = 0; i < count && !row.certain; i++)
		row.certain = graph_entering_at(&graph->graph, at, i)->certain;
	if (traced)
		vec_push(&row.processes, (int)at);
	vec_push(rows, row);
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

	add_processes(&graph);
	add_threads(&graph, facts);
	add_open(&graph, facts);
	add_edges(&graph);
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
}

void hang_release(hang_rows *rows)
{
	for (size_t i = 0; i < rows->len; i++)
		vec_release(&rows->data[i].processes);
	vec_release(rows);
}
