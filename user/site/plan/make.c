// SPDX-License-Identifier: BSD-3-Clause
#include "site/plan/make.h"

#include <string.h>

#include "site/plan/internal.h"

#define PATH_COUNT 2

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

/* What goes where takes one message each; a sample takes one round of them, with all GPUs. */
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
