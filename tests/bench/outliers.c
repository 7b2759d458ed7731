// SPDX-License-Identifier: BSD-3-Clause
/* How well PERF-01 tells a slow node, by rounds: the table of docs/sweep-files.md. */
#include <stdio.h>

#include "unit/outlier_sweeps.h"

#define TIMES 200

/* Nodes that share something, so that each time is off by so much: of few, how slow must one be. */
static void few(void)
{
	static const double noises[] = { .01, .15, .3 };
	static const int nodes[] = { 3, 4, 8 }, rounds[] = { 3, 9, 15 };

	for (int i = 0; i < 27; i++) {
		struct sweep sweep = { .nodes = nodes[i % 9 / 3],
				       .rounds = rounds[i % 3],
				       .hit = .02,
				       .noise = noises[i / 9],
				       .least = 3 };
		struct rates half = simulate(sweep, .5, 5 * TIMES, false);
		struct rates tenth = simulate(sweep, .9, 5 * TIMES, false);
		struct rates none = simulate(sweep, 0, 5 * TIMES, false);

		printf("noise %2.0f %% nodes %3d rounds %2d: half as fast %.2f, a tenth %.2f, with it "
		       "another %.3f, sweep %.3f\n",
		       100 * sweep.noise, sweep.nodes, sweep.rounds, half.found, tenth.found,
		       tenth.sweep_flagged, none.sweep_flagged);
	}
}

int main(void)
{
	static const struct {
		double hit;
		int nodes, rounds;
		bool confirm;
	} cases[] = { { .02, 64, 1, false },  { .02, 64, 3, false },   { .02, 64, 7, false },
		      { .02, 64, 15, false }, { .02, 256, 1, false },  { .02, 256, 3, false },
		      { .02, 256, 7, false }, { .02, 256, 15, false }, { .2, 256, 7, false },
		      { .2, 256, 15, false }, { .2, 256, 31, false },  { .2, 256, 7, true },
		      { .2, 256, 15, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sweep sweep = { .nodes = cases[i].nodes,
				       .rounds = cases[i].rounds,
				       .hit = cases[i].hit };
		struct rates five = simulate(sweep, .05, TIMES, cases[i].confirm);
		struct rates ten = simulate(sweep, .10, TIMES, cases[i].confirm);
		struct rates none = simulate(sweep, 0, TIMES, cases[i].confirm);

		printf("hit %2.0f %% nodes %3d rounds %2d%s: -5 %% %.2f, -10 %% %.2f, clean node "
		       "%.4f, sweep %.3f\n",
		       100 * cases[i].hit, cases[i].nodes, cases[i].rounds,
		       cases[i].confirm ? " twice" : "", five.found, ten.found, none.node_flagged,
		       none.sweep_flagged);
	}
	few();
	return 0;
}
