// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/losses.h"

#include <stdlib.h>
#include <string.h>

#include "site/judge/exhibits/words.h"

const char *const loss_names[LOSS_KINDS] = { "records", "missing", "hits",  "bytes", "files",
					     "thinned", "windows", "spans", "narrow" };

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

static enum lack lack_of(const struct node_loss *loss)
{
	for (int kind = 0; kind < LOSS_KINDS; kind++)
		if (loss->of[kind] && kind != LOSS_WINDOWS && kind != LOSS_SPANS)
			return LACK_RECORDS;
	return loss->of[LOSS_SPANS] ? LACK_TIMES : LACK_RECORDS;
}

enum lack losses_worst(const struct losses *losses, const char **node)
{
	enum lack worst = LACK_NOTHING;

	*node = NULL;
	for (size_t i = 0; i < losses->list.len; i++) {
		const struct node_loss *loss = &losses->list.data[i];
		enum lack lack = lack_of(loss);

		if (lack <= worst)
			continue;
		worst = lack;
		*node = loss->node;
	}
	return worst;
}

enum lack losses_in(const struct losses *losses, const char *subject, const char **node)
{
	const char *found[NAMED_MOST];
	size_t count = losses->list.len ? named_in(&losses->names, subject, found) : 0;
	enum lack worst = LACK_NOTHING;

	*node = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct node_loss key = { .node = found[i] };
		const struct node_loss *loss =
			bsearch(&key, losses->list.data, losses->list.len, sizeof(key), by_name);
		enum lack lack = loss ? lack_of(loss) : LACK_NOTHING;

		if (lack <= worst)
			continue;
		worst = lack;
		*node = loss->node;
	}
	return worst;
}
