// SPDX-License-Identifier: BSD-3-Clause
/* How well PERF-01 tells a slow node, by rounds: the table of docs/sweep-files.md. */
#include <stdio.h>

#include "unit/outlier_sweeps.h"

#define TIMES 200

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
		struct sweep sweep = { cases[i].nodes, cases[i].rounds, cases[i].hit, 0 };
		struct rates five = simulate(sweep, .05, TIMES, cases[i].confirm);
		struct rates ten = simulate(sweep, .10, TIMES, cases[i].confirm);
		struct rates none = simulate(sweep, 0, TIMES, cases[i].confirm);

		printf("hit %2.0f %% nodes %3d rounds %2d%s: -5 %% %.2f, -10 %% %.2f, clean node "
		       "%.4f, sweep %.3f\n",
		       100 * cases[i].hit, cases[i].nodes, cases[i].rounds,
		       cases[i].confirm ? " twice" : "", five.found, ten.found, none.node_flagged,
		       none.sweep_flagged);
	}
	return 0;
}
