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

void inventories_release(struct node_inventories *nodes)
{
	vec_release(&nodes->list);
	map_release(&nodes->index);
}
