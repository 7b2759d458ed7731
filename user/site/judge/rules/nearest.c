// SPDX-License-Identifier: BSD-3-Clause
/* Whether messages leave by the NIC that is nearest to their memory: AFF-01, and 'nic: nearest' of
 * PATH-01. */
#include <string.h>

#include "site/judge/exhibits/topology.h"
#include "site/judge/rules/tally.h"

struct distances {
	struct tallies known, unknown;
};

static const char *cpus_of(const struct trial *trial, const struct cell *cell)
{
	int process = cell_owner(cell);

	return process < 0 ? NULL : trial->exhibits->members.data[process].fact.cpus;
}

static enum nearness nearness(const struct trial *trial, const struct cell *cell)
{
	const struct node_inventory *inventory =
		inventory_of(trial, exhibits_node(trial->exhibits, cell_owner(cell)));

	if (!inventory)
		return NEAR_UNKNOWN;
	return is_gpu(cell_own_memory(cell))
		       ? nearness_of(inventory, cell_own_memory(cell), cell->device)
		       : nearness_of_cores(inventory, cpus_of(trial, cell), cell->device);
}

/* Whether there is such a thing as a nearest NIC: of what is on no NUMA node there is none. */
static bool has_nearest(const struct trial *trial, const struct cell *cell)
{
	const struct node *node = exhibits_node(trial->exhibits, cell_owner(cell));
	const struct node_inventory *inventory = inventory_of(trial, node);
	const char *memory = cell_own_memory(cell);
	const struct inventory_nic *nic;

	if (!node || is_gpu(memory))
		return node;
	if (!memory || strcmp(memory, "host") != 0 || !cpus_of(trial, cell))
		return false;
	nic = inventory ? inventory_nic(inventory->last, cell->device) : NULL;
	return !inventory || (inventory->last->numa.len > 1 && (!nic || nic->pci.address));
}

static void add_distance(const struct trial *trial, struct distances *distances,
			 const struct cell *cell, enum fits fits)
{
	const struct node *node = exhibits_node(trial->exhibits, cell_owner(cell));
	enum nearness near = nearness(trial, cell);

	if (near == NEAR_UNKNOWN)
		tally_fits(tally_node(trial, &distances->unknown, node), cell, fits, true);
	else
		tally_fits(tally_node(trial, &distances->known, node), cell, fits,
			   near > NEAR_NEAREST);
}

static void judge_distances(const struct trial *trial, struct distances *distances, double allowed,
			    const char *expected, const char *why_unknown, const char *why_none)
{
	for (size_t i = 0; i < distances->unknown.list.len; i++)
		found_why(trial, VERDICT_UNKNOWN, distances->unknown.list.data[i].subject,
			  why_unknown);
	if (distances->known.list.len || !distances->unknown.list.len)
		tallies_judge(trial, &distances->known, allowed, expected, why_none);
	tallies_release(&distances->known);
	tallies_release(&distances->unknown);
}

/* Whether what is worst of a node comes from another socket: it costs most then. */
static void weigh(const struct trial *trial, const struct tally *tally)
{
	if (!tally->worst || nearness(trial, tally->worst) != NEAR_OTHER_SOCKET)
		return;
	for (size_t i = 0; i < trial->judge->findings.len; i++) {
		struct finding *finding = &trial->judge->findings.data[i];

		if (finding->rule == trial->rule && finding->verdict == VERDICT_FAIL &&
		    finding->subject == tally->subject)
			finding->severity = SEVERITY_CRITICAL;
	}
}

void rule_nearest_nic(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct distances distances = { 0 };
	VEC(struct tally) worst = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		if (cell_over_nic(cell) && is_gpu(cell_own_memory(cell)))
			add_distance(trial, &distances, cell, FITS);
	}
	for (size_t i = 0; i < distances.known.list.len; i++)
		vec_push(&worst, distances.known.list.data[i]);
	judge_distances(trial, &distances, trial->setting->number[0], "the GPU's nearest NIC",
			"its inventory does not tell where the GPU or the NIC is",
			"no memory of a GPU left a node");
	for (size_t i = 0; i < worst.len; i++)
		weigh(trial, &worst.data[i]);
	vec_release(&worst);
}

void judge_nearest(const struct trial *trial, const struct policy_expect *expect)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct distances distances = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		enum fits fits = expectation_fits(exhibits, cell, expect);

		if (fits != FITS_NOT && cell_over_nic(cell) && has_nearest(trial, cell))
			add_distance(trial, &distances, cell, fits);
	}
	if (!distances.known.list.len && !distances.unknown.list.len)
		found_why(trial, VERDICT_SKIP, say(trial->judge, "line %d", expect->line),
			  "'nic': no memory left a node so of which captures and inventories tell "
			  "the NUMA node");
	else
		judge_distances(
			trial, &distances, 1 - expect->min_share,
			say(trial->judge, "the nearest NIC (line %d)", expect->line),
			"its inventory does not tell which NIC is the nearest, or ranks may "
			"run on several NUMA nodes",
			NULL);
}
