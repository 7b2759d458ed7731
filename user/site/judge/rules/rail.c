// SPDX-License-Identifier: BSD-3-Clause
/*
 * The NICs that a node uses: how many, and how evenly (RAIL-01, RAIL-02); whether its GPUs and
 * rails have NICs of their own (AFF-03, RAIL-04); whether both ends of a connection are on one rail
 * (AFF-04).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "site/judge/aggregates/inventory.h"
#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

/* ---- traffic of each node by NIC ---- */

/* The use of a NIC, by one memory or by any. */
struct use {
	const char *memory; /* NULL: any */
	const char *device;
	uint64_t bytes;
};

struct uses {
	VEC(struct use) list;
	uint64_t transfers;
	struct finding_example examples[FINDING_EXAMPLES];
	size_t example_count;
};

/* The transfers between nodes that are counted. */
struct filter {
	uint64_t least; /* bytes of a message */
	bool unsized; /* and messages that may have so many */
	bool of_class; /* NICs that the class names are listed, with 0 at least */
	bool by_gpu; /* of each GPU's memory by itself, and of no other memory */
};

static bool same_memory(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* NULL: none. */
static struct use *find_use(const struct uses *uses, const char *memory, const char *device)
{
	for (size_t i = 0; i < uses->list.len; i++)
		if (!strcmp(uses->list.data[i].device, device) &&
		    same_memory(uses->list.data[i].memory, memory))
			return &uses->list.data[i];
	return NULL;
}

/* Valid until the next one. */
static struct use *use_of(struct uses *uses, const char *memory, const char *device)
{
	struct use *use = find_use(uses, memory, device);

	if (use)
		return use;
	vec_push(&uses->list, ((struct use){ .memory = memory, .device = device }));
	return &uses->list.data[uses->list.len - 1];
}

static void add_cell(struct uses *uses, const char *memory, const struct traffic_cell *cell)
{
	use_of(uses, memory, cell->device)->bytes += cell->bytes;
	uses->transfers += cell->count;
	for (size_t i = 0; i < cell->example_count; i++)
		if (uses->example_count < FINDING_EXAMPLES)
			uses->examples[uses->example_count++] = cell_example(cell, i);
}

static bool passes(const struct aggregates *aggregates, const struct filter *filter,
		   const struct traffic_cell *cell)
{
	if (!cell_over_nic(cell) || (filter->by_gpu && !is_gpu(cell_own_memory(cell))))
		return false;
	return filter->unsized ? !cell_below(aggregates, cell, filter->least)
			       : cell_at_least(aggregates, cell, filter->least);
}

/*
 * A transfer counts at the NIC of the process that started it. By position in aggregates->nodes;
 * uses_free() releases it.
 */
static struct uses *uses_of_nodes(const struct rule_ctx *ctx, struct filter filter)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct uses *uses = xcalloc(aggregates->nodes.len, sizeof(*uses));

	for (size_t i = 0; filter.of_class && i < aggregates->nodes.len; i++) {
		const struct policy_class *class = aggregates->nodes.data[i].class;

		for (size_t k = 0; class && k < class->nics.len; k++)
			use_of(&uses[i], NULL, class->nics.data[k]);
	}
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		const struct node *node = aggregates_node(aggregates, cell_owner(cell));

		if (node && passes(aggregates, &filter, cell))
			add_cell(&uses[node - aggregates->nodes.data],
				 filter.by_gpu ? cell_own_memory(cell) : NULL, cell);
	}
	return uses;
}

static void uses_free(const struct rule_ctx *ctx, struct uses *uses)
{
	for (size_t i = 0; i < ctx->aggregates->nodes.len; i++)
		vec_release(&uses[i].list);
	free(uses);
}

/* ---- RAIL-01, RAIL-02 ---- */

/* Counts large messages only: a small one uses one rail, however many there are. */
static struct uses *rails_of_nodes(const struct rule_ctx *ctx, uint64_t least, bool unsized)
{
	return uses_of_nodes(
		ctx, (struct filter){ .least = least, .unsized = unsized, .of_class = true });
}

static void give_examples(struct finding *finding, const struct uses *rails)
{
	finding->count = rails->transfers;
	finding->example_count = rails->example_count;
	memcpy(finding->examples, rails->examples, sizeof(finding->examples));
}

