// SPDX-License-Identifier: BSD-3-Clause
/* The verdict for programs, docs/check.schema.json, and for its page. */
#include <errno.h>

#include "site/judge/verdict/json.h"

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
