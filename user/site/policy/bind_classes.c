// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "site/policy/bind.h"
#include "site/policy/values.h"

#define AT(member) offsetof(struct policy_class, member)

struct pcie {
	int64_t gen, width;
};

static void bind_pcie(struct binder *binder, const struct policy_tree *tree, void *to)
{
	static const struct field fields[] = {
		{ "gen", FIELD_COUNT, offsetof(struct pcie, gen), true, NULL, 1, 7, NULL },
		{ "width", FIELD_COUNT, offsetof(struct pcie, width), true, NULL, 1, 32, NULL },
		{ 0 },
	};
	struct policy_class *class = to;
	struct pcie pcie = { 0 };

	bind_map(binder, tree, "pcie", fields, &pcie);
	class->pcie_gen = pcie.gen;
	class->pcie_width = pcie.width;
}

static bool lists(const texts *list, const char *text)
{
	for (size_t i = 0; i < list->len; i++)
		if (!strcmp(list->data[i], text))
			return true;
	return false;
}

static void bind_affinity(struct binder *binder, const struct policy_tree *tree, void *to)
{
	struct policy_class *class = to;
	size_t room = 0;

	if (!bind_is(binder, tree, NODE_MAP, "map"))
		return;
	class->map = vec_grow(NULL, &room, tree->entries.len + 1, sizeof(*class->map));
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_entry *entry = &tree->entries.data[i];

		if (!bind_is(binder, entry->value, NODE_SCALAR, "map"))
			return;
		class->map[class->map_len].gpu = entry->key;
		class->map[class->map_len++].nic = entry->value->text;
	}
}

/* A GPU's NIC is one of the class, with or without its port. */
static void check_affinity(struct binder *binder, const struct policy_class *class, int line)
{
	for (size_t i = 0; class->nics.len && i < class->map_len; i++) {
		const char *nic = class->map[i].nic;
		bool found = lists(&class->nics, nic);

		for (size_t n = 0; !found && n < class->nics.len; n++)
			found = !strncmp(class->nics.data[n], nic, strlen(nic)) &&
				class->nics.data[n][strlen(nic)] == ':';
		if (!found)
			errors_add(binder->errors, line, "map: '%.40s' is none of the class's nics",
				   nic);
	}
}

static const struct field fields[] = {
	{ "nodes", FIELD_NODES, AT(nodes), true, NULL, 0, 0, NULL },
	{ "features", FIELD_TEXTS, AT(features), false, NULL, 0, 0, NULL },
	{ "gpus", FIELD_COUNT, AT(gpus), false, NULL, 0, 1024, NULL },
	{ "nics", FIELD_TEXTS, AT(nics), false, NULL, 0, 0, NULL },
	{ "nic_rate", FIELD_RATE, AT(nic_rate), false, NULL, 0, 0, NULL },
	{ "pcie", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_pcie },
	{ "rails", FIELD_COUNT, AT(rails), false, NULL, 1, 64, NULL },
	{ "map", FIELD_CUSTOM, 0, false, NULL, 0, 0, bind_affinity },
	{ 0 },
};

static int by_name(const void *left, const void *right)
{
	const struct policy_node *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* A node that two classes name would be judged twice, by different measures. */
static void sort_nodes(struct binder *binder)
{
	struct policy *policy = binder->policy;

	for (size_t c = 0; c < policy->classes.len; c++)
		for (size_t i = 0; i < policy->classes.data[c].nodes.len; i++)
			vec_push(
				&policy->nodes,
				((struct policy_node){ policy->classes.data[c].nodes.data[i], c }));
	if (policy->nodes.len)
		qsort(policy->nodes.data, policy->nodes.len, sizeof(*policy->nodes.data), by_name);
	for (size_t i = 1; i < policy->nodes.len; i++) {
		const struct policy_node *node = &policy->nodes.data[i];

		if (!by_name(node, node - 1))
			errors_add(binder->errors, policy->classes.data[node->class].line,
				   "classes: '%.60s' is named twice", node->name);
	}
}

void bind_classes(struct binder *binder, const struct policy_tree *tree, void *to)
{
	(void)to;
	if (!bind_is(binder, tree, NODE_MAP, "classes"))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_entry *entry = &tree->entries.data[i];
		struct policy_class *class = vec_add(&binder->policy->classes);

		class->name = entry->key;
		class->line = entry->line;
		bind_map(binder, entry->value, "class", fields, class);
		check_affinity(binder, class, entry->line);
	}
	sort_nodes(binder);
}

const struct policy_class *policy_class_of(const struct policy *policy, const char *node)
{
	const struct policy_node key = { .name = node }, *found = NULL;

	if (node && policy->nodes.len)
		found = bsearch(&key, policy->nodes.data, policy->nodes.len, sizeof(key), by_name);
	return found ? &policy->classes.data[found->class] : NULL;
}
