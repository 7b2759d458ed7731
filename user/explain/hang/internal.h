/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of hang/: edges.c finds who waits for whom, hang.c who is behind. */
#ifndef UCXBPF_HANG_INTERNAL_H
#define UCXBPF_HANG_INTERNAL_H

#include "base/map.h"
#include "explain/hang/graph.h"
#include "explain/hang/hang.h"

#define NONE SIZE_MAX

struct hang_awaited {
	size_t waiting; /* number of processes that wait for the group */
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
	const struct fact_lifetime *lifetime;
	const char *missing;
	uint64_t sequence; /* of that, 0: unknown */
	/* number of blocking collectives of MPI_COMM_WORLD that a process has entered; 0: unknown
	 */
	uint64_t entered;
	int rank; /* of a rank that is not traced */
	size_t job; /* of a process */
	size_t next; /* process of its job; NONE */
	bool stopped;
	bool set, filled; /* filled: it has members */
	bool met; /* every rank has entered the collective that it waits in, or that a set is of */
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

/* ---- edges.c ---- */
/* Fills a graph of which only the member processes is set. */
void hang_edges(struct hang_graph *graph, const struct hang_facts *facts);
/* other: NULL: none */
bool hang_is_longer(const struct fact_open *open, const struct fact_open *other);
/* Whether a call has MPI_COMM_WORLD. */
bool hang_is_world(const struct fact_open *open);
/* Whether it is in that MPI function, or was when it was looked at. */
bool hang_is_in(const struct hang_node *node, const char *function);

#endif
