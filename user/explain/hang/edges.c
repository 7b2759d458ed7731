// SPDX-License-Identifier: BSD-3-Clause
/* Who waits for whom: processes, ranks that are not traced, and sets of these. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi_function.h"
#include "explain/hang/internal.h"

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

static void add_lifetimes(struct hang_graph *graph, const struct hang_facts *facts)
{
	for (size_t i = 0; i < facts->lifetimes.len; i++) {
		const struct fact_lifetime *lifetime = &facts->lifetimes.data[i];
		struct hang_node *node;

		if (lifetime->process < 0 || (size_t)lifetime->process >= graph->nodes.len)
			continue;
		node = &graph->nodes.data[lifetime->process];
		node->lifetime = lifetime;
		node->entered = lifetime->entered;
	}
}

bool hang_noticed(const struct fact_open *open)
{
	return open->certain && open->until - open->since >= HANG_NOTICED;
}

bool hang_is_longer(const struct fact_open *open, const struct fact_open *other)
{
	const uint64_t age = open->until - open->since;
	const uint64_t other_age = other ? other->until - other->since : 0;

	if (!other || age != other_age)
		return !other || age > other_age;
	return open->process == other->process ? open->tid < other->tid
					       : open->process < other->process;
}

bool hang_is_world(const struct fact_open *open)
{
	return open->comm && !strcmp(open->comm, "MPI_COMM_WORLD");
}

/* The number of its call among the collectives of MPI_COMM_WORLD; 0: unknown. */
static uint64_t number_of(const struct fact_open *open)
{
	const bool counted = open->sequence_by && !strcmp(open->sequence_by, FACT_BY_CALLS);

	return counted && hang_is_world(open) ? open->sequence : 0;
}

