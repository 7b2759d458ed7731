// SPDX-License-Identifier: BSD-3-Clause
#include "judge/exhibits/losses.h"

#include <string.h>

#include "judge/exhibits/named.h"

const char *const loss_names[LOSS_KINDS] = { "records", "missing", "hits",   "bytes",
					     "files",   "thinned", "windows" };

void losses_release(struct losses *losses)
{
	words_release(&losses->names);
	vec_release(&losses->list);
}

void losses_add(struct losses *losses, const char *node, enum loss_kind kind, uint64_t count)
{
	const char *name = count ? words_keep(&losses->names, node) : NULL;

	if (!name)
		return;
	for (size_t i = 0; i < losses->list.len; i++)
		if (losses->list.data[i].node == name) {
			losses->list.data[i].of[kind] += count;
			return;
		}
	vec_push(&losses->list, (struct node_loss){ .node = name });
	losses->list.data[losses->list.len - 1].of[kind] = count;
}

static int by_name(const void *left, const void *right)
{
	const struct node_loss *a = left, *b = right;

	return strcmp(a->node, b->node);
}

void losses_order(struct losses *losses)
{
	if (losses->list.len)
		qsort(losses->list.data, losses->list.len, sizeof(*losses->list.data), by_name);
}

uint64_t losses_sum(const struct losses *losses, enum loss_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < losses->list.len; i++)
		sum += losses->list.data[i].of[kind];
	return sum;
}

bool losses_has(const struct losses *losses, const char *node)
{
	return losses->list.len && node && words_find(&losses->names, node, strlen(node));
}

const char *losses_in(const struct losses *losses, const char *subject)
{
	const char *found[NAMED_MOST];

	return losses->list.len && named_in(&losses->names, subject, found) ? found[0] : NULL;
}
