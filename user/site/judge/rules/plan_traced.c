// SPDX-License-Identifier: BSD-3-Clause
/* COV-03: what the ledgers tell is in the captures. */
#include "site/judge/exhibits/gpus_used.h"
#include "site/judge/rules/plan.h"

/* What differs may be what was lost. */
static enum verdict wrong(const struct look *look, int node)
{
	return look->trial->judge->incomplete || plan_lacks(look, node) ? VERDICT_UNKNOWN
									: VERDICT_FAIL;
}

static const struct sweep_rank *traced_rank(const struct look *look, size_t index)
{
	const struct sweep_rank *rank = &look->sweep->ranks.data[index];

	if (!rank->ended || rank->process < 0 ||
	    look->sweep->traced->processes.data[rank->process].counted)
		return NULL;
	return rank;
}

static void find_traced(struct look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->process < 0 && sweep_captured(look->sweep, rank->host))
			plan_note(look, rank->node, wrong(look, rank->node),
				  say(look->trial->judge, "rank %d (pid %u) was not traced",
				      rank->rank, rank->pid));
		else if (rank->process < 0)
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  "no capture of this node was given");
		else if (look->sweep->traced->processes.data[rank->process].counted)
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  plan_lacks(look, rank->node)
					  ? "some of its records are in sums alone (COV-01)"
					  : "its capture has sums alone (--count)");
	}
}

/* Of memory that is not known nothing is held against it. */
static void look_at_sent(struct look *look, size_t index, uint64_t size)
{
	const struct sweep_rank *rank = traced_rank(look, index);
	uint64_t planned[TRACED_MEMORIES], seen[TRACED_MEMORIES], all = 0, all_seen = 0;

	if (!rank)
		return;
	for (int i = 0; i < TRACED_MEMORIES; i++) {
		const uint64_t *count = map_find(&look->sent, index, size * TRACED_MEMORIES + i);

		planned[i] = count ? *count : 0;
		seen[i] = traced_sent(look->sweep->traced, rank->process, size, i);
		all += planned[i];
		all_seen += seen[i];
	}
	if (all != all_seen)
		plan_note(look, rank->node, wrong(look, rank->node),
			  say(look->trial->judge,
			      "rank %d sent %lu messages of %lu B, %lu were traced", rank->rank,
			      (unsigned long)all, (unsigned long)size, (unsigned long)all_seen));
	else if (seen[TRACED_GPU] > planned[TRACED_GPU] || seen[TRACED_HOST] > planned[TRACED_HOST])
		plan_note(
			look, rank->node, wrong(look, rank->node),
			say(look->trial->judge,
			    "rank %d sent %lu of %lu messages of %lu B from GPU memory, %lu of them "
			    "were traced there",
			    rank->rank, (unsigned long)planned[TRACED_GPU], (unsigned long)all,
			    (unsigned long)size, (unsigned long)seen[TRACED_GPU]));
}

static void look_at_met(struct look *look, const struct map_slot *slot)
{
	const struct sweep_rank *src = traced_rank(look, slot->a >> 32);
	const struct sweep_rank *dst = traced_rank(look, slot->a & UINT32_MAX);
	uint64_t met;
	int node;

	if (!src || !dst)
		return;
	/* of a message with one end it is the other one that is missing */
	node = plan_lacks(look, src->node) ? src->node : dst->node;
	met = traced_met(look->sweep->traced, src->process, dst->process, slot->b);
	if (met == slot->value)
		return;
	plan_note(
		look, node, wrong(look, node),
		say(look->trial->judge,
		    "rank %d got %lu messages of %lu B from rank %d of %s, %lu were traced at both ends",
		    dst->rank, (unsigned long)slot->value, (unsigned long)slot->b, src->rank,
		    src->node_name, (unsigned long)met));
}

static void look_at_calls(struct look *look, const struct map_slot *slot)
{
	static const char *const names[TRACED_CALLS] = { "MPI_Alltoall", "MPI_Allreduce" };
	const struct sweep_rank *rank = traced_rank(look, slot->a);
	uint64_t seen;

	if (!rank)
		return;
	seen = look->sweep->traced->processes.data[rank->process].calls[slot->b];
	if (seen != slot->value)
		plan_note(look, rank->node, wrong(look, rank->node),
			  say(look->trial->judge, "rank %d called %s %lu times, %lu were traced",
			      rank->rank, names[slot->b], (unsigned long)slot->value,
			      (unsigned long)seen));
}

void plan_look_at_captures(struct look *look)
{
	struct map_slot *slot;

	find_traced(look);
	for (size_t pos = 0; (slot = map_next(&look->sent, &pos));)
		look_at_sent(look, slot->a, slot->b / TRACED_MEMORIES);
	for (size_t pos = 0; (slot = map_next(&look->met, &pos));)
		look_at_met(look, slot);
	for (size_t pos = 0; (slot = map_next(&look->calls, &pos));)
		look_at_calls(look, slot);
}

void plan_look_at_gpus(struct look *look)
{
	const struct exhibits *exhibits = look->trial->exhibits;
	const struct plan *plan = look->sweep->plan;
	struct gpus_used used;

	gpus_used_init(&used, exhibits);
	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		int index = node->name ? plan_node(plan, node->name) : -1;
		int gpus = index < 0 ? 0 : plan->classes.data[plan->nodes.data[index].class].gpus;
		int seen = gpus_used_by(&used, node);

		if (seen > 0 && seen < gpus && seen < plan->ranks)
			plan_note(look, index, wrong(look, index),
				  say(look->trial->judge, "%d ranks used %d of the node's %d GPUs",
				      plan->ranks, seen, gpus));
	}
	gpus_used_release(&used);
}
