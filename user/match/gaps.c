// SPDX-License-Identifier: BSD-3-Clause
#include "match/gaps.h"

/* A record as its CPU numbered it: when its work began, and when it was written. */
struct numbered {
	uint16_t cpu;
	uint32_t seq;
	uint64_t began, written;
};

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

static int number_all(struct record_source *source, struct numbered **all, size_t *count)
{
	VEC(struct numbered) numbers = { 0 };
	const struct ub_hdr *h;
	int err;

	while ((err = source->next(source->ctx, &h)) > 0)
		vec_push(&numbers,
			 ((struct numbered){ h->cpu, h->cpu_seq, h->ts, h->ts + h->dur }));
	*all = numbers.data;
	*count = numbers.len;
	return err ? err : source->rewind(source->ctx);
}

int gaps_find(struct gaps *gaps, struct record_source *source)
{
	struct numbered *all;
	size_t count;
	int err = number_all(source, &all, &count);

	if (count)
		qsort(all, count, sizeof(*all), by_number);
	for (size_t i = 1; i < count; i++) {
		const struct numbered *a = &all[i - 1], *b = &all[i];

		if (a->cpu == b->cpu && b->seq - a->seq > 1)
			vec_push(&gaps->all,
				 ((struct gap){ a->began, b->written, b->seq - a->seq - 1 }));
	}
	if (gaps->all.len)
		qsort(gaps->all.data, gaps->all.len, sizeof(*gaps->all.data), by_from);
	free(all);
	return err;
}

void gaps_release(struct gaps *gaps)
{
	vec_release(&gaps->all);
}
