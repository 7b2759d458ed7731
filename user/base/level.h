/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers of communication software, as --level names them: each calls the next one. */
#ifndef UCXBPF_BASE_LEVEL_H
#define UCXBPF_BASE_LEVEL_H

enum level {
	LEVEL_MPI,
	LEVEL_UCP,
	LEVEL_UCT,
	LEVELS,
	LEVEL_BESIDE = LEVELS /* memory and devices, which belong to no level */
};

extern const char *const level_names[LEVELS]; /* "mpi", "ucp", "uct" */
extern const char *const level_titles[LEVELS]; /* "MPI", "UCP", "UCT" */

/* -1: NULL, or not a level's name. */
int level_by_name(const char *name);

/* The level that a step of a budget records: "windows" has all layers. -1: as above. */
int level_by_step(const char *step);

#endif
