// SPDX-License-Identifier: BSD-3-Clause
/* The verdict for programs: docs/check.schema.json. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "judge/drain.h"
#include "judge/footer.h"
#include "judge/lines.h"
#include "judge/nics.h"

/* Beyond what a double holds exactly: as text. */
static json_t *exact(uint64_t number)
{
	char text[24];

	if (number <= 1ull << 53)
		return json_integer(number);
	snprintf(text, sizeof(text), "%lu", (unsigned long)number);
	return json_string(text);
}

static json_t *text_or_null(const char *text)
{
	char *valid = text ? text_utf8(text) : NULL;
	json_t *value = valid ? json_string(valid) : json_null();

	free(valid);
	return value;
}

static const char *lower(enum verdict verdict)
{
	static const char *const names[VERDICTS] = { "pass", "fail", "unknown", "skip", "waived" };

	return names[verdict];
}

/* ---- findings ---- */

static json_t *end_of(const struct judge *judge, int process)
{
	const struct exhibits *exhibits = &judge->exhibits;
	const struct node *node = exhibits_node(exhibits, process);
	json_t *to = json_object();

	if (!node) {
		json_decref(to);
		return json_null();
	}
	json_object_set_new(to, "node", text_or_null(node->name));
	json_object_set_new(to, "rank", json_integer(exhibits->members.data[process].fact.rank));
	json_object_set_new(to, "pid", json_integer(exhibits->members.data[process].fact.pid));
	return to;
}

static json_t *example_of(const struct judge *judge, const struct finding_example *example)
{
	json_t *to = json_object();

	json_object_set_new(to, "by", end_of(judge, example->process));
	json_object_set_new(to, "with", end_of(judge, example->peer));
	json_object_set_new(to, "op", text_or_null(example->op));
	json_object_set_new(to, "transport", text_or_null(example->transport));
	json_object_set_new(to, "device", text_or_null(example->device));
	json_object_set_new(to, "function", text_or_null(example->function));
	json_object_set_new(to, "start_ns", exact(example->start));
	json_object_set_new(to, "bytes", exact(example->bytes));
	return to;
}

/* What holds for all findings of a rule. */
static void set_rule(json_t *to, const struct catalogue_rule *rule, const char *cause)
{
	json_t *causes = json_array();

	json_object_set_new(to, "title", json_string(rule->title));
	if (cause)
		json_array_append_new(causes, text_or_null(cause));
	for (size_t i = 0; i < CATALOGUE_CAUSES && rule->causes[i]; i++)
		json_array_append_new(causes, json_string(rule->causes[i]));
	json_object_set_new(to, "causes", causes);
	json_object_set_new(to, "remedy", json_string(rule->remedy));
	json_object_set_new(to, "reference", json_string(rule->reference));
}

static json_t *finding_of(const struct judge *judge, const struct finding *finding)
{
	json_t *to = json_object(), *examples = json_array();

	json_object_set_new(to, "rule", json_string(finding->rule->id));
	json_object_set_new(to, "verdict", json_string(lower(finding->verdict)));
	json_object_set_new(to, "severity", json_string(severity_names[finding->severity]));
	json_object_set_new(to, "subject", text_or_null(finding->subject));
	json_object_set_new(to, "count", exact(finding->count));
	json_object_set_new(to, "bytes", exact(finding->bytes));
	json_object_set_new(to, "share",
			    isnan(finding->share) ? json_null() : json_real(finding->share));
	json_object_set_new(to, "expected", text_or_null(finding->expected));
	json_object_set_new(to, "seen", text_or_null(finding->seen));
	json_object_set_new(to, "why", text_or_null(finding->why));
	for (size_t i = 0; i < finding->example_count; i++)
		json_array_append_new(examples, example_of(judge, &finding->examples[i]));
	json_object_set_new(to, "examples", examples);
	json_object_set_new(to, "cause", text_or_null(finding->cause));
	return to;
}

/* ---- what is around them ---- */

static json_t *summary_of(const struct judge *judge, const struct judge_output *how)
{
	struct judge_summary summary = judge_summary(judge);
	json_t *to = json_object();

	for (int i = 0; i < VERDICTS; i++)
		json_object_set_new(to, lower(i), json_integer(summary.verdicts[i]));
	json_object_set_new(to, "critical", json_integer(summary.critical));
	json_object_set_new(to, "warning", json_integer(summary.warning));
	json_object_set_new(to, "nodes", json_integer(summary.nodes));
	json_object_set_new(to, "failed_nodes", json_integer(summary.failed_nodes));
	json_object_set_new(to, "rules_judged", json_integer(rules_judged(judge)));
	json_object_set_new(to, "exit_status", json_integer(judge_status(judge, how->warn_ok)));
	return to;
}

