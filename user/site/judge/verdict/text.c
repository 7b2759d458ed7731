// SPDX-License-Identifier: BSD-3-Clause
/*
 * Findings as text: a head, a line per finding or group of findings, and below these the proposals,
 * the reasons why rules were not judged, and the verdict.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "site/judge/aggregates/totals.h"
#include "site/judge/internal.h"
#include "site/judge/verdict/drain.h"
#include "site/judge/verdict/lines.h"

/* ---- rules that were not judged, and why ---- */

#define MOST_NAMED 4
#define OFF "switched off"
#define NOTHING "nothing to judge"

typedef VEC(struct missing {
	const char *why;
	size_t rules;
}) missing_list;

/* The missing input, by its name; not that there was nothing to judge. */
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

/* The caller releases it. */
static missing_list collect(const struct judge *judge)
{
	missing_list list = { 0 };
	const char *why;

	for (size_t i = 0; i < judge->findings.len;) {
		size_t at = 0;

		i = rule_end(judge, i, &why);
		if (!why)
			continue;
		while (at < list.len && strcmp(list.data[at].why, why))
			at++;
		if (at == list.len)
			vec_push(&list, (struct missing){ .why = why });
		list.data[at].rules++;
	}
	return list;
}

static int by_rules(const void *left, const void *right)
{
	const struct missing *a = left, *b = right;

	return a->rules == b->rules ? strcmp(a->why, b->why)
				    : (a->rules < b->rules) - (a->rules > b->rules);
}

static void put_coverage(const struct judge *judge, FILE *out)
{
	missing_list list = collect(judge);

	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), by_rules);
	fprintf(out, "coverage  %zu of %d rules judged", rules_judged(judge), CATALOGUE_RULES);
	for (size_t i = 0; i < list.len; i++) {
		const struct missing *one = &list.data[i];
		bool lacks = strcmp(one->why, OFF) && strcmp(one->why, NOTHING);

		fprintf(out, "%s %zu%s %s", i ? ";" : "; of the others", one->rules,
			lacks                   ? one->rules > 1 ? " need" : " needs"
			: strcmp(one->why, OFF) ? " with"
						: "",
			one->why);
	}
	putc('\n', out);
	vec_release(&list);
}

