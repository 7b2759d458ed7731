// SPDX-License-Identifier: BSD-3-Clause
/*
 * Brings what was gathered into one order and one set of words, so that findings are the same
 * whatever order captures were read in, and whether they came as captures or as evidence.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/judge/exhibits/deaths.h"
#include "site/judge/exhibits/exhibits.h"
#include "site/judge/exhibits/totals.h"

/* Where what was at a position is now; -1: gone. */
struct moves {
	VEC(int) to;
};

static int moved(const struct moves *moves, int index)
{
	return index >= 0 && (size_t)index < moves->to.len ? moves->to.data[index] : -1;
}

const char *exhibits_id(struct exhibits *exhibits, const struct fact_process *fact)
{
	char *text;
	const char *id;

	if (asprintf(&text, "%s/%u/%" PRIu64 "/%s", fact->host_id ? fact->host_id : "?", fact->tgid,
		     fact->start_time, fact->host_name ? fact->host_name : "?") < 0)
		abort();
	id = words_keep(&exhibits->words, text);
	free(text);
	return id;
}

/* ---- nodes, by name ---- */

struct slot {
	const char *first, *second;
	size_t was;
};

static int by_slot(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;
	int order = words_compare(a->first, b->first);

	order = order ? order : words_compare(a->second, b->second);
	return order ? order : (a->was > b->was) - (a->was < b->was);
}

struct slots {
	VEC(struct slot) list;
};

/* Sorts, and tells where each of count elements went. */
static struct moves order_slots(struct slots *slots, size_t count)
{
	struct moves moves = { 0 };

	for (size_t i = 0; i < count; i++)
		vec_push(&moves.to, -1);
	if (slots->list.len)
		qsort(slots->list.data, slots->list.len, sizeof(struct slot), by_slot);
	for (size_t i = 0; i < slots->list.len; i++)
		moves.to.data[slots->list.data[i].was] = i;
	return moves;
}

static struct moves order_nodes(struct exhibits *exhibits)
{
	struct slots slots = { 0 };
	struct node *old = exhibits->nodes.data;
	struct moves moves;

	for (size_t i = 0; i < exhibits->nodes.len; i++)
		if (old[i].name)
			vec_push(&slots.list, ((struct slot){ old[i].name, old[i].id, i }));
	moves = order_slots(&slots, exhibits->nodes.len);
	memset(&exhibits->nodes, 0, sizeof(exhibits->nodes));
	for (size_t i = 0; i < slots.list.len; i++) {
		struct node *node = vec_add(&exhibits->nodes);

		*node = old[slots.list.data[i].was];
		node->name = words_keep(&exhibits->words, node->name);
		node->id = words_keep(&exhibits->words, node->id);
	}
	free(old);
	vec_release(&slots.list);
	return moves;
}

/* ---- processes, by what tells them apart ---- */

static void keep_words(struct words *words, struct member *member)
{
	const char **const all[] = { &member->fact.host_id, &member->fact.host_name,
				     &member->fact.comm,    &member->fact.exe,
				     &member->fact.mpi,     &member->fact.job };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		*all[i] = words_keep(words, *all[i]);
	for (size_t i = 0; i < member->ucx.len; i++) {
		struct fact_ucx *ucx = &member->ucx.data[i];

		ucx->path = words_keep(words, ucx->path);
		ucx->build_id = words_keep(words, ucx->build_id);
		ucx->version = words_keep(words, ucx->version);
		ucx->layout = words_keep(words, ucx->layout);
	}
	for (size_t i = 0; i < member->environment.len; i++) {
		struct fact_variable *variable = &member->environment.data[i];

		variable->name = words_keep(words, variable->name);
		variable->value = words_keep(words, variable->value);
	}
}

static struct moves order_members(struct exhibits *exhibits, const struct moves *nodes)
{
	struct slots slots = { 0 };
	struct member *old = exhibits->members.data;
	struct moves moves;

