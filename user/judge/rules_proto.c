// SPDX-License-Identifier: BSD-3-Clause
/* Where protocols switch: PROTO. */
#include <string.h>

#include "judge/rules.h"

/*
 * What a node's calls of a function sent. UCX has other thresholds for operations that may complete
 * at once (MPI_Send) than for those that are waited for (MPI_Isend).
 */
struct sent {
	const struct node *node;
	const char *function;
	bool inter;
	uint64_t eager_most; /* the largest message sent eagerly, 0 = none */
	uint64_t rndv_least; /* the smallest by rendezvous, 0 = none */
};

struct sent_list {
	VEC(struct sent) list;
	struct map index; /* (node and inter, function) -> 1 + position */
};

static struct sent *sent_at(struct sent_list *sent, const struct node *node, const char *function,
			    bool inter)
{
	uint64_t *at = map_insert(&sent->index, (uintptr_t)node | inter, (uintptr_t)function, NULL);

	if (!*at) {
		vec_push(&sent->list,
			 ((struct sent){ .node = node, .function = function, .inter = inter }));
		*at = sent->list.len;
	}
	return &sent->list.data[*at - 1];
}

static void add_cell(struct sent_list *sent, const struct node *node, const struct cell *cell)
{
	struct sent *to = sent_at(sent, node, cell->function, cell_inter(cell));

	if (strstr(cell->protocol, "eager") && cell->most > to->eager_most)
		to->eager_most = cell->most;
	if (strstr(cell->protocol, "rndv") && (!to->rndv_least || cell->least < to->rndv_least))
		to->rndv_least = cell->least;
}

/* Of the same calls between nodes of a class, the two nodes that switched earliest. */
struct switched {
	const struct sent *first, *second;
};

struct switches {
	VEC(struct switched) list;
	struct map index; /* (class and inter, function) -> 1 + position */
};

static struct switched *switched_at(struct switches *switches, const struct sent *sent)
{
	uint64_t *at = map_insert(&switches->index, (uintptr_t)sent->node->class | sent->inter,
				  (uintptr_t)sent->function, NULL);

	if (!*at) {
		vec_add(&switches->list);
		*at = switches->list.len;
	}
	return &switches->list.data[*at - 1];
}

static void add_switch(struct switches *switches, const struct sent *sent)
{
	struct switched *switched = switched_at(switches, sent);

	if (!switched->first || sent->rndv_least < switched->first->rndv_least) {
		switched->second = switched->first;
		switched->first = sent;
	} else if (!switched->second || sent->rndv_least < switched->second->rndv_least) {
		switched->second = sent;
	}
}

/* The same calls of another node of the class that switched earliest; NULL: none did. */
static const struct sent *earliest(struct switches *switches, const struct sent *own)
{
	const struct switched *switched = switched_at(switches, own);

	return switched->first == own ? switched->second : switched->first;
}

static void compare(const struct trial *trial, const struct sent *own, const struct sent *other)
{
	bool fails = own->eager_most > other->rndv_least * trial->setting->number[0];
	struct finding *finding =
		found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, own->node->name);

	finding->expected = say(trial->judge, "%s: rendezvous from %lu B on, as on %s",
				own->function ? own->function : "outside MPI",
				(unsigned long)other->rndv_least, other->node->name);
	if (fails)
		finding->seen =
			say(trial->judge, "%lu B sent eagerly", (unsigned long)own->eager_most);
}

/* A node that sends eagerly what another one of its class sends by rendezvous. */
void rule_switch_points(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct sent_list sent = { 0 };
	struct switches switches = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		const struct node *node = exhibits_node(exhibits, cell->process);

		if (node && cell->protocol && cell_placed(cell))
			add_cell(&sent, node, cell);
	}
	for (size_t i = 0; i < sent.list.len; i++)
		if (sent.list.data[i].rndv_least)
			add_switch(&switches, &sent.list.data[i]);
	for (size_t i = 0; i < sent.list.len; i++) {
		const struct sent *own = &sent.list.data[i];
		const struct sent *other = own->eager_most ? earliest(&switches, own) : NULL;

		if (other)
			compare(trial, own, other);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no two nodes of a class sent by rendezvous and eagerly");
	vec_release(&switches.list);
	map_release(&switches.index);
	vec_release(&sent.list);
	map_release(&sent.index);
}
