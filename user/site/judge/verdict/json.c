// SPDX-License-Identifier: BSD-3-Clause
/* The verdict for programs, docs/check.schema.json, and for its page. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "site/judge/aggregates/ports.h"
#include "site/judge/internal.h"
#include "site/judge/verdict/drain.h"
#include "site/judge/verdict/lines.h"

/* ---- values; all functions that return one return a new reference ---- */

/* As text, beyond what a double holds exactly. */
static json_t *verdict_exact_json(uint64_t number)
{
	char text[24];

	if (number <= 1ull << 53)
		return json_integer(number);
	snprintf(text, sizeof(text), "%lu", (unsigned long)number);
	return json_string(text);
}

/* As UTF-8; NULL: null. */
static json_t *verdict_text_json(const char *text)
{
	char *valid = text ? text_utf8(text) : NULL;
	json_t *value = valid ? json_string(valid) : json_null();

	free(valid);
	return value;
}

/* ---- proposals: nodes to drain ---- */

static json_t *drain_of(const struct drain *drain)
{
	json_t *to = json_object(), *command = json_array();
	char *words[DRAIN_WORDS + 1];

	drain_command(drain, words);
	for (char **word = words; *word; word++) {
		json_array_append_new(command, json_string(*word));
		free(*word);
	}
	json_object_set_new(to, "nodes", json_string(drain->nodes));
	json_object_set_new(to, "count", json_integer(drain->count));
	json_object_set_new(to, "reason", json_string(drain->reason));
	json_object_set_new(to, "command", command);
	return to;
}

static json_t *verdict_actions_json(const struct judge *judge)
{
	json_t *to = json_object(), *list = json_array(), *refused = json_array();
	struct drains drains;

	drains_make(&drains, judge);
	for (size_t i = 0; i < drains.list.len; i++)
		json_array_append_new(list, drain_of(&drains.list.data[i]));
	for (size_t i = 0; i < drains.refused.len; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "nodes", verdict_text_json(drains.refused.data[i].nodes));
		json_object_set_new(one, "why", json_string(drains.refused.data[i].why));
		json_array_append_new(refused, one);
	}
	json_object_set_new(to, "drain", list);
	json_object_set_new(to, "refused", refused);
	json_object_set_new(to, "nodes", json_integer(drains.nodes));
	json_object_set_new(to, "most", json_integer(drains.most));
	json_object_set_new(to, "allowed", json_boolean(drains_allowed(&drains)));
	drains_release(&drains);
	return to;
}

/* ---- input and summary ---- */

static json_t *verdict_summary_json(const struct judge *judge, const struct judge_output *how)
{
	struct judge_summary summary = judge_summary(judge);
	json_t *to = json_object();

	for (int i = 0; i < VERDICTS; i++)
		json_object_set_new(to, verdict_words[i].word, json_integer(summary.verdicts[i]));
	json_object_set_new(to, "critical", json_integer(summary.critical));
	json_object_set_new(to, "warning", json_integer(summary.warning));
	json_object_set_new(to, "nodes", json_integer(summary.nodes));
	json_object_set_new(to, "failed_nodes", json_integer(summary.failed_nodes));
	json_object_set_new(to, "rules_judged", json_integer(rules_judged(judge)));
	json_object_set_new(to, "exit_status", json_integer(judge_status(judge, how->warn_ok)));
	return to;
}

static json_t *verdict_evidence_json(const struct judge *judge)
{
	const struct fact_totals *totals = &judge->aggregates.totals;
	json_t *to = json_object(), *dropped = json_object();

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (totals->dropped[i].reason && totals->dropped[i].count)
			json_object_set_new(dropped, totals->dropped[i].reason,
					    verdict_exact_json(totals->dropped[i].count));
	json_object_set_new(to, "complete",
			    json_boolean(!judge->incomplete && !judge->captures_broken &&
					 !judge->losses.list.len));
	json_object_set_new(to, "captures", verdict_exact_json(totals->captures));
	json_object_set_new(to, "inventories", verdict_exact_json(judge->inventories.list.len));
	json_object_set_new(to, "records", verdict_exact_json(totals->stored));
	json_object_set_new(to, "dropped", dropped);
	json_object_set_new(to, "damaged_bytes", verdict_exact_json(totals->damaged_bytes));
	json_object_set_new(to, "transfers", verdict_exact_json(transfers_judged(judge)));
	json_object_set_new(to, "data_bytes", verdict_exact_json(totals->data_bytes));
	json_object_set_new(to, "unexplained_bytes", verdict_exact_json(totals->unexplained_bytes));
	return to;
}

