// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/inventory.h"

#include <string.h>

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
