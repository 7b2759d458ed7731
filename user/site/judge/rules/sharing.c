// SPDX-License-Identifier: BSD-3-Clause
/* Whether a node's GPUs and rails have NICs of their own: AFF-03 and RAIL-04. */
#include <string.h>

#include "site/judge/exhibits/topology.h"
#include "site/judge/rules/rules.h"

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

		if (node && cell_over_nic(cell) && (!by_gpu || is_gpu(cell_own_memory(cell))))
			use(&nodes->list.data[node - exhibits->nodes.data],
			    by_gpu ? cell_own_memory(cell) : NULL, cell->device, cell->bytes);
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
