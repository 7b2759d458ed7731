// SPDX-License-Identifier: BSD-3-Clause
/* What is sent: messages of which sizes, and how many of each. */
#include <string.h>

#include "site/plan/internal.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define MAX_SIZE (32 * MIB)
#define MAX_COUNT 200
#define BUDGET (32 * MIB) /* of bytes in a row, where that is more than PLAN_MIN_COUNT messages */
#define WORLD_BYTES (64 * MIB) /* that an alltoall sends from each rank, at most */

static const uint64_t standard_sizes[] = {
	8, KIB, 8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB, 32 * MIB
};

static void add_size(struct plan_sizes *sizes, uint64_t size)
{
	size_t at = 0;

	if (!size || size > sizes->most)
		return;
	while (at < sizes->list.len && sizes->list.data[at] < size)
		at++;
	if (at < sizes->list.len && sizes->list.data[at] == size)
		return;
	vec_push(&sizes->list, 0);
	memmove(sizes->list.data + at + 1, sizes->list.data + at,
		(sizes->list.len - 1 - at) * sizeof(size));
	sizes->list.data[at] = size;
}

/* What the policy expects changes at these sizes: one below, at, and above. */
static void add_switch_point(struct plan_sizes *sizes, uint64_t size)
{
	if (!size || size == UINT64_MAX)
		return;
	for (uint64_t i = size - 1; i <= size + 1; i++)
		add_size(sizes, i);
}

static void add_standard(struct plan_sizes *sizes)
{
	for (size_t i = 0; i < sizeof(standard_sizes) / sizeof(*standard_sizes); i++)
		add_size(sizes, standard_sizes[i]);
}

void plan_sizes_of(struct plan_sizes *sizes, const struct policy *policy,
		   const struct plan_options *options)
{
	sizes->most = options->max_size ? options->max_size : MAX_SIZE;
	sizes->max_count = options->max_count ? options->max_count : MAX_COUNT;
	add_standard(sizes);
	add_size(sizes, sizes->most);
	for (size_t i = 0; i < policy->expect.len; i++) {
		add_switch_point(sizes, policy->expect.data[i].from);
		add_switch_point(sizes, policy->expect.data[i].to);
	}
}

void plan_sizes_of_world(struct plan_sizes *sizes, const struct plan_sizes *most, uint64_t ranks)
{
	sizes->most = WORLD_BYTES / ranks < most->most ? WORLD_BYTES / ranks : most->most;
	sizes->max_count = most->max_count;
	add_standard(sizes);
}

/* And the one that is not timed. */
static uint32_t timed_count(const struct plan_sizes *sizes, uint64_t size)
{
	uint64_t count = BUDGET / size;

	count = count < PLAN_MIN_COUNT ? PLAN_MIN_COUNT : count;
	return 1 + (count < sizes->max_count ? count : sizes->max_count);
}

/* A work of each size from one on. */
static void add_works(const struct plan_sizes *sizes, struct plan_stage *stage,
		      struct plan_work work, uint64_t from, uint32_t count)
{
	for (size_t i = 0; i < sizes->list.len; i++) {
		work.size = sizes->list.data[i];
		work.count = count ? count : timed_count(sizes, work.size);
		if (work.size >= from)
			vec_push(&stage->works, work);
	}
}

void plan_works(const struct plan_sizes *sizes, struct plan_stage *stage, enum plan_op op,
		uint64_t from, uint32_t count, bool gpu)
{
	for (int src = 0; src <= gpu; src++)
		for (int dst = 0; dst <= gpu; dst++) {
			const struct plan_work work = { op, src, dst, 0, 0 };

			if (op == PLAN_P2P || src == dst)
				add_works(sizes, stage, work, from, count);
		}
}
