// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/sweep/confirm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/sweep/report.h"
#include "site/judge/judge.h"
#include "site/sweep/sweep.h"

#define CONFIRM_ROUNDS PLAN_SAMPLE

bool sweep_may_confirm(const struct policy *policy, size_t nodes)
{
	static const enum rule_id rules[] = { RULE_PERF_01, RULE_PERF_02 };
	bool wanted = false;

	for (int i = 0; i < 2; i++) {
		const struct catalogue_rule *rule = &catalogue[rules[i]];

		wanted = wanted ||
			 (!policy_rule(policy, rule)->off && policy_wants(policy, rule, "confirm"));
	}
	/* whom to trust is said by PERF-01 */
	return wanted && !policy->rules[RULE_PERF_01].off && nodes > JUDGE_LEAST_ROUNDS;
}

static void trust(const struct plan *plan, enum plan_trust *nodes, const char *name,
		  enum plan_trust how)
{
	int at = plan_node(plan, name);

	if (at >= 0)
		nodes[at] = how;
}

/* The plan of the sweep, extended by the confirming stage. NULL (printed): none. */
static struct plan *plan_of(const char *folder, const struct judge_suspects *suspects)
{
	char path[PATH_MAX * 2 + 16], why[PLAN_WHY];
	VEC(struct plan_pair) pairs = { 0 };
	enum plan_trust *nodes;
	struct plan *plan;
	int err;

	snprintf(path, sizeof(path), "%s/plan.json", folder);
	err = plan_read(path, &plan, why);
	if (err) {
		log_warn("slow nodes are not confirmed: %s: %s", path, why);
		return NULL;
	}
	nodes = xcalloc(plan->nodes.len, sizeof(*nodes));
	for (size_t i = 0; i < suspects->slow.len; i++)
		trust(plan, nodes, suspects->slow.data[i], PLAN_SUSPECT);
	for (size_t i = 0; i < suspects->sound.len; i++)
		trust(plan, nodes, suspects->sound.data[i], PLAN_TRUSTED);
	for (size_t i = 0; i < suspects->pairs.len; i++)
		vec_push(&pairs,
			 ((struct plan_pair){ plan_node(plan, suspects->pairs.data[i].one),
					      plan_node(plan, suspects->pairs.data[i].other) }));
	err = plan_confirm(plan, &(struct plan_doubts){ nodes, pairs.data, pairs.len },
			   CONFIRM_ROUNDS, why);
	vec_release(&pairs);
	free(nodes);
	if (!err)
		return plan;
	log_warn("slow nodes are not confirmed: %s", why);
	plan_free(plan);
	return NULL;
}

static bool takes_part(const struct plan *plan, const char *name)
{
	const struct plan_stage *stage = plan_stage(plan, STAGE_CONFIRM);
	int node = plan_node(plan, name);

	for (uint32_t round = 0; node >= 0 && round < stage->rounds; round++)
		if (plan_partner(plan, stage, round, node) != PLAN_IDLE)
			return true;
	return false;
}

/* Keeps the part for people to look at, but not as a part of the verdict. */
static void withdraw(const char *folder, int signal_number)
{
	char path[PATH_MAX * 2 + 32], to[PATH_MAX * 2 + 32];

	log_warn("the confirmation %s: the verdict is that of the first pass; its files are in %s",
		 signal_number ? "was interrupted" : "did not come to its end", folder);
	snprintf(path, sizeof(path), "%s/plan.json", folder);
	snprintf(to, sizeof(to), "%s/plan.unfinished", folder);
	if (rename(path, to) && errno != ENOENT)
		log_error("%s: %s", path, strerror(errno));
}

static bool carry_out(const struct sweep_options *first, struct plan *plan, int *signal_number)
{
	struct sweep_options options = *first;
	char folder[PATH_MAX * 2 + 16];
	enum sweep_result result = SWEEP_FAILED;
	struct signals signals;
	VEC(char *) nodes = { 0 };

	snprintf(folder, sizeof(folder), "%s/" SWEEP_CONFIRM, first->folder);
	for (size_t i = 0; i < first->node_count; i++)
		if (takes_part(plan, first->nodes[i]))
			vec_push(&nodes, first->nodes[i]);
	options.given = plan;
	options.confirms = true;
	options.folder = folder;
	options.nodes = nodes.data;
	options.node_count = nodes.len;
	if (mkdir(folder, 0755)) {
		log_error("%s: %s", folder, strerror(errno));
	} else if (!signals_open(&signals, true)) {
		result = sweep_run(&options, &signals, signal_number);
		signals_restore(&signals);
	}
	if (result != SWEEP_DONE)
		withdraw(folder, *signal_number);
	vec_release(&nodes);
	return result == SWEEP_DONE;
}

static bool enough_sound(const struct judge_suspects *suspects)
{
	if (suspects->sound.len >= JUDGE_LEAST_ROUNDS)
		return true;
	log_warn(
		"slow nodes are not confirmed: this needs %d nodes that are not slow, there %s %zu",
		JUDGE_LEAST_ROUNDS, suspects->sound.len == 1 ? "is" : "are", suspects->sound.len);
	return false;
}

struct plan *sweep_confirming(const struct sweep_options *first, const struct judge *judge,
			      bool whole)
{
	struct judge_suspects suspects;
	struct plan *plan = NULL;
	size_t slow;

	judge_suspects(judge, &suspects);
	slow = suspects.slow.len + suspects.pairs.len;
	if (slow && !whole)
		log_warn("slow nodes are not confirmed: the traffic did not complete");
	else if (slow && enough_sound(&suspects))
		plan = plan_of(first->folder, &suspects);
	if (plan && first->progress)
		fprintf(stderr,
			"%zu slow: once more, with other partners (--no-confirm leaves it)\n",
			slow);
	judge_suspects_release(&suspects);
	return plan;
}

void sweep_confirming_nodes(const struct plan *plan, struct command *nodes)
{
	for (size_t i = 0; i < plan->nodes.len; i++)
		if (takes_part(plan, plan->nodes.data[i].name))
			command_add(nodes, "%s", plan->nodes.data[i].name);
}

bool sweep_confirm(const struct sweep_options *first, const struct judge *judge, bool whole,
		   int *signal_number)
{
	struct plan *plan = sweep_confirming(first, judge, whole);
	bool done = plan && carry_out(first, plan, signal_number);

	plan_free(plan);
	return done;
}
