// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/rules/rules.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

struct finding *found(const struct rule_ctx *ctx, enum verdict verdict, struct subject subject)
{
	struct finding *finding = vec_add(&ctx->judge->findings);

	finding->rule = ctx->rule;
	finding->verdict = verdict;
	finding->severity = ctx->setting->severity;
	finding->subject = subject;
	finding->share = NAN;
	return finding;
}

void found_why(const struct rule_ctx *ctx, enum verdict verdict, struct subject subject,
	       const char *why)
{
	found(ctx, verdict, subject)->why = why;
}

void found_nothing(const struct rule_ctx *ctx, enum verdict verdict, const char *why)
{
	found_why(ctx, verdict, subject_captures(), why);
}

bool found_any(const struct rule_ctx *ctx)
{
	return ctx->judge->findings.len > ctx->from;
}

struct subject process_subject(const struct rule_ctx *ctx, int process)
{
	const struct aggregates *aggregates = ctx->aggregates;
	const struct node *node = aggregates_node(aggregates, process);
	const struct member *member = node ? &aggregates->members.data[process] : NULL;

	if (!member)
		return subject_plain(SUBJECT_OTHER, NULL);
	return member->fact.rank < 0 ? subject_pid(ctx->judge, node->name, member->fact.pid)
				     : subject_rank(ctx->judge, node->name, member->fact.rank);
}

bool level_missing(const struct aggregates *aggregates, enum level level)
{
	const struct fact_self *self = &aggregates->totals.self;
	bool traced = false;

	for (int i = level; i < LEVELS; i++)
		traced = traced || self->levels[i];
	return self->known && !traced;
}

const struct node_inventory *inventory_of(const struct rule_ctx *ctx, const struct node *node)
{
	return node ? inventories_find(&ctx->judge->inventories, node->id, node->name) : NULL;
}

const char *why_no_inventory(const struct rule_ctx *ctx, const struct node *node)
{
	const struct node_inventories *inventories = &ctx->judge->inventories;

	for (size_t i = 0; node && node->name && i < inventories->list.len; i++)
		if (!strcmp(inventories->list.data[i].name, node->name))
			return "its inventory is of another boot than its capture";
	return "no inventory of this node was given";
}

void nodes_without_inventory(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;

	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];

		if (node->name && !inventory_of(ctx, node))
			found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
				  why_no_inventory(ctx, node));
	}
}

static const char *or_unknown(const char *word)
{
	return word ? word : "?";
}

const char *cell_text(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	return say(ctx->judge, "%s over %s/%s%s%s, %s to %s", or_unknown(cell->op),
		   or_unknown(cell->transport), or_unknown(cell->device),
		   cell->protocol ? ", " : "", cell->protocol ? cell->protocol : "",
		   or_unknown(cell->src_mem), or_unknown(cell->dst_mem));
}

bool cell_placed(const struct traffic_cell *cell)
{
	return cell->locality != LOCALITY_UNKNOWN;
}

bool cell_inter(const struct traffic_cell *cell)
{
	return cell->locality == LOCALITY_REMOTE;
}

bool cell_intra(const struct traffic_cell *cell)
{
	return cell->locality == LOCALITY_NODE;
}

bool cell_over_nic(const struct traffic_cell *cell)
{
	return cell_inter(cell) && cell->device && is_network(cell->transport);
}

const char *cell_own_memory(const struct traffic_cell *cell)
{
	return cell_owner(cell) == cell->process ? cell->src_mem : cell->dst_mem;
}

struct node *cell_known_node(const struct aggregates *aggregates, const struct traffic_cell *cell)
{
	return aggregates_node(aggregates, cell->process < 0 ? cell->peer : cell->process);
}

bool listed(const texts *list, const char *word)
{
	for (size_t i = 0; word && i < list->len; i++) {
		if (!fnmatch(list->data[i], word, 0))
			return true;
		if (!strcmp(list->data[i], "net") && is_network(word))
			return true;
	}
	return false;
}

static bool loc_fits(const char *loc, enum fact_locality locality)
{
	static const char *const names[] = {
		[LOCALITY_UNKNOWN] = NULL,
		[LOCALITY_SELF] = "self",
		[LOCALITY_NODE] = "intra",
		[LOCALITY_REMOTE] = "inter",
	};

	return !loc || (names[locality] && !strcmp(loc, names[locality]));
}

static bool mem_fits(const char *wanted, const char *memory)
{
	if (!wanted)
		return true;
	if (!strcmp(wanted, "cuda") || !strcmp(wanted, "rocm") || !strcmp(wanted, "ze"))
		return is_gpu(memory);
	return memory && !strcmp(wanted, memory);
}

static enum fits size_fits(const struct aggregates *aggregates, const struct traffic_cell *cell,
			   const struct policy_expect *expect)
{
	bool bounded = expect->to != UINT64_MAX;

	if (cell_below(aggregates, cell, expect->from) ||
	    (bounded && cell_at_least(aggregates, cell, expect->to)))
		return FITS_NOT;
	if (cell_at_least(aggregates, cell, expect->from) &&
	    (!bounded || cell_below(aggregates, cell, expect->to)))
		return FITS;
	return FITS_MAYBE;
}

enum fits expectation_fits(const struct aggregates *aggregates, const struct traffic_cell *cell,
			   const struct policy_expect *expect)
{
	bool sure = true; /* that no line before fits */

	for (size_t i = 0; i < aggregates->policy->expect.len; i++) {
		const struct policy_expect *line = &aggregates->policy->expect.data[i];
		enum fits fits = FITS_NOT;

		if (loc_fits(line->loc, cell->locality) && mem_fits(line->src_mem, cell->src_mem) &&
		    mem_fits(line->dst_mem, cell->dst_mem))
			fits = size_fits(aggregates, cell, line);
		if (line == expect)
			return sure || fits == FITS_NOT ? fits : FITS_MAYBE;
		if (fits == FITS)
			return FITS_NOT;
		sure = sure && fits == FITS_NOT;
	}
	return sure ? FITS : FITS_MAYBE;
}

/* By class, then by value, then by name: the order of captures has no influence. */
static int by_what(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = (a->class > b->class) - (a->class < b->class);

	order = order ? order : strcmp(a->what, b->what);
	return order ? order : strcmp(a->node->name, b->node->name);
}

void find_usual(struct entries *entries, struct map *usual)
{
	struct entry *list = entries->list.data;
	size_t most = 0, to;

	if (entries->list.len)
		qsort(list, entries->list.len, sizeof(*list), by_what);
	for (size_t from = 0; from < entries->list.len; from = to) {
		uint64_t *best = map_insert(usual, (uintptr_t)list[from].class, 0, NULL);

		for (to = from; to < entries->list.len && list[to].class == list[from].class &&
				!strcmp(list[to].what, list[from].what);)
			to++;
		if (*best && (to - from < most ||
			      (to - from == most &&
			       strcmp(list[from].node->name, list[*best - 1].node->name) > 0)))
			continue;
		most = to - from;
		*best = from + 1;
	}
}
