// SPDX-License-Identifier: BSD-3-Clause
/* Several NICs of a node: RAIL. */
#include <string.h>

#include "judge/rules.h"

#define MAX_RAILS 64

struct rail {
	const char *device;
	uint64_t bytes;
};

struct rails {
	struct rail list[MAX_RAILS];
	size_t count;
};

static struct rail *rail_at(struct rails *rails, const char *device)
{
	for (size_t i = 0; i < rails->count; i++)
		if (!strcmp(rails->list[i].device, device))
			return &rails->list[i];
	if (rails->count == MAX_RAILS)
		return NULL;
	rails->list[rails->count] = (struct rail){ .device = device };
	return &rails->list[rails->count++];
}

/* What a node sent to other nodes, by NIC; those its class names are there, with 0 at least. */
static void node_rails(const struct trial *trial, const struct node *node, struct rails *rails)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct rail *rail;

	*rails = (struct rails){ 0 };
	for (size_t i = 0; node->class && i < node->class->nics.len; i++)
		rail_at(rails, node->class->nics.data[i]);
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		if (!cell_inter(cell) || !is_network(cell->transport) || !cell->device ||
		    exhibits_node(exhibits, cell->process) != node ||
		    !cell_at_least(exhibits, cell, trial->setting->number[0]))
			continue;
		rail = rail_at(rails, cell->device);
		if (rail)
			rail->bytes += cell->bytes;
	}
}

static const char *rails_text(struct judge *judge, const struct rails *rails)
{
	const char *text = "";

	for (size_t i = 0; i < rails->count; i++)
		text = say(judge, "%s%s%s %lu B", text, i ? ", " : "", rails->list[i].device,
			   (unsigned long)rails->list[i].bytes);
	return text;
}

static uint64_t total(const struct rails *rails)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < rails->count; i++)
		bytes += rails->list[i].bytes;
	return bytes;
}

static size_t used(const struct rails *rails)
{
	size_t count = 0;

	for (size_t i = 0; i < rails->count; i++)
		count += rails->list[i].bytes != 0;
	return count;
}

void rule_rail_count(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		struct finding *finding;
		struct rails rails;
		bool fails;

		if (!node->class || !node->class->rails)
			continue;
		node_rails(trial, node, &rails);
		if (!total(&rails))
			continue;
		fails = used(&rails) != (size_t)node->class->rails;
		finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, node->name);
		finding->bytes = total(&rails);
		finding->expected = say(trial->judge, "%ld rails", (long)node->class->rails);
		finding->seen = fails ? rails_text(trial->judge, &rails) : NULL;
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no class says 'rails', or no large message left a node");
}

static double over_mean(const struct rails *rails)
{
	uint64_t most = 0;

	for (size_t i = 0; i < rails->count; i++)
		if (rails->list[i].bytes > most)
			most = rails->list[i].bytes;
	return (double)most * rails->count / total(rails);
}

void rule_rail_balance(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		struct finding *finding;
		struct rails rails;
		double ratio;

		/* without a class, several devices may be what was wanted for several peers */
		if (!node->class || node->class->nics.len < 2)
			continue;
		node_rails(trial, node, &rails);
		if (!total(&rails))
			continue;
		ratio = over_mean(&rails);
		finding = found(trial,
				ratio > trial->setting->number[0] ? VERDICT_FAIL : VERDICT_PASS,
				node->name);
		finding->bytes = total(&rails);
		finding->expected =
			say(trial->judge, "max/mean at most %.2f", trial->setting->number[0]);
		if (finding->verdict == VERDICT_PASS)
			continue;
		finding->seen = say(trial->judge, "max/mean %.2f: %s", ratio,
				    rails_text(trial->judge, &rails));
		if (ratio >= trial->setting->number[1])
			finding->severity = SEVERITY_CRITICAL;
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no class names several nics, or nothing left a node");
}
