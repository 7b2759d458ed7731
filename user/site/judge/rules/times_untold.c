// SPDX-License-Identifier: BSD-3-Clause
/* Nodes whose times tell nothing of a network: what rules of times say of them. */
#include "site/judge/rules/rules.h"

bool judges_all(const struct trial *trial)
{
	return policy_wants(trial->judge->policy, trial->rule, "one_machine");
}

const char *node_untold(const struct trial *trial, int node)
{
	const struct sweep *sweep = &trial->judge->sweep;

	return judges_all(trial) || !sweep->untold ? NULL : sweep->untold[node];
}

bool transfer_tells(const struct trial *trial, const struct sweep_transfer *transfer)
{
	return transfer->p50 > 0 &&
	       (judges_all(trial) || sweep_tells(&trial->judge->sweep, transfer));
}

bool nothing_told(const struct trial *trial)
{
	const struct plan *plan = trial->judge->sweep.plan;
	size_t without = 0, alike = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		without += node_untold(trial, i) != NULL;
		alike += node_untold(trial, i) == node_untold(trial, 0);
	}
	if (without && alike == plan->nodes.len) {
		found_nothing(trial, VERDICT_SKIP, node_untold(trial, 0));
		return true;
	}
	for (size_t i = 0; i < plan->nodes.len; i++)
		if (node_untold(trial, i))
			found_why(trial, VERDICT_SKIP, plan->nodes.data[i].name,
				  node_untold(trial, i));
	return without && without == plan->nodes.len;
}