static void add_node(json_t *list, const char *name, const struct policy_class *class)
{
	json_t *to = json_object();

	json_object_set_new(to, "name", verdict_text_json(name));
	json_object_set_new(to, "class", verdict_text_json(class ? class->name : NULL));
	json_array_append_new(list, to);
}

static json_t *verdict_nodes_json(const struct judge *judge)
{
	const struct strings *names = &judge->names.kept;
	json_t *list = json_array();

	for (size_t i = 0; i < names->all.len; i++)
		add_node(list, names->all.data[i],
			 policy_class_of(judge->policy, names->all.data[i]));
	return list;
}

static json_t *verdict_nics_json(const struct judge *judge)
{
	json_t *list = json_array();
	struct nics nics = { 0 };

	nics_make(&nics, &judge->aggregates);
	for (size_t i = 0; i < nics.list.len; i++) {
		const struct nic_traffic *nic = &nics.list.data[i];
		json_t *to = json_object();

		json_object_set_new(to, "node", verdict_text_json(nic->node));
		json_object_set_new(to, "device", verdict_text_json(nic->device));
		json_object_set_new(to, "sent", verdict_exact_json(nic->sent));
		json_object_set_new(to, "fetched", verdict_exact_json(nic->fetched));
		json_object_set_new(to, "transfers", verdict_exact_json(nic->transfers));
		json_array_append_new(list, to);
	}
	nics_release(&nics);
	return list;
}

/* ---- findings, the texts of rules, and the lines of the page ---- */

static json_t *end_of(const struct judge *judge, int process)
{
	const struct aggregates *aggregates = &judge->aggregates;
	const struct node *node = aggregates_node(aggregates, process);
	json_t *to = json_object();

	if (!node) {
		json_decref(to);
		return json_null();
	}
	json_object_set_new(to, "node", verdict_text_json(node->name));
	json_object_set_new(to, "rank", json_integer(aggregates->members.data[process].fact.rank));
	json_object_set_new(to, "pid", json_integer(aggregates->members.data[process].fact.pid));
	return to;
}

static json_t *example_of(const struct judge *judge, const struct finding_example *example)
{
	json_t *to = json_object();

	json_object_set_new(to, "by", end_of(judge, example->process));
	json_object_set_new(to, "with", end_of(judge, example->peer));
	json_object_set_new(to, "op", verdict_text_json(example->op));
	json_object_set_new(to, "transport", verdict_text_json(example->transport));
	json_object_set_new(to, "device", verdict_text_json(example->device));
	json_object_set_new(to, "function", verdict_text_json(example->function));
	json_object_set_new(to, "start_ns", verdict_exact_json(example->start));
	json_object_set_new(to, "bytes", verdict_exact_json(example->bytes));
	return to;
}

/* Adds what holds for all findings of a rule. cause: of the one finding, before the rule's; NULL:
 * none. */
static void verdict_set_rule_json(json_t *to, const struct catalogue_rule *rule, const char *cause)
{
	json_t *causes = json_array();

	json_object_set_new(to, "title", json_string(rule->title));
	if (cause)
		json_array_append_new(causes, verdict_text_json(cause));
	for (size_t i = 0; i < CATALOGUE_CAUSES && rule->causes[i]; i++)
		json_array_append_new(causes, json_string(rule->causes[i]));
	json_object_set_new(to, "causes", causes);
	json_object_set_new(to, "remedy", json_string(rule->remedy));
	json_object_set_new(to, "reference", json_string(rule->reference));
}

