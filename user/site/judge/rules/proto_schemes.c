// SPDX-License-Identifier: BSD-3-Clause
/*
 * By which scheme data of a rendezvous moves. Both ends settle it (UCX_RNDV_SCHEME of either, and
 * what both can: src/ucp/rndv/rndv.c, UCX 1.13 to 1.18), so a node that is set otherwise changes
 * what it sends and what others send to it. Only messages that are alike are compared. Active
 * messages are no scheme here: data that is not contiguous has no other, whatever is set.
 */
#include <string.h>

#include "site/judge/rules/odd.h"
#include "site/judge/rules/rules.h"

/* What a protocol's name has of it, in UCX's protocol v2 and in our names for v1; the first one
 * counts. */
static const struct {
	const char *part, *name;
} schemes[] = {
	{ "ppln", "pipeline" },
	{ "rndv/get", "get" },
	{ "rndv/put", "put" },
};

#define SCHEMES (sizeof(schemes) / sizeof(*schemes))

typedef VEC(struct pair) pair_list;

static size_t scheme_of(const char *protocol)
{
	size_t scheme = 0;

	while (scheme < SCHEMES && !strstr(protocol, schemes[scheme].part))
		scheme++;
	return scheme;
}

/* Of other memory it is not known which of these it is for UCX. */
static bool is_plain(const char *memory)
{
	return memory && strcmp(memory, "managed");
}

static bool is_comparable(const struct cell *cell, const struct node *from, const struct node *to)
{
	return from && to && from->name && to->name && from->class == to->class &&
	       cell_placed(cell) && cell->transport && is_plain(cell->src_mem) &&
	       is_plain(cell->dst_mem);
}

static void collect(const struct exhibits *exhibits, pair_list *list)
{
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		const struct node *from = exhibits_node(exhibits, cell->process);
		const struct node *to = exhibits_node(exhibits, cell->peer);
		size_t scheme = cell->protocol ? scheme_of(cell->protocol) : SCHEMES;

		if (scheme < SCHEMES && is_comparable(cell, from, to))
			vec_push(list,
				 ((struct pair){
					 .ends = { from, to },
					 .transport = cell->transport,
					 .gpus = { is_gpu(cell->src_mem), is_gpu(cell->dst_mem) },
					 .size_class = cell->size_class,
					 .least = cell->least,
					 .most = cell->most,
					 .used = 1u << scheme,
				 }));
	}
}

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Whether they are of one group. */
static int by_kind(const struct pair *a, const struct pair *b)
{
	int order = strcmp(a->transport, b->transport);

	order = order ? order
		      : by_number((intptr_t)a->ends[FROM]->class, (intptr_t)b->ends[FROM]->class);
	order = order ? order
		      : by_number(a->ends[FROM] == a->ends[TO], b->ends[FROM] == b->ends[TO]);
	order = order ? order : by_number(a->gpus[FROM], b->gpus[FROM]);
	order = order ? order : by_number(a->gpus[TO], b->gpus[TO]);
	return order ? order : by_number(a->size_class, b->size_class);
}

/* Two hosts may have one name. */
static int by_node(const struct node *a, const struct node *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : by_number((intptr_t)a, (intptr_t)b);
}

static int by_kind_and_ends(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;
	int order = by_kind(a, b);

	for (int end = 0; end < ENDS && !order; end++)
		order = by_node(a->ends[end], b->ends[end]);
	return order;
}

static void join_equal(pair_list *list)
{
	size_t kept = 0;

	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_kind_and_ends);
	for (size_t i = 0; i < list->len; i++) {
		struct pair *last = list->data + kept - 1, *pair = &list->data[i];

		if (!kept || by_kind_and_ends(last, pair)) {
			list->data[kept++] = *pair;
			continue;
		}
		last->used |= pair->used;
		pair_widen(last, pair);
	}
	list->len = kept;
}

/* ---- what is said ---- */

static const char *memory(bool gpu)
{
	return gpu ? "gpu" : "host";
}

static const char *messages_text(struct judge *judge, const struct group *group)
{
	const struct pair *first = group->pairs;
	struct pair sizes = *first;

	for (size_t i = 1; i < group->count; i++)
		pair_widen(&sizes, &group->pairs[i]);
	return say(judge, "rendezvous of %lu to %lu B over %s %s, %s to %s",
		   (unsigned long)sizes.least, (unsigned long)sizes.most, first->transport,
		   first->ends[FROM] == first->ends[TO] ? "within a node" : "between nodes",
		   memory(first->gpus[FROM]), memory(first->gpus[TO]));
}

static const char *schemes_text(struct judge *judge, unsigned int used)
{
	const char *text = "";

	for (size_t i = 0; i < SCHEMES; i++)
		if (used >> i & 1)
			text = say(judge, "%s%s%s", text, *text ? ", " : "", schemes[i].name);
	return text;
}

static enum verdict verdict_of(const struct party *party, size_t usual)
{
	if (usual < SCHEMES && party_is_guilty(party))
		return VERDICT_FAIL;
	return usual == SCHEMES || party->unclear || party_is_odd(party) ? VERDICT_UNKNOWN
									 : VERDICT_PASS;
}

/* messages: of the group, made where they are first wanted. */
static void say_of(const struct trial *trial, const struct group *group, const struct party *party,
		   size_t usual, const char **messages)
{
	enum verdict verdict = verdict_of(party, usual);
	struct finding *finding = found(trial, verdict, party->node->name);
	const char *used = schemes_text(trial->judge, party->used);

	if (!*messages)
		*messages = messages_text(trial->judge, group);
	if (verdict != VERDICT_UNKNOWN)
		finding->expected = say(trial->judge, "%s: by %s, as on most nodes", *messages,
					schemes[usual].name);
	if (verdict == VERDICT_FAIL)
		finding->seen = say(trial->judge, "by %s", used);
	if (verdict == VERDICT_UNKNOWN)
		finding->why = say(trial->judge,
				   "%s: by %s; nodes differ, and it is not clear who is right",
				   *messages, used);
}

/* Each node once for each verdict: with the first messages that tell so. */
static void judge_group(const struct trial *trial, struct pair *pairs, size_t count,
			struct map *said)
{
	struct group group = { .pairs = pairs, .count = count };
	size_t usual = odd_find(&group, SCHEMES);
	const char *messages = NULL;

	for (size_t i = 0; group.parties.len > 1 && i < group.parties.len; i++) {
		const struct party *party = &group.parties.data[i];
		bool fresh;

		map_insert(said, (uintptr_t)party->node, verdict_of(party, usual), &fresh);
		if (fresh)
			say_of(trial, &group, party, usual, &messages);
	}
	odd_release(&group);
}

void judge_schemes(const struct trial *trial)
{
	struct map said = { 0 };
	pair_list list = { 0 };
	size_t to;

	collect(trial->exhibits, &list);
	join_equal(&list);
	for (size_t from = 0; from < list.len; from = to) {
		for (to = from + 1; to < list.len && !by_kind(&list.data[from], &list.data[to]);)
			to++;
		judge_group(trial, &list.data[from], to - from, &said);
	}
	vec_release(&list);
	map_release(&said);
}
