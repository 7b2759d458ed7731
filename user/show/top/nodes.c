// SPDX-License-Identifier: BSD-3-Clause
#include "show/top/nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "show/top/cells.h"

bool node_has_rows(const struct top_node *node)
{
	return node->state == TOP_RUNNING || node->state == TOP_LATE;
}

/* ---- the numbers of a node, or of several ---- */

struct share_of {
	size_t nodes; /* with current numbers */
	size_t alive;
	double out, sends; /* per second */
	bool least, unsized; /* both are lower bounds; out alone is */
	bool absent; /* some node has no current numbers */
	double cpu, paid, watched; /* NAN: not known */
	double budget;
};

static double interval_ns(const struct live_tracer *tracer)
{
	return tracer->to > tracer->from ? (double)(tracer->to - tracer->from) : NAN;
}

static struct share_of share_of(const struct live *live)
{
	const struct live_tracer *tracer = live_tracer(live);
	struct live_process *const *all;
	const size_t count = live_processes(live, &all);
	struct live_sums sum = { 0 };
	size_t alive = 0;

	for (size_t i = 0; i < count; i++) {
		alive += !all[i]->ended;
		live_add(&sum, &all[i]->sends.now);
	}
	return (struct share_of){
		.nodes = 1,
		.alive = alive,
		.out = live_rate(tracer, sum.bytes),
		.sends = live_rate(tracer, sum.count),
		.least = live_rates_least(tracer),
		.unsized = sum.unsized,
		.cpu = tracer->cpu,
		.paid = tracer->paid,
		.watched = tracer->watched / interval_ns(tracer),
		.budget = tracer->budget,
	};
}

/* ---- their rows ---- */

static const struct {
	const char *word;
	enum pane_colour colour;
} states[] = {
	[TOP_STARTING] = { "starting", PANE_WARN }, [TOP_RUNNING] = { "running", PANE_PLAIN },
	[TOP_LATE] = { "late", PANE_WARN },         [TOP_ENDED] = { "ended", PANE_DIM },
	[TOP_FAILED] = { "failed", PANE_BAD },
};

/* In whole seconds or minutes: a fraction would change with each drawing. */
static void silence(char text[32], const struct top_node *node)
{
	const uint64_t seconds = node->silent / 1000000000u;

	if (seconds < 120)
		snprintf(text, 32, "%u s", (unsigned int)seconds);
	else
		snprintf(text, 32, "%llu min", (unsigned long long)seconds / 60);
}

void node_state_cells(struct pane_cell *cells, const struct top_node *node)
{
	char silent[32];
	struct share_of share;

	silence(silent, node);
	cell_say(&cells[0], "%s", states[node->state].word);
	cells[0].colour = states[node->state].colour;
	for (int i = 1; i < 8; i++)
		cell_say(&cells[i], "-");
	if (node->state != TOP_RUNNING && node->state != TOP_ENDED) {
		cell_say(&cells[1], "%s", silent);
		cells[1].key = (double)node->silent;
	}
	cell_say(&cells[8], "%s", node->why ? node->why : "");
	if (!node_has_rows(node))
		return;
	share = share_of(node->live);
	cell_number(&cells[2], (double)share.alive);
	cell_byte_rate(&cells[3], share.out, share.least || share.unsized);
	cell_count_rate(&cells[4], share.sends, share.least);
	cell_percent(&cells[5], share.watched);
	cell_percent(&cells[6], share.cpu);
	cell_percent(&cells[7], share.paid);
}

void node_without_ranks(struct pane_cell *cells, const struct top_node *node, const char *empty)
{
	char silent[32];

	silence(silent, node);
	if (node->state == TOP_STARTING)
		cell_say(&cells[0], "starting for %s", silent);
	else if (node_has_rows(node))
		cell_say(&cells[0], "%s", empty);
	else
		cell_say(&cells[0], "%s%s%s", states[node->state].word, node->why ? ": " : "",
			 node->why ? node->why : "");
	cells[0].colour = states[node->state].colour;
	cells[0].spans = true;
	for (int i = 1; i < PANE_COLUMNS - 1; i++)
		cells[i].key = NAN;
}

void node_outdated(struct pane_cell *cell, const struct top_node *node)
{
	char silent[32], text[sizeof(cell->text)];

	silence(silent, node);
	memcpy(text, cell->text, sizeof(text));
	cell_say(cell, "%s ago: %.*s", silent, (int)sizeof(text) - 48, text);
}

/* ---- head ---- */

static const char *time_of(uint64_t real, char text[16])
{
	const time_t seconds = (time_t)(real / 1000000000u);
	struct tm now;

	localtime_r(&seconds, &now);
	snprintf(text, 16, "%02d:%02d:%02d", now.tm_hour, now.tm_min, now.tm_sec);
	return text;
}

static void head_of_one(const struct live *live, struct share_of share, struct pane_head *head)
{
	const struct live_tracer *tracer = live_tracer(live);
	struct live_process *const *all;
	const char *host = live_processes(live, &all) ? all[0]->host : NULL;
	char time[16];

	snprintf(head->who, sizeof(head->who), "ucxbpf top  %s  %s  %zu process%s  %.1f s",
		 host ? host : "", time_of(tracer->real, time), share.alive,
		 share.alive == 1 ? "" : "es", interval_ns(tracer) / 1e9);
}

