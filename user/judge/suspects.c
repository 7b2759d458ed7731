// SPDX-License-Identifier: BSD-3-Clause
/* Who is to be looked at again: nodes that were slow in one set of rounds. */
#include "judge/rules.h"

static bool confirms(const struct judge *judge, const struct catalogue_rule *rule)
{
	const struct plan *plan = judge->sweep.plan;

	return plan && !*plan->base && policy_rule(judge->policy, rule)->number[2];
}

void judge_suspects(const struct judge *judge, struct judge_suspects *suspects)
{
	const struct catalogue_rule *rule = catalogue_find("PERF-01");

	*suspects = (struct judge_suspects){ 0 };
	for (size_t i = 0; confirms(judge, rule) && i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];

		if (finding->rule != rule)
			continue;
		if (finding->verdict == VERDICT_FAIL)
			vec_push(&suspects->slow, finding->subject);
		else if (finding->verdict == VERDICT_PASS)
			vec_push(&suspects->sound, finding->subject);
	}
}

void judge_suspects_release(struct judge_suspects *suspects)
{
	vec_release(&suspects->slow);
	vec_release(&suspects->sound);
}
