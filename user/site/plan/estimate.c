// SPDX-License-Identifier: BSD-3-Clause
#include "site/plan/internal.h"

#define ROUND_SECONDS 0.5 /* a barrier, and making endpoints */
#define MESSAGE_SECONDS 10e-6 /* and its answer */

/* What one rank does: the longest of all bounds the round. */
static double seconds_of(const struct plan *plan, const plan_steps_t *steps, double unsaid)
{
	double seconds = 0;

	for (size_t i = 0; i < steps->len; i++) {
		const struct plan_step *step = &steps->data[i];
		double rate = plan->classes.data[plan->nodes.data[step->src].class].nic_rate;
		double bytes = (double)step->work->size * (step->world ? plan->nodes.len : 1);

		seconds += step->work->count *
			   (MESSAGE_SECONDS + 8 * bytes / (rate > 0 ? rate : unsaid));
	}
	return seconds;
}

static void count_round(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			double unsaid, plan_steps_t *steps, struct plan_estimate *estimate)
{
	double longest = 0;

	for (size_t node = 0; node < plan->nodes.len; node++)
		for (int local = 0; local < plan->ranks; local++) {
			double seconds;

			plan_steps(plan, stage, round, node, local, steps);
			seconds = seconds_of(plan, steps, unsaid);
			longest = seconds > longest ? seconds : longest;
			for (size_t i = 0; i < steps->len; i++) {
				if (!steps->data[i].sends)
					continue;
				estimate->messages += steps->data[i].work->count;
				estimate->bytes +=
					steps->data[i].work->count * steps->data[i].work->size;
			}
		}
	estimate->seconds += ROUND_SECONDS + longest;
	estimate->rounds++;
}

struct plan_estimate plan_estimate(const struct plan *plan, double rate)
{
	double unsaid = rate > 0 ? rate : PLAN_UNKNOWN_RATE;
	struct plan_estimate estimate = { 0 };
	plan_steps_t steps = { 0 };

	for (size_t i = 0; i < plan->stages.len; i++)
		for (uint32_t round = 0; round < plan->stages.data[i].rounds; round++)
			count_round(plan, &plan->stages.data[i], round, unsaid, &steps, &estimate);
	vec_release(&steps);
	estimate.node_hours = estimate.seconds * plan->nodes.len / 3600;
	return estimate;
}
