/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each job's MPI_COMM_WORLD, as far as it is certain who is in it and that the n-th collective call
 * of one rank belongs with the n-th of another: the only communicators of which that is known.
 */
#ifndef UCXBPF_EXPORT_WORLDS_H
#define UCXBPF_EXPORT_WORLDS_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "base/vec.h"
#include "explain/match/facts.h"

/* One of MPI's collective functions, as far as OTF2 has a word for it. */
struct collective {
	const char *name; /* without its "MPI_" */
	OTF2_CollectiveOp op;
	bool rooted; /* one process is its root */
	bool moves; /* payload: all but a barrier */
};

struct sorter;

/* A process, and what it called. */
struct world_member {
	bool begins; /* it was seen to call MPI_Init */
	bool unknown; /* of a collective call the communicator is not known */
	uint64_t calls; /* collective ones of its world that can be told as such */
	uint64_t left, hash; /* of these, still to come; those that had their turn */
	uint64_t until; /* start of the last one that every rank made; 0: none */
	size_t joined; /* to a process with a smaller number by messages; itself: to none */
	int world; /* -1: in none */
};

struct world {
	const char *job; /* NULL: not known */
	int size;
	VEC(int) ranks; /* processes by rank, -1: not traced */
	const char *reason; /* why its collective calls cannot be told; static, NULL: they can */
	uint64_t calls; /* that every rank made */
};

struct worlds {
	struct sorter *sorter;
	int err; /* the first one, -errno */
	VEC(struct world_member) members; /* by process */
	VEC(struct world) worlds;
	const char *reason; /* why none can be told; static */
};

void worlds_init(struct worlds *worlds);
void worlds_release(struct worlds *worlds);

void worlds_call(struct worlds *worlds, const struct fact_call *call);
void worlds_message(struct worlds *worlds, const struct fact_message *message);

/*
 * Once, after the last fact. processes: by index, those with index -1 are not known. reason: why
 * nothing can be told at all (static), NULL: something may. Returns 0 or -errno, also of earlier.
 */
int worlds_settle(struct worlds *worlds, const struct fact_process *processes, size_t count,
		  const char *reason);

/*
 * The world that a call is a collective operation of, or NULL with the reason why it cannot be told
 * as one (static), which is NULL as well where it is none. *row: what it is.
 */
const struct world *worlds_of(const struct worlds *worlds, int process, const char *function,
			      const char *comm, uint64_t start, const struct collective **row,
			      const char **reason);

#endif
