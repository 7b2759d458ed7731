// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/verdict/drain.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/lists.h"
#include "site/judge/words/words.h"
#include "site/judge/internal.h"

#define LONGEST_NAME 63

/* A node that fails a critical rule; sorted by the rules and the refusal. */
struct candidate {
	const char *node;
	const char *rules; /* "PATH-03 PATH-06", as the catalogue has them in order */
	const char *refused; /* NULL: it is to go */
};

struct candidates {
	VEC(struct candidate) list;
	struct words names, rules;
	struct map by_name; /* a kept name -> 1 + position */
};

/*
 * A name comes from a capture, which any user may have made. scontrol takes lists, ranges and ALL
 * in place of a name, and options where words begin with a dash.
 */
static bool safe_name(const char *name)
{
	size_t length = strlen(name);

	if (!length || length > LONGEST_NAME || !isalnum((unsigned char)*name) ||
	    !strcasecmp(name, "ALL"))
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	return true;
}

/* Refuses a node whose evidence is not enough to act on. */
static void doubt(struct candidates *candidates, const char *name, const char *why)
{
	const uint64_t *at = map_find(&candidates->by_name, (uintptr_t)name, 0);
	struct candidate *candidate = at ? &candidates->list.data[*at - 1] : NULL;

	if (candidate && !candidate->refused)
		candidate->refused = why;
}

static void doubt_all(struct candidates *candidates, const char *why)
{
	for (size_t i = 0; i < candidates->list.len; i++)
		doubt(candidates, candidates->list.data[i].node, why);
}

static void find_doubtful(struct candidates *candidates, const struct judge *judge)
{
	const char *named[SUBJECT_NODES];

	if (judge->incomplete || judge->captures_broken || judge->losses.list.len)
		doubt_all(candidates, "the evidence is incomplete (COV-01)");
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		size_t count;

		/* they come first */
		if (finding->rule->family != FAMILY_COV)
			break;
		if (finding->verdict != VERDICT_FAIL && finding->verdict != VERDICT_UNKNOWN)
			continue;
		if (finding->subject.kind == SUBJECT_CAPTURES)
			doubt_all(candidates, "its evidence is incomplete (COV)");
		count = subject_nodes(&finding->subject, &candidates->names, named);
		while (count)
			doubt(candidates, named[--count], "its evidence is incomplete (COV)");
	}
}

static const char *refusal(const struct judge *judge, const char *node)
{
	if (!safe_name(node))
		return "the name is not safe to pass to a resource manager";
	if (!policy_class_of(judge->policy, node))
		return "in none of the policy's classes";
	return NULL;
}

/* A word in a list of words, where none begins with another one. */
static void add_rule(struct candidates *candidates, struct candidate *candidate, const char *rule)
{
	char *rules;

	if (strstr(candidate->rules, rule))
		return;
	rules = xasprintf("%s %s", candidate->rules, rule);
	candidate->rules = words_keep(&candidates->rules, rules);
	free(rules);
}

static void add(struct candidates *candidates, const struct judge *judge, const char *node,
		const char *rule)
{
	uint64_t *at = map_insert(&candidates->by_name, (uintptr_t)node, 0, NULL);

	if (*at) {
		add_rule(candidates, &candidates->list.data[*at - 1], rule);
		return;
	}
	vec_push(&candidates->list, ((struct candidate){ node, rule, refusal(judge, node) }));
	*at = candidates->list.len;
}

/* A failed pair does not show which node is at fault, and incomplete evidence proves nothing. */
static void collect(struct candidates *candidates, const struct judge *judge)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		const struct subject *subject = &finding->subject;

		if (finding->verdict != VERDICT_FAIL || finding->severity != SEVERITY_CRITICAL ||
		    finding->rule->family == FAMILY_COV || !subject->node || subject->other)
			continue;
		add(candidates, judge, words_keep(&candidates->names, subject->node),
		    finding->rule->id);
	}
	find_doubtful(candidates, judge);
}

static int by_fate(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = !!a->refused - !!b->refused;

	order = order ? order : strcmp(a->refused ? a->refused : "", b->refused ? b->refused : "");
	order = order || a->refused ? order : strcmp(a->rules, b->rules);
	return order;
}

/* The prefix is the policy's; characters that a shell or scontrol interprets are left out. */
static char *reason_of(const struct judge *judge, const char *rules)
{
	char *reason;

	reason = xasprintf("%s %s", judge->policy->act.reason_prefix, rules);
	for (char *c = reason; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(" _.,:;()[]/+=-", *c))
			*c = '_';
	return reason;
}

static void release_names(struct drain *drain)
{
	for (size_t i = 0; i < drain->count; i++)
		free(drain->names[i]);
	free(drain->names);
}

static void put(struct drains *drains, const struct judge *judge,
		const struct candidate *candidates, size_t count)
{
	struct drain drain = { .names = xcalloc(count, sizeof(*drain.names)), .count = count };

	for (size_t i = 0; i < count; i++)
		drain.names[i] = xstrdup(candidates[i].node);
	drain.nodes = fold_names((const char *const *)drain.names, count);
	if (candidates->refused) {
		vec_push(&drains->refused,
			 ((struct drain_refusal){ drain.nodes, candidates->refused }));
		release_names(&drain);
		return;
	}
	drain.reason = reason_of(judge, candidates->rules);
	vec_push(&drains->list, drain);
	drains->nodes += count;
}

static size_t most_nodes(const struct policy *policy)
{
	double share = floor(policy->act.max_share * policy->nodes.len);

	return share < policy->act.max_nodes ? (size_t)share : (size_t)policy->act.max_nodes;
}

void drains_make(struct drains *drains, const struct judge *judge)
{
	struct candidates all = { 0 };
	size_t to;

	*drains = (struct drains){ .most = most_nodes(judge->policy) };
	if (judge->policy->act.drain == DRAIN_NEVER || !judge->policy->nodes.len)
		return;
	collect(&all, judge);
	if (all.list.len)
		qsort(all.list.data, all.list.len, sizeof(*all.list.data), by_fate);
	for (size_t from = 0; from < all.list.len; from = to) {
		for (to = from + 1;
		     to < all.list.len && !by_fate(&all.list.data[from], &all.list.data[to]);)
			to++;
		put(drains, judge, &all.list.data[from], to - from);
	}
	words_release(&all.names);
	words_release(&all.rules);
	map_release(&all.by_name);
	vec_release(&all.list);
}

void drains_release(struct drains *drains)
{
	for (size_t i = 0; i < drains->list.len; i++) {
		free(drains->list.data[i].nodes);
		free(drains->list.data[i].reason);
		release_names(&drains->list.data[i]);
	}
	for (size_t i = 0; i < drains->refused.len; i++)
		free(drains->refused.data[i].nodes);
	vec_release(&drains->list);
	vec_release(&drains->refused);
}

void drain_command(const struct drain *drain, char *words[DRAIN_WORDS + 1])
{
	words[0] = xstrdup("scontrol");
	words[1] = xstrdup("update");
	words[2] = xasprintf("NodeName=%s", drain->nodes);
	words[3] = xstrdup("State=DRAIN");
	words[4] = xasprintf("Reason=%s", drain->reason);
	words[5] = NULL;
}
