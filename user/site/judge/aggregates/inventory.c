// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lists.h"

const struct node_inventory *inventories_find(const struct node_inventories *nodes,
					      const char *boot_id, const char *name)
{
	const uint64_t *at;

	if (!boot_id || !name)
		return NULL;
	at = map_find(&nodes->index, map_text(boot_id), map_text(name));
	return at ? &nodes->list.data[*at - 1] : NULL;
}

static struct node_inventory *node_at(struct node_inventories *nodes,
				      const struct inventory *inventory)
{
	uint64_t *at = map_insert(&nodes->index, map_text(inventory->boot_id),
				  map_text(inventory->host), NULL);

	if (!*at) {
		vec_add(&nodes->list);
		*at = nodes->list.len;
	}
	return &nodes->list.data[*at - 1];
}

void inventories_add(struct node_inventories *nodes, const struct policy *policy,
		     const struct inventory *inventory)
{
	struct node_inventory *node = node_at(nodes, inventory);

	vec_push(&node->all, inventory);
	if (!node->first) {
		node->name = inventory->host;
		node->boot_id = inventory->boot_id;
		node->class = policy_class_of(policy, node->name);
		node->first = node->last = inventory;
	}
	if (inventory->mono_ns < node->first->mono_ns)
		node->first = inventory;
	if (inventory->mono_ns > node->last->mono_ns)
		node->last = inventory;
}

static int by_name(const void *left, const void *right)
{
	const struct node_inventory *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->boot_id, b->boot_id);
}

static int by_time(const void *left, const void *right)
{
	const struct inventory *const *a = left, *const *b = right;

	return ((*a)->mono_ns > (*b)->mono_ns) - ((*a)->mono_ns < (*b)->mono_ns);
}

void inventories_order(struct node_inventories *nodes)
{
	if (nodes->list.len)
		qsort(nodes->list.data, nodes->list.len, sizeof(struct node_inventory), by_name);
	for (size_t i = 0; i < nodes->list.len; i++) {
		struct node_inventory *node = &nodes->list.data[i];

		*map_insert(&nodes->index, map_text(node->boot_id), map_text(node->name), NULL) =
			i + 1;
		qsort(node->all.data, node->all.len, sizeof(*node->all.data), by_time);
		vec_push(&node->windows, ((struct inventory_window){ node->first, node->last }));
	}
}

void inventories_in_parts(struct node_inventories *nodes)
{
	for (size_t i = 0; i < nodes->list.len; i++)
		nodes->list.data[i].windows.len = 0;
}

static void add_window(struct node_inventory *node, const struct inventory *first,
		       const struct inventory *last)
{
	for (size_t i = 0; i < node->windows.len; i++) {
		const struct inventory_window *other = &node->windows.data[i];

		node->merged = node->merged || other->first == first || other->last == first ||
			       other->first == last;
	}
	vec_push(&node->windows, ((struct inventory_window){ first, last }));
}

void inventories_traced(struct node_inventories *nodes, const char *boot_id, const char *name,
			uint64_t start)
{
	struct node_inventory *node =
		(struct node_inventory *)inventories_find(nodes, boot_id, name);

	for (size_t i = 1; node && i < node->all.len; i++)
		if ((uint64_t)node->all.data[i - 1]->mono_ns <= start &&
		    start < (uint64_t)node->all.data[i]->mono_ns)
			add_window(node, node->all.data[i - 1], node->all.data[i]);
}

void inventories_release(struct node_inventories *nodes)
{
	for (size_t i = 0; i < nodes->kept.len; i++)
		inventory_free(nodes->kept.data[i]);
	for (size_t i = 0; i < nodes->list.len; i++) {
		vec_release(&nodes->list.data[i].all);
		vec_release(&nodes->list.data[i].windows);
	}
	vec_release(&nodes->kept);
	vec_release(&nodes->list);
	map_release(&nodes->index);
}

/* ---- NICs near GPUs and cores ---- */

bool nic_is_named(const char *nic, const char *policy)
{
	size_t length = strlen(policy);

	return !strncmp(nic, policy, length) && (!nic[length] || !strcmp(nic + length, ":1"));
}

static const struct inventory_gpu *gpu_of(const struct inventory *inventory, const char *memory)
{
	unsigned int wanted, seen = 0, nvidia = 0;

	if (!memory || sscanf(memory, "gpu%u", &wanted) != 1)
		return NULL;
	for (size_t i = 0; i < inventory->gpus.len; i++)
		nvidia += inventory->gpus.data[i].vendor &&
			  !strcmp(inventory->gpus.data[i].vendor, "nvidia");
	for (size_t i = 0; i < inventory->gpus.len; i++) {
		const struct inventory_gpu *gpu = &inventory->gpus.data[i];

		if (nvidia && (!gpu->vendor || strcmp(gpu->vendor, "nvidia")))
			continue;
		if (seen++ == wanted)
			return gpu;
	}
	return NULL;
}

/* How many bridges lead to both. */
static int common(const char *a, const char *b)
{
	int count = 0;

	while (*a && *b) {
		size_t length = strcspn(a, "/");

		if (length != strcspn(b, "/") || strncmp(a, b, length))
			break;
		count++;
		a += length + (a[length] == '/');
		b += length + (b[length] == '/');
	}
	return count;
}

