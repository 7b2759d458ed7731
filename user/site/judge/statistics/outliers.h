/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes and pairs of nodes that are slower than the others, by the rates of pairs in rounds. A node
 * is judged by the median over its rounds, so that one slow partner or one congested round does not
 * matter; and against the spread of the other nodes, the noise of all rounds, and a floor below
 * which nothing counts. All of it in logarithms: slowness is a factor.
 */
#ifndef UCXBPF_JUDGE_STATISTICS_OUTLIERS_H
#define UCXBPF_JUDGE_STATISTICS_OUTLIERS_H

#include <stdbool.h>
#include <stdint.h>

#include "site/judge/statistics/statistics.h"

/* A pair's rate in a round: more is better, in any unit. */
struct outlier_value {
	int a, b; /* nodes */
	int group; /* only values of one group are alike: classes, distance */
	uint32_t round;
	double value;
	double ratio; /* found: to the median of its round and group */
};

struct outlier_limits {
	double mad; /* least distance from the others in spreads */
	double floor; /* and least share */
	size_t rounds; /* least number of rounds */
};

struct outlier_node {
	int class; /* given: nodes of a class are compared */
	size_t rounds, used; /* used: of few partners, without those with the worst of them */
	double score; /* median of its ratios; NAN: none */
	double center; /* median of its class's scores; NAN: nothing to compare with */
	double off; /* spreads below that; negative: above */
	bool slow;
};

struct outlier_pair {
	int a, b;
	size_t rounds;
	double score; /* median of its ratios, both nodes' own scores taken out */
	double center, off;
	bool slow;
};

struct outliers {
	VEC(struct outlier_value) values;
	VEC(struct outlier_node) nodes;
	VEC(struct outlier_pair) pairs; /* found by outliers_pairs() */
};

void outliers_release(struct outliers *outliers);

/* Ratios, then scores of all nodes. Classes with fewer than three of them get no scores. */
void outliers_nodes(struct outliers *outliers, const struct outlier_limits *limits);

/* Scores and rounds of nodes alone, by the ratios that the values have. Returns the noise of all.
 */
double outliers_scores(struct outliers *outliers);

/* After outliers_nodes(): pairs that met in that many rounds, where there are three such pairs. */
void outliers_pairs(struct outliers *outliers, const struct outlier_limits *limits);

#endif
