// SPDX-License-Identifier: BSD-3-Clause
/* Whether the variables of processes are the same on all nodes, and UCX knows them: CFG-01. */
#include <fnmatch.h>
#include <string.h>

#include "base/environment.h"
#include "base/order.h"
#include "site/judge/rules/rules.h"

#define NOT_SET "(not set)"

struct residents {
	VEC(struct resident {
		const struct node *node;
		const struct member *member;
	})
	list; /* by node, then by rank */
	VEC(struct compared_variable {
		const char *name;
		bool of_ucx;
		uint32_t releases; /* that know it */
	})
	names; /* each once */
};

/* Those of one node: list[from .. to - 1] */
struct stay {
	size_t from, to;
};

static int by_node(const void *left, const void *right)
{
	const struct resident *a = left, *b = right;
	int order = order_compare((uintptr_t)a->node, (uintptr_t)b->node);

	order = order ? order : order_compare(a->member->fact.rank, b->member->fact.rank);
	return order ? order : order_compare(a->member->fact.pid, b->member->fact.pid);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct compared_variable *)left)->name,
		      ((const struct compared_variable *)right)->name);
}

static bool has_name(const struct residents *residents, const char *name)
{
	for (size_t i = 0; i < residents->names.len; i++)
		if (!strcmp(residents->names.data[i].name, name))
			return true;
	return false;
}

static void add_names(struct residents *residents, const struct member *member)
{
	for (size_t i = 0; i < member->environment.len; i++) {
		const char *name = member->environment.data[i].name;

		if (!has_name(residents, name))
			vec_push(&residents->names,
				 ((struct compared_variable){ name,
							      !strncmp(name, "UCX_", 4) ||
								      !strncmp(name, "MPI_UCX_", 8),
							      ucx_name_mask(name) }));
	}
}

/* Processes of MPI or UCX on nodes that have a name. */
static void residents_collect(const struct aggregates *aggregates, struct residents *residents)
{
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
		const struct node *node = aggregates_node(aggregates, i);

		if (!node || !node->name || (!member->fact.mpi && !member->ucx.len))
			continue;
		vec_push(&residents->list, ((struct resident){ node, member }));
		add_names(residents, member);
	}
	if (residents->list.len)
		qsort(residents->list.data, residents->list.len, sizeof(struct resident), by_node);
	if (residents->names.len)
		qsort(residents->names.data, residents->names.len, sizeof(struct compared_variable),
		      by_name);
}

/* The next node's stay, or the first one's where it is zeroed; false: no more. */
static bool residents_next(const struct residents *residents, struct stay *stay)
{
	stay->from = stay->to;
	while (stay->to < residents->list.len &&
	       residents->list.data[stay->to].node == residents->list.data[stay->from].node)
		stay->to++;
	return stay->to > stay->from;
}

/* NOT_SET: it has no such variable. */
static const char *resident_value(const struct member *member, const char *name)
{
	for (size_t i = 0; i < member->environment.len; i++)
		if (!strcmp(member->environment.data[i].name, name))
			return member->environment.data[i].value;
	return NOT_SET;
}

/* Whether captures have the variables of all processes of a stay. */
static bool residents_known(const struct residents *residents, struct stay stay)
{
	for (size_t i = stay.from; i < stay.to; i++)
		if (residents->list.data[i].member->fact.environment_cut < 0)
			return false;
	return true;
}

/* How many of their variables had no room in the capture. */
static int residents_cut(const struct residents *residents, struct stay stay)
{
	int cut = 0;

	for (size_t i = stay.from; i < stay.to; i++)
		cut += residents->list.data[i].member->fact.environment_cut;
	return cut;
}

static bool residents_any_known(const struct residents *residents)
{
	for (size_t i = 0; i < residents->list.len; i++)
		if (residents->list.data[i].member->fact.environment_cut >= 0)
			return true;
	return false;
}

static void residents_release(struct residents *residents)
{
	vec_release(&residents->list);
	vec_release(&residents->names);
}

