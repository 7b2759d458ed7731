// SPDX-License-Identifier: BSD-3-Clause
/* Whether GPUs and ranks use the NICs that are theirs: AFF-01, AFF-03, RAIL-04, and 'nic' of
 * PATH-01. */
#include <string.h>

#include "judge/rules.h"
#include "judge/topology.h"

/* The memory at that end. */
static const char *own_memory(const struct cell *cell)
{
	return cell_owner(cell) == cell->process ? cell->src_mem : cell->dst_mem;
}

static const struct node_inventory *inventory_of(const struct trial *trial, const struct node *node)
{
	return node ? inventories_find(&trial->judge->inventories, node->id, node->name) : NULL;
}

/* ---- AFF-01, and PATH-01's nic: nearest ---- */

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
	return is_gpu(own_memory(cell))
		       ? nearness_of(inventory, own_memory(cell), cell->device)
		       : nearness_of_cores(inventory, cpus_of(trial, cell), cell->device);
}

/* Whether there is such a thing as a nearest NIC: of what is on no NUMA node there is none. */
static bool has_nearest(const struct trial *trial, const struct cell *cell)
{
	const struct node *node = exhibits_node(trial->exhibits, cell_owner(cell));
	const struct node_inventory *inventory = inventory_of(trial, node);
	const char *memory = own_memory(cell);
	const struct inventory_nic *nic;

	if (!node || is_gpu(memory))
		return node;
	if (!memory || strcmp(memory, "host") != 0 || !cpus_of(trial, cell))
		return false;
	nic = inventory ? inventory_nic(inventory->last, cell->device) : NULL;
	return !inventory || (inventory->last->numa.len > 1 && (!nic || nic->pci.address));
}

static void add_distance(const struct trial *trial, struct distances *distances,
			 const struct cell *cell)
{
	const struct node *node = exhibits_node(trial->exhibits, cell_owner(cell));
	enum nearness near = nearness(trial, cell);

	if (near == NEAR_UNKNOWN)
		tally_add(tally_node(trial, &distances->unknown, node), cell, true);
	else
		tally_add(tally_node(trial, &distances->known, node), cell, near > NEAR_NEAREST);
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

		if (cell_over_nic(cell) && is_gpu(own_memory(cell)))
			add_distance(trial, &distances, cell);
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

		if (cell_over_nic(cell) && has_nearest(trial, cell) &&
		    expectation(exhibits, cell) == expect)
			add_distance(trial, &distances, cell);
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

/* ---- AFF-03, RAIL-04: the NICs that a node used ---- */

#define MOST 64

struct used {
	const char *memory, *device;
	uint64_t bytes;
};

struct uses {
	struct used list[MOST];
	size_t count;
};

static void use(struct uses *uses, const char *memory, const char *device, uint64_t bytes)
{
	for (size_t i = 0; i < uses->count; i++) {
		struct used *used = &uses->list[i];

		if (!strcmp(used->device, device) &&
		    (used->memory == memory ||
		     (used->memory && memory && !strcmp(used->memory, memory)))) {
			used->bytes += bytes;
			return;
		}
	}
	if (uses->count < MOST)
		uses->list[uses->count++] = (struct used){ memory, device, bytes };
}

struct node_uses {
	VEC(struct uses) list; /* by fact_process.host */
};

/* by_gpu: of each GPU alone, and of nothing else. */
static void collect_uses(const struct trial *trial, struct node_uses *nodes, bool by_gpu)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->nodes.len; i++)
		vec_add(&nodes->list);
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		const struct node *node = exhibits_node(exhibits, cell_owner(cell));

		if (node && cell_over_nic(cell) && (!by_gpu || is_gpu(own_memory(cell))))
			use(&nodes->list.data[node - exhibits->nodes.data],
			    by_gpu ? own_memory(cell) : NULL, cell->device, cell->bytes);
	}
}

/* Of little use: wire-up and the like. */
static bool matters(const struct uses *uses, const struct used *used)
{
	uint64_t all = 0;

	for (size_t i = 0; i < uses->count; i++)
		all += uses->list[i].bytes;
	return used->bytes * 20 > all;
}

static bool is_used(const struct uses *uses, const char *nic)
{
	for (size_t i = 0; i < uses->count; i++)
		if (nic_is_named(nic, uses->list[i].device) && matters(uses, &uses->list[i]))
			return true;
	return false;
}

/* A NIC that nobody uses; NULL: none. */
static const struct inventory_nic *idle_nic(const struct node_inventory *inventory,
					    const struct uses *uses)
{
	const struct inventory_nic *nic;

	for (size_t i = 0; (nic = candidate(inventory, uses->list[0].device, i)); i++)
		if (!is_used(uses, nic->name))
			return nic;
	return NULL;
}

