// SPDX-License-Identifier: BSD-3-Clause
/* No label per pair of nodes: their number grows with the square of a site's. */
#include <inttypes.h>
#include <string.h>

#include "base/openmetrics.h"
#include "site/judge/aggregates/ports.h"
#include "site/judge/aggregates/totals.h"
#include "site/judge/internal.h"
#include "site/judge/judge.h"

struct metrics {
	const struct judge *judge;
	bool open; /* OpenMetrics */
	FILE *out;
};

static void family(const struct metrics *metrics, const char *name, const char *type,
		   const char *help)
{
	openmetrics_family(metrics->out, metrics->open, name, type, help);
}

/* ---- states ---- */

enum state { STATE_NONE = -1, STATE_PASS, STATE_WARNING, STATE_CRITICAL, STATE_UNKNOWN };

static enum state state_of(const struct finding *finding)
{
	static const enum state failures[SEVERITIES] = { STATE_PASS, STATE_WARNING,
							 STATE_CRITICAL };

	if (finding->verdict == VERDICT_SKIP)
		return STATE_NONE;
	if (finding->verdict == VERDICT_UNKNOWN)
		return finding->severity == SEVERITY_INFO ? STATE_NONE : STATE_UNKNOWN;
	return finding->verdict == VERDICT_FAIL ? failures[finding->severity] : STATE_PASS;
}

/* Critical is worst, then unknown, as in the exit status. */
static int badness(enum state state)
{
	static const int of[] = {
		[STATE_PASS] = 0, [STATE_WARNING] = 1, [STATE_CRITICAL] = 3, [STATE_UNKNOWN] = 2
	};

	return state < 0 ? -1 : of[state];
}

/* The class of the first node of a subject; "": none. */
static const char *class_of(const struct judge *judge, const struct subject *subject)
{
	const struct policy_class *class =
		subject->node ? policy_class_of(judge->policy, subject->node) : NULL;

	return class ? class->name : "";
}

static void put_state(const struct metrics *metrics, size_t rule, const char *class)
{
	const struct judge *judge = metrics->judge;
	enum state worst = STATE_NONE;

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		enum state state = state_of(finding);

		if (finding->rule == &catalogue[rule] && badness(state) > badness(worst) &&
		    !strcmp(class_of(judge, &finding->subject), class))
			worst = state;
	}
	if (worst == STATE_NONE)
		return;
	fprintf(metrics->out, "ucxbpf_rule_state{rule=\"%s\",", catalogue[rule].id);
	openmetrics_label(metrics->out, "class", class);
	fprintf(metrics->out, "} %d\n", worst);
}

static void put_states(const struct metrics *metrics)
{
	const struct policy *policy = metrics->judge->policy;

	family(metrics, "ucxbpf_rule_state", "gauge",
	       "worst finding: 0 pass, 1 warning, 2 critical, 3 unknown");
	for (size_t rule = 0; rule < CATALOGUE_RULES; rule++) {
		put_state(metrics, rule, "");
		for (size_t i = 0; i < policy->classes.len; i++)
			put_state(metrics, rule, policy->classes.data[i].name);
	}
}

/* ---- numbers ---- */

static void put_summary(const struct metrics *metrics)
{
	struct judge_summary summary = judge_summary(metrics->judge);

	family(metrics, "ucxbpf_check_findings", "gauge", "findings by verdict");
	for (int i = 0; i < VERDICTS; i++)
		fprintf(metrics->out, "ucxbpf_check_findings{verdict=\"%s\"} %zu\n",
			verdict_words[i].word, summary.verdicts[i]);
	family(metrics, "ucxbpf_check_nodes", "gauge", "nodes seen, and nodes that fail");
	fprintf(metrics->out,
		"ucxbpf_check_nodes{state=\"seen\"} %zu\nucxbpf_check_nodes{state=\"failed\"} %zu\n",
		summary.nodes, summary.failed_nodes);
	family(metrics, "ucxbpf_check_status", "gauge",
	       "exit status: 0 pass, 1 warning, 2 critical, 3 unknown");
	fprintf(metrics->out, "ucxbpf_check_status %d\n", judge_status(metrics->judge, false));
}

static void put_lost(const struct metrics *metrics)
{
	const struct fact_reason *dropped = metrics->judge->aggregates.totals.dropped;

	family(metrics, "ucxbpf_events_lost", "counter", "records that found no room");
	for (int i = 0; i < FACT_MAX_REASONS; i++) {
		if (!dropped[i].reason || !dropped[i].count)
			continue;
		fputs("ucxbpf_events_lost_total{", metrics->out);
		openmetrics_label(metrics->out, "reason", dropped[i].reason);
		fprintf(metrics->out, "} %" PRIu64 "\n", dropped[i].count);
	}
	if (!reasons_sum(dropped))
		fputs("ucxbpf_events_lost_total{reason=\"any\"} 0\n", metrics->out);
}

static int by_device(const void *left, const void *right)
{
	const struct nic_traffic *a = left, *b = right;

	return strcmp(a->device, b->device);
}

/* By the NIC's name, over all nodes. */
static void put_rails(const struct metrics *metrics)
{
	struct nics nics = { 0 };

	nics_make(&nics, &metrics->judge->aggregates);
	if (nics.list.len) {
		family(metrics, "ucxbpf_rail_bytes", "counter",
		       "payload over NICs of that name, of all nodes");
		qsort(nics.list.data, nics.list.len, sizeof(*nics.list.data), by_device);
	}
	for (size_t i = 0, to; i < nics.list.len; i = to) {
		uint64_t bytes = 0;

		for (to = i;
		     to < nics.list.len && !by_device(&nics.list.data[i], &nics.list.data[to]);
		     to++)
			bytes += nics.list.data[to].sent + nics.list.data[to].fetched;
		fputs("ucxbpf_rail_bytes_total{", metrics->out);
		openmetrics_label(metrics->out, "nic", nics.list.data[i].device);
		fprintf(metrics->out, "} %" PRIu64 "\n", bytes);
	}
	nics_release(&nics);
}

static int put_all(const struct judge *judge, bool open, FILE *out)
{
	const struct metrics metrics = { judge, open, out };

	put_states(&metrics);
	put_summary(&metrics);
	put_lost(&metrics);
	put_rails(&metrics);
	return openmetrics_end(out, open);
}

int judge_openmetrics(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	(void)how;
	return put_all(judge, true, out);
}

int judge_textfile(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	(void)how;
	return put_all(judge, false, out);
}
