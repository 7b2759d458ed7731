// SPDX-License-Identifier: BSD-3-Clause
#include "plan/make.h"

#include <errno.h>
#include <string.h>

#include "plan/internal.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define MAX_SIZE (32 * MIB)
#define MAX_COUNT 200
#define MIN_COUNT 10
#define BUDGET (32 * MIB) /* of bytes in a row, where that is more than MIN_COUNT messages */
#define PATH_COUNT 2
#define WORLD_BYTES (64 * MIB) /* that an alltoall sends from each rank, at most */

static const uint64_t standard_sizes[] = {
	8, KIB, 8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB, 32 * MIB
};

struct sizes {
	VEC(uint64_t) list; /* ascending, none twice */
	uint64_t most;
	uint32_t max_count;
};

/* ---- nodes ---- */

static int class_of(struct plan *plan, const struct policy_class *class)
{
	struct plan_class *to;

	for (size_t i = 0; i < plan->classes.len; i++)
		if (!strcmp(plan->classes.data[i].name, class ? class->name : ""))
			return i;
	to = vec_add(&plan->classes);
	to->name = strdup(class ? class->name : "");
	to->gpus = class ? class->gpus : 0;
	to->nic_rate = class ? class->nic_rate : 0;
	return plan->classes.len - 1;
}

static void add_node(struct plan *plan, const struct policy *policy, const char *name)
{
	int class = class_of(plan, policy_class_of(policy, name));

	vec_push(&plan->nodes,
		 ((struct plan_node){ .name = strdup(name), .class = class, .leaf = -1 }));
}

