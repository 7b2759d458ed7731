// SPDX-License-Identifier: BSD-3-Clause
/* Whether the variables of processes are the same on all nodes, and UCX knows them: CFG-01. */
#include <string.h>

#include "base/ucx_names.h"
#include "site/judge/exhibits/usual.h"
#include "site/judge/rules/environment.h"

#define BETWEEN " | " /* values of a node's processes, in order of rank */
#define MAX_VALUES 64

/*
 * What a node's processes have, each value once: as long as all nodes have the same, each rank of a
 * node may have its own.
 */
static const char *values_of(const struct trial *trial, const struct residents *residents,
			     struct stay stay, const char *name)
{
	const char *seen[MAX_VALUES], *text = NULL;
	size_t count = 0;

	for (size_t i = stay.from; i < stay.to && count < MAX_VALUES; i++) {
		const char *value = resident_value(residents->list.data[i].member, name);
		size_t k = 0;

		while (k < count && strcmp(seen[k], value))
			k++;
		if (k < count)
			continue;
		seen[count++] = value;
		text = text ? say(trial->judge, "%s" BETWEEN "%s", text, value) : value;
	}
	return text;
}

/* A node with fewer ranks has the first of what the others' ranks have. */
static bool begins(const char *usual, const char *own)
{
	size_t length = strlen(own);

	return !strncmp(usual, own, length) &&
	       (!usual[length] || !strncmp(usual + length, BETWEEN, strlen(BETWEEN)));
}

static const char *setting_text(const struct trial *trial, const char *name, const char *value)
{
	if (!strcmp(value, NOT_SET))
		return say(trial->judge, "%s " NOT_SET, name);
	return say(trial->judge, "%s=%s", name, value);
}

static void judge_name(const struct trial *trial, const struct residents *residents,
		       const char *name)
{
	struct entries entries = { 0 };
	struct map usual = { 0 };
	struct stay stay = { 0 };

	while (residents_next(residents, &stay)) {
		const struct node *node = residents->list.data[stay.from].node;

		if (residents_told(residents, stay))
			vec_push(&entries.list,
				 ((struct entry){ node->class,
						  values_of(trial, residents, stay, name), node }));
	}
	find_usual(&entries, &usual);
	for (size_t i = 0; i < entries.list.len; i++) {
		const struct entry *own = &entries.list.data[i];
		const uint64_t *best = map_find(&usual, (uintptr_t)own->class, 0);
		const char *expected = entries.list.data[*best - 1].what;
		struct finding *finding;

		if (begins(expected, own->what))
			continue;
		finding = found(trial, VERDICT_FAIL, own->node->name);
		finding->expected = setting_text(trial, name, expected);
		finding->seen = setting_text(trial, name, own->what);
	}
	vec_release(&entries.list);
	map_release(&usual);
}

/* ---- what becomes of a node ---- */

static bool failed(const struct trial *trial, size_t before, const struct node *node)
{
	for (size_t i = before; i < trial->judge->findings.len; i++)
		if (trial->judge->findings.data[i].subject == node->name)
			return true;
	return false;
}

static void settle(const struct trial *trial, const struct residents *residents, struct stay stay,
		   bool newer)
{
	const struct node *node = residents->list.data[stay.from].node;

	if (!residents_told(residents, stay))
		found_why(trial, VERDICT_UNKNOWN, node->name,
			  "the environment of its processes could not be read");
	else if (residents_cut(residents, stay))
		found_why(trial, VERDICT_UNKNOWN, node->name,
			  say(trial->judge, "%d of its processes' variables had no room",
			      residents_cut(residents, stay)));
	else if (newer)
		found_why(trial, VERDICT_SKIP, node->name,
			  say(trial->judge,
			      "its UCX is not of the releases 1.10 to 1.%d, whose "
			      "variables are known here",
			      ucx_names_newest));
	else
		found(trial, VERDICT_PASS, node->name)->expected =
			"the variables of the other nodes, all of them known to UCX";
}

static void judge_all(const struct trial *trial, const struct residents *residents)
{
	size_t before = trial->judge->findings.len;
	struct stay stay = { 0 };

	for (size_t i = 0; i < residents->names.len; i++)
		if (variable_compared(residents, &residents->names.data[i]))
			judge_name(trial, residents, residents->names.data[i].name);
	while (residents_next(residents, &stay)) {
		bool newer = false;

		for (size_t i = 0; i < residents->names.len; i++)
			newer |= variable_judge_spelling(trial, residents, stay,
							 &residents->names.data[i]);
		if (!failed(trial, before, residents->list.data[stay.from].node))
			settle(trial, residents, stay, newer);
	}
}

void judge_environments(const struct trial *trial)
{
	struct residents residents = { 0 };

	residents_collect(trial->exhibits, &residents);
	if (residents_any_told(&residents))
		judge_all(trial, &residents);
	else if (residents.list.len)
		found_nothing(trial, VERDICT_SKIP,
			      "captures of before do not tell the variables of processes");
	residents_release(&residents);
}
