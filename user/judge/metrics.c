// SPDX-License-Identifier: BSD-3-Clause
/* OpenMetrics 1.0: for a scrape or a node exporter's text files. No label per pair of nodes. */
#include <errno.h>
#include <inttypes.h>

#include "judge/rules.h"

static void family(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* 0 pass, 1 warning, 2 critical, 3 unknown: the worst of the rule's findings. */
static int state_of(const struct judge *judge, const struct catalogue_rule *rule)
{
	static const int failures[SEVERITIES] = { 0, 1, 2 };
	int worst = -1;

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		int state = 0;

		if (finding->rule != rule || finding->verdict == VERDICT_SKIP)
			continue;
		if (finding->verdict == VERDICT_FAIL)
			state = failures[finding->severity];
		else if (finding->verdict == VERDICT_UNKNOWN && worst < 1)
			state = 3;
		if (worst == 3 ? state > 0 : state > worst)
			worst = state;
	}
	return worst;
}

static void print_states(const struct judge *judge, FILE *out)
{
	family("ucxbpf_rule_state", "gauge", "0 pass, 1 warning, 2 critical, 3 unknown", out);
	for (size_t i = 0; i < CATALOGUE_RULES; i++) {
		int state = state_of(judge, &catalogue[i]);

		if (state >= 0)
			fprintf(out, "ucxbpf_rule_state{rule=\"%s\"} %d\n", catalogue[i].id, state);
	}
}

static void print_lost(const struct judge *judge, FILE *out)
{
	const struct fact_reason *dropped = judge->exhibits.totals.dropped;
	uint64_t lost = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		lost += dropped[i].reason ? dropped[i].count : 0;
	family("ucxbpf_events_lost", "counter", "records that found no room", out);
	fprintf(out, "ucxbpf_events_lost_total %" PRIu64 "\n", lost);
}

int judge_metrics(const struct judge *judge, FILE *out)
{
	static const char *const names[VERDICTS] = { "pass", "fail", "unknown", "skip", "waived" };
	struct judge_summary summary = judge_summary(judge);

	print_states(judge, out);
	family("ucxbpf_check_findings", "gauge", "findings by verdict", out);
	for (int i = 0; i < VERDICTS; i++)
		fprintf(out, "ucxbpf_check_findings{verdict=\"%s\"} %zu\n", names[i],
			summary.verdicts[i]);
	family("ucxbpf_check_nodes", "gauge", "nodes seen, and those that fail", out);
	fprintf(out,
		"ucxbpf_check_nodes{state=\"seen\"} %zu\nucxbpf_check_nodes{state=\"failed\"} %zu\n",
		summary.nodes, summary.failed_nodes);
	print_lost(judge, out);
	fputs("# EOF\n", out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
