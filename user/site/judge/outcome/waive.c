// SPDX-License-Identifier: BSD-3-Clause
/* What the policy knows of, until a day. */
#include <fnmatch.h>

#include "site/judge/outcome/outcome.h"

static const struct policy_waiver *waiver_of(const struct policy *policy,
					     const struct finding *finding, int64_t today)
{
	for (size_t i = 0; i < policy->waivers.len; i++) {
		const struct policy_waiver *waiver = &policy->waivers.data[i];

		if (waiver->rule == finding->rule && waiver->until >= today &&
		    !fnmatch(waiver->subject, finding->subject, 0))
			return waiver;
	}
	return NULL;
}

void judge_waive(struct judge *judge, int64_t today)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const struct policy_waiver *waiver;

		if (finding->verdict != VERDICT_FAIL && finding->verdict != VERDICT_UNKNOWN)
			continue;
		waiver = waiver_of(judge->policy, finding, today);
		if (!waiver)
			continue;
		finding->verdict = VERDICT_WAIVED;
		finding->why = waiver->reason;
	}
}
