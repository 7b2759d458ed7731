// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/gaps.h"

/* A record as its CPU numbered it: when its work began, and when it was written. */
struct numbered {
	uint16_t cpu;
	uint32_t seq;
	uint64_t began, written;
};

typedef VEC(struct numbered) numbers;

static int by_number(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int by_from(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	return a->from < b->from ? -1 : a->from > b->from;
}

/* A thread tells of what it lost itself; a whole batch of another thread may lie in a hole. */
static int read_all(struct gaps *gaps, struct record_source *source, numbers *all, uint64_t *told)
{
	const struct ub_hdr *h;
	int err;

	*told = 0;

	while ((err = source->next(source->ctx, &h)) > 0) {
		const struct ub_loss *loss = (const struct ub_loss *)h;

		vec_push(all, ((struct numbered){ h->cpu, h->cpu_seq, h->ts, h->ts + h->dur }));
		if (h->kind != UB_LOSS || !loss->records)
			continue;
		vec_push(&gaps->all, ((struct gap){ h->ts, loss->until, h->tgid }));
		*told += loss->records;
	}
	return err ? err : source->rewind(source->ctx);
}

/* Records that have a number: records left out on purpose have none. */
static uint64_t count_numbered(const struct ub_stats *stats)
{
	uint64_t count = 0;

	for (size_t i = 0; i < sizeof(stats->produced) / sizeof(*stats->produced); i++)
		count += stats->produced[i] - stats->thinned[i];
	return count;
}

/* What is missing at both ends has a number on one side only. */
static void find_ends(struct gaps *gaps, const numbers *all, uint64_t produced)
{
	uint64_t numbered = 0, idle_since = UINT64_MAX;

	for (size_t i = 0; i < all->len; i++) {
		const struct numbered *at = &all->data[i];
		bool first = !i || at[-1].cpu != at->cpu;
		bool last = i + 1 == all->len || at[1].cpu != at->cpu;

		if (first && at->seq && at->written > gaps->first)
			gaps->first = at->written;
		numbered += last ? at->seq + 1ull : 0;
		if (last && at->began < idle_since)
			idle_since = at->began;
	}
	gaps->last = produced > numbered ? idle_since : UINT64_MAX;
}

/* Nobody knows who made records that no thread reports. */
static void find_holes(struct gaps *gaps, const numbers *all)
{
	for (size_t i = 0; i < gaps->all.len; i++)
		gaps->all.data[i].tgid = 0;
	for (size_t i = 1; i < all->len; i++) {
		const struct numbered *a = &all->data[i - 1], *b = &all->data[i];

		if (a->cpu == b->cpu && b->seq - a->seq > 1)
			vec_push(&gaps->all, ((struct gap){ a->began, b->written, 0 }));
	}
}

int gaps_find(struct gaps *gaps, struct record_source *source)
{
	uint64_t produced = count_numbered(&source->stats), told;
	numbers all = { 0 };
	int err = read_all(gaps, source, &all, &told);

	if (all.len)
		qsort(all.data, all.len, sizeof(*all.data), by_number);
	find_ends(gaps, &all, produced);
	if (all.len + told != produced)
		find_holes(gaps, &all);
	if (gaps->all.len)
		qsort(gaps->all.data, gaps->all.len, sizeof(*gaps->all.data), by_from);
	vec_release(&all);
	return err;
}

void gaps_release(struct gaps *gaps)
{
	vec_release(&gaps->all);
}