static bool shared(const struct uses *uses, const struct used **one, const struct used **other)
{
	for (size_t i = 0; i < uses->count; i++)
		for (size_t k = i + 1; k < uses->count; k++) {
			*one = &uses->list[i];
			*other = &uses->list[k];
			if (!strcmp((*one)->device, (*other)->device) && matters(uses, *one) &&
			    matters(uses, *other))
				return true;
		}
	return false;
}

static void judge_collision(const struct trial *trial, const struct node *node,
			    const struct uses *uses)
{
	const struct node_inventory *inventory = inventory_of(trial, node);
	const struct inventory_nic *idle;
	const struct used *one, *other;
	struct finding *finding;

	if (!inventory || !candidate(inventory, uses->list[0].device, 0)) {
		found_why(trial, VERDICT_UNKNOWN, node->name,
			  inventory ? "its inventory does not have the NICs that were used"
				    : "no inventory of this node was given");
		return;
	}
	idle = idle_nic(inventory, uses);
	finding = found(trial, VERDICT_PASS, node->name);
	finding->expected = "a NIC for each GPU, as far as there are so many";
	if (!idle || !shared(uses, &one, &other))
		return;
	finding->verdict = VERDICT_FAIL;
	finding->bytes = one->bytes + other->bytes;
	finding->seen = say(trial->judge, "%s and %s share %s, %s is idle", one->memory,
			    other->memory, one->device, idle->name);
}

void rule_nic_collision(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;
	struct node_uses nodes = { 0 };

	collect_uses(trial, &nodes, true);
	for (size_t i = 0; i < nodes.list.len; i++)
		if (nodes.list.data[i].count)
			judge_collision(trial, &trial->exhibits->nodes.data[i],
					&nodes.list.data[i]);
	vec_release(&nodes.list);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no memory of a GPU left a node");
}

/* Two NICs that were used and are one adapter; false: there are none. */
static bool on_one_adapter(const struct inventory *inventory, const struct uses *uses,
			   const struct used **one, const struct used **other)
{
	for (size_t i = 0; i < uses->count; i++)
		for (size_t k = i + 1; k < uses->count; k++) {
			const struct inventory_nic *a, *b;

			*one = &uses->list[i];
			*other = &uses->list[k];
			a = inventory_nic(inventory, (*one)->device);
			b = inventory_nic(inventory, (*other)->device);
			if (a && b && a != b && same_adapter(a, b) && matters(uses, *one) &&
			    matters(uses, *other))
				return true;
		}
	return false;
}

/* An adapter of which no port is used; NULL: none. */
static const struct inventory_nic *idle_adapter(const struct node_inventory *inventory,
						const struct uses *uses)
{
	const struct inventory_nic *nic;

	for (size_t i = 0; (nic = candidate(inventory, uses->list[0].device, i)); i++) {
		bool used = !nic->pci.address;

		for (size_t k = 0; k < uses->count; k++) {
			const struct inventory_nic *other =
				inventory_nic(inventory->last, uses->list[k].device);

			used = used || (other && same_adapter(nic, other));
		}
		if (!used)
			return nic;
	}
	return NULL;
}

static void judge_adapters(const struct trial *trial, const struct node *node,
			   const struct uses *uses)
{
	const struct node_inventory *inventory = inventory_of(trial, node);
	const struct inventory_nic *nic, *idle;
	const struct used *one, *other;
	struct finding *finding;

	nic = inventory ? inventory_nic(inventory->last, uses->list[0].device) : NULL;
	if (!nic) {
		found_why(trial, VERDICT_UNKNOWN, node->name,
			  inventory ? "its inventory does not have the NICs that were used"
				    : "no inventory of this node was given");
		return;
	}
	if (!nic->pci.address)
		return;
	finding = found(trial, VERDICT_PASS, node->name);
	finding->expected = "rails on adapters of their own, as far as there are so many";
	idle = idle_adapter(inventory, uses);
	if (!idle || !on_one_adapter(inventory->last, uses, &one, &other))
		return;
	finding->verdict = VERDICT_FAIL;
	finding->bytes = one->bytes + other->bytes;
	finding->seen = say(trial->judge, "%s and %s are one adapter, %s is idle", one->device,
			    other->device, idle->name);
}

void rule_adapters(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;
	struct node_uses nodes = { 0 };

	collect_uses(trial, &nodes, false);
	for (size_t i = 0; i < nodes.list.len; i++)
		if (nodes.list.data[i].count > 1)
			judge_adapters(trial, &trial->exhibits->nodes.data[i], &nodes.list.data[i]);
	vec_release(&nodes.list);
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no node used several NICs on PCI");
}
