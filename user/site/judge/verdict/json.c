// SPDX-License-Identifier: BSD-3-Clause
/* The verdict for programs, docs/check.schema.json, and for its page. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/shape.h"
#include "base/text.h"
#include "site/judge/aggregates/ports.h"
#include "site/judge/internal.h"
#include "site/judge/verdict/drain.h"
#include "site/judge/verdict/lines.h"

/* ---- proposals: nodes to drain ---- */

static json_t *command_of(const void *drain)
{
	json_t *command = json_array();
	char *words[DRAIN_WORDS + 1];

	drain_command(drain, words);
	for (char **word = words; *word; word++) {
		json_array_append_new(command, json_string(*word));
		free(*word);
	}
	return command;
}

SHAPE_GETTER(allowed_of, struct drains, drains, json_boolean(drains_allowed(drains)));

static const struct shape drain_shape[] = {
	SHAPE_OF(struct drain, nodes),
	SHAPE_OF(struct drain, count),
	SHAPE_OF(struct drain, reason),
	SHAPE_WHOLE("command", command_of),
	{ 0 },
};

static const struct shape refusal_shape[] = {
	SHAPE_OF(struct drain_refusal, nodes),
	SHAPE_OF(struct drain_refusal, why),
	{ 0 },
};

static const struct shape drains_shape[] = {
	SHAPE_LIST("drain", struct drains, list, drain_shape),
	SHAPE_LIST("refused", struct drains, refused, refusal_shape),
	SHAPE_OF(struct drains, nodes),
	SHAPE_OF(struct drains, most),
	SHAPE_WHOLE("allowed", allowed_of),
	{ 0 },
};

static json_t *verdict_actions_json(const struct judge *judge)
{
	struct drains drains;
	json_t *to;

	drains_make(&drains, judge);
	to = shape_json(drains_shape, &drains, NULL);
	drains_release(&drains);
	return to;
}

/* ---- input and summary ---- */

static const struct shape summary_shape[] = {
	SHAPE_OF(struct judge_summary, critical),     SHAPE_OF(struct judge_summary, warning),
	SHAPE_OF(struct judge_summary, info),         SHAPE_OF(struct judge_summary, nodes),
	SHAPE_OF(struct judge_summary, failed_nodes), { 0 },
};

static json_t *verdict_summary_json(const struct judge *judge, const struct judge_output *how)
{
	struct judge_summary summary = judge_summary(judge);
	json_t *to = json_object();

	for (int i = 0; i < VERDICTS; i++)
		json_object_set_new(to, verdict_words[i].word, json_integer(summary.verdicts[i]));
	shape_put(to, summary_shape, &summary, NULL);
	json_object_set_new(to, "rules_judged", json_integer(rules_judged(judge)));
	json_object_set_new(to, "exit_status", json_integer(judge_status(judge, how->warn_ok)));
	return to;
}

SHAPE_GETTER(complete_of, struct judge, judge,
	     json_boolean(!judge->incomplete && !judge->captures_broken &&
			  !judge->losses.list.len));
SHAPE_GETTER(transfers_of, struct judge, judge, shape_exact(transfers_judged(judge)));

static json_t *dropped_of(const void *reasons)
{
	const struct fact_reason *dropped = reasons;
	json_t *to = json_object();

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (dropped[i].reason && dropped[i].count)
			json_object_set_new(to, dropped[i].reason, shape_exact(dropped[i].count));
	return to;
}

#define EXACT(name, type, member) SHAPE_AS(name, struct type, member, .exact = true)
#define TOTAL(name, member) EXACT(name, judge, aggregates.totals.member)

static const struct shape evidence_shape[] = {
	SHAPE_WHOLE("complete", complete_of),
	TOTAL("captures", captures),
	EXACT("inventories", judge, inventories.list.len),
	TOTAL("records", stored),
	SHAPE_MADE("dropped", struct judge, aggregates.totals.dropped, dropped_of),
	TOTAL("damaged_bytes", damaged_bytes),
	SHAPE_WHOLE("transfers", transfers_of),
	TOTAL("data_bytes", data_bytes),
	TOTAL("unexplained_bytes", unexplained_bytes),
	{ 0 },
};

static json_t *verdict_nodes_json(const struct judge *judge)
{
	const struct strings *names = &judge->names.kept;
	json_t *list = json_array();

	for (size_t i = 0; i < names->all.len; i++) {
		const char *name = names->all.data[i];
		const struct policy_class *class = policy_class_of(judge->policy, name);

		json_array_append_new(list,
				      json_pack("{s:o, s:o}", "name", shape_text(name), "class",
						shape_text(class ? class->name : NULL)));
	}
	return list;
}

static const struct shape nic_shape[] = {
	SHAPE_OF(struct nic_traffic, node),         SHAPE_OF(struct nic_traffic, device),
	EXACT("sent", nic_traffic, sent),           EXACT("fetched", nic_traffic, fetched),
	EXACT("transfers", nic_traffic, transfers), { 0 },
};

static json_t *verdict_nics_json(const struct judge *judge)
{
	struct nics nics = { 0 };
	json_t *list;

	nics_make(&nics, &judge->aggregates);
	list = shape_list(nic_shape, nics.list, NULL);
	nics_release(&nics);
	return list;
}

/* ---- findings, the texts of rules, and the lines of the page ---- */