/* Without what holds for all findings of its rule. */
static json_t *verdict_finding_json(const struct judge *judge, const struct finding *finding)
{
	json_t *to = json_object(), *examples = json_array();

	json_object_set_new(to, "rule", json_string(finding->rule->id));
	json_object_set_new(to, "verdict", json_string(verdict_words[finding->verdict].word));
	json_object_set_new(to, "severity", json_string(severity_names[finding->severity]));
	json_object_set_new(to, "subject", verdict_text_json(finding->subject.text));
	json_object_set_new(to, "count", verdict_exact_json(finding->count));
	json_object_set_new(to, "bytes", verdict_exact_json(finding->bytes));
	json_object_set_new(to, "share",
			    isnan(finding->share) ? json_null() : json_real(finding->share));
	json_object_set_new(to, "expected", verdict_text_json(finding->expected));
	json_object_set_new(to, "seen", verdict_text_json(finding->seen));
	json_object_set_new(to, "why", verdict_text_json(finding->why));
	for (size_t i = 0; i < finding->example_count; i++)
		json_array_append_new(examples, example_of(judge, &finding->examples[i]));
	json_object_set_new(to, "examples", examples);
	json_object_set_new(to, "cause", verdict_text_json(finding->cause));
	return to;
}

/* For the page: what each rule says, by id. */
static json_t *verdict_rules_json(void)
{
	json_t *rules = json_object();

	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		json_t *rule = json_object();

		verdict_set_rule_json(rule, &catalogue[i], NULL);
		json_object_set_new(rules, catalogue[i].id, rule);
	}
	return rules;
}

static json_t *line_of(const struct judge *judge, const struct line *line)
{
	json_t *to = json_object(), *findings = json_array();

	for (size_t i = 0; i < line->findings.len; i++)
		json_array_append_new(findings,
				      json_integer(line->findings.data[i] - judge->findings.data));
	json_object_set_new(to, "subject", verdict_text_json(line->subject));
	json_object_set_new(to, "finding", json_integer(line->finding - judge->findings.data));
	json_object_set_new(to, "findings", findings);
	json_object_set_new(to, "subjects", json_integer(line->subjects));
	json_object_set_new(to, "of", json_integer(line->judged));
	json_object_set_new(to, "count", verdict_exact_json(line->count));
	json_object_set_new(to, "bytes", verdict_exact_json(line->bytes));
	json_object_set_new(to, "differs", json_boolean(line->differs));
	return to;
}

/* For the page: lines, which name findings by their position. */
static json_t *verdict_lines_json(const struct judge *judge)
{
	json_t *list = json_array();
	struct lines lines = { 0 };

	lines_make(&lines, judge, true);
	for (size_t i = 0; i < lines.list.len; i++)
		json_array_append_new(list, line_of(judge, &lines.list.data[i]));
	lines_release(&lines);
	return list;
}

/* ---- the document ---- */

/* The document is written member by member: a site has more findings than fit into memory twice. */
static void put_value(json_t *value, FILE *out)
{
	if (json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)))
		fputs("null", out);
	json_decref(value);
}

static void put_member(const char *name, json_t *value, FILE *out)
{
	fprintf(out, " \"%s\": ", name);
	put_value(value, out);
	fputs(",\n", out);
}

static void put_head(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	char hash[65];

	policy_hash(judge->policy, hash);
	fputs("{\n", out);
	put_member("schema", json_string("ucxbpf.check/1"), out);
	put_member("site", verdict_text_json(judge->policy->site), out);
	put_member("policy_sha256", json_string(hash), out);
	put_member("summary", verdict_summary_json(judge, how), out);
	put_member("evidence", verdict_evidence_json(judge), out);
	put_member("actions", verdict_actions_json(judge), out);
	put_member("nodes", verdict_nodes_json(judge), out);
	put_member("nics", verdict_nics_json(judge), out);
}

/* A finding on each line; words: with what its rule says, which is the same for all of the rule. */
static void put_findings(const struct judge *judge, bool words, FILE *out)
{
	fputs(" \"findings\": [", out);
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		json_t *value = verdict_finding_json(judge, finding);

		if (words)
			verdict_set_rule_json(value, finding->rule, finding->cause);
		fputs(i ? ",\n  " : "\n  ", out);
		put_value(value, out);
	}
	fputs("\n ]\n}\n", out);
}

static int written(FILE *out)
{
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

int judge_json(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	put_head(judge, how, out);
	put_findings(judge, true, out);
	return written(out);
}

int judge_page_data(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	put_head(judge, how, out);
	put_member("rules", verdict_rules_json(), out);
	put_member("lines", verdict_lines_json(judge), out);
	put_findings(judge, false, out);
	return written(out);
}