/* The more the nearer; -1: not known. */
static int score(const struct inventory_gpu *gpu, const struct inventory_nic *nic)
{
	if (!gpu->pci.path || !nic->pci.path)
		return -1;
	return 2 * common(gpu->pci.path, nic->pci.path) +
	       (gpu->pci.numa >= 0 && gpu->pci.numa == nic->pci.numa);
}

static bool is_candidate(const struct node_inventory *node, const struct inventory_nic *nic,
			 const char *kind)
{
	const struct policy_class *class = node->class;

	for (size_t i = 0; class && i < class->nics.len; i++)
		if (nic_is_named(nic->name, class->nics.data[i]))
			return true;
	return (!class || !class->nics.len) && nic->pci.path && !strcmp(nic->kind, kind) &&
	       inventory_nic_up(nic);
}

const struct inventory_nic *candidate(const struct node_inventory *node, const char *like, size_t n)
{
	const struct inventory_nic *nic = inventory_nic(node->last, like);

	for (size_t i = 0; nic && i < node->last->nics.len; i++)
		if (is_candidate(node, &node->last->nics.data[i], nic->kind) && !n--)
			return &node->last->nics.data[i];
	return NULL;
}

static enum nearness farther(const struct inventory_gpu *gpu, const struct inventory_nic *nic)
{
	return gpu->pci.numa >= 0 && nic->pci.numa >= 0 && gpu->pci.numa != nic->pci.numa
		       ? NEAR_OTHER_SOCKET
		       : NEAR_FARTHER;
}

/* NULL: the class's map says nothing of it. */
static const char *mapped(const struct policy_class *class, const char *memory)
{
	for (size_t i = 0; class && i < class->map_len; i++)
		if (!strcmp(class->map[i].gpu, memory))
			return class->map[i].nic;
	return NULL;
}

int64_t gpu_numa(const struct node_inventory *node, const char *memory)
{
	const struct inventory_gpu *gpu = gpu_of(node->last, memory);
	const char *own = mapped(node->class, memory);
	const struct inventory_nic *nic = own ? inventory_nic(node->last, own) : NULL;

	if (gpu && gpu->pci.numa >= 0)
		return gpu->pci.numa;
	return nic ? nic->pci.numa : -1;
}

enum nearness nearness_of(const struct node_inventory *node, const char *memory, const char *device)
{
	const struct inventory_gpu *gpu = gpu_of(node->last, memory);
	const struct inventory_nic *nic = inventory_nic(node->last, device), *other;
	const char *wanted = mapped(node->class, memory);
	int own;

	if (wanted)
		return nic_is_named(device, wanted) ? NEAR_NEAREST
		       : gpu && nic                 ? farther(gpu, nic)
						    : NEAR_FARTHER;
	own = gpu && nic ? score(gpu, nic) : -1;
	if (own < 0)
		return NEAR_UNKNOWN;
	for (size_t i = 0; (other = candidate(node, device, i)); i++)
		if (score(gpu, other) > own)
			return farther(gpu, nic);
	return NEAR_NEAREST;
}

/* The NUMA node that all of the cores are on; NULL: several, or not known. */
static const struct inventory_numa *home_of(const struct inventory *inventory, const char *cpus)
{
	const struct inventory_numa *home = NULL;

	for (size_t i = 0; i < inventory->numa.len; i++) {
		const struct inventory_numa *numa = &inventory->numa.data[i];

		if (cpus_shared(cpus, numa->cpus) <= 0)
			continue;
		if (home)
			return NULL;
		home = numa;
	}
	return home;
}

/* By the firmware: 10 on the node itself, more elsewhere; -1: not known. */
static long distance(const struct inventory *inventory, const struct inventory_numa *home,
		     const struct inventory_nic *nic)
{
	const char *at = home->distances;
	long distance = -1;

	if (home->node == nic->pci.numa)
		return 0;
	for (size_t i = 0; at && i < inventory->numa.len; i++) {
		char *end;

		distance = strtol(at, &end, 10);
		if (end == at || distance <= 0)
			return -1;
		if (inventory->numa.data[i].node == nic->pci.numa)
			return distance;
		at = end;
	}
	return -1;
}

enum nearness nearness_of_cores(const struct node_inventory *node, const char *cpus,
				const char *device)
{
	const struct inventory_nic *nic = inventory_nic(node->last, device), *other;
	const struct inventory_numa *home = home_of(node->last, cpus);
	long own = home && nic ? distance(node->last, home, nic) : -1;

	for (size_t i = 0; own > 0 && (other = candidate(node, device, i)); i++) {
		long its = distance(node->last, home, other);

		if (its >= 0 && its < own)
			return NEAR_OTHER_SOCKET;
	}
	return own < 0 ? NEAR_UNKNOWN : NEAR_NEAREST;
}

bool same_adapter(const struct inventory_nic *a, const struct inventory_nic *b)
{
	const char *left = a->pci.address, *right = b->pci.address;

	return left && right && strcspn(left, ".") == strcspn(right, ".") &&
	       !strncmp(left, right, strcspn(left, "."));
}
