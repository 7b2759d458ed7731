// SPDX-License-Identifier: BSD-3-Clause
#include "site/plan/make.h"

#include <string.h>

#include "base/alloc.h"
#include "site/plan/internal.h"

/* ---- sizes ---- */

#define PLAN_MIN_COUNT 10 /* messages of a time, but for the one that is not timed */

struct plan_sizes {
	VEC(uint64_t) list; /* ascending, none twice */
	uint64_t most;
	uint32_t max_count;
};

/* The messages of a stage: their sizes, and how many of each. */

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

/* The policy's expectation changes at this size: adds sizes below, at, and above it. */
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

/* The usual ones within the options' limits, and those where the policy expects changes. */
static void plan_sizes_of(struct plan_sizes *sizes, const struct policy *policy,
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

/* Sizes for collectives of so many ranks: the usual ones, up to the largest. */
static void plan_sizes_of_world(struct plan_sizes *sizes, const struct plan_sizes *most,
				uint64_t ranks)
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

/*
 * All sizes from one on of an op and, where there are GPUs, its memories; a count of 0: as many as
 * it takes for a time.
 */
static void plan_works(const struct plan_sizes *sizes, struct plan_stage *stage, enum plan_op op,
		       uint64_t from, uint32_t count, bool gpu)
{
	for (int src = 0; src <= gpu; src++)
		for (int dst = 0; dst <= gpu; dst++) {
			const struct plan_work work = { op, src, dst, 0, 0 };

			if (op == PLAN_P2P || src == dst)
				add_works(sizes, stage, work, from, count);
		}
}

#define PATH_COUNT 2

/* ---- nodes ---- */

static int class_of(struct plan *plan, const struct policy_class *class)
{
	struct plan_class *to;

	for (size_t i = 0; i < plan->classes.len; i++)
		if (!strcmp(plan->classes.data[i].name, class ? class->name : ""))
			return i;
	to = vec_add(&plan->classes);
	to->name = xstrdup(class ? class->name : "");
	to->gpus = class ? class->gpus : 0;
	to->nic_rate = class ? class->nic_rate : 0;
	return plan->classes.len - 1;
}

static void add_node(struct plan *plan, const struct policy *policy, const char *name)
{
	int class = class_of(plan, policy_class_of(policy, name));

	vec_push(&plan->nodes,
		 ((struct plan_node){ .name = xstrdup(name), .class = class, .leaf = -1 }));
}

/* By name: the same set of nodes gives the same plan. */
static int add_nodes(struct plan *plan, const struct policy *policy,
		     const struct plan_options *options, char why[PLAN_WHY])
{
	if (options->nodes)
		for (size_t i = 0; i < options->node_count; i++)
			add_node(plan, policy, options->nodes[i]);
	else
		for (size_t i = 0; i < policy->nodes.len; i++)
			add_node(plan, policy, policy->nodes.data[i].name);
	if (!plan->nodes.len)
		return plan_refuse(why,
				   "no node: the policy's classes name none, and none were given");
	if (plan->nodes.len > PLAN_MAX_NODES)
		return plan_refuse(why, "more than %d nodes", PLAN_MAX_NODES);
	qsort(plan->nodes.data, plan->nodes.len, sizeof(*plan->nodes.data), plan_by_name);
	for (size_t i = 1; i < plan->nodes.len; i++)
		if (!plan_by_name(&plan->nodes.data[i - 1], &plan->nodes.data[i]))
			return plan_refuse(why, "node '%.100s' is named twice",
					   plan->nodes.data[i].name);
	return 0;
}

static int most_gpus(const struct plan *plan)
{
	int most = 0;

	for (size_t i = 0; i < plan->classes.len; i++)
		most = plan->classes.data[i].gpus > most ? plan->classes.data[i].gpus : most;
	return most;
}

static int least_gpus(const struct plan *plan)
{
	int least = most_gpus(plan);

	for (size_t i = 0; i < plan->classes.len; i++)
		least = plan->classes.data[i].gpus < least ? plan->classes.data[i].gpus : least;
	return least;
}

/* ---- stages ---- */

static struct plan_stage *add_stage(struct plan *plan, enum plan_stage_kind kind,
				    enum plan_pairing pairing)
{
	struct plan_stage *stage = vec_add(&plan->stages);

	stage->kind = kind;
	stage->pairing = pairing;
	return stage;
}

static void add_intra(struct plan *plan, const struct plan_sizes *sizes)
{
	struct plan_stage *stage = add_stage(plan, STAGE_INTRA, PAIRING_LOCAL);

	stage->rounds = stage->own = circle_rounds(plan->ranks);
	plan_works(sizes, stage, PLAN_P2P, 0, 0, most_gpus(plan));
}

/* One message per path shows the path; a sample takes one round of them, with all GPUs. */
static int add_path(struct plan *plan, const struct plan_sizes *sizes, const char *variant,
		    char why[PLAN_WHY])
{
	struct plan_stage *stage = add_stage(plan, STAGE_PATH, PAIRING_CIRCLE);

	stage->all_subs = true;
	plan_works(sizes, stage, PLAN_P2P, 0, PATH_COUNT, most_gpus(plan));
	return plan_pair_off(plan, stage, plan_variant_once(variant), why);
}

static int add_time(struct plan *plan, const struct plan_sizes *sizes, const char *variant,
		    char why[PLAN_WHY])
{
	struct plan_stage *stage = add_stage(plan, STAGE_TIME, PAIRING_CIRCLE);

	plan_works(sizes, stage, PLAN_P2P, 0, 0, most_gpus(plan));
	plan_works(sizes, stage, PLAN_BIDIRECTIONAL, sizes->most, 0, most_gpus(plan));
	return plan_pair_off(plan, stage, variant, why);
}

static int add_collective(struct plan *plan, const struct plan_sizes *sizes, char why[PLAN_WHY])
{
	struct plan_stage *stage = add_stage(plan, STAGE_COLLECTIVE, PAIRING_CIRCLE);
	uint64_t ranks = plan->ranks * plan->nodes.len;
	struct plan_sizes world = { 0 };

	plan_sizes_of_world(&world, sizes, ranks);
	plan_works(&world, stage, PLAN_ALLTOALL, 0, 1 + PLAN_MIN_COUNT, least_gpus(plan));
	plan_works(&world, stage, PLAN_ALLREDUCE, 0, 1 + PLAN_MIN_COUNT, least_gpus(plan));
	plan_works(sizes, stage, PLAN_PERSISTENT, 0, 1 + PLAN_MIN_COUNT, most_gpus(plan));
	vec_release(&world.list);
	return plan_pair_off(plan, stage, "sample:1", why);
}

static int add_stages(struct plan *plan, const struct policy *policy,
		      const struct plan_options *options, char why[PLAN_WHY])
{
	const char *variant = options->variant ? options->variant : "sample";
	struct plan_sizes sizes = { 0 };
	int err = 0;

	plan_sizes_of(&sizes, policy, options);
	if (plan->ranks > 1)
		add_intra(plan, &sizes);
	if (plan->nodes.len > 1) {
		err = add_path(plan, &sizes, variant, why);
		err = err ? err : add_time(plan, &sizes, variant, why);
	}
	if (!err && options->collective)
		err = add_collective(plan, &sizes, why);
	vec_release(&sizes.list);
	return err;
}

static int make(struct plan *plan, const struct policy *policy, const struct plan_options *options,
		char why[PLAN_WHY])
{
	int err = add_nodes(plan, policy, options, why);

	if (err)
		return err;
	if (options->ranks < 0 || options->ranks > PLAN_MAX_RANKS)
		return plan_refuse(why, "ranks per node: 1 to %d", PLAN_MAX_RANKS);
	plan->site = policy->site ? xstrdup(policy->site) : NULL;
	policy_hash(policy, plan->policy);
	plan->seed = options->seed ? options->seed : 1;
	plan->ranks = options->ranks ? options->ranks : most_gpus(plan) > 1 ? most_gpus(plan) : 2;
	plan_shuffle(plan);
	if (options->chunk)
		plan_divide(plan, options->chunk);
	if (plan->parts.len && options->collective)
		return plan_refuse(why, "collectives are of one job, not of parts of it");
	err = plan_topology(plan, policy, why);
	return err ? err : add_stages(plan, policy, options, why);
}

int plan_make(const struct policy *policy, const struct plan_options *options, struct plan **plan,
	      char why[PLAN_WHY])
{
	int err;

	*plan = xcalloc(1, sizeof(**plan));
	err = make(*plan, policy, options, why);
	if (!err) {
		free(plan_text(*plan)); /* its id */
		return 0;
	}
	plan_free(*plan);
	*plan = NULL;
	return err;
}

/* ---- estimates ---- */

#define ROUND_SECONDS 0.5 /* a barrier, and making endpoints */
#define MESSAGE_SECONDS 10e-6 /* and its answer */

/* Seconds of one rank; the slowest one bounds the round. */
static double seconds_of(const struct plan *plan, const plan_steps_t *steps, double unsaid)
{
	double seconds = 0;

	for (size_t i = 0; i < steps->len; i++) {
		const struct plan_step *step = &steps->data[i];
		double rate = plan->classes.data[plan->nodes.data[step->src].class].nic_rate;
		double bytes = (double)step->work->size * (step->world ? plan->nodes.len : 1);

		seconds += step->work->count *
			   (MESSAGE_SECONDS + 8 * bytes / (rate > 0 ? rate : unsaid));
	}
	return seconds;
}

/* A node of each class; of a class without nodes, the first one of all. */
static int *examples_of(const struct plan *plan)
{
	int *examples = xcalloc(plan->classes.len, sizeof(*examples));

	for (size_t i = plan->nodes.len; i--;)
		examples[plan->nodes.data[i].class] = i;
	return examples;
}

/*
 * Of a round whose nodes are of the classes that take the longest: all rounds of all pairs would
 * take the square of the number of nodes. The first rank has as much to do as any.
 */
static double round_seconds(const struct plan *plan, const struct plan_stage *stage,
			    const int *examples, double unsaid)
{
	plan_steps_t steps = { 0 };
	double longest = 0;

	for (size_t i = 0; i < plan->classes.len; i++)
		for (size_t k = 0; k < plan->classes.len; k++) {
			double seconds;

			plan_steps_between(plan, stage, examples[i], examples[k], &steps);
			seconds = seconds_of(plan, &steps, unsaid);
			longest = seconds > longest ? seconds : longest;
		}
	vec_release(&steps);
	return longest;
}

double plan_seconds(const struct plan *plan, double rate)
{
	double unsaid = rate > 0 ? rate : PLAN_UNKNOWN_RATE, seconds = 0;
	int *examples = examples_of(plan);

	for (size_t i = 0; i < plan->stages.len; i++) {
		const struct plan_stage *stage = &plan->stages.data[i];

		seconds += stage->rounds *
			   (ROUND_SECONDS + round_seconds(plan, stage, examples, unsaid));
	}
	free(examples);
	return seconds;
}
