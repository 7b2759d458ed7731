// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/sums.h"

#include <string.h>

#include "site/judge/words/words.h"

const char *const sum_kind_names[SUM_KINDS + 1] = {
	[SUM_WAY] = "way",       [SUM_SPREAD] = "spread", [SUM_COLLECTIVE] = "collective",
	[SUM_TAKEN] = "taken",   [SUM_OPEN] = "open",     [SUM_PORT] = "port",
	[SUM_WINDOW] = "window", [SUM_BEHIND] = "behind", [SUM_WAIT] = "wait",
	[SUM_FREED] = "freed",
};

/* Adds one of the same key. */
static void sum_join(struct sum *sum, const struct sum *other)
{
	sum->count += other->count;
	sum->bytes += other->bytes;
	sum->extra += other->extra;
	if (other->least < sum->least)
		sum->least = other->least;
	if (other->most > sum->most)
		sum->most = other->most;
}

void sums_add(struct sums *sums, const struct sum *one)
{
	size_t n = rowset_add(&sums->index, ROWSET_ROWS(&sums->list, SUM_KEY), one);

	if (n == sums->list.len)
		vec_push(&sums->list, *one);
	else
		sum_join(&sums->list.data[n], one);
}

/* By all of the key; words are kept ones. */
static int sum_compare(const struct sum *a, const struct sum *b)
{
	int order = (int)a->kind - (int)b->kind;

	order = order ? order : (a->process > b->process) - (a->process < b->process);
	order = order ? order : (a->peer > b->peer) - (a->peer < b->peer);
	for (size_t i = 0; !order && i < SUM_WORDS; i++)
		order = words_compare(a->words[i], b->words[i]);
	return order ? order : a->size_class - b->size_class;
}

static int by_key(const void *left, const void *right)
{
	return sum_compare(left, right);
}

void sums_order(struct sums *sums)
{
	struct sum *list = sums->list.data;
	size_t kept = 0;

	if (sums->list.len)
		qsort(list, sums->list.len, sizeof(*list), by_key);
	for (size_t i = 0; i < sums->list.len; i++) {
		if (kept && !sum_compare(&list[kept - 1], &list[i]))
			sum_join(&list[kept - 1], &list[i]);
		else
			list[kept++] = list[i];
	}
	sums->list.len = kept;
	rowset_release(&sums->index);
}

void sums_release(struct sums *sums)
{
	vec_release(&sums->list);
	rowset_release(&sums->index);
}