/* ---- whether UCX knows a variable ---- */

/* Whether the variable is a scheduler's choice or an output path, which may well differ. */
static const char *const free_names[] = {
	"*VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "*UCX_LOG_*", "*UCX_STATS_*", "*UCX_PROFILE_*",
};

static enum ucx_name known(const struct member *member, const struct compared_variable *variable)
{
	enum ucx_name answer = UCX_NAME_NO_RELEASE;

	for (size_t i = 0; i < member->ucx.len && answer != UCX_NAME_KNOWN; i++) {
		uint32_t release = ucx_release_mask(member->ucx.data[i].version);

		if (release)
			answer = variable->releases & release ? UCX_NAME_KNOWN : UCX_NAME_NOT_KNOWN;
	}
	return answer;
}

static void not_known(const struct rule_ctx *ctx, const struct resident *resident, const char *name)
{
	const char *version = resident->member->ucx.data[0].version;
	struct finding *finding = found(ctx, VERDICT_FAIL, subject_node(resident->node->name));
	char near[UCX_NAME_MAX], releases[UCX_NAME_MAX];

	finding->expected = ucx_name_nearest(name, version, near)
				    ? say(ctx->judge, "%s", near)
				    : say(ctx->judge, "a variable of UCX %s", version);
	finding->seen = ucx_name_releases(name, releases)
				? say(ctx->judge, "%s: UCX %s has no such variable, %s have it",
				      name, version, releases)
				: say(ctx->judge, "%s: UCX %s has no such variable", name, version);
}

/*
 * Adds a FAIL for each variable that a process of the node has and its UCX does not know, once per
 * name. Returns whether the table of names lacks a release that was used.
 */
static bool variable_judge_spelling(const struct rule_ctx *ctx, const struct residents *residents,
				    struct stay stay, const struct compared_variable *variable)
{
	const char *name = variable->name;
	bool newer = false;

	for (size_t i = stay.from; variable->of_ucx && i < stay.to; i++) {
		const struct resident *resident = &residents->list.data[i];
		enum ucx_name answer;

		if (!resident->member->ucx.len ||
		    !strcmp(resident_value(resident->member, name), NOT_SET))
			continue;
		answer = known(resident->member, variable);
		newer = newer || answer == UCX_NAME_NO_RELEASE;
		if (answer != UCX_NAME_NOT_KNOWN)
			continue;
		not_known(ctx, resident, name);
		break;
	}
	return newer;
}

/*
 * Whether the UCX of some process has that variable, or may have it: otherwise it is just misspelt.
 */
static bool variable_compared(const struct residents *residents,
			      const struct compared_variable *variable)
{
	for (size_t i = 0; i < sizeof(free_names) / sizeof(*free_names); i++)
		if (!fnmatch(free_names[i], variable->name, 0))
			return false;
	for (size_t i = 0; variable->of_ucx && i < residents->list.len; i++)
		if (known(residents->list.data[i].member, variable) != UCX_NAME_NOT_KNOWN)
			return true;
	return !variable->of_ucx;
}

/* ---- whether nodes have the same ---- */

#define BETWEEN " | " /* values of a node's processes, in order of rank */

/*
 * The values of a node's processes, each once: as long as all nodes have the same values, ranks of
 * a node may differ.
 */
static const char *values_of(const struct rule_ctx *ctx, const struct residents *residents,
			     struct stay stay, const char *name)
{
	const char *text = NULL;
	texts seen = { 0 };

	for (size_t i = stay.from; i < stay.to; i++) {
		const char *value = resident_value(residents->list.data[i].member, name);
		size_t k = 0;

		while (k < seen.len && strcmp(seen.data[k], value))
			k++;
		if (k < seen.len)
			continue;
		vec_push(&seen, value);
		text = text ? say(ctx->judge, "%s" BETWEEN "%s", text, value) : value;
	}
	vec_release(&seen);
	return text;
}