/* The longest open call of each process. */
static void add_open(struct hang_graph *graph, const struct hang_facts *facts)
{
	for (size_t i = 0; i < facts->open.len; i++) {
		const struct fact_open *open = &facts->open.data[i];
		struct hang_node *node;

		if (!hang_noticed(open) || open->process < 0 ||
		    (size_t)open->process >= graph->nodes.len)
			continue;
		node = &graph->nodes.data[open->process];
		if (!node->stopped && hang_is_longer(open, node->open))
			node->open = open;
		if (number_of(open) > node->entered)
			node->entered = number_of(open);
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

/*
 * The set of that kind for a collective, "" for other calls; *fresh: it is empty. sequence: of the
 * collective, 0: unknown.
 */
static size_t find_set(struct hang_graph *graph, enum set_kind kind, size_t job,
		       const char *function, uint64_t sequence, bool *fresh)
{
	uint64_t *node = map_insert(&graph->sets, sequence << 32 | (job * SET_KINDS + kind),
				    map_text(function), fresh);

	if (*fresh) {
		vec_push(&graph->nodes,
			 ((struct hang_node){ .set = true, .job = job, .next = NONE }));
		*node = graph->nodes.len;
	}
	return *node - 1;
}

/* certain: whoever waits for the set waits for this node */
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

/* How long a process was recorded, compared with another one that waits in a call. */
enum recorded {
	RECORDED_ELSEWHERE, /* on another host: the clocks are not compared */
	RECORDED_BEFORE, /* it had ended when the other began: an earlier run of the job */
	RECORDED_LESS, /* its records end before the call began: it may have gone on */
	RECORDED_LATER, /* its records reach into the call, or it will never enter anything more */
};

static enum recorded recorded(const struct hang_graph *graph, size_t process, size_t from)
{
	const struct fact_lifetime *lifetime = graph->nodes.data[process].lifetime;
	const struct fact_process *other = process_of(graph, from);

	if (!lifetime || process_of(graph, process)->host != other->host)
		return RECORDED_ELSEWHERE;
	if (!lifetime->exited)
		return lifetime->until < graph->nodes.data[from].open->since ? RECORDED_LESS
									     : RECORDED_LATER;
	if (!other->start_time)
		return RECORDED_LESS;
	return lifetime->until <= other->start_time ? RECORDED_BEFORE : RECORDED_LATER;
}

/*
 * Its peer is unknown, as in a communicator with unknown ranks: it may wait for any process that
 * waits for nobody, directly or through others.
 */
static void wait_for_any(struct hang_graph *graph, size_t from)
{
	const struct hang_node *waits = &graph->nodes.data[from];
	const char *function = waits->open->function;
	const bool collective = mpi_function(function).collective && !waits->met;
	const size_t job = waits->job;
	bool fresh;
	const size_t set = find_set(graph, SET_ANY, job, collective ? function : "", 0, &fresh);

	for (size_t i = graph->jobs.data[job].first; fresh && i != NONE;
	     i = graph->nodes.data[i].next) {
		if (graph->nodes.data[i].open || recorded(graph, i, from) == RECORDED_BEFORE)
			continue;
		if (collective)
			graph->nodes.data[i].missing = function;
		add_member(graph, set, i, false);
	}
	wait_for_set(graph, from, set);
}

/* The function that it is in, or was in when inspected; NULL: outside MPI, or unknown. */
static const char *where_is(const struct hang_node *node)
{
	if (node->open)
		return node->open->function;
	return node->thread ? node->thread->function : NULL;
}

bool hang_is_in(const struct hang_node *node, const char *function)
{
	const char *in = where_is(node);

	return in && !strcmp(in, function);
}

/* Whether it has entered that collective. sequence: as for find_set(). */
static bool has_entered(const struct hang_node *node, const char *function, uint64_t sequence)
{
	if (!sequence || !node->entered)
		return hang_is_in(node, function);
	/* the same number, but another function: the program is in error */
	if (node->entered == sequence && node->open && number_of(node->open) == sequence)
		return hang_is_in(node, function);
	return node->entered >= sequence;
}

/*
 * Whether a rank that has not entered it cannot have been in that collective already: nobody leaves
 * a barrier, or gets data from all, before all have entered.
 */
static bool must_enter(const struct hang_node *node, const char *function, bool by_number)
{
	const enum collective_flow flow = mpi_function(function).flow;
	const bool elsewhere = where_is(node) || (node->thread && node->thread->outside);

	return (elsewhere || by_number) && (flow == FLOW_BARRIER || flow == FLOW_ALL);
}

#define UNTRACED_MOST 64 /* untraced ranks that are named one by one */
#define SIZE_MOST (1 << 22) /* ranks; a larger size is taken for damage */

/*
 * Each untraced rank of the job may be in the collective as well. If there are many, none is named,
 * and the others wait for an unknown rank.
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

/* Whether it is the first process with its rank: others are of other runs. */
static bool is_first_of_rank(const struct hang_graph *graph, size_t job, size_t process)
{
	const int rank = process_of(graph, process)->rank;
	const uint64_t *node = map_find(&graph->ranks, job, (uint64_t)(int64_t)rank);

	return node && *node == process + 1;
}

/*
 * from: a process that waits in the collective. A set with a function has traced ranks as members,
 * one without has untraced ranks.
 */
static void fill_missing(struct hang_graph *graph, size_t set, size_t from, const char *function,
			 uint64_t sequence)
{
	const size_t job = graph->nodes.data[from].job;
	const int size = process_of(graph, graph->jobs.data[job].first)->size;
	const graph_nodes *untraced;
	int counted = 0;

	if (size > SIZE_MOST)
		return;
	for (size_t i = graph->jobs.data[job].first; i != NONE; i = graph->nodes.data[i].next) {
		struct hang_node *node = &graph->nodes.data[i];
		const int rank = process_of(graph, i)->rank;
		const enum recorded known = recorded(graph, i, from);

		if (rank < 0 || rank >= size || known == RECORDED_BEFORE)
			continue;
		if (known == RECORDED_LESS)
			node->entered = 0;
		counted += sequence && node->entered && is_first_of_rank(graph, job, i);
		if (has_entered(node, function, sequence))
			continue;
		node->missing = function;
		node->sequence = sequence;
		add_member(graph, set, i,
			   known != RECORDED_LESS && must_enter(node, function,
								sequence && node->entered &&
									known == RECORDED_LATER));
	}
	if (graph->nodes.data[set].filled) {
		graph->nodes.data[set].missing = function;
		return;
	}
	graph->nodes.data[set].met = counted == size;
	untraced = untraced_of(graph, job);
	for (size_t i = 0; i < untraced->len; i++)
		add_member(graph, set, untraced->data[i], false);
}

/* All ranks of MPI_COMM_WORLD that are not in the same collective; false: none of them is traced.
 */
static bool wait_for_missing(struct hang_graph *graph, size_t from)
{
	const char *function = graph->nodes.data[from].open->function;
	const uint64_t sequence = number_of(graph->nodes.data[from].open);
	const size_t job = graph->nodes.data[from].job;
	bool fresh;
	const size_t set = find_set(graph, SET_MISSING, job, function, sequence, &fresh);

	if (fresh)
		fill_missing(graph, set, from, function, sequence);
	wait_for_set(graph, from, set);
	graph->nodes.data[from].met = graph->nodes.data[set].met;
	return graph->nodes.data[set].missing != NULL;
}

/* Whether a process has left the collective that the other one is in, and waits in a later one. */
static bool has_gone_on(const struct hang_graph *graph, size_t process, size_t from)
{
	const struct fact_open *open = graph->nodes.data[process].open;
	const uint64_t number = number_of(graph->nodes.data[from].open);

	return number && open && number_of(open) > number;
}

static void wait_for_peer(struct hang_graph *graph, size_t from)
{
	const struct fact_open *open = graph->nodes.data[from].open;
	size_t peer;

	if (open->peer >= 0 && (size_t)open->peer < graph->processes->count)
		peer = (size_t)open->peer;
	else if (open->peer_rank >= 0)
		peer = node_of_rank(graph, graph->nodes.data[from].job, open->peer_rank);
	else
		return wait_for_any(graph, from);
	if (!has_gone_on(graph, peer, from))
		wait_for(graph, from, peer, open->peer_certain);
}

static void add_edges(struct hang_graph *graph)
{
	for (size_t i = 0; i < graph->processes->count; i++) {
		const struct fact_open *open = graph->nodes.data[i].open;

		if (!open || (hang_is_world(open) && mpi_function(open->function).collective &&
			      wait_for_missing(graph, i)))
			continue;
		wait_for_peer(graph, i);
	}
}

void hang_edges(struct hang_graph *graph, const struct hang_facts *facts)
{
	add_processes(graph);
	add_threads(graph, facts);
	add_lifetimes(graph, facts);
	add_open(graph, facts);
	add_edges(graph);
}
