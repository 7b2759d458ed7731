/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sweeps made up from a fixed seed: how often a slow node is found, and a good one suspected. Each
 * value has 1 % of noise, or as said; some are hit by congestion and lose up to half.
 */
#ifndef UCXBPF_OUTLIER_SWEEPS_H
#define UCXBPF_OUTLIER_SWEEPS_H

#include <math.h>

#include "site/judge/statistics/outliers.h"

/* ---- numbers ---- */

static uint64_t random_state;

static inline double uniform(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

struct sweep {
	int nodes, rounds;
	double hit; /* share of values */
	double slow; /* of node 0: share that it lacks */
	double noise; /* of each value, a share of it; 0: 1 % */
	uint32_t least; /* rounds that it takes; 0: one */
};

static inline void shuffle(int *list, int count)
{
	for (int i = count - 1; i > 0; i--) {
		int other = uniform() * (i + 1), kept = list[i];

		list[i] = list[other];
		list[other] = kept;
	}
}

static inline void meet(const struct sweep *sweep, struct outliers *outliers, int a, int b,
			int round)
{
	double value = 100 * exp((sweep->noise > 0 ? sweep->noise : 0.01) * normal());

	if (uniform() < sweep->hit)
		value *= 1 - uniform() / 2;
	if (!a || !b)
		value *= 1 - sweep->slow;
	if (a < sweep->nodes && b < sweep->nodes)
		vec_push(
			&outliers->values,
			((struct outlier_value){ .a = a, .b = b, .round = round, .value = value }));
}

/* Rounds of the circle method, as a plan has them: each node meets each other one equally often. */
static inline void make(const struct sweep *sweep, struct outliers *outliers)
{
	int seats = sweep->nodes + sweep->nodes % 2, turns = seats - 1;
	int *order = calloc(seats, sizeof(*order)), *rounds = calloc(turns, sizeof(*rounds));

	outliers->values.len = outliers->nodes.len = 0;
	for (int i = 0; i < sweep->nodes; i++)
		vec_push(&outliers->nodes, ((struct outlier_node){ 0 }));
	for (int i = 0; i < seats; i++)
		order[i] = i;
	for (int i = 0; i < turns; i++)
		rounds[i] = i;
	shuffle(order, seats);
	shuffle(rounds, turns);
	for (int round = 0; round < sweep->rounds; round++) {
		int turn = rounds[round % turns];

		meet(sweep, outliers, order[turns], order[turn], round);
		for (int i = 1; i < seats / 2; i++)
			meet(sweep, outliers, order[(turn + i) % turns],
			     order[(turn + turns - i) % turns], round);
	}
	free(order);
	free(rounds);
}

struct rates {
	double found, node_flagged, sweep_flagged;
};

/* confirm: flagged in two sets of rounds. */
static inline struct rates simulate(struct sweep sweep, double slow, int times, bool confirm)
{
	const struct outlier_limits limits = { 6, 0.03, sweep.least ? sweep.least : 1 };
	struct rates rates = { 0 };
	struct outliers first = { 0 }, second = { 0 };

	random_state = 1;
	sweep.slow = slow;
	for (int i = 0; i < times; i++) {
		int flagged = 0;

		make(&sweep, &first);
		outliers_nodes(&first, &limits);
		make(&sweep, &second);
		outliers_nodes(&second, &limits);
		for (int n = 0; n < sweep.nodes; n++) {
			bool slow_now =
				first.nodes.data[n].slow && (!confirm || second.nodes.data[n].slow);

			if (n)
				flagged += slow_now;
			else
				rates.found += slow_now;
		}
		rates.node_flagged += flagged;
		rates.sweep_flagged += flagged > 0;
	}
	rates.found /= times;
	rates.node_flagged /= (double)times * (sweep.nodes - 1);
	rates.sweep_flagged /= times;
	outliers_release(&first);
	outliers_release(&second);
	return rates;
}

#endif