/* A node with fewer ranks has the values of the others' first ranks. */
static bool begins(const char *usual, const char *own)
{
	size_t length = strlen(own);

	return !strncmp(usual, own, length) &&
	       (!usual[length] || !strncmp(usual + length, BETWEEN, strlen(BETWEEN)));
}

static const char *setting_text(const struct rule_ctx *ctx, const char *name, const char *value)
{
	if (!strcmp(value, NOT_SET))
		return say(ctx->judge, "%s " NOT_SET, name);
	return say(ctx->judge, "%s=%s", name, value);
}

static void judge_name(const struct rule_ctx *ctx, const struct residents *residents,
		       const char *name)
{
	struct entries entries = { 0 };
	struct map usual = { 0 };
	struct stay stay = { 0 };

	while (residents_next(residents, &stay)) {
		const struct node *node = residents->list.data[stay.from].node;

		if (residents_known(residents, stay))
			vec_push(&entries.list,
				 ((struct entry){ node->class,
						  values_of(ctx, residents, stay, name), node }));
	}
	find_usual(&entries, &usual);
	for (size_t i = 0; i < entries.list.len; i++) {
		const struct entry *own = &entries.list.data[i];
		const uint64_t *best = map_find(&usual, (uintptr_t)own->class, 0);
		const char *expected = entries.list.data[*best - 1].what;
		struct finding *finding;

		if (begins(expected, own->what))
			continue;
		finding = found(ctx, VERDICT_FAIL, subject_node(own->node->name));
		finding->expected = setting_text(ctx, name, expected);
		finding->seen = setting_text(ctx, name, own->what);
	}
	vec_release(&entries.list);
	map_release(&usual);
}

/* ---- what becomes of a node ---- */

static bool failed(const struct rule_ctx *ctx, size_t before, const struct node *node)
{
	for (size_t i = before; i < ctx->judge->findings.len; i++)
		if (ctx->judge->findings.data[i].subject.node == node->name)
			return true;
	return false;
}

static void settle(const struct rule_ctx *ctx, const struct residents *residents, struct stay stay,
		   bool newer)
{
	const struct node *node = residents->list.data[stay.from].node;

	if (!residents_known(residents, stay))
		found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
			  "the environment of its processes could not be read");
	else if (residents_cut(residents, stay))
		found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
			  say(ctx->judge,
			      "%d of its processes' variables did not fit into the capture",
			      residents_cut(residents, stay)));
	else if (newer)
		found_why(ctx, VERDICT_SKIP, subject_node(node->name),
			  say(ctx->judge,
			      "its UCX is not of the releases 1.10 to 1.%d, whose "
			      "variables are known here",
			      ucx_names_newest));
	else
		found(ctx, VERDICT_PASS, subject_node(node->name))->expected =
			"the variables of the other nodes, all of them known to UCX";
}

static void judge_all(const struct rule_ctx *ctx, const struct residents *residents)
{
	size_t before = ctx->judge->findings.len;
	struct stay stay = { 0 };

	for (size_t i = 0; i < residents->names.len; i++)
		if (variable_compared(residents, &residents->names.data[i]))
			judge_name(ctx, residents, residents->names.data[i].name);
	while (residents_next(residents, &stay)) {
		bool newer = false;

		for (size_t i = 0; i < residents->names.len; i++)
			newer |= variable_judge_spelling(ctx, residents, stay,
							 &residents->names.data[i]);
		if (!failed(ctx, before, residents->list.data[stay.from].node))
			settle(ctx, residents, stay, newer);
	}
}

void environments_judge(const struct rule_ctx *ctx)
{
	struct residents residents = { 0 };

	residents_collect(ctx->aggregates, &residents);
	if (residents_any_known(&residents))
		judge_all(ctx, &residents);
	else if (residents.list.len)
		found_nothing(ctx, VERDICT_SKIP,
			      "older captures do not have the variables of processes");
	residents_release(&residents);
}
