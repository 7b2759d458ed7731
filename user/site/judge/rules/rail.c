// SPDX-License-Identifier: BSD-3-Clause
/* Several NICs of a node: RAIL. */
#include <string.h>

#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

#define MAX_RAILS 64

struct rail {
	const char *device;
	uint64_t bytes;
};

struct rails {
	struct rail list[MAX_RAILS];
	size_t count;
	uint64_t transfers;
	struct finding_example examples[FINDING_EXAMPLES];
	size_t example_count;
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

static void add_cell(struct rails *rails, const struct cell *cell)
{
	struct rail *rail = rail_at(rails, cell->device);

	if (!rail)
		return;
	rail->bytes += cell->bytes;
	rails->transfers += cell->count;
	for (size_t i = 0; i < cell->example_count; i++)
		if (rails->example_count < FINDING_EXAMPLES)
			rails->examples[rails->example_count++] = cell_example(cell, i);
}

/*
 * What each node exchanged with other nodes by large messages, by NIC of the process that started
 * the transfer, of at least so many bytes, or, with unsized, of those as well that may have so
 * many; NICs that its class names are there, with 0 at least. By position in exhibits->nodes; the
 * caller frees it.
 */
static struct rails *rails_of_nodes(const struct trial *trial, uint64_t least, bool unsized)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct rails *rails = NULL;
	size_t room = 0;

	rails = vec_grow(rails, &room, exhibits->nodes.len + 1, sizeof(*rails));
	memset(rails, 0, (exhibits->nodes.len + 1) * sizeof(*rails));
	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct policy_class *class = exhibits->nodes.data[i].class;

		for (size_t k = 0; class && k < class->nics.len; k++)
			rail_at(&rails[i], class->nics.data[k]);
	}
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		bool fetched = fact_fetches(cell->op, cell->transport);
		const struct node *node =
			exhibits_node(exhibits, fetched ? cell->peer : cell->process);

		if (node && cell_inter(cell) && is_network(cell->transport) && cell->device &&
		    (unsized ? !cell_below(exhibits, cell, least)
			     : cell_at_least(exhibits, cell, least)))
			add_cell(&rails[node - exhibits->nodes.data], cell);
	}
	return rails;
}

static void give_examples(struct finding *finding, const struct rails *rails)
{
	finding->count = rails->transfers;
	finding->example_count = rails->example_count;
	memcpy(finding->examples, rails->examples, sizeof(finding->examples));
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
	struct rails *sure = rails_of_nodes(trial, trial->setting->number[0], false);
	struct rails *all = rails_of_nodes(trial, trial->setting->number[0], true);

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		const struct rails *rails = &sure[i];
		struct finding *finding;
		size_t wanted;
		bool fails;

		if (!node->class || !node->class->rails || !total(rails))
			continue;
		wanted = node->class->rails;
		fails = used(rails) > wanted || used(&all[i]) < wanted;
		finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, node->name);
		finding->bytes = total(rails);
		finding->expected = say(trial->judge, "%ld rails", (long)node->class->rails);
		finding->seen = fails ? rails_text(trial->judge, rails) : NULL;
		give_examples(finding, rails);
		if (fails || used(rails) == used(&all[i]))
			continue;
		finding->verdict = VERDICT_UNKNOWN;
		finding->why = why_unsized(trial, total(&all[i]) - total(rails));
	}
	free(sure);
	free(all);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no class says 'rails', or no large message left a node");
}

/* If messages of unknown size are all large, and go by other rails than the busiest. */
static double least_over_mean(const struct rails *sure, const struct rails *all)
{
	uint64_t most = 0;

	for (size_t i = 0; i < sure->count; i++)
		if (sure->list[i].bytes > most)
			most = sure->list[i].bytes;
	return (double)most * sure->count / total(all);
}

/* If only those of one rail are large. */
static double most_over_mean(struct rails *sure, const struct rails *all)
{
	double most = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct rail *rail = rail_at(sure, all->list[i].device);
		uint64_t more = all->list[i].bytes - (rail ? rail->bytes : 0);
		double ratio = (double)all->list[i].bytes * all->count / (total(sure) + more);

		most = ratio > most ? ratio : most;
	}
	return most;
}

void rule_rail_balance(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	/* a small message has one rail, whatever there is */
	struct rails *sure = rails_of_nodes(trial, trial->setting->number[2], false);
	struct rails *all = rails_of_nodes(trial, trial->setting->number[2], true);

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		struct rails *rails = &sure[i];
		struct finding *finding;
		double ratio;

		/* without a class, several devices may be what was wanted for several peers */
		if (!node->class || node->class->nics.len < 2 || !total(rails))
			continue;
		ratio = least_over_mean(rails, &all[i]);
		finding = found(trial,
				ratio > trial->setting->number[0] ? VERDICT_FAIL : VERDICT_PASS,
				node->name);
		finding->bytes = total(rails);
		give_examples(finding, rails);
		finding->expected =
			say(trial->judge, "max/mean at most %.2f", trial->setting->number[0]);
		if (finding->verdict == VERDICT_PASS &&
		    most_over_mean(rails, &all[i]) > trial->setting->number[0]) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = why_unsized(trial, total(&all[i]) - total(rails));
		}
		if (finding->verdict != VERDICT_FAIL)
			continue;
		finding->seen = say(trial->judge, "max/mean %.2f: %s", ratio,
				    rails_text(trial->judge, rails));
		if (ratio >= trial->setting->number[1])
			finding->severity = SEVERITY_CRITICAL;
	}
	free(sure);
	free(all);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no class names several nics, or no large message left a node");
}
