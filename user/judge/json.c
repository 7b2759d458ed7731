// SPDX-License-Identifier: BSD-3-Clause
/* The verdict for programs: docs/check.schema.json. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "judge/document.h"
#include "judge/drain.h"
#include "judge/footer.h"
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

static json_t *causes_of(const struct finding *finding)
{
	json_t *causes = json_array();

	if (finding->cause)
		json_array_append_new(causes, text_or_null(finding->cause));
	for (size_t i = 0; i < CATALOGUE_CAUSES && finding->rule->causes[i]; i++)
		json_array_append_new(causes, json_string(finding->rule->causes[i]));
	return causes;
}

static json_t *finding_of(const struct judge *judge, const struct finding *finding)
{
	json_t *to = json_object(), *examples = json_array();

	json_object_set_new(to, "rule", json_string(finding->rule->id));
	json_object_set_new(to, "title", json_string(finding->rule->title));
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
	json_object_set_new(to, "causes", causes_of(finding));
	json_object_set_new(to, "remedy", json_string(finding->rule->remedy));
	json_object_set_new(to, "reference", json_string(finding->rule->reference));
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

static json_t *nodes_of(const struct judge *judge)
{
	const struct exhibits *exhibits = &judge->exhibits;
	json_t *list = json_array();

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		json_t *to;

		if (!node->name)
			continue;
		to = json_object();
		json_object_set_new(to, "name", text_or_null(node->name));
		json_object_set_new(to, "class",
				    text_or_null(node->class ? node->class->name : NULL));
		json_array_append_new(list, to);
	}
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

/* All but the findings. */
static json_t *head_of(const struct judge *judge, const struct judge_output *how)
{
	json_t *to = json_object();
	char hash[65];

	policy_hash(judge->policy, hash);
	json_object_set_new(to, "schema", json_string("ucxbpf.check/1"));
	json_object_set_new(to, "site", text_or_null(judge->policy->site));
	json_object_set_new(to, "policy_sha256", json_string(hash));
	json_object_set_new(to, "summary", summary_of(judge, how));
	json_object_set_new(to, "evidence", evidence_of(judge));
	json_object_set_new(to, "actions", actions_of(judge));
	json_object_set_new(to, "nodes", nodes_of(judge));
	json_object_set_new(to, "nics", nics_of(judge));
	return to;
}

json_t *judge_document(const struct judge *judge, const struct judge_output *how)
{
	json_t *to = head_of(judge, how), *findings = json_array();

	for (size_t i = 0; i < judge->findings.len; i++)
		json_array_append_new(findings, finding_of(judge, &judge->findings.data[i]));
	json_object_set_new(to, "findings", findings);
	return to;
}

#define LOOKS (JSON_INDENT(1) | JSON_REAL_PRECISION(6))

/* So many spaces before each line but the first. */
static void put_indented(const json_t *value, int spaces, FILE *out)
{
	char *text = json_dumps(value, LOOKS), *next = text;

	for (char *line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		fprintf(out, next ? "%s\n%*s" : "%s", line, spaces, "");
	}
	free(text);
}

/* One finding at a time: as one document, those of a large site are gigabytes. */
static void put_findings(const struct judge *judge, FILE *out)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		json_t *finding = finding_of(judge, &judge->findings.data[i]);

		fputs(i ? ",\n  " : "\n  ", out);
		put_indented(finding, 2, out);
		json_decref(finding);
	}
}

int judge_json(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	json_t *head = head_of(judge, how);
	char *text = json_dumps(head, LOOKS);

	json_decref(head);
	/* the findings come where the object ends */
	fprintf(out, "%.*s,\n \"findings\": [", (int)(strlen(text) - strlen("\n}")), text);
	free(text);
	put_findings(judge, out);
	fputs(judge->findings.len ? "\n ]\n}\n" : "]\n}\n", out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
