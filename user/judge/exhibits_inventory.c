// SPDX-License-Identifier: BSD-3-Clause
#include "judge/exhibits_inventory.h"

#include <string.h>
#include <xxhash.h>

static uint64_t hash(const char *text)
{
	return XXH3_64bits(text, strlen(text));
}

const struct node_inventory *inventories_find(const struct node_inventories *nodes,
					      const char *boot_id, const char *name)
{
	const uint64_t *at;

	if (!boot_id || !name)
		return NULL;
	at = map_find(&nodes->index, hash(boot_id), hash(name));
	return at ? &nodes->list.data[*at - 1] : NULL;
}

static struct node_inventory *node_at(struct node_inventories *nodes,
				      const struct inventory *inventory)
{
	uint64_t *at =
		map_insert(&nodes->index, hash(inventory->boot_id), hash(inventory->host), NULL);

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

void inventories_order(struct node_inventories *nodes)
{
	if (nodes->list.len)
		qsort(nodes->list.data, nodes->list.len, sizeof(struct node_inventory), by_name);
	for (size_t i = 0; i < nodes->list.len; i++)
		*map_insert(&nodes->index, hash(nodes->list.data[i].boot_id),
			    hash(nodes->list.data[i].name), NULL) = i + 1;
}

void inventories_release(struct node_inventories *nodes)
{
	for (size_t i = 0; i < nodes->kept.len; i++)
		inventory_free(nodes->kept.data[i]);
	vec_release(&nodes->kept);
	vec_release(&nodes->list);
	map_release(&nodes->index);
}
