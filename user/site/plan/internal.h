/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of making and checking a plan that the files of plan/ share. */
#ifndef UCXBPF_PLAN_INTERNAL_H
#define UCXBPF_PLAN_INTERNAL_H

#include "site/plan/make.h"

/* Sets the reason; returns -EINVAL. */
int plan_refuse(char why[PLAN_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));

#define PLAN_MAX_SIZE (1ll << 32)
#define PLAN_MAX_COUNT 1000000

extern const char *const plan_pairing_names[PAIRINGS]; /* "local", "circle", "list" */

/* ---- rounds.c ---- */

/* Adds the rounds of the stage; plan_options lists the variants. -EINVAL with why. */
int plan_pair_off(struct plan *plan, struct plan_stage *stage, const char *variant,
		  char why[PLAN_WHY]);

/* The variant for a stage that needs few messages: one round of a sample, or all pairs once. */
const char *plan_variant_once(const char *variant);

/* A round with all nodes idle; its partners. */
int32_t *plan_round(const struct plan *plan, struct plan_stage *stage);
void plan_pair(int32_t *partners, int a, int b);

/* Divides the plan into parts of at most size nodes. */
void plan_divide(struct plan *plan, uint32_t most);

/* ---- plan.c ---- */

/* The order of plan.nodes, for qsort() and bsearch(). */
int plan_by_name(const void *left, const void *right);

/* Numbers from a seed: the same everywhere. */
uint64_t plan_random(uint64_t *state);

/* Number of rounds in which n meet each other once. */
uint32_t circle_rounds(uint32_t n);

/* Index of the partner in a round; -1: idle, as one is if n is odd. */
int circle_partner(uint32_t n, uint32_t round, uint32_t position);

/* The steps of a node's first rank in a round in which it meets another rank: of another node, in a
 * stage between nodes. */
void plan_steps_between(const struct plan *plan, const struct plan_stage *stage, int node,
			int other, plan_steps_t *steps);

/* plan->order and plan->place of the seed. */
void plan_shuffle(struct plan *plan);

/* ---- topology.c ---- */

/* Switches of a topology.conf, and each node's. */
int plan_topology(struct plan *plan, const struct policy *policy, char why[PLAN_WHY]);

/* Levels of switches above the nodes. */
int plan_levels(const struct plan *plan);

/* The switch above a node at a level from 1 on; -1: none. */
int plan_above(const struct plan *plan, int node, int level);

#endif
