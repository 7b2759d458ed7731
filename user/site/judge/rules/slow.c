// SPDX-License-Identifier: BSD-3-Clause
/* PERF-01, PERF-02: what is compared, and what is said of who is slower than those like it. */
#include "site/judge/rules/slow.h"

static bool is_metric(const struct metric *metric, const struct plan_work *work)
{
	return work->op == PLAN_P2P && work->src_mem == metric->src_mem &&
	       work->dst_mem == metric->dst_mem && work->size == metric->size;
}

void metrics_find(const struct plan *plan, struct metrics *metrics)
{
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);

	for (int src = 0; src < PLAN_MEMORIES; src++)
		for (int dst = 0; dst < PLAN_MEMORIES; dst++) {
			uint64_t least = UINT64_MAX, most = 0;

			for (size_t i = 0; stage && i < stage->works.len; i++) {
				const struct plan_work *work = &stage->works.data[i];

				if (!is_metric(&(struct metric){ src, dst, work->size }, work))
					continue;
				least = work->size < least ? work->size : least;
				most = work->size > most ? work->size : most;
			}
			if (most)
				vec_push(&metrics->list, ((struct metric){ src, dst, most }));
			if (least < most)
				vec_push(&metrics->list, ((struct metric){ src, dst, least }));
		}
}

bool metric_times(const struct trial *trial, const struct metric *metric,
		  const struct sweep_transfer *transfer)
{
	return transfer_tells(trial, transfer) &&
	       is_metric(metric, sweep_work(&trial->judge->sweep, transfer));
}

bool slow_wants_confirmed(const struct trial *trial)
{
	return policy_wants(trial->judge->policy, trial->rule, "confirm");
}

static const char *metric_text(const struct trial *trial, const struct metric *metric)
{
	return say(trial->judge, "%s-%s %lu B", plan_memory_names[metric->src_mem],
		   plan_memory_names[metric->dst_mem], (unsigned long)metric->size);
}

struct finding *slow_say(const struct trial *trial, const char *subject,
			 const struct slowness *slowness)
{
	const struct catalogue_rule *nodes = catalogue_find("PERF-01");
	bool fails = slowness->slow && !slowness->refuted;
	struct finding *finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, subject);
	const char *more = "";

	finding->expected = say(trial->judge, "at least %.2f of the median",
				1 - policy_rule(trial->judge->policy, nodes)->number[1]);
	finding->count = slowness->rounds;
	if (!fails)
		return finding;
	if (slowness->confirmed) {
		more = say(trial->judge, ", confirmed in %zu more", slowness->again);
		if (trial->setting->severity == trial->rule->severity && trial->rule == nodes)
			finding->severity = SEVERITY_CRITICAL;
	} else if (slow_wants_confirmed(trial)) {
		more = ", not confirmed yet";
	}
	finding->seen = say(trial->judge, "%.2f of the median of %s, %.0f MAD, in %zu rounds%s",
			    slowness->share, metric_text(trial, slowness->metric), slowness->off,
			    slowness->rounds, more);
	return finding;
}
