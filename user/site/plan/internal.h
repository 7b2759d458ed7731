/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_PLAN_INTERNAL_H
#define UCXBPF_PLAN_INTERNAL_H

#include "site/plan/make.h"

/* Says why; returns -EINVAL. */
int plan_refuse(char why[PLAN_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));

#define PLAN_MAX_SIZE (1ll << 32)
#define PLAN_MAX_COUNT 1000000

extern const char *const plan_pairing_names[PAIRINGS]; /* "local", "circle", "list" */

/* ---- json.c ---- */
void plan_identify(struct plan *plan, const char *text, size_t length);

/* ---- sizes.c ---- */

#define PLAN_MIN_COUNT 10 /* messages of a time, but for the one that is not timed */

struct plan_sizes {
	VEC(uint64_t) list; /* ascending, none twice */
	uint64_t most;
	uint32_t max_count;
};

/* The usual ones within the options' limits, and those where the policy expects changes. */
void plan_sizes_of(struct plan_sizes *sizes, const struct policy *policy,
		   const struct plan_options *options);

/* Of collectives of so many ranks: the usual ones, none above the most of those. */
void plan_sizes_of_world(struct plan_sizes *sizes, const struct plan_sizes *most, uint64_t ranks);

/*
 * All sizes from one on of an op and, where there are GPUs, its memories; a count of 0: as many as
 * it takes for a time.
 */
void plan_works(const struct plan_sizes *sizes, struct plan_stage *stage, enum plan_op op,
		uint64_t from, uint32_t count, bool gpu);

/* ---- variant.c ---- */

/* Rounds of the stage: plan_options says which variants there are. -EINVAL with why. */
int plan_pair_off(struct plan *plan, struct plan_stage *stage, const char *variant,
		  char why[PLAN_WHY]);

/* The variant for a stage that needs no more than a look: one round of a sample, all pairs once. */
const char *plan_variant_once(const char *variant);

/* ---- circle.c ---- */

/* Numbers from a seed: the same everywhere. */
uint64_t plan_random(uint64_t *state);

/* Rounds in which n meet each other once. */
uint32_t circle_rounds(uint32_t n);

/* Position that meets another one in a round; -1: it is idle, as one is where n is odd. */
int circle_partner(uint32_t n, uint32_t round, uint32_t position);

/* plan->order and plan->place of the seed. */
void plan_shuffle(struct plan *plan);

/* Which k of the circle's rounds, none twice, ascending; all where there are no more. */
void plan_sample(const struct plan *plan, struct plan_stage *stage, uint32_t k);

/* All rounds of the circle, so many times. */
void plan_repeat(const struct plan *plan, struct plan_stage *stage, uint32_t times);

/* ---- lists.c ---- */

/* A round of all idle; its partners. */
int32_t *plan_round(const struct plan *plan, struct plan_stage *stage);
void plan_pair(int32_t *partners, int a, int b);

/*
 * Rounds of the stage: as the file at path lists them, between classes, or k for each level of the
 * topology. -EINVAL with why.
 */
int plan_custom(const struct plan *plan, struct plan_stage *stage, const char *path,
		char why[PLAN_WHY]);
int plan_cross_class(const struct plan *plan, struct plan_stage *stage, char why[PLAN_WHY]);
int plan_topo(const struct plan *plan, struct plan_stage *stage, uint32_t k, char why[PLAN_WHY]);

/* ---- meet.c ---- */

/* A node of a group of nodes, and of a branch of that group. */
struct placed {
	int above, below; /* a switch and the one below it, or the node; a part and a chunk */
	int node;
};

/*
 * Up to k rounds in which nodes of a group meet: across, those of different branches, else all. As
 * many rounds as the largest group has, at most. Sorts the list.
 */
void plan_meet(const struct plan *plan, struct plan_stage *stage, struct placed *list, size_t count,
	       bool across, uint32_t k);

/* ---- chunks.c ---- */

/* Divides the plan into parts of at most so many nodes. */
void plan_divide(struct plan *plan, uint32_t most);

/*
 * Rounds within parts: up to k, the first half of them within chunks, the rest across. k: at least
 * one of each; UINT32_MAX: all there are.
 */
void plan_chunks(const struct plan *plan, struct plan_stage *stage, uint32_t k);

/* ---- topology.c ---- */

/* Switches of a topology.conf, and each node's. */
int plan_topology(struct plan *plan, const struct policy *policy, char why[PLAN_WHY]);

/* Levels of switches above the nodes. */
int plan_levels(const struct plan *plan);

/* The switch above a node at a level from 1 on; -1: none. */
int plan_above(const struct plan *plan, int node, int level);

#endif
