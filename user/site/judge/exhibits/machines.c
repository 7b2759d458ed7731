// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/machines.h"

#include <stdio.h>
#include <string.h>

#include "base/lists.h"

/* A node of the plan that has an inventory. */
struct resident {
	const char *machine, *name;
	int node;
	int64_t cores; /* INVENTORY_UNKNOWN */
};

typedef VEC(struct resident) residents;

static int by_machine(const void *left, const void *right)
{
	const struct resident *a = left, *b = right;
	int order = strcmp(a->machine, b->machine);

	return order ? order : (a->node > b->node) - (a->node < b->node);
}

static void find_residents(const struct sweep *sweep, const struct node_inventories *inventories,
			   residents *list)
{
	for (size_t i = 0; i < inventories->list.len; i++) {
		const struct inventory *last = inventories->list.data[i].last;
		const char *kernel = last->kernel_boot_id;
		struct resident resident = {
			.machine = kernel ? kernel : last->boot_id,
			.name = inventories->list.data[i].name,
			.node = plan_node(sweep->plan, inventories->list.data[i].name),
			.cores = last->cpus.count,
		};

		if (resident.node >= 0 && *resident.machine)
			vec_push(list, resident);
	}
	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_machine);
}

/* Names of the nodes of one machine, each once; the caller's. */
static char *names_of(const struct resident *residents, size_t count, size_t *nodes)
{
	VEC(const char *) names = { 0 };
	char *folded;

	for (size_t i = 0; i < count; i++)
		if (!i || residents[i].node != residents[i - 1].node)
			vec_push(&names, residents[i].name);
	folded = fold_names(names.data, names.len);
	*nodes = names.len;
	vec_release(&names);
	return folded;
}

/* Why their times tell nothing, the caller's; NULL: they do. */
static char *why_untold(const struct sweep *sweep, const struct resident *residents, size_t count)
{
	char *names, *why = NULL;
	size_t nodes;
	int64_t ranks;

	names = names_of(residents, count, &nodes);
	ranks = (int64_t)nodes * sweep->plan->ranks;
	if (nodes > 1 &&
	    asprintf(&why, "%s are one machine: their times say nothing of a network", names) < 0)
		abort();
	if (nodes == 1 && residents->cores > 0 && ranks > residents->cores &&
	    asprintf(&why, "%s has %ld ranks on %ld cores: its times say nothing of a network",
		     names, (long)ranks, (long)residents->cores) < 0)
		abort();
	free(names);
	return why;
}

void machines_find(struct sweep *sweep, const struct node_inventories *inventories)
{
	residents list = { 0 };
	size_t to;

	if (!sweep->plan)
		return;
	sweep->untold = calloc(sweep->plan->nodes.len + 1, sizeof(*sweep->untold));
	find_residents(sweep, inventories, &list);
	for (size_t from = 0; from < list.len; from = to) {
		char *why;

		for (to = from;
		     to < list.len && !strcmp(list.data[to].machine, list.data[from].machine);)
			to++;
		why = why_untold(sweep, &list.data[from], to - from);
		if (!why)
			continue;
		vec_push(&sweep->made, why);
		for (size_t i = from; i < to; i++)
			sweep->untold[list.data[i].node] = why;
	}
	vec_release(&list);
}
