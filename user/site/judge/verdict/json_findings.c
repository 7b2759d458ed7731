// SPDX-License-Identifier: BSD-3-Clause
/* Findings, what their rules say, and the lines that the page shows them in. */
#include <math.h>

#include "site/judge/verdict/json.h"
#include "site/judge/verdict/lines.h"

static json_t *end_of(const struct judge *judge, int process)
{
	const struct exhibits *exhibits = &judge->exhibits;
	const struct node *node = exhibits_node(exhibits, process);
	json_t *to = json_object();

	if (!node) {
		json_decref(to);
		return json_null();
	}
	json_object_set_new(to, "node", verdict_text_json(node->name));
	json_object_set_new(to, "rank", json_integer(exhibits->members.data[process].fact.rank));
	json_object_set_new(to, "pid", json_integer(exhibits->members.data[process].fact.pid));
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

void verdict_set_rule_json(json_t *to, const struct catalogue_rule *rule, const char *cause)
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

json_t *verdict_finding_json(const struct judge *judge, const struct finding *finding)
{
	json_t *to = json_object(), *examples = json_array();

	json_object_set_new(to, "rule", json_string(finding->rule->id));
	json_object_set_new(to, "verdict", json_string(verdict_word(finding->verdict)));
	json_object_set_new(to, "severity", json_string(severity_names[finding->severity]));
	json_object_set_new(to, "subject", verdict_text_json(finding->subject));
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

json_t *verdict_rules_json(void)
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
	json_object_set_new(to, "of", json_integer(line->of));
	json_object_set_new(to, "count", verdict_exact_json(line->count));
	json_object_set_new(to, "bytes", verdict_exact_json(line->bytes));
	json_object_set_new(to, "differs", json_boolean(line->differs));
	return to;
}

json_t *verdict_lines_json(const struct judge *judge)
{
	json_t *list = json_array();
	struct lines lines = { 0 };

	lines_make(&lines, judge, true);
	for (size_t i = 0; i < lines.list.len; i++)
		json_array_append_new(list, line_of(judge, &lines.list.data[i]));
	lines_release(&lines);
	return list;
}