static const char *rails_text(struct judge *judge, const struct uses *rails)
{
	const char *text = "";

	for (size_t i = 0; i < rails->list.len; i++)
		text = say(judge, "%s%s%s %lu B", text, i ? ", " : "", rails->list.data[i].device,
			   (unsigned long)rails->list.data[i].bytes);
	return text;
}

static uint64_t total(const struct uses *rails)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < rails->list.len; i++)
		bytes += rails->list.data[i].bytes;
	return bytes;
}

static size_t used(const struct uses *rails)
{
	size_t count = 0;

	for (size_t i = 0; i < rails->list.len; i++)
		count += rails->list.data[i].bytes != 0;
	return count;
}

void rule_rail_count(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct uses *sure = rails_of_nodes(ctx, ctx->settings->rail_01.size, false);
	struct uses *all = rails_of_nodes(ctx, ctx->settings->rail_01.size, true);

	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];
		const struct uses *rails = &sure[i];
		struct finding *finding;
		size_t wanted;
		bool fails;

		if (!node->class || !node->class->rails || !total(rails))
			continue;
		wanted = node->class->rails;
		fails = used(rails) > wanted || used(&all[i]) < wanted;
		finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject_node(node->name));
		finding->bytes = total(rails);
		finding->expected = say(ctx->judge, "%ld rails", (long)node->class->rails);
		finding->seen = fails ? rails_text(ctx->judge, rails) : NULL;
		give_examples(finding, rails);
		if (fails || used(rails) == used(&all[i]))
			continue;
		finding->verdict = VERDICT_UNKNOWN;
		finding->why = why_unsized(ctx, total(&all[i]) - total(rails));
	}
	uses_free(ctx, sure);
	uses_free(ctx, all);
}

/* If messages of unknown size are all large, and go by other rails than the busiest. */
static double least_over_mean(const struct uses *sure, const struct uses *all)
{
	uint64_t most = 0;

	for (size_t i = 0; i < sure->list.len; i++)
		if (sure->list.data[i].bytes > most)
			most = sure->list.data[i].bytes;
	return (double)most * sure->list.len / total(all);
}

/* If only those of one rail are large. */
static double most_over_mean(const struct uses *sure, const struct uses *all)
{
	double most = 0;

	for (size_t i = 0; i < all->list.len; i++) {
		const struct use *rail = find_use(sure, NULL, all->list.data[i].device);
		uint64_t more = all->list.data[i].bytes - (rail ? rail->bytes : 0);
		double ratio =
			(double)all->list.data[i].bytes * all->list.len / (total(sure) + more);

		most = ratio > most ? ratio : most;
	}
	return most;
}

void rule_rail_balance(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct uses *sure = rails_of_nodes(ctx, ctx->settings->rail_02.size, false);
	struct uses *all = rails_of_nodes(ctx, ctx->settings->rail_02.size, true);

	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];
		struct uses *rails = &sure[i];
		struct finding *finding;
		double ratio;

		/* without a class, several devices may be intended for several peers */
		if (!node->class || node->class->nics.len < 2 || !total(rails))
			continue;
		ratio = least_over_mean(rails, &all[i]);
		finding = found(ctx,
				ratio > ctx->settings->rail_02.max_over_mean ? VERDICT_FAIL
									     : VERDICT_PASS,
				subject_node(node->name));
		finding->bytes = total(rails);
		give_examples(finding, rails);
		finding->expected = say(ctx->judge, "max/mean at most %.2f",
					ctx->settings->rail_02.max_over_mean);
		if (finding->verdict == VERDICT_PASS &&
		    most_over_mean(rails, &all[i]) > ctx->settings->rail_02.max_over_mean) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = why_unsized(ctx, total(&all[i]) - total(rails));
		}
		if (finding->verdict != VERDICT_FAIL)
			continue;
		finding->seen =
			say(ctx->judge, "max/mean %.2f: %s", ratio, rails_text(ctx->judge, rails));
		if (ratio >= ctx->settings->rail_02.critical)
			finding->severity = SEVERITY_CRITICAL;
	}
	uses_free(ctx, sure);
	uses_free(ctx, all);
}

/* ---- AFF-03, RAIL-04: NICs of their own ---- */

/* Ignores devices with little traffic: wire-up and the like. */
static bool is_much(const struct uses *uses, uint64_t bytes)
{
	return bytes * 20 > total(uses);
}

