// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/times.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static uint64_t key_of(const struct cohort *cohort)
{
	return (uint64_t)cohort->intra << 48 | (uint64_t)cohort->src_mem << 44 |
	       (uint64_t)cohort->dst_mem << 40 | (uint64_t)(cohort->distance + 1) << 32 |
	       (uint64_t)(cohort->classes[0] & 0xffff) << 16 | (cohort->classes[1] & 0xffff);
}

bool cohort_alike(const struct cohort *a, const struct cohort *b)
{
	return key_of(a) == key_of(b);
}

static int by_key(const void *left, const void *right)
{
	const struct cohort *a = left, *b = right;
	uint64_t one = key_of(a), other = key_of(b);

	if (one != other)
		return (one > other) - (one < other);
	return (a->size > b->size) - (a->size < b->size);
}

static struct cohort like(const struct sweep *sweep, const struct sweep_transfer *transfer)
{
	const struct plan *plan = sweep->plan;
	const struct plan_work *work = sweep_work(sweep, transfer);
	int src = plan->nodes.data[transfer->src].class,
	    dst = plan->nodes.data[transfer->dst].class;

	return (struct cohort){
		.intra = transfer->src == transfer->dst,
		.src_mem = work->src_mem,
		.dst_mem = work->dst_mem,
		.classes = { src < dst ? src : dst, src < dst ? dst : src },
		.distance = plan_distance(plan, transfer->src, transfer->dst),
		.size = work->size,
		.timed = work->count - 1,
	};
}

static struct cohort *cohort_at(struct times *times, struct map *index, const struct cohort *wanted)
{
	uint64_t *at = map_insert(index, key_of(wanted), wanted->size, NULL);

	if (!*at) {
		vec_push(&times->cohorts, *wanted);
		*at = times->cohorts.len;
	}
	return &times->cohorts.data[*at - 1];
}

static void add(struct times *times, struct map *index, const struct sweep *sweep,
		const struct sweep_transfer *transfer)
{
	const float ns[QUANTILES] = { transfer->p25, transfer->p50, transfer->p75, transfer->p99 };
	struct cohort wanted = like(sweep, transfer), *cohort = cohort_at(times, index, &wanted);

	for (int i = 0; i < QUANTILES; i++)
		vec_push(&cohort->ns[i].list, ns[i]);
}

void times_make(struct times *times, const struct sweep *sweep, bool all)
{
	struct map index = { 0 };

	*times = (struct times){ 0 };
	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		if ((transfer->stage == STAGE_INTRA || transfer->stage == STAGE_TIME) &&
		    transfer->op == PLAN_P2P && transfer->dst >= 0 && transfer->p50 > 0 &&
		    (all || sweep_times_usable(sweep, transfer)))
			add(times, &index, sweep, transfer);
	}
	map_release(&index);
	if (times->cohorts.len)
		qsort(times->cohorts.data, times->cohorts.len, sizeof(struct cohort), by_key);
	for (size_t i = 0; i < times->cohorts.len; i++) {
		struct cohort *cohort = &times->cohorts.data[i];

		for (int q = 0; q < QUANTILES; q++)
			cohort->median[q] =
				median_of(cohort->ns[q].list.data, cohort->ns[q].list.len);
	}
}

void times_release(struct times *times)
{
	for (size_t i = 0; i < times->cohorts.len; i++)
		for (int q = 0; q < QUANTILES; q++)
			vec_release(&times->cohorts.data[i].ns[q].list);
	vec_release(&times->cohorts);
}

void distance_name(const struct policy *policy, int distance, char name[64])
{
	const texts *levels = &policy->topology.levels;

	*name = '\0';
	if (distance < 1)
		return;
	if (!levels->len)
		snprintf(name, 64, "distance_%d", distance);
	else if ((size_t)distance <= levels->len)
		snprintf(name, 64, "same_%.50s", levels->data[distance - 1]);
	else
		snprintf(name, 64, "other_%.50s", levels->data[levels->len - 1]);
}

char *cohort_name(const struct cohort *cohort, const struct plan *plan, const struct policy *policy)
{
	char distance[64], classes[160] = "", *name;

	distance_name(policy, cohort->intra ? 0 : cohort->distance, distance);
	if (plan->classes.len > 1)
		snprintf(classes, sizeof(classes), ".%.60s+%.60s",
			 plan->classes.data[cohort->classes[0]].name,
			 plan->classes.data[cohort->classes[1]].name);
	name = xasprintf("%s.%s-%s%s%s%s", cohort->intra ? "intra" : "inter",
			 plan_memory_names[cohort->src_mem], plan_memory_names[cohort->dst_mem],
			 classes, *distance ? "." : "", distance);
	return name;
}
