/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_COMM_WORLD of each job, if its members are known for certain and the n-th collective call of
 * one rank matches the n-th of another. No other communicator is known that well.
 */
#ifndef UCXBPF_EXPORT_WORLDS_H
#define UCXBPF_EXPORT_WORLDS_H

#include <otf2/otf2.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

/* A collective call as OTF2 has it. */
struct collective {
	OTF2_CollectiveOp op;
	uint32_t root; /* rank in its world; OTF2_COLLECTIVE_ROOT_NONE: it has none */
};

struct sorter;

/* A process and its calls. */
struct world_member {
	bool begins; /* its MPI_Init was traced */
	bool unknown; /* the communicator of some collective call is unknown */
	uint64_t calls; /* certain collective calls on its world */
	size_t rooted; /* of these with a root, as far as they were gone through */
	uint64_t left, hash; /* of calls: how many still to come, hash of the rest */
	uint64_t until; /* start of the last call that every rank made; 0: none */
	size_t joined; /* process with a smaller number that it exchanged messages with; itself:
			  none */
	int world; /* -1: in none */
};

struct world {
	const char *job; /* NULL: not known */
	int size;
	VEC(int) ranks; /* processes by rank, -1: not traced */
	const char *
		reason; /* why its collective calls are uncertain, static; NULL: they are certain */
	uint64_t calls; /* calls that every rank made */
	/*
	 * Of calls with a root, in order: the one rank that received nothing, or sent nothing if it
	 * gathers; -1: none, -2: several
	 */
	VEC(int) roots;
};

struct worlds {
	struct sorter *sorter;
	int err; /* the first one, -errno */
	VEC(struct world_member) members; /* by process */
	VEC(struct world) worlds;
	struct map rooted; /* id of a call with a root -> flags, and its number on its world */
	struct map functions; /* name -> whether it has a root */
	const char *reason; /* why no call is certain; static */
};

void worlds_init(struct worlds *worlds);
void worlds_release(struct worlds *worlds);

void worlds_call(struct worlds *worlds, const struct fact_call *call);
void worlds_op(struct worlds *worlds, const struct fact_op *op);
void worlds_message(struct worlds *worlds, const struct fact_message *message);

/*
 * Call once, after the last fact. processes: by index, those with index -1 are unknown. reason: why
 * all calls are uncertain (static); NULL: some may be certain. Returns 0 or -errno, also of earlier
 * errors.
 */
int worlds_settle(struct worlds *worlds, const struct fact_process *processes, size_t count,
		  const char *reason);

/*
 * The world that a collective call is on, with the rest in *found. call: its id, process, function,
 * comm and start are used. NULL if the call is not collective, or, with the reason (static), if its
 * world or root is uncertain.
 */
const struct world *worlds_of(const struct worlds *worlds, const struct fact_call *call,
			      struct collective *found, const char **reason);

#endif
