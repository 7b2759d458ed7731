// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/usual.h"

#include <string.h>

/* By class, then by what it is, then by name: the order of captures decides nothing. */
static int by_what(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = (a->class > b->class) - (a->class < b->class);

	order = order ? order : strcmp(a->what, b->what);
	return order ? order : strcmp(a->node->name, b->node->name);
}

void find_usual(struct entries *entries, struct map *usual)
{
	struct entry *list = entries->list.data;
	size_t most = 0, to;

	if (entries->list.len)
		qsort(list, entries->list.len, sizeof(*list), by_what);
	for (size_t from = 0; from < entries->list.len; from = to) {
		uint64_t *best = map_insert(usual, (uintptr_t)list[from].class, 0, NULL);

		for (to = from; to < entries->list.len && list[to].class == list[from].class &&
				!strcmp(list[to].what, list[from].what);)
			to++;
		if (*best && (to - from < most ||
			      (to - from == most &&
			       strcmp(list[from].node->name, list[*best - 1].node->name) > 0)))
			continue;
		most = to - from;
		*best = from + 1;
	}
}
