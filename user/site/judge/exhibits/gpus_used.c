// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/gpus_used.h"

#include <stdlib.h>
#include <string.h>

#include "site/judge/exhibits/transport.h"

static void use(struct gpus_used *used, const struct node *node, const char *memory)
{
	char *end;
	unsigned long number;
	bool fresh = false;

	if (!node || !is_gpu(memory))
		return;
	number = strtoul(memory + strlen("gpu"), &end, 10);
	if (end == memory + strlen("gpu"))
		map_insert(&used->vague, (uintptr_t)node, 0, NULL);
	else
		map_insert(&used->seen, (uintptr_t)node, number, &fresh);
	if (fresh)
		++*map_insert(&used->counts, (uintptr_t)node, 0, NULL);
}

void gpus_used_init(struct gpus_used *used, const struct exhibits *exhibits)
{
	*used = (struct gpus_used){ 0 };
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *way = &exhibits->sums.list.data[i];

		if (way->kind != SUM_WAY)
			continue;
		use(used, exhibits_node(exhibits, way->process), way->words[WAY_SRC_MEM]);
		use(used, exhibits_node(exhibits, way->peer), way->words[WAY_DST_MEM]);
	}
}

void gpus_used_release(struct gpus_used *used)
{
	map_release(&used->seen);
	map_release(&used->counts);
	map_release(&used->vague);
}

int gpus_used_by(const struct gpus_used *used, const struct node *node)
{
	const uint64_t *count = map_find(&used->counts, (uintptr_t)node, 0);

	if (map_find(&used->vague, (uintptr_t)node, 0))
		return -1;
	return count ? (int)*count : 0;
}