static json_t *evidence_of(const struct judge *judge)
{
	const struct fact_totals *totals = &judge->exhibits.totals;
	json_t *to = json_object(), *dropped = json_object();

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (totals->dropped[i].reason && totals->dropped[i].count)
			json_object_set_new(dropped, totals->dropped[i].reason,
					    exact(totals->dropped[i].count));
	json_object_set_new(to, "complete",
			    json_boolean(!judge->incomplete && !judge->captures_broken));
	json_object_set_new(to, "captures", exact(totals->captures));
	json_object_set_new(to, "inventories", exact(judge->inventories.list.len));
	json_object_set_new(to, "records", exact(totals->stored));
	json_object_set_new(to, "dropped", dropped);
	json_object_set_new(to, "damaged_bytes", exact(totals->damaged_bytes));
	json_object_set_new(to, "transfers", exact(transfers_judged(judge)));
	json_object_set_new(to, "data_bytes", exact(totals->data_bytes));
	json_object_set_new(to, "unexplained_bytes", exact(totals->unexplained_bytes));
	return to;
}

static void add_node(json_t *list, const char *name, const struct policy_class *class)
{
	json_t *to = json_object();

	json_object_set_new(to, "name", text_or_null(name));
	json_object_set_new(to, "class", text_or_null(class ? class->name : NULL));
	json_array_append_new(list, to);
}

/* Of captures, then those of which there is but an inventory; two of one name are one. */
static json_t *nodes_of(const struct judge *judge)
{
	struct words names = { 0 };
	json_t *list = json_array();

	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		words_keep(&names, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		words_keep(&names, judge->inventories.list.data[i].name);
	for (size_t i = 0; i < names.list.len; i++)
		add_node(list, names.list.data[i],
			 policy_class_of(judge->policy, names.list.data[i]));
	words_release(&names);
	return list;
}

static json_t *nics_of(const struct judge *judge)
{
	json_t *list = json_array();
	struct nics nics = { 0 };

	nics_make(&nics, judge);
	for (size_t i = 0; i < nics.list.len; i++) {
		const struct nic_traffic *nic = &nics.list.data[i];
		json_t *to = json_object();

		json_object_set_new(to, "node", text_or_null(nic->node));
		json_object_set_new(to, "device", text_or_null(nic->device));
		json_object_set_new(to, "sent", exact(nic->sent));
		json_object_set_new(to, "fetched", exact(nic->fetched));
		json_object_set_new(to, "transfers", exact(nic->transfers));
		json_array_append_new(list, to);
	}
	nics_release(&nics);
	return list;
}

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

static json_t *actions_of(const struct judge *judge)
{
	json_t *to = json_object(), *list = json_array(), *refused = json_array();
	struct drains drains;

	drains_make(&drains, judge);
	for (size_t i = 0; i < drains.list.len; i++)
		json_array_append_new(list, drain_of(&drains.list.data[i]));
	for (size_t i = 0; i < drains.refused.len; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "nodes", text_or_null(drains.refused.data[i].nodes));
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

/* ---- the document, member by member: a site has more findings than fit into memory twice ---- */

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
	put_member("site", text_or_null(judge->policy->site), out);
	put_member("policy_sha256", json_string(hash), out);
	put_member("summary", summary_of(judge, how), out);
	put_member("evidence", evidence_of(judge), out);
	put_member("actions", actions_of(judge), out);
	put_member("nodes", nodes_of(judge), out);
	put_member("nics", nics_of(judge), out);
}

/* A finding on each line; words: with what its rule says, which is the same for all of the rule. */
static void put_findings(const struct judge *judge, bool words, FILE *out)
{
	fputs(" \"findings\": [", out);
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		json_t *value = finding_of(judge, finding);

		if (words)
			set_rule(value, finding->rule, finding->cause);
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

static json_t *rules_of(void)
{
	json_t *rules = json_object();

	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		json_t *rule = json_object();

		set_rule(rule, &catalogue[i], NULL);
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
	json_object_set_new(to, "subject", text_or_null(line->subject));
	json_object_set_new(to, "finding", json_integer(line->finding - judge->findings.data));
	json_object_set_new(to, "findings", findings);
	json_object_set_new(to, "subjects", json_integer(line->subjects));
	json_object_set_new(to, "of", json_integer(line->of));
	json_object_set_new(to, "count", exact(line->count));
	json_object_set_new(to, "bytes", exact(line->bytes));
	json_object_set_new(to, "differs", json_boolean(line->differs));
	return to;
}

static json_t *lines_of(const struct judge *judge)
{
	json_t *list = json_array();
	struct lines lines = { 0 };

	lines_make(&lines, judge, true);
	for (size_t i = 0; i < lines.list.len; i++)
		json_array_append_new(list, line_of(judge, &lines.list.data[i]));
	lines_release(&lines);
	return list;
}

int judge_page_data(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	put_head(judge, how, out);
	put_member("rules", rules_of(), out);
	put_member("lines", lines_of(judge), out);
	put_findings(judge, false, out);
	return written(out);
}