static void head_of_several(const struct top_nodes *nodes, struct share_of share,
			    struct pane_head *head)
{
	uint64_t real = 0;
	char time[16];

	for (size_t i = 0; i < nodes->all.len; i++) {
		const struct top_node *node = &nodes->all.data[i];

		if (node_has_rows(node) && live_tracer(node->live)->real > real)
			real = live_tracer(node->live)->real;
	}
	snprintf(head->who, sizeof(head->who), "ucxbpf top  %zu of %zu nodes  %s%s%s%zu process%s",
		 share.nodes, nodes->all.len, real ? time_of(real, time) : "", real ? "  " : "",
		 share.absent ? ">=" : "", share.alive, share.alive == 1 ? "" : "es");
}

static size_t name_those(const struct top_nodes *nodes, enum top_state state, FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; i < nodes->all.len; i++)
		if (nodes->all.data[i].state == state && !count++)
			fprintf(out, "%s: %s", states[state].word, nodes->all.data[i].name);
		else if (nodes->all.data[i].state == state)
			fprintf(out, " %s", nodes->all.data[i].name);
	return count;
}

/* "failed: n1 n3  late: n2", "2 failed  1 late" */
static void name_trouble(const struct top_nodes *nodes, struct pane_head *head)
{
	static const enum top_state troubles[] = { TOP_FAILED, TOP_LATE, TOP_STARTING, TOP_ENDED };
	size_t at = 0, length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++) {
		char *names = NULL;
		size_t size = 0;
		FILE *out = xmemstream(&names, &size);
		size_t count = name_those(nodes, troubles[i], out);

		fclose(out);
		if (count && at < sizeof(head->trouble))
			at += (size_t)snprintf(head->trouble + at, sizeof(head->trouble) - at,
					       "%s%s", at ? "  " : "", names);
		if (count && length < sizeof(head->troubles))
			length += (size_t)snprintf(
				head->troubles + length, sizeof(head->troubles) - length,
				"%s%zu %s", length ? "  " : "", count, states[troubles[i]].word);
		free(names);
	}
	if (at >= sizeof(head->trouble))
		strcpy(head->trouble, head->troubles);
}

static double higher(double a, double b)
{
	return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

/*
 * Rates add up, each over its node's interval. A silent node has no current rate, which makes the
 * sum a lower bound. Costs do not add up: the highest one is shown.
 */
static struct share_of share_of_all(const struct top_nodes *nodes)
{
	struct share_of sum = { .watched = 1 };

	for (size_t i = 0; i < nodes->all.len; i++) {
		const struct top_node *node = &nodes->all.data[i];
		struct share_of one;

		if (node->state != TOP_RUNNING) {
			sum.absent = sum.absent || node->state != TOP_ENDED;
			continue;
		}
		one = share_of(node->live);
		sum.nodes++;
		sum.alive += one.alive;
		sum.least = sum.least || one.least || !isfinite(one.out);
		sum.unsized = sum.unsized || one.unsized;
		sum.out += isfinite(one.out) ? one.out : 0;
		sum.sends += isfinite(one.sends) ? one.sends : 0;
		sum.cpu = higher(sum.cpu, one.cpu);
		sum.paid = higher(sum.paid, one.paid);
		sum.watched = -higher(-sum.watched, -one.watched);
		sum.budget = one.budget;
	}
	return sum;
}

static void say_how_much(struct share_of share, bool one, struct pane_head *head)
{
	struct pane_cell out = { 0 }, sends = { 0 }, cpu = { 0 }, paid = { 0 }, watched = { 0 };
	char budget[32] = "no budget";

	cell_byte_rate(&out, share.out, share.least || share.unsized || share.absent);
	cell_count_rate(&sends, share.sends, share.least || share.absent);
	cell_percent(&cpu, share.cpu);
	cell_percent(&paid, share.paid);
	cell_percent(&watched, share.watched);
	if (share.budget > 0)
		snprintf(budget, sizeof(budget), "%.3g%%", 100 * share.budget);
	if (one)
		snprintf(head->much, sizeof(head->much),
			 "sent %s/s, %s sends/s, watched %s  tracer costs %s of %s, CPU %s",
			 out.text, sends.text, watched.text, paid.text, budget, cpu.text);
	else if (share.absent && share.nodes)
		snprintf(
			head->much, sizeof(head->much),
			"sent %s/s, %s sends/s  tracer on %zu node%s costs <=%s of %s, watched >=%s",
			out.text, sends.text, share.nodes, share.nodes == 1 ? "" : "s", paid.text,
			budget, watched.text);
	else if (share.nodes)
		snprintf(head->much, sizeof(head->much),
			 "sent %s/s, %s sends/s  tracer costs <=%s of %s, watched >=%s", out.text,
			 sends.text, paid.text, budget, watched.text);
	else
		snprintf(head->much, sizeof(head->much), "no node has current numbers");
}

void pane_head(const struct top_nodes *nodes, struct pane_head *head)
{
	const bool one = !nodes->named;
	const struct share_of share = one ? share_of(nodes->all.data[0].live) : share_of_all(nodes);

	head->trouble[0] = head->troubles[0] = '\0';
	if (one) {
		head_of_one(nodes->all.data[0].live, share, head);
	} else {
		head_of_several(nodes, share, head);
		name_trouble(nodes, head);
	}
	say_how_much(share, one, head);
	cell_plain(head->who);
	cell_plain(head->trouble);
	cell_plain(head->much);
}
