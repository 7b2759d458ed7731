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

static bool alike(const struct sent *a, const struct sent *b)
{
	return a->function == b->function && a->inter == b->inter &&
	       a->node->class == b->node->class;
}

/* The same calls of another node of the class that switched earliest; NULL: none did. */
static const struct sent *earliest(const struct sent_list *sent, const struct sent *own)
{
	const struct sent *found = NULL;

	for (size_t i = 0; i < sent->list.len; i++) {
		const struct sent *other = &sent->list.data[i];

		if (other->node == own->node || !other->rndv_least || !alike(other, own))
			continue;
		if (!found || other->rndv_least < found->rndv_least)
			found = other;
	}
	return found;
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

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		const struct node *node = exhibits_node(exhibits, cell->process);

		if (node && cell->protocol && cell_placed(cell))
			add_cell(&sent, node, cell);
	}
	for (size_t i = 0; i < sent.list.len; i++) {
		const struct sent *own = &sent.list.data[i];
		const struct sent *other = own->eager_most ? earliest(&sent, own) : NULL;

		if (other)
			compare(trial, own, other);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP,
			      "no two nodes of a class sent by rendezvous and eagerly");
	vec_release(&sent.list);
	map_release(&sent.index);
}