/* NULL: a process that is not known. */
static json_t *end_of(const void *process, const void *of)
{
	const struct judge *judge = of;
	int index = *(const int *)process;
	const struct node *node = aggregates_node(&judge->aggregates, index);

	return node ? json_pack("{s:o, s:i, s:I}", "node", shape_text(node->name), "rank",
				judge->aggregates.members.data[index].fact.rank, "pid",
				(json_int_t)judge->aggregates.members.data[index].fact.pid)
		    : NULL;
}

static const struct shape example_shape[] = {
	SHAPE_MADE("by", struct finding_example, process, end_of),
	SHAPE_MADE("with", struct finding_example, peer, end_of),
	SHAPE_OF(struct finding_example, op),
	SHAPE_OF(struct finding_example, transport),
	SHAPE_OF(struct finding_example, device),
	SHAPE_OF(struct finding_example, function),
	EXACT("start_ns", finding_example, start),
	EXACT("bytes", finding_example, bytes),
	{ 0 },
};

/* The cause of one finding; NULL: none was found, so the rule's likely ones. */
static json_t *causes_of(const void *of, const void *cause)
{
	const struct catalogue_rule *rule = of;
	json_t *causes = json_array();

	if (cause)
		json_array_append_new(causes, shape_text(cause));
	for (size_t i = 0; !cause && i < CATALOGUE_CAUSES && rule->causes[i]; i++)
		json_array_append_new(causes, json_string(rule->causes[i]));
	return causes;
}

/* Holds for all findings of a rule. */
static const struct shape rule_shape[] = {
	SHAPE_OF(struct catalogue_rule, title),
	SHAPE_WHOLE("causes", causes_of),
	SHAPE_OF(struct catalogue_rule, remedy),
	SHAPE_OF(struct catalogue_rule, reference),
	{ 0 },
};

SHAPE_GETTER(id_of, struct finding, finding, json_string(finding->rule->id));
SHAPE_GETTER(word_of, struct finding, finding, json_string(verdict_words[finding->verdict].word));
SHAPE_GETTER_WITH(examples_of, struct finding, finding, struct judge, judge,
		  shape_array(example_shape, finding->examples, finding->example_count,
			      sizeof(*finding->examples), judge));

/* Without what holds for all findings of its rule. */
static const struct shape finding_shape[] = {
	SHAPE_WHOLE("rule", id_of),
	SHAPE_WHOLE("verdict", word_of),
	SHAPE_WORD("severity", struct finding, severity, severity_names),
	SHAPE_AS("subject", struct finding, subject.text),
	EXACT("count", finding, count),
	EXACT("bytes", finding, bytes),
	SHAPE_OF(struct finding, share),
	SHAPE_OF(struct finding, expected),
	SHAPE_OF(struct finding, seen),
	SHAPE_OF(struct finding, why),
	SHAPE_WHOLE("examples", examples_of),
	SHAPE_OF(struct finding, cause),
	{ 0 },
};

/* For the page: what each rule says, by id. */
static json_t *verdict_rules_json(void)
{
	json_t *rules = json_object();

	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		json_object_set_new(rules, catalogue[i].id,
				    shape_json(rule_shape, &catalogue[i], NULL));
	return rules;
}

/* A finding by its position. */
SHAPE_GETTER_WITH(position_of, struct finding *const, finding, struct judge, judge,
		  json_integer(*finding - judge->findings.data));

static json_t *positions_of(const void *of, const void *judge)
{
	const struct line *line = of;
	json_t *list = json_array();

	for (size_t i = 0; i < line->findings.len; i++)
		json_array_append_new(list, position_of(&line->findings.data[i], judge));
	return list;
}

static const struct shape line_shape[] = {
	SHAPE_OF(struct line, subject),
	SHAPE_MADE("finding", struct line, finding, position_of),
	SHAPE_WHOLE("findings", positions_of),
	SHAPE_OF(struct line, subjects),
	SHAPE_AS("of", struct line, judged),
	EXACT("count", line, count),
	EXACT("bytes", line, bytes),
	SHAPE_OF(struct line, differs),
	{ 0 },
};

/* For the page: lines, which name findings by their position. */
static json_t *verdict_lines_json(const struct judge *judge)
{
	struct lines lines = { 0 };
	json_t *list;

	lines_make(&lines, judge, true);
	list = shape_list(line_shape, lines.list, judge);
	lines_release(&lines);
	return list;
}

/* ---- the document ---- */

/* The document is written member by member: a site has more findings than fit into memory twice. */
static void put_value(json_t *value, FILE *out)
{
	text_put_json(value, JSON_COMPACT | JSON_REAL_PRECISION(6), out);
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
	put_member("site", shape_text(judge->policy->site), out);
	put_member("policy_sha256", json_string(hash), out);
	put_member("summary", verdict_summary_json(judge, how), out);
	put_member("evidence", shape_json(evidence_shape, judge, NULL), out);
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
		json_t *value = shape_json(finding_shape, finding, judge);

		if (words)
			shape_put(value, rule_shape, finding->rule, finding->cause);
		fputs(i ? ",\n  " : "\n  ", out);
		put_value(value, out);
	}
	fputs("\n ]\n}\n", out);
}

int judge_json(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	put_head(judge, how, out);
	put_findings(judge, true, out);
	return text_finish(out);
}

int judge_page_data(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	put_head(judge, how, out);
	put_member("rules", verdict_rules_json(), out);
	put_member("lines", verdict_lines_json(judge), out);
	put_findings(judge, false, out);
	return text_finish(out);
}
