// SPDX-License-Identifier: BSD-3-Clause
#include "site/plan/plan.h"

#include <string.h>

#include "site/plan/internal.h"

/* ---- the circle ---- */

/* The circle method: one position stays, the others rotate, and opposite ones meet. */

/* splitmix64: public domain, by Sebastiano Vigna */
uint64_t plan_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint32_t circle_rounds(uint32_t n)
{
	return n < 2 ? 0 : n % 2 ? n : n - 1;
}

/* With an odd number there is one more position: the node that meets it is idle. */
int circle_partner(uint32_t n, uint32_t round, uint32_t position)
{
	uint32_t moving = circle_rounds(n), fixed = moving, partner;

	if (n < 2)
		return -1;
	if (position == fixed)
		partner = round % moving;
	else {
		/*
		 * positions that add up to twice the round meet; one that is its own partner meets
		 * the one that stays
		 */
		partner = (2 * (round % moving) + moving - position) % moving;
		if (partner == position)
			partner = fixed;
	}
	return partner >= n ? -1 : (int)partner;
}

void plan_shuffle(struct plan *plan)
{
	uint64_t state = plan->seed;
	uint32_t n = plan->nodes.len;

	for (uint32_t i = 0; i < n; i++) {
		vec_push(&plan->order, i);
		vec_push(&plan->place, 0);
	}
	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = plan_random(&state) % i, kept = plan->order.data[i - 1];

		plan->order.data[i - 1] = plan->order.data[other];
		plan->order.data[other] = kept;
	}
	for (uint32_t i = 0; i < n; i++)
		plan->place.data[plan->order.data[i]] = i;
}

/* ---- parts ---- */

/* Which job carries out what, of a plan in parts (rounds.c makes them). */

size_t plan_parts(const struct plan *plan)
{
	uint32_t last = 0;

	for (size_t i = 0; i < plan->parts.len; i++)
		last = plan->parts.data[i] > last ? plan->parts.data[i] : last;
	return last + 1;
}

uint32_t plan_part_in(const struct plan *plan, size_t wave, int node)
{
	return plan->parts.len ? plan->parts.data[wave * plan->nodes.len + node] : 0;
}

uint32_t plan_part(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		   int node)
{
	return plan_part_in(plan, round >= stage->own, node);
}

bool plan_has(const struct plan *plan, uint32_t part, int node)
{
	return plan_part_in(plan, 0, node) == part || plan_part_in(plan, 1, node) == part;
}

/* Parts of the first wave come first. */
static bool is_chunk(const struct plan *plan, uint32_t part)
{
	return part < plan_parts(plan) / PLAN_WAVES;
}

bool plan_round_of(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		   uint32_t part)
{
	return !plan->parts.len || stage->kind == STAGE_CONFIRM ||
	       is_chunk(plan, part) == (round < stage->own);
}

/* ---- the plan ---- */

const char *const plan_op_names[PLAN_OPS] = { "p2p", "bidirectional", "persistent", "alltoall",
					      "allreduce" };
const char *const plan_ender_names[PLAN_ENDERS] = { "somebody", "limit", "interrupt" };
const char *const plan_memory_names[PLAN_MEMORIES] = { "host", "cuda" };
const char *const plan_stage_names[STAGES] = { "intra", "path", "time", "confirm", "collective" };

int plan_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; name && i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->stages.len; i++) {
		vec_release(&plan->stages.data[i].circle);
		vec_release(&plan->stages.data[i].partners);
		vec_release(&plan->stages.data[i].works);
	}
	for (size_t i = 0; i < plan->nodes.len; i++)
		free(plan->nodes.data[i].name);
	for (size_t i = 0; i < plan->classes.len; i++)
		free(plan->classes.data[i].name);
	for (size_t i = 0; i < plan->switches.len; i++)
		free(plan->switches.data[i].name);
	vec_release(&plan->stages);
	vec_release(&plan->nodes);
	vec_release(&plan->classes);
	vec_release(&plan->switches);
	vec_release(&plan->parts);
	vec_release(&plan->order);
	vec_release(&plan->place);
	free(plan->site);
	free(plan);
}

int plan_by_name(const void *left, const void *right)
{
	const struct plan_node *a = left, *b = right;

	return strcmp(a->name, b->name);
}

int plan_node(const struct plan *plan, const char *name)
{
	const struct plan_node key = { .name = (char *)name }, *found = NULL;

	if (name && plan->nodes.len)
		found = bsearch(&key, plan->nodes.data, plan->nodes.len, sizeof(key), plan_by_name);
	return found ? found - plan->nodes.data : -1;
}

const struct plan_stage *plan_stage(const struct plan *plan, enum plan_stage_kind kind)
{
	for (size_t i = 0; i < plan->stages.len; i++)
		if (plan->stages.data[i].kind == kind)
			return &plan->stages.data[i];
	return NULL;
}

static int on_circle(const struct plan *plan, uint32_t round, int node)
{
	int place = circle_partner(plan->nodes.len, round, plan->place.data[node]);

	return place < 0 ? PLAN_IDLE : (int)plan->order.data[place];
}

