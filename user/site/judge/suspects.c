// SPDX-License-Identifier: BSD-3-Clause
/* Who is to be looked at again: nodes and pairs that were slow in one set of rounds. */
#include <string.h>

#include "site/judge/internal.h"

/* A pair that is slow with small and with large messages has two findings, one behind the other. */
static bool is_suspected(const struct judge_suspects *suspects, const char *one, const char *other)
{
	const struct judge_pair *last = suspects->pairs.data + suspects->pairs.len - 1;

	return suspects->pairs.len && last->one == one && last->other == other;
}

static void suspect_pair(const struct plan *plan, const char *subject,
			 struct judge_suspects *suspects)
{
	char *one = strdup(subject), *between = strstr(one, "<>");
	int a, b;

	if (between)
		*between = '\0';
	a = plan_node(plan, one);
	b = between ? plan_node(plan, between + strlen("<>")) : -1;
	free(one);
	if (a >= 0 && b >= 0 &&
	    !is_suspected(suspects, plan->nodes.data[a].name, plan->nodes.data[b].name))
		vec_push(&suspects->pairs, ((struct judge_pair){ plan->nodes.data[a].name,
								 plan->nodes.data[b].name }));
}

static void suspect(const struct judge *judge, const struct finding *finding,
		    struct judge_suspects *suspects)
{
	bool wanted = policy_wants(judge->policy, finding->rule, "confirm");

	if (finding->rule == catalogue_find("PERF-01")) {
		if (finding->verdict == VERDICT_PASS)
			vec_push(&suspects->sound, finding->subject);
		else if (finding->verdict == VERDICT_FAIL && wanted)
			vec_push(&suspects->slow, finding->subject);
	} else if (finding->rule == catalogue_find("PERF-02")) {
		if (finding->verdict == VERDICT_FAIL && wanted)
			suspect_pair(judge->sweep.plan, finding->subject, suspects);
	}
}

void judge_suspects(const struct judge *judge, struct judge_suspects *suspects)
{
	const struct plan *plan = judge->sweep.plan;

	*suspects = (struct judge_suspects){ 0 };
	for (size_t i = 0; plan && !*plan->base && i < judge->findings.len; i++)
		suspect(judge, &judge->findings.data[i], suspects);
}

void judge_suspects_release(struct judge_suspects *suspects)
{
	vec_release(&suspects->slow);
	vec_release(&suspects->sound);
	vec_release(&suspects->pairs);
}
