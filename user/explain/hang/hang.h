/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is behind: the processes that all others whose calls have not returned wait for, directly or
 * through others that wait themselves.
 */
#ifndef UCXBPF_HANG_HANG_H
#define UCXBPF_HANG_HANG_H

#include <stdio.h>

#include "base/vec.h"
#include "explain/facts/facts.h"

/* All of one analysis, in any order. A zeroed one is empty. */
struct hang_facts {
	VEC(struct fact_open) open;
	VEC(struct fact_thread) threads;
	VEC(struct fact_lifetime) lifetimes;
};

void hang_facts_release(struct hang_facts *facts);

struct hang_processes {
	size_t count;
	const struct fact_process *(*at)(const void *arg, size_t index); /* NULL: not known */
	const void *arg;
};

/* One process that waits for nobody, or several that wait for each other. */
struct hang_row {
	VEC(int) processes; /* in order; several: they wait for each other */
	int rank; /* rank of an untraced one; -1: it is, or they are, traced */
	bool certain; /* false: they may be behind, as some peers of waiting ranks are not known */
	uint64_t waiting; /* processes that wait for these, others than these */
	const struct fact_open *longest; /* of their calls and, if it is a circle, of its own */
	/* Where the first thread of a single one was, or one of its threads that was in MPI: */
	const struct fact_thread *thread; /* NULL: it was not looked at, or there are several */
	/* The collective that others are in and that it has not entered; NULL: none is known */
	const char *missing;
	/* Among the blocking collectives of MPI_COMM_WORLD: that one's number, and how many the
	 * process has entered; 0: not known */
	uint64_t sequence, entered;
	/*
	 * Processes that are in apart_in, while the majority is in others_in: two collectives of
	 * MPI_COMM_WORLD. Empty: all are in the same.
	 */
	VEC(int) apart;
	const char *apart_in, *others_in;
};

typedef VEC(struct hang_row) hang_rows;

#define HANG_NOTICED                                                                               \
	100000000u /* ns: each capture of a job that runs ends inside of some calls                \
		    */

/* Whether a call is known to be open, rather than under way by chance at the end. */
bool hang_noticed(const struct fact_open *open);

/*
 * Certain rows come first, then those with most waiting ranks. Only noticed calls count. Rows point
 * to facts.
 */
void hang_find(const struct hang_facts *facts, const struct hang_processes *processes,
	       hang_rows *rows);
void hang_release(hang_rows *rows);

/* Writes "rank 3", "pid 12". */
typedef void hang_name(const void *arg, int process, FILE *out);

/*
 * "rank 3 has not entered MPI_Barrier: it is sleeping, outside of MPI; 2 ranks wait for it"; the
 * caller frees it.
 */
char *hang_told(const struct hang_row *row, hang_name *name, const void *arg);

#endif