/* Nodes of which nothing is asked that the policy asks of its classes. */
static void put_classless(const struct judge *judge, FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; judge->policy->classes.len && i < judge->aggregates.nodes.len; i++) {
		const struct node *node = &judge->aggregates.nodes.data[i];
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

/* Rules that skip a node, or all of them, for that reason. */
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
static bool is_first(const char *const *unusable, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (unusable[i] == unusable[at])
			return false;
	return unusable[at];
}

static void put_unusable(const char *why, size_t rules, FILE *out)
{
	char *text = text_plain(why);

	fprintf(out, "no times  %s: %zu rule%s them\n", text, rules,
		rules == 1 ? " skips" : "s skip");
	free(text);
}

/*
 * Names nodes whose times were not judged, since the pass of such a sweep means less than it seems.
 */
static void put_unusable_machines(const struct judge *judge, FILE *out)
{
	const struct sweep *sweep = &judge->sweep;
	size_t said = 0;

	for (size_t i = 0; sweep->unusable && i < sweep->plan->nodes.len; i++) {
		size_t rules = 0;

		if (is_first(sweep->unusable, i))
			rules = rules_without(judge, sweep->unusable[i]);
		if (rules && said++ < MOST_NAMED)
			put_unusable(sweep->unusable[i], rules, out);
	}
	if (said > MOST_NAMED)
		fprintf(out, "no times  of %zu more machines either\n", said - MOST_NAMED);
}

static void text_coverage(const struct judge *judge, FILE *out)
{
	put_coverage(judge, out);
	put_unusable_machines(judge, out);
	put_classless(judge, out);
}

/* ---- above and below the findings ---- */

static void text_head(const struct judge *judge, FILE *out)
{
	struct judge_summary summary = judge_summary(judge);
	char hash[65], transfers[32], lost[32];
	char *site = text_plain(judge->policy->site ? judge->policy->site : "");

	policy_hash(judge->policy, hash);
	unit_count(transfers, sizeof(transfers), transfers_judged(judge), true);
	unit_count(lost, sizeof(lost), reasons_sum(judge->aggregates.totals.dropped), true);
	fprintf(out,
		"ucxbpf check%s%s  policy sha256:%.12s  nodes %zu  transfers %s  records lost %s\n",
		*site ? " " : "", site, hash, summary.nodes, transfers, lost);
	free(site);
}

static void put_loss(const struct judge *judge, FILE *out)
{
	const struct fact_totals *totals = &judge->aggregates.totals;
	uint64_t ends = totals->sends + totals->receives;
	uint64_t open = reasons_sum(totals->unmatched_sends) +
			reasons_sum(totals->unmatched_receives) + totals->ambiguous;
	char unknown[32], bytes[32];

	unit_bytes(unknown, sizeof(unknown), totals->unexplained_bytes, false);
	unit_bytes(bytes, sizeof(bytes), totals->data_bytes, false);
	fprintf(out,
		"evidence  %" PRIu64 " of %" PRIu64 " records lost; %s of %s without an operation; "
		"%" PRIu64 " of %" PRIu64 " ends of messages without the other%s\n",
		reasons_sum(totals->dropped), totals->produced, unknown, bytes, open, ends,
		judge->captures_broken || losses_sum(&judge->losses, LOSS_FILES)
			? "; a file is cut short or cannot be read"
			: "");
}

/* For copying into a shell: a reason has no quotes, a name consists of letters and digits. */
static void put_drains(const struct judge *judge, FILE *out)
{
	struct drains drains;

	drains_make(&drains, judge);
	for (size_t i = 0; i < drains.list.len; i++)
		fprintf(out, "%s scontrol update NodeName=%s State=DRAIN Reason=\"%s\"\n",
			drains_allowed(&drains) ? "propose  " : "too many ",
			drains.list.data[i].nodes, drains.list.data[i].reason);
	if (!drains_allowed(&drains))
		fprintf(out,
			"too many  %zu nodes, act.max_drain of the policy allows %zu: nothing is "
			"proposed, look for what they have in common\n",
			drains.nodes, drains.most);
	for (size_t i = 0; i < drains.refused.len; i++) {
		char *nodes = text_plain(drains.refused.data[i].nodes);

		fprintf(out, "no drain  %s: %s\n", nodes, drains.refused.data[i].why);
		free(nodes);
	}
	drains_release(&drains);
}

static const char *const words[] = { "PASS", "PASS, with warnings", "FAIL", "UNKNOWN" };

static void text_footer(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	struct judge_summary summary = judge_summary(judge);

	put_drains(judge, out);
	text_coverage(judge, out);
	if (judge->aggregates.totals.captures)
		put_loss(judge, out);
	fprintf(out,
		"verdict %s  critical %zu  warning %zu  unknown %zu  info %zu  waived %zu  "
		"passed %zu  skipped %zu  nodes that fail %zu of %zu  exit %d\n",
		words[judge_status(judge, false)], summary.critical, summary.warning,
		summary.unknown, summary.info, summary.verdicts[VERDICT_WAIVED],
		summary.verdicts[VERDICT_PASS], summary.verdicts[VERDICT_SKIP],
		summary.failed_nodes, summary.nodes, judge_status(judge, how->warn_ok));
}

/* ---- findings ---- */

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

#define LEAST_SUBJECT 8
#define MOST_SUBJECT 32
#define INDENT 9 /* of continuation lines */

struct table {
	const struct judge *judge;
	const struct judge_output *how;
	FILE *out;
	int subject; /* columns */
	int column; /* where the line is */
};

static const char *colour_of(const struct table *table, const struct finding *finding)
{
	if (!table->how->colour)
		return "";
	if (finding->verdict == VERDICT_FAIL && finding->severity == SEVERITY_CRITICAL)
		return RED;
	if (finding->verdict == VERDICT_FAIL || finding->verdict == VERDICT_UNKNOWN)
		return YELLOW;
	return "";
}

/* Continuation bytes of UTF-8 take no column. */
static int columns(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* Prints a part of the line, on the next line if there is no room for it. */
static void put(struct table *table, const char *text)
{
	char *plain = text_plain(text);
	int wide = columns(plain);

	if (table->how->width && table->column > INDENT &&
	    table->column + 2 + wide > table->how->width) {
		fprintf(table->out, "\n%*s", INDENT, "");
		table->column = INDENT;
	} else {
		fputs("  ", table->out);
		table->column += 2;
	}
	fputs(plain, table->out);
	table->column += wide;
	free(plain);
}

static void put_seen(struct table *table, const struct line *line)
{
	const struct finding *finding = line->finding;
	char *text;

	if (!finding->seen && !finding->why) {
		put(table, finding->rule->title);
		return;
	}
	text = xasprintf("%s%s", line->differs ? "e.g. " : "",
			 finding->why ? finding->why : finding->seen);
	put(table, text);
	free(text);
	if (finding->why || !finding->expected)
		return;
	text = xasprintf("expected %s", finding->expected);
	put(table, text);
	free(text);
}

/* How much of what the rule looks at. */
static void put_amount(struct table *table, const struct line *line)
{
	const struct finding *finding = line->finding;
	char count[32], bytes[32], text[160];
	int length = 0;

	unit_count(count, sizeof(count), line->count, false);
	unit_bytes(bytes, sizeof(bytes), line->bytes, false);
	if (finding->example_count)
		length = snprintf(text, sizeof(text), "%s transfer%s, %s", count,
				  line->count == 1 ? "" : "s", bytes);
	else if (line->bytes)
		length = snprintf(text, sizeof(text), "%s", bytes);
	if (length && !isnan(finding->share) && line->subjects == 1)
		snprintf(text + length, sizeof(text) - length, " (%.3g %%)", 100 * finding->share);
	if (length)
		put(table, text);
}

static void put_extent(struct table *table, const struct line *line)
{
	static const char *const kinds[SUBJECT_KINDS] = {
		[SUBJECT_CAPTURES] = "nodes",  [SUBJECT_OTHER] = "nodes",
		[SUBJECT_JOB] = "jobs",        [SUBJECT_NODE] = "nodes",
		[SUBJECT_NIC] = "NICs",        [SUBJECT_RANK] = "ranks",
		[SUBJECT_PID] = "processes",   [SUBJECT_FLOW] = "pairs",
		[SUBJECT_PAIR] = "pairs",      [SUBJECT_TIMES] = "classes",
		[SUBJECT_WAY] = "comparisons",
	};
	char text[80];

	if (line->judged < 2)
		return;
	snprintf(text, sizeof(text), "%zu of %zu %s", line->subjects, line->judged,
		 kinds[line->finding->subject.kind]);
	put(table, text);
}

static void put_cause(struct table *table, const struct finding *finding)
{
	char *text;

	text = xasprintf("%s%s", finding->cause ? "cause: " : "likely: ",
			 finding->cause ? finding->cause : finding->rule->causes[0]);
	put(table, text);
	free(text);
}

/* ---- below a line, where all is asked for ---- */

static void put_below(const struct table *table, const char *label, const char *text)
{
	fprintf(table->out, "%*s%-8s %s\n", INDENT, "", label, text);
}

static void put_example(const struct table *table, const struct finding_example *example)
{
	const struct node *from = aggregates_node(&table->judge->aggregates, example->process);
	const struct node *to = aggregates_node(&table->judge->aggregates, example->peer);
	char *text, *plain;

	text = xasprintf("%s %" PRIu64 " B over %s/%s from %s to %s%s%s at %" PRIu64 " ns",
			 example->op ? example->op : "?", example->bytes,
			 example->transport ? example->transport : "?",
			 example->device ? example->device : "?", from ? from->name : "?",
			 to ? to->name : "?", example->function ? " in " : "",
			 example->function ? example->function : "", example->start);
	plain = text_plain(text);
	put_below(table, "e.g.", plain);
	free(plain);
	free(text);
}

static void put_more(const struct table *table, const struct finding *finding)
{
	for (size_t i = 0; i < finding->example_count; i++)
		put_example(table, &finding->examples[i]);
	if (finding->verdict != VERDICT_FAIL)
		return;
	/* the line above has the cause that was found */
	for (size_t i = 0; !finding->cause && i < CATALOGUE_CAUSES && finding->rule->causes[i]; i++)
		put_below(table, i ? "" : "likely:", finding->rule->causes[i]);
	put_below(table, "do:", finding->rule->remedy);
	put_below(table, "seen in:", finding->rule->reference);
}

static void put_line(struct table *table, const struct line *line)
{
	const struct finding *finding = line->finding;
	const char *colour = colour_of(table, finding);
	char *subject = text_plain(line->subject);
	int wide = columns(subject);

	fprintf(table->out, "%s%-6s%s %-8s %s%*s", colour, finding_mark(finding),
		*colour ? PLAIN : "", finding->rule->id, subject,
		wide < table->subject ? table->subject - wide : 0, "");
	table->column = 16 + (wide < table->subject ? table->subject : wide);
	free(subject);
	put_seen(table, line);
	if (finding->verdict == VERDICT_FAIL) {
		put_amount(table, line);
		put_extent(table, line);
		put_cause(table, finding);
	}
	putc('\n', table->out);
	if (table->how->verbose)
		put_more(table, finding);
}

int judge_text(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	struct table table = { .judge = judge, .how = how, .out = out, .subject = LEAST_SUBJECT };
	struct lines lines = { 0 };

	lines_make(&lines, judge, how->verbose);
	for (size_t i = 0; i < lines.list.len; i++) {
		int wide = columns(lines.list.data[i].subject);

		if (wide > table.subject)
			table.subject = wide < MOST_SUBJECT ? wide : MOST_SUBJECT;
	}
	text_head(judge, out);
	for (size_t i = 0; i < lines.list.len; i++)
		put_line(&table, &lines.list.data[i]);
	lines_release(&lines);
	text_footer(judge, how, out);
	return text_finish(out);
}
