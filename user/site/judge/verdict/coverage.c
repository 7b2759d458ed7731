// SPDX-License-Identifier: BSD-3-Clause
/* What was not judged, and why, below the findings. */
#include <string.h>

#include "base/text.h"
#include "site/judge/verdict/footer.h"

#define MOST_REASONS 8
#define MOST_NAMED 4
#define OFF "switched off"
#define NOTHING "nothing to judge"

struct missing {
	const char *why;
	size_t rules;
};

/* What a rule lacks is worth a word of its own; that there was nothing to judge is not. */
static const char *lack(const struct finding *finding)
{
	if (finding->verdict != VERDICT_SKIP)
		return NULL;
	if (!strncmp(finding->why, "needs ", 6))
		return finding->why + 6;
	return strstr(finding->why, "switched off") ? OFF : NOTHING;
}

/* Behind the findings of a rule; NULL of why: some of them are no SKIP. */
static size_t rule_end(const struct judge *judge, size_t from, const char **why)
{
	const struct finding *list = judge->findings.data;
	size_t to = from;

	*why = lack(&list[from]);
	for (; to < judge->findings.len && list[to].rule == list[from].rule; to++)
		if (list[to].verdict != VERDICT_SKIP)
			*why = NULL;
	return to;
}

static size_t collect(const struct judge *judge, struct missing *list)
{
	size_t count = 0, at;
	const char *why;

	for (size_t i = 0; i < judge->findings.len;) {
		i = rule_end(judge, i, &why);
		if (!why)
			continue;
		for (at = 0; at < count && strcmp(list[at].why, why);)
			at++;
		if (at == count && count < MOST_REASONS)
			list[count++] = (struct missing){ .why = why };
		if (at < count)
			list[at].rules++;
	}
	return count;
}

static int by_rules(const void *left, const void *right)
{
	const struct missing *a = left, *b = right;

	return a->rules == b->rules ? strcmp(a->why, b->why)
				    : (a->rules < b->rules) - (a->rules > b->rules);
}

static void put_coverage(const struct judge *judge, FILE *out)
{
	struct missing list[MOST_REASONS];
	size_t count = collect(judge, list);

	qsort(list, count, sizeof(*list), by_rules);
	fprintf(out, "coverage  %zu of %d rules judged", rules_judged(judge), CATALOGUE_RULES);
	for (size_t i = 0; i < count; i++) {
		bool lacks = strcmp(list[i].why, OFF) && strcmp(list[i].why, NOTHING);

		fprintf(out, "%s %zu%s %s", i ? ";" : "; of the others", list[i].rules,
			lacks                      ? list[i].rules > 1 ? " need" : " needs"
			: strcmp(list[i].why, OFF) ? " with"
						   : "",
			list[i].why);
	}
	putc('\n', out);
}

/* Nodes of which nothing is asked that the policy asks of its classes. */
static void put_classless(const struct judge *judge, FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; judge->policy->classes.len && i < judge->exhibits.nodes.len; i++) {
		const struct node *node = &judge->exhibits.nodes.data[i];
		char *name;

		if (!node->name || node->class || ++count > MOST_NAMED)
			continue;
		name = text_plain(node->name);
		fprintf(out, "%s%s", count > 1 ? ", " : "no class  ", name);
		free(name);
	}
	if (count > MOST_NAMED)
		fprintf(out, " and %zu more", count - MOST_NAMED);
	if (count)
		fputs(": in none of the policy's classes\n", out);
}

static bool is_skipped_for(const struct finding *finding, const char *why)
{
	return finding->verdict == VERDICT_SKIP && !strcmp(finding->why, why);
}

/* Rules that say so of a node, or of all. */
static size_t rules_without(const struct judge *judge, const char *why)
{
	const struct catalogue_rule *before = NULL;
	size_t count = 0;

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];

		if (finding->rule == before || !is_skipped_for(finding, why))
			continue;
		before = finding->rule;
		count++;
	}
	return count;
}

/* Nodes of one machine have one text. */
static bool is_first(const char *const *untold, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (untold[i] == untold[at])
			return false;
	return untold[at];
}

static void put_untold_of(const char *why, size_t rules, FILE *out)
{
	char *text = text_plain(why);

	fprintf(out, "no times  %s: %zu rule%s them\n", text, rules,
		rules == 1 ? " skips" : "s skip");
	free(text);
}

/* A sweep whose times nobody judges passes for less than it looks like. */
static void put_untold(const struct judge *judge, FILE *out)
{
	const struct sweep *sweep = &judge->sweep;
	size_t said = 0;

	for (size_t i = 0; sweep->untold && i < sweep->plan->nodes.len; i++) {
		size_t rules = 0;

		if (is_first(sweep->untold, i))
			rules = rules_without(judge, sweep->untold[i]);
		if (rules && said++ < MOST_NAMED)
			put_untold_of(sweep->untold[i], rules, out);
	}
	if (said > MOST_NAMED)
		fprintf(out, "no times  of %zu more machines either\n", said - MOST_NAMED);
}

void text_coverage(const struct judge *judge, FILE *out)
{
	put_coverage(judge, out);
	put_untold(judge, out);
	put_classless(judge, out);
}