static bool matters(const struct uses *uses, const struct use *used)
{
	return is_much(uses, used->bytes);
}

/* Adds up all memories: of many GPUs, each may have little traffic. */
static bool is_used(const struct uses *uses, const char *nic)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < uses->list.len; i++)
		if (nic_is_named(nic, uses->list.data[i].device))
			bytes += uses->list.data[i].bytes;
	return is_much(uses, bytes);
}

/* A NIC that nobody uses; NULL: none. */
static const struct inventory_nic *idle_nic(const struct node_inventory *inventory,
					    const struct uses *uses)
{
	const struct inventory_nic *nic;

	for (size_t i = 0; (nic = candidate(inventory, uses->list.data[0].device, i)); i++)
		if (!is_used(uses, nic->name))
			return nic;
	return NULL;
}

static bool shared(const struct uses *uses, const struct use **one, const struct use **other)
{
	for (size_t i = 0; i < uses->list.len; i++)
		for (size_t k = i + 1; k < uses->list.len; k++) {
			*one = &uses->list.data[i];
			*other = &uses->list.data[k];
			if (!strcmp((*one)->device, (*other)->device) && matters(uses, *one) &&
			    matters(uses, *other))
				return true;
		}
	return false;
}

static void judge_collision(const struct rule_ctx *ctx, const struct node *node,
			    const struct uses *uses)
{
	const struct node_inventory *inventory = inventory_of(ctx, node);
	const struct inventory_nic *idle;
	const struct use *one, *other;
	struct finding *finding;

	if (!inventory || !candidate(inventory, uses->list.data[0].device, 0)) {
		found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
			  inventory ? "its inventory does not have the NICs that were used"
				    : why_no_inventory(ctx, node));
		return;
	}
	idle = idle_nic(inventory, uses);
	finding = found(ctx, VERDICT_PASS, subject_node(node->name));
	finding->expected = "a NIC for each GPU, as far as there are enough";
	if (!idle || !shared(uses, &one, &other))
		return;
	finding->verdict = VERDICT_FAIL;
	finding->bytes = one->bytes + other->bytes;
	finding->seen = say(ctx->judge, "%s and %s share %s, %s is idle", one->memory,
			    other->memory, one->device, idle->name);
}

void rule_nic_collision(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct uses *uses = uses_of_nodes(ctx, (struct filter){ .unsized = true, .by_gpu = true });

	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (uses[i].list.len)
			judge_collision(ctx, &aggregates->nodes.data[i], &uses[i]);
	uses_free(ctx, uses);
}

/* Finds two used NICs on one adapter; false: all are on adapters of their own. */
static bool on_one_adapter(const struct inventory *inventory, const struct uses *uses,
			   const struct use **one, const struct use **other)
{
	for (size_t i = 0; i < uses->list.len; i++)
		for (size_t k = i + 1; k < uses->list.len; k++) {
			const struct inventory_nic *a, *b;

			*one = &uses->list.data[i];
			*other = &uses->list.data[k];
			a = inventory_nic(inventory, (*one)->device);
			b = inventory_nic(inventory, (*other)->device);
			if (a && b && a != b && same_adapter(a, b) && matters(uses, *one) &&
			    matters(uses, *other))
				return true;
		}
	return false;
}

/* An adapter of which no port is used; NULL: none. */
static const struct inventory_nic *idle_adapter(const struct node_inventory *inventory,
						const struct uses *uses)
{
	const struct inventory_nic *nic;

	for (size_t i = 0; (nic = candidate(inventory, uses->list.data[0].device, i)); i++) {
		bool used = !nic->pci.address;

		for (size_t k = 0; k < uses->list.len; k++) {
			const struct inventory_nic *other =
				inventory_nic(inventory->last, uses->list.data[k].device);

			used = used || (other && same_adapter(nic, other));
		}
		if (!used)
			return nic;
	}
	return NULL;
}

