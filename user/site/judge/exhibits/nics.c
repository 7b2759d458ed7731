// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/nics.h"

#include <string.h>

#include "site/judge/exhibits/cells.h"

static int by_name(const void *left, const void *right)
{
	const struct nic_traffic *a = left, *b = right;
	int order = strcmp(a->node, b->node);

	return order ? order : strcmp(a->device, b->device);
}

static void add(struct nics *nics, const struct nic_traffic *nic)
{
	vec_push(&nics->list, *nic);
}

static void add_cell(struct nics *nics, const struct exhibits *exhibits, const struct cell *cell)
{
	bool fetched = fact_fetches(cell->op, cell->transport);
	const struct node *node = exhibits_node(exhibits, fetched ? cell->peer : cell->process);

	if (!node || !node->name || !cell->device || !is_network(cell->transport))
		return;
	add(nics, &(struct nic_traffic){
			  .node = node->name,
			  .device = cell->device,
			  .sent = fetched ? 0 : cell->bytes,
			  .fetched = fetched ? cell->bytes : 0,
			  .transfers = cell->count,
		  });
}

static void join(struct nics *nics)
{
	struct nic_traffic *list = nics->list.data;
	size_t kept = 0;

	if (nics->list.len)
		qsort(list, nics->list.len, sizeof(*list), by_name);
	for (size_t i = 0; i < nics->list.len; i++) {
		if (!kept || by_name(&list[kept - 1], &list[i])) {
			list[kept++] = list[i];
			continue;
		}
		list[kept - 1].sent += list[i].sent;
		list[kept - 1].fetched += list[i].fetched;
		list[kept - 1].transfers += list[i].transfers;
	}
	nics->list.len = kept;
}

void nics_make(struct nics *nics, const struct judge *judge)
{
	const struct exhibits *exhibits = &judge->exhibits;

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];

		for (size_t k = 0; node->name && node->class && k < node->class->nics.len; k++)
			add(nics, &(struct nic_traffic){ node->name, node->class->nics.data[k], 0,
							 0, 0 });
	}
	for (size_t i = 0; i < exhibits->cells.len; i++)
		add_cell(nics, exhibits, &exhibits->cells.data[i]);
	join(nics);
}

void nics_release(struct nics *nics)
{
	vec_release(&nics->list);
}
