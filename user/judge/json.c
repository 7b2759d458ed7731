// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "judge/rules.h"

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
	return text ? json_string(text) : json_null();
}

static const char *lower(enum verdict verdict)
{
	static const char *const names[VERDICTS] = { "pass", "fail", "unknown", "skip", "waived" };

	return names[verdict];
}

static json_t *example_of(const struct finding_example *example)
{
	json_t *to = json_object();

	json_object_set_new(to, "process", json_integer(example->process));
	json_object_set_new(to, "peer", json_integer(example->peer));
	json_object_set_new(to, "op", text_or_null(example->op));
	json_object_set_new(to, "transport", text_or_null(example->transport));
	json_object_set_new(to, "device", text_or_null(example->device));
	json_object_set_new(to, "function", text_or_null(example->function));
	json_object_set_new(to, "start_ns", exact(example->start));
	json_object_set_new(to, "bytes", exact(example->bytes));
	return to;
}

static json_t *finding_of(const struct finding *finding)
{
	json_t *to = json_object(), *examples = json_array(), *causes = json_array();

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
		json_array_append_new(examples, example_of(&finding->examples[i]));
	json_object_set_new(to, "examples", examples);
	for (size_t i = 0; i < CATALOGUE_CAUSES && finding->rule->causes[i]; i++)
		json_array_append_new(causes, json_string(finding->rule->causes[i]));
	json_object_set_new(to, "causes", causes);
	json_object_set_new(to, "remedy", json_string(finding->rule->remedy));
	json_object_set_new(to, "reference", json_string(finding->rule->reference));
	return to;
}

static json_t *summary_of(const struct judge *judge)
{
	struct judge_summary summary = judge_summary(judge);
	json_t *to = json_object();

	for (int i = 0; i < VERDICTS; i++)
		json_object_set_new(to, lower(i), json_integer(summary.verdicts[i]));
	json_object_set_new(to, "critical", json_integer(summary.critical));
	json_object_set_new(to, "warning", json_integer(summary.warning));
	json_object_set_new(to, "nodes", json_integer(summary.nodes));
	json_object_set_new(to, "failed_nodes", json_integer(summary.failed_nodes));
	json_object_set_new(to, "exit_status", json_integer(judge_status(judge, false)));
	return to;
}

int judge_json(const struct judge *judge, FILE *out)
{
	json_t *to = json_object(), *findings = json_array();
	char hash[65];
	int err;

	policy_hash(judge->policy, hash);
	json_object_set_new(to, "schema", json_string("ucxbpf.check/1"));
	json_object_set_new(to, "site", text_or_null(judge->policy->site));
	json_object_set_new(to, "policy_sha256", json_string(hash));
	json_object_set_new(to, "summary", summary_of(judge));
	for (size_t i = 0; i < judge->findings.len; i++)
		json_array_append_new(findings, finding_of(&judge->findings.data[i]));
	json_object_set_new(to, "findings", findings);
	err = json_dumpf(to, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	json_decref(to);
	fputc('\n', out);
	if (!err && !fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
