// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "judge/rules.h"

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

/* What a line begins with: FAIL C, FAIL W, UNKN... */
static const char *mark(const struct finding *finding)
{
	static const char *const failures[] = { "FAIL I", "FAIL W", "FAIL C" };
	static const char *const others[] = { "pass", "FAIL", "UNKN", "skip", "waived" };

	if (finding->verdict == VERDICT_FAIL)
		return failures[finding->severity];
	return others[finding->verdict];
}

static const char *colour_of(const struct finding *finding)
{
	if (finding->verdict == VERDICT_FAIL && finding->severity == SEVERITY_CRITICAL)
		return RED;
	if (finding->verdict == VERDICT_FAIL || finding->verdict == VERDICT_UNKNOWN)
		return YELLOW;
	return "";
}

static bool shown(const struct finding *finding, bool verbose)
{
	return verbose || (finding->verdict != VERDICT_PASS && finding->verdict != VERDICT_SKIP);
}

static void print_numbers(const struct finding *finding, FILE *out)
{
	if (finding->count)
		fprintf(out, "  %" PRIu64 " transfers", finding->count);
	if (finding->bytes)
		fprintf(out, ", %" PRIu64 " B", finding->bytes);
	if (!isnan(finding->share) && finding->verdict == VERDICT_FAIL)
		fprintf(out, " (%.3g %%)", 100 * finding->share);
}

static void print_example(const struct judge *judge, const struct finding_example *example,
			  FILE *out)
{
	const struct node *from = exhibits_node(&judge->exhibits, example->process);
	const struct node *to = exhibits_node(&judge->exhibits, example->peer);

	fprintf(out,
		"         e.g. %s %" PRIu64 " B over %s/%s from %s to %s%s%s at %" PRIu64 " ns\n",
		example->op ? example->op : "?", example->bytes,
		example->transport ? example->transport : "?",
		example->device ? example->device : "?", from ? from->name : "?",
		to ? to->name : "?", example->function ? " in " : "",
		example->function ? example->function : "", example->start);
}

static void print_more(const struct judge *judge, const struct finding *finding, FILE *out)
{
	for (size_t i = 0; i < finding->example_count; i++)
		print_example(judge, &finding->examples[i], out);
	if (finding->verdict != VERDICT_FAIL)
		return;
	for (size_t i = 0; i < CATALOGUE_CAUSES && finding->rule->causes[i]; i++)
		fprintf(out, "         %s %s\n", i ? "      " : "cause:", finding->rule->causes[i]);
	fprintf(out, "         do:    %s\n         seen:  %s\n", finding->rule->remedy,
		finding->rule->reference);
}

static void print_finding(const struct judge *judge, const struct finding *finding,
			  const struct judge_text_options *options, FILE *out)
{
	const char *colour = options->colour ? colour_of(finding) : "";

	fprintf(out, "%s%-6s%s %-8s %-16s", colour, mark(finding), *colour ? PLAIN : "",
		finding->rule->id, finding->subject);
	if (finding->why)
		fprintf(out, "  %s", finding->why);
	else if (finding->seen)
		fprintf(out, "  %s; expected %s", finding->seen, finding->expected);
	else
		fprintf(out, "  %s", finding->rule->title);
	if (finding->verdict == VERDICT_FAIL && finding->example_count)
		print_numbers(finding, out);
	fputc('\n', out);
	if (finding->verdict == VERDICT_FAIL && !options->verbose)
		fprintf(out, "                        likely: %s\n", finding->rule->causes[0]);
	if (options->verbose)
		print_more(judge, finding, out);
}

static const char *const words[] = { "PASS", "PASS, with warnings", "FAIL", "UNKNOWN" };

int judge_text(const struct judge *judge, const struct judge_text_options *options, FILE *out)
{
	struct judge_summary summary = judge_summary(judge);
	char hash[65];

	policy_hash(judge->policy, hash);
	fprintf(out,
		"ucxbpf check%s%s  policy sha256:%.12s  nodes %zu  records %" PRIu64
		"  cells %zu\n",
		judge->policy->site ? " " : "", judge->policy->site ? judge->policy->site : "",
		hash, summary.nodes, judge->exhibits.totals.stored, judge->exhibits.cells.len);
	for (size_t i = 0; i < judge->findings.len; i++)
		if (shown(&judge->findings.data[i], options->verbose))
			print_finding(judge, &judge->findings.data[i], options, out);
	fprintf(out,
		"verdict %s  critical %zu  warning %zu  unknown %zu  waived %zu  passed %zu  "
		"skipped %zu  nodes that fail %zu of %zu\n",
		words[judge_status(judge, false)], summary.critical, summary.warning,
		summary.verdicts[VERDICT_UNKNOWN], summary.verdicts[VERDICT_WAIVED],
		summary.verdicts[VERDICT_PASS], summary.verdicts[VERDICT_SKIP],
		summary.failed_nodes, summary.nodes);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
