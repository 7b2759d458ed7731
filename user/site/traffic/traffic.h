/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI program that carries out a sweep's plan, as one rank sees it. */
#ifndef UCXBPF_TRAFFIC_TRAFFIC_H
#define UCXBPF_TRAFFIC_TRAFFIC_H

#include <mpi.h>

#include "site/plan/plan.h"

/* MPICH's MPI_STATUSES_IGNORE is the address 1, which gcc reports as too small an array. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

/* Exit statuses, beside 0 for a complete ledger. Documented for sweeps in docs/sweep-files.md. */
enum traffic_exit {
	TRAFFIC_GAVE_UP = 2, /* bad usage, or a round that cannot be carried out */
	TRAFFIC_STUCK = 3, /* time limit or end of the job: the ledger names the open operation */
	TRAFFIC_UNWRITTEN = 4, /* the same, but the ledger could not be written */
};

struct arguments {
	const char *plan, *ledger; /* a file, a folder */
	const char *go; /* a file to wait for before MPI starts; NULL: none */
	const char *node; /* as the plan names it; NULL: the host's name */
	bool stages[STAGES];
	uint32_t part; /* of the plan */
	unsigned int wait_s, limit_s; /* for the file; for a round */
};

/* Memory of a kind, to send from and to receive into. */
struct traffic_memory {
	void *send, *receive;
	size_t size;
};

struct rank {
	const struct plan *plan;
	int rank, size; /* in MPI_COMM_WORLD */
	int node, local; /* node -1: not in the plan, or its ranks are all taken */
	int *world; /* rank of a node's local one: [node * plan->ranks + local], -1: absent */
	struct traffic_memory memory[PLAN_MEMORIES];
	uint64_t *times; /* ns, of the messages of a step */
	size_t times_room;
	struct book *book;
	/* now */
	enum plan_stage_kind stage;
	uint32_t round;
};

/* Ends the whole job, since others would wait for this rank; prints the reason on stderr. */
void give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

int world_rank(const struct rank *rank, int node, int local);

/* ---- memory.c ---- */

/*
 * Makes this rank's GPU the current one. To be called before MPI_Init: UCX then asks which GPU a
 * process uses, and 1.13 takes memory of a later one for the host's.
 */
void cuda_begin(void);

/* Whether the stages of the plan want memory of a kind on a node; -1: not of the plan. */
bool wants_memory(const struct plan *plan, int node, const bool stages[STAGES],
		  enum plan_memory kind);

/* Allocates the buffers that the plan's stages need; ends the job if that fails. */
void get_memory(struct rank *rank, const bool stages[STAGES]);

/* The content of a message: 8 bytes at an offset, from a seed. */
void fill(enum plan_memory kind, void *buffer, size_t size, uint64_t seed);

/* Its first and last 8 bytes, of another seed. */
void stamp(enum plan_memory kind, void *buffer, size_t size, uint64_t seed);
bool stamped(enum plan_memory kind, const void *buffer, size_t size, uint64_t seed);

/* All of it, except for the stamps of the second seed. */
bool filled(enum plan_memory kind, const void *buffer, size_t size, uint64_t seed, uint64_t stamp);

/* Whether each 8 bytes of it are so many times what fill() writes. */
bool multiplied(enum plan_memory kind, const void *buffer, size_t size, uint64_t seed,
		uint64_t factor);

/* ---- messages.c ---- */

uint64_t now_ns(void);

/* Yields the core to others if it takes long. */
void wait_for(MPI_Request *request);
void barrier(void);

/* MPI_Finalize, or if that may hang, the end of the process: all is logged by then. */
void finalize(void);

void do_pair(struct rank *rank, const struct plan_step *step);
void do_world(struct rank *rank, const struct plan_step *step);

/* ---- ledger.c ---- */

struct book *book_open(const struct rank *rank, const char *node,
		       const struct arguments *arguments);
void book_begin(const struct rank *rank);

/* The entry to log if the rank gets stuck in it; NULL: between two rounds. */
void book_now(const struct rank *rank, const struct plan_step *step);
void book_transfer(const struct rank *rank, const struct plan_step *step, uint64_t errors,
		   size_t timed);
/* Returns whether all data arrived unchanged. */
bool book_end(const struct rank *rank);

/* The file whose first letters give the reason why the job is ended; NULL: none. */
void limit_reasons(const char *path);

/* Sets the time limit in seconds from now; then the job ends. */
void limit_round(unsigned int seconds);

/* From now on an error of MPI is logged as getting stuck, and ends this rank. */
void limit_errors(void);

#endif