int plan_partner(const struct plan *plan, const struct plan_stage *stage, uint32_t round, int node)
{
	if (round >= stage->rounds)
		return PLAN_IDLE;
	switch (stage->pairing) {
	case PAIRING_LOCAL:
		return node;
	case PAIRING_CIRCLE:
		return on_circle(plan, stage->circle.data[round], node);
	default:
		return stage->partners.data[round * plan->nodes.len + node];
	}
}

static int gpus(const struct plan *plan, int node)
{
	return plan->classes.data[plan->nodes.data[node].class].gpus;
}

int plan_lanes(const struct plan *plan, int node, int other)
{
	int lanes = gpus(plan, node) < gpus(plan, other) ? gpus(plan, node) : gpus(plan, other);

	return !lanes ? 1 : lanes < plan->ranks ? lanes : plan->ranks;
}

/* Both ends have the memory. */
static bool possible(const struct plan *plan, const struct plan_work *work, int src, int dst)
{
	return (work->src_mem != PLAN_CUDA || gpus(plan, src)) &&
	       (work->dst_mem != PLAN_CUDA || gpus(plan, dst));
}

static bool is_world(enum plan_op op)
{
	return op == PLAN_ALLTOALL || op == PLAN_ALLREDUCE;
}

/* The two ends of a pair, the lower one first, and which of them this rank is. */
struct pair {
	int node[2], local[2];
	int self;
	uint32_t sub;
};

static void add_steps(const struct plan *plan, const struct plan_work *work,
		      const struct pair *pair, plan_steps_t *steps)
{
	for (int from = 0; from < 2; from++) {
		const struct plan_step step = {
			.work = work,
			.sub = pair->sub,
			.src = pair->node[from],
			.src_local = pair->local[from],
			.dst = pair->node[!from],
			.dst_local = pair->local[!from],
			.sends = from == pair->self,
		};

		/* of one that both send, each end has its own */
		if (work->op == PLAN_BIDIRECTIONAL && !step.sends)
			continue;
		if (possible(plan, work, step.src, step.dst))
			vec_push(steps, step);
	}
}

static void add_pair(const struct plan *plan, const struct plan_stage *stage,
		     const struct pair *pair, plan_steps_t *steps)
{
	for (size_t i = 0; i < stage->works.len; i++)
		if (!is_world(stage->works.data[i].op))
			add_steps(plan, &stage->works.data[i], pair, steps);
}

static void local_steps(const struct plan *plan, const struct plan_stage *stage, int node,
			int local, int other, plan_steps_t *steps)
{
	struct pair pair = { .node = { node, node }, .self = local > other };

	pair.local[pair.self] = local;
	pair.local[!pair.self] = other;
	add_pair(plan, stage, &pair, steps);
}

static void remote_steps(const struct plan *plan, const struct plan_stage *stage, int node,
			 int other, int local, plan_steps_t *steps)
{
	struct pair pair = { .self = node > other };
	int lanes = plan_lanes(plan, node, other);

	if (local >= lanes)
		return;
	pair.node[pair.self] = node;
	pair.node[!pair.self] = other;
	for (int sub = 0; sub < (stage->all_subs ? lanes : 1); sub++) {
		pair.sub = sub;
		pair.local[pair.self] = local;
		/* the lower node's i meets the higher one's i + sub */
		pair.local[!pair.self] =
			pair.self ? (local - sub + lanes) % lanes : (local + sub) % lanes;
		add_pair(plan, stage, &pair, steps);
	}
}

static void world_steps(const struct plan *plan, const struct plan_stage *stage, int node,
			int local, plan_steps_t *steps)
{
	for (size_t i = 0; i < stage->works.len; i++) {
		const struct plan_work *work = &stage->works.data[i];

		if (!is_world(work->op) || !possible(plan, work, node, node))
			continue;
		vec_push(steps, ((struct plan_step){ .work = work,
						     .src = node,
						     .src_local = local,
						     .dst = -1,
						     .dst_local = -1,
						     .sends = true,
						     .world = true }));
	}
}

void plan_steps(const struct plan *plan, const struct plan_stage *stage, uint32_t round, int node,
		int local, plan_steps_t *steps)
{
	bool within = stage->pairing == PAIRING_LOCAL;
	/* within a node, its ranks go round a circle of their own */
	int other = within ? circle_partner(plan->ranks, round, local)
			   : plan_partner(plan, stage, round, node);

	steps->len = 0;
	if (other >= 0 && within)
		local_steps(plan, stage, node, local, other, steps);
	else if (other >= 0)
		remote_steps(plan, stage, node, other, local, steps);
	world_steps(plan, stage, node, local, steps);
}

void plan_steps_between(const struct plan *plan, const struct plan_stage *stage, int node,
			int other, plan_steps_t *steps)
{
	steps->len = 0;
	if (stage->pairing == PAIRING_LOCAL)
		local_steps(plan, stage, node, 0, 1, steps);
	else
		remote_steps(plan, stage, node, other, 0, steps);
	world_steps(plan, stage, node, 0, steps);
}
