// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03 where no rank came so far as to write a ledger: MPI starts only when all ranks are there,
 * so a node with too few of them is why.
 */
#include "site/judge/rules/rules.h"

/* Processes of the traffic that captures have of each node of the plan; the caller frees it. */
static int *count_started(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	const struct plan *plan = trial->judge->sweep.plan;
	int *started = calloc(plan->nodes.len, sizeof(*started));

	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		const char *host = member->fact.host_name;
		int node = host ? plan_node(plan, host) : -1;

		if (node >= 0 && traced_is(&exhibits->traced, member->id))
			started[node]++;
	}
	return started;
}

/* Returns how many nodes have some of their ranks, but not all. */
static int judge_started(const struct trial *trial, const int *started)
{
	const struct plan *plan = trial->judge->sweep.plan;
	int short_of = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		struct finding *finding;

		if (!started[i] || started[i] >= plan->ranks)
			continue;
		finding = found(trial, VERDICT_FAIL, plan->nodes.data[i].name);
		finding->expected = "all that was planned, once";
		finding->seen = say(trial->judge, "%d of %d ranks were started, and MPI on no node",
				    started[i], plan->ranks);
		short_of++;
	}
	return short_of;
}

void planned_without_ledgers(const struct trial *trial)
{
	const struct sweep *sweep = &trial->judge->sweep;
	int *started;

	if (sweep->foreign) {
		found_why(trial, VERDICT_UNKNOWN, "all nodes", "the ledgers are of another plan");
		return;
	}
	started = count_started(trial);
	if (!judge_started(trial, started))
		found_why(trial, VERDICT_UNKNOWN, "all nodes", "no ledger of this plan was given");
	free(started);
}