	for (size_t i = 0; i < exhibits->members.len; i++) {
		if (!old[i].known) {
			vec_release(&old[i].ucx);
			vec_release(&old[i].environment);
			continue;
		}
		old[i].id = exhibits_id(exhibits, &old[i].fact);
		vec_push(&slots.list, ((struct slot){ old[i].id, NULL, i }));
	}
	moves = order_slots(&slots, exhibits->members.len);
	memset(&exhibits->members, 0, sizeof(exhibits->members));
	for (size_t i = 0; i < slots.list.len; i++) {
		struct member *member = vec_add(&exhibits->members);

		*member = old[slots.list.data[i].was];
		member->fact.index = i;
		member->fact.host = moved(nodes, member->fact.host);
		keep_words(&exhibits->words, member);
	}
	free(old);
	vec_release(&slots.list);
	return moves;
}

/* ---- cells ---- */

static int by_key(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;
	const char *const words[][2] = {
		{ a->op, b->op },
		{ a->transport, b->transport },
		{ a->device, b->device },
		{ a->protocol, b->protocol },
		{ a->function, b->function },
		{ a->src_mem, b->src_mem },
		{ a->dst_mem, b->dst_mem },
	};
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : (a->peer > b->peer) - (a->peer < b->peer);
	for (size_t i = 0; !order && i < sizeof(words) / sizeof(*words); i++)
		order = words_compare(words[i][0], words[i][1]);
	order = order ? order : (int)a->locality - (int)b->locality;
	return order ? order : a->size_class - b->size_class;
}

static void settle_cell(struct words *words, const struct moves *members, struct cell *cell)
{
	const char **const all[] = { &cell->op,       &cell->transport, &cell->device,
				     &cell->protocol, &cell->function,  &cell->src_mem,
				     &cell->dst_mem };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		*all[i] = words_of(words, *all[i]);
	cell->process = moved(members, cell->process);
	cell->peer = moved(members, cell->peer);
}

/* One word may have come from two slots. */
static void join_cells(struct exhibits *exhibits)
{
	struct cell *cells = exhibits->cells.data;
	size_t kept = 0;

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		if (kept && !by_key(&cells[kept - 1], &cells[i]))
			cell_join(&cells[kept - 1], &cells[i]);
		else
			cells[kept++] = cells[i];
	}
	exhibits->cells.len = kept;
}

static void order_cells(struct exhibits *exhibits, const struct moves *members)
{
	for (size_t i = 0; i < exhibits->cells.len; i++)
		settle_cell(&exhibits->words, members, &exhibits->cells.data[i]);
	if (exhibits->cells.len)
		qsort(exhibits->cells.data, exhibits->cells.len, sizeof(struct cell), by_key);
	join_cells(exhibits);
	/* found by their words' slots, which have changed */
	vec_release(&exhibits->next);
	map_release(&exhibits->index);
}

/* ---- sums ---- */

static void order_sums(struct exhibits *exhibits, const struct moves *members)
{
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		struct sum *sum = &exhibits->sums.list.data[i];

		for (size_t k = 0; k < SUM_WORDS; k++)
			sum->words[k] = words_of(&exhibits->words, sum->words[k]);
		sum->process = moved(members, sum->process);
		sum->peer = moved(members, sum->peer);
	}
	sums_order(&exhibits->sums);
}

void exhibits_finish(struct exhibits *exhibits, const struct fact_totals *totals)
{
	struct moves nodes, members;

	waiting_give_up(exhibits);
	deaths_compare(exhibits);
	watch_finish(&exhibits->watch);
	if (totals)
		exhibits->totals = *totals;
	totals_order(&exhibits->totals);
	nodes = order_nodes(exhibits);
	members = order_members(exhibits, &nodes);
	order_cells(exhibits, &members);
	order_sums(exhibits, &members);
	words_forget(&exhibits->words);
	vec_release(&nodes.to);
	vec_release(&members.to);
}
