// SPDX-License-Identifier: BSD-3-Clause
/* Whether both ends of a connection are on the same rail: AFF-04. */

#include "base/map.h"
#include "site/judge/exhibits/topology.h"
#include "site/judge/rules/tally.h"

/*
 * The place among its class's NICs, else its name: rails of one number are on one network. A
 * transfer tells the device of its own end only; that of the other end is the one that it sends
 * back by.
 */
static uint64_t rail_of(const struct node *node, const char *device)
{
	for (size_t i = 0; node->class && i < node->class->nics.len; i++)
		if (nic_is_named(device, node->class->nics.data[i]))
			return i;
	return map_text(device) | 1ull << 63;
}

static int owner(const struct cell *cell)
{
	return fact_fetches(cell->op, cell->transport) ? cell->peer : cell->process;
}

static int other(const struct cell *cell)
{
	return fact_fetches(cell->op, cell->transport) ? cell->process : cell->peer;
}

static uint64_t pair(int from, int to)
{
	return (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
}

static bool counts(const struct cell *cell)
{
	return cell_inter(cell) && cell->device && is_network(cell->transport) &&
	       cell->process >= 0 && cell->peer >= 0;
}

/* (pair of processes, rail) -> 1; (pair, NO_RAIL) -> how many. */
#define NO_RAIL (UINT64_MAX - 1)

static void note(struct map *rails, const struct exhibits *exhibits, const struct cell *cell)
{
	const struct node *node = exhibits_node(exhibits, owner(cell));
	uint64_t ends = pair(owner(cell), other(cell));
	bool fresh;

	if (!node)
		return;
	*map_insert(rails, ends, rail_of(node, cell->device), &fresh) = 1;
	if (fresh)
		++*map_insert(rails, ends, NO_RAIL, NULL);
}

static uint64_t rails_of(const struct map *rails, uint64_t ends)
{
	const uint64_t *count = map_find(rails, ends, NO_RAIL);

	return count ? *count : 0;
}

static bool several_rails(const struct exhibits *exhibits)
{
	for (size_t i = 0; i < exhibits->nodes.len; i++)
		if (exhibits->nodes.data[i].class && exhibits->nodes.data[i].class->nics.len > 1)
			return true;
	return false;
}

void rule_aligned(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };
	struct map rails = { 0 };

	if (!several_rails(exhibits)) {
		found_nothing(trial, VERDICT_SKIP, "no class says several 'nics'");
		return;
	}
	for (size_t i = 0; i < exhibits->cells.len; i++)
		if (counts(&exhibits->cells.data[i]))
			note(&rails, exhibits, &exhibits->cells.data[i]);
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		const struct node *own = exhibits_node(exhibits, owner(cell));
		const struct node *peer = exhibits_node(exhibits, other(cell));
		uint64_t forth = pair(owner(cell), other(cell));
		uint64_t back = pair(other(cell), owner(cell));

		/* one that sends back by fewer rails does not tell where the others end */
		if (counts(cell) && own && peer &&
		    rails_of(&rails, forth) == rails_of(&rails, back))
			tally_add(tally_pair(trial, &tallies, own, peer), cell,
				  !map_find(&rails, back, rail_of(own, cell->device)));
	}
	map_release(&rails);
	tallies_judge(trial, &tallies, 0, "the same rail in both directions",
		      "no two processes of different nodes sent to each other");
}