static int by_name(const void *left, const void *right)
{
	const struct plan_node *a = left, *b = right;

	return strcmp(a->name, b->name);
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
	qsort(plan->nodes.data, plan->nodes.len, sizeof(*plan->nodes.data), by_name);
	for (size_t i = 1; i < plan->nodes.len; i++)
		if (!by_name(&plan->nodes.data[i - 1], &plan->nodes.data[i]))
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

/* ---- what is sent ---- */

static void add_size(struct sizes *sizes, uint64_t size)
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
static void add_switch_point(struct sizes *sizes, uint64_t size)
{
	if (!size || size == UINT64_MAX)
		return;
	for (uint64_t i = size - 1; i <= size + 1; i++)
		add_size(sizes, i);
}

static void find_sizes(struct sizes *sizes, const struct policy *policy)
{
	for (size_t i = 0; i < sizeof(standard_sizes) / sizeof(*standard_sizes); i++)
		add_size(sizes, standard_sizes[i]);
	add_size(sizes, sizes->most);
	for (size_t i = 0; i < policy->expect.len; i++) {
		add_switch_point(sizes, policy->expect.data[i].from);
		add_switch_point(sizes, policy->expect.data[i].to);
	}
}

/* And the one that is not timed. */
static uint32_t timed_count(const struct sizes *sizes, uint64_t size)
{
	uint64_t count = BUDGET / size;

	count = count < MIN_COUNT ? MIN_COUNT : count;
	return 1 + (count < sizes->max_count ? count : sizes->max_count);
}

/* All sizes of an op and its memories; a count of 0: as many as it takes for a time. */
static void add_works(const struct sizes *sizes, struct plan_stage *stage, enum plan_op op,
		      uint64_t from, uint32_t count, bool gpu)
{
	for (int src = 0; src <= gpu; src++)
		for (int dst = 0; dst <= gpu; dst++) {
			if (op != PLAN_P2P && src != dst)
				continue;
			for (size_t i = 0; i < sizes->list.len; i++)
				if (sizes->list.data[i] >= from)
					vec_push(&stage->works,
						 ((struct plan_work){
							 op, src, dst, sizes->list.data[i],
							 count ? count
							       : timed_count(
									 sizes,
									 sizes->list.data[i]) }));
		}
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

static void add_intra(struct plan *plan, const struct sizes *sizes)
{
	struct plan_stage *stage = add_stage(plan, STAGE_INTRA, PAIRING_LOCAL);

	stage->rounds = stage->own = circle_rounds(plan->ranks);
	add_works(sizes, stage, PLAN_P2P, 0, 0, most_gpus(plan));
}

/* The number behind NAME:, or what is standard where there is none; 0: no number. */
static bool variant_is(const char *variant, const char *name, uint32_t standard, uint32_t *k)
{
	size_t length = strlen(name);
	char *end;

	*k = standard;
	if (strncmp(variant, name, length) || (variant[length] && variant[length] != ':'))
		return false;
	if (!variant[length])
		return true;
	*k = strtoul(variant + length + 1, &end, 10);
	if (*end || variant[length + 1] < '1' || variant[length + 1] > '9' || *k > PLAN_MAX_NODES)
		*k = 0;
	return true;
}

/* Those that pair nodes by what they are have no parts: these are made by name. */
static int refuse_parts(const char *variant, char why[PLAN_WHY])
{
	bool counts = !strncmp(variant, "sample", 6) || !strncmp(variant, "all-pairs", 9);

	return plan_refuse(why, "variant '%.60s': in parts, sample:K or all-pairs%s", variant,
			   counts ? ""
				  : "; nodes of different parts never meet, and parts are made by "
				    "name: leave --chunk, and name fewer nodes by -w");
}

/* In parts: as many rounds, half of them within chunks. */
static int pair_off_parts(const struct plan *plan, struct plan_stage *stage, const char *variant,
			  char why[PLAN_WHY])
{
	uint32_t k;

	stage->pairing = PAIRING_LIST;
	if (variant_is(variant, "all-pairs", 1, &k) && k == 1)
		plan_chunks(plan, stage, UINT32_MAX);
	else if (variant_is(variant, "sample", PLAN_SAMPLE, &k) && k)
		plan_chunks(plan, stage, k);
	else
		return refuse_parts(variant, why);
	return 0;
}

static int pair_off(struct plan *plan, struct plan_stage *stage, const char *variant,
		    char why[PLAN_WHY])
{
	uint32_t k;

	if (plan->parts.len)
		return pair_off_parts(plan, stage, variant, why);
	stage->pairing = PAIRING_LIST;
	if (variant_is(variant, "all-pairs", 1, &k)) {
		stage->pairing = PAIRING_CIRCLE;
		plan_repeat(plan, stage, k);
	} else if (variant_is(variant, "sample", PLAN_SAMPLE, &k)) {
		stage->pairing = PAIRING_CIRCLE;
		plan_sample(plan, stage, k);
	} else if (variant_is(variant, "topo", PLAN_SAMPLE, &k)) {
		return k ? plan_topo(plan, stage, k, why)
			 : plan_refuse(why, "variant '%.60s': topo:K wants a number", variant);
	} else if (!strncmp(variant, "custom:", 7)) {
		return plan_custom(plan, stage, variant + 7, why);
	} else if (!strcmp(variant, "cross-class")) {
		return plan_cross_class(plan, stage, why);
	} else {
		return plan_refuse(
			why,
			"variant '%.60s': not all-pairs:K, sample:K, topo:K, custom:FILE "
			"or cross-class",
			variant);
	}
	return k ? 0 : plan_refuse(why, "variant '%.60s': K is no number of rounds", variant);
}

/* What goes where takes one message each; a sample takes one round of them, with all GPUs. */
static int add_path(struct plan *plan, const struct sizes *sizes, const char *variant,
		    char why[PLAN_WHY])
{
	struct plan_stage *stage = add_stage(plan, STAGE_PATH, PAIRING_CIRCLE);
	uint32_t k;

	stage->all_subs = true;
	add_works(sizes, stage, PLAN_P2P, 0, PATH_COUNT, most_gpus(plan));
	if (variant_is(variant, "sample", 1, &k))
		variant = "sample:1";
	else if (variant_is(variant, "all-pairs", 1, &k))
		variant = "all-pairs:1";
	return pair_off(plan, stage, variant, why);
}

static int add_time(struct plan *plan, const struct sizes *sizes, const char *variant,
		    char why[PLAN_WHY])
{
	struct plan_stage *stage = add_stage(plan, STAGE_TIME, PAIRING_CIRCLE);

	add_works(sizes, stage, PLAN_P2P, 0, 0, most_gpus(plan));
	add_works(sizes, stage, PLAN_BIDIRECTIONAL, sizes->most, 0, most_gpus(plan));
	return pair_off(plan, stage, variant, why);
}

static int add_collective(struct plan *plan, const struct sizes *sizes, char why[PLAN_WHY])
{
	struct plan_stage *stage = add_stage(plan, STAGE_COLLECTIVE, PAIRING_CIRCLE);
	uint64_t ranks = plan->ranks * plan->nodes.len;
	struct sizes world = { .most = WORLD_BYTES / ranks, .max_count = MIN_COUNT };

	world.most = world.most < sizes->most ? world.most : sizes->most;
	for (size_t i = 0; i < sizeof(standard_sizes) / sizeof(*standard_sizes); i++)
		add_size(&world, standard_sizes[i]);
	add_works(&world, stage, PLAN_ALLTOALL, 0, 1 + MIN_COUNT, least_gpus(plan));
	add_works(&world, stage, PLAN_ALLREDUCE, 0, 1 + MIN_COUNT, least_gpus(plan));
	add_works(sizes, stage, PLAN_PERSISTENT, 0, 1 + MIN_COUNT, most_gpus(plan));
	vec_release(&world.list);
	return pair_off(plan, stage, "sample:1", why);
}

static int add_stages(struct plan *plan, const struct policy *policy,
		      const struct plan_options *options, char why[PLAN_WHY])
{
	const char *variant = options->variant ? options->variant : "sample";
	struct sizes sizes = {
		.most = options->max_size ? options->max_size : MAX_SIZE,
		.max_count = options->max_count ? options->max_count : MAX_COUNT,
	};
	int err = 0;

	find_sizes(&sizes, policy);
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
	plan->site = policy->site ? strdup(policy->site) : NULL;
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

	*plan = calloc(1, sizeof(**plan));
	err = make(*plan, policy, options, why);
	if (!err) {
		free(plan_text(*plan)); /* its id */
		return 0;
	}
	plan_free(*plan);
	*plan = NULL;
	return err;
}