static void judge_adapters(const struct rule_ctx *ctx, const struct node *node,
			   const struct uses *uses)
{
	const struct node_inventory *inventory = inventory_of(ctx, node);
	const struct inventory_nic *nic, *idle;
	const struct use *one, *other;
	struct finding *finding;

	nic = inventory ? inventory_nic(inventory->last, uses->list.data[0].device) : NULL;
	if (!nic) {
		found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
			  inventory ? "its inventory does not have the NICs that were used"
				    : why_no_inventory(ctx, node));
		return;
	}
	if (!nic->pci.address)
		return;
	finding = found(ctx, VERDICT_PASS, subject_node(node->name));
	finding->expected = "rails on adapters of their own, as far as there are enough";
	idle = idle_adapter(inventory, uses);
	if (!idle || !on_one_adapter(inventory->last, uses, &one, &other))
		return;
	finding->verdict = VERDICT_FAIL;
	finding->bytes = one->bytes + other->bytes;
	finding->seen = say(ctx->judge, "%s and %s are one adapter, %s is idle", one->device,
			    other->device, idle->name);
}

void rule_adapters(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct uses *uses = uses_of_nodes(ctx, (struct filter){ .unsized = true });

	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (uses[i].list.len > 1)
			judge_adapters(ctx, &aggregates->nodes.data[i], &uses[i]);
	uses_free(ctx, uses);
}

/* ---- AFF-04 ---- */

/*
 * The place among its class's NICs, else its name: rails of one number are on one network. A
 * transfer tells the device of its own end only; that of the other end is the one that it sends
 * back by.
 */
static uint64_t rail_of(const struct node *node, const char *device)
{
	for (size_t i = 0; node->class && i < node->class->nics.len; i++)
		if (nic_is_named(device, node->class->nics.data[i]))
			return i;
	return map_text(device) | 1ull << 63;
}

static uint64_t pair(int from, int to)
{
	return (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
}

static bool counts(const struct traffic_cell *cell)
{
	return cell_over_nic(cell) && cell->process >= 0 && cell->peer >= 0;
}

/* (pair of processes, rail) -> 1; (pair, NO_RAIL) -> how many. */
#define NO_RAIL (UINT64_MAX - 1)

static void note(struct map *rails, const struct aggregates *aggregates,
		 const struct traffic_cell *cell)
{
	const struct node *node = aggregates_node(aggregates, cell_owner(cell));
	uint64_t ends = pair(cell_owner(cell), cell_other(cell));
	bool fresh;

	if (!node)
		return;
	*map_insert(rails, ends, rail_of(node, cell->device), &fresh) = 1;
	if (fresh)
		++*map_insert(rails, ends, NO_RAIL, NULL);
}

static uint64_t rails_of(const struct map *rails, uint64_t ends)
{
	const uint64_t *count = map_find(rails, ends, NO_RAIL);

	return count ? *count : 0;
}

static bool several_rails(const struct aggregates *aggregates)
{
	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (aggregates->nodes.data[i].class &&
		    aggregates->nodes.data[i].class->nics.len > 1)
			return true;
	return false;
}

/* A process that sends back over fewer rails does not show where the others end. */
static struct cell_answer ask_aligned(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	const struct node *own = aggregates_node(ctx->aggregates, cell_owner(cell));
	const struct node *peer = aggregates_node(ctx->aggregates, cell_other(cell));
	uint64_t forth = pair(cell_owner(cell), cell_other(cell));
	uint64_t back = pair(cell_other(cell), cell_owner(cell));

	if (!counts(cell) || !own || !peer ||
	    rails_of(ctx->rails, forth) != rails_of(ctx->rails, back))
		return (struct cell_answer){ FITS_NOT, false };
	return (struct cell_answer){ FITS,
				     !map_find(ctx->rails, back, rail_of(own, cell->device)) };
}

static struct tally *tally_direction(const struct rule_ctx *ctx, struct tallies *tallies,
				     const struct traffic_cell *cell)
{
	return tally_pair(ctx, tallies, aggregates_node(ctx->aggregates, cell_owner(cell)),
			  aggregates_node(ctx->aggregates, cell_other(cell)));
}

void rule_aligned(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct rule_ctx with_rails = *ctx;
	struct map rails = { 0 };

	if (!several_rails(aggregates)) {
		found_nothing(ctx, VERDICT_SKIP, "no class has several 'nics'");
		return;
	}
	for (size_t i = 0; i < aggregates->cells.len; i++)
		if (counts(&aggregates->cells.data[i]))
			note(&rails, aggregates, &aggregates->cells.data[i]);
	with_rails.rails = &rails;
	cells_judge(&with_rails, &(struct cell_rule){
					 .measure = ask_aligned,
					 .group = tally_direction,
					 .expected = "the same rail in both directions",
				 });
	map_release(&rails);
}
