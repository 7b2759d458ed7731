// SPDX-License-Identifier: BSD-3-Clause
/*
 * PROTO-02: the scheme by which data of a rendezvous moves. Both ends determine it (UCX_RNDV_SCHEME
 * and the capabilities of either: src/ucp/rndv/rndv.c, UCX 1.13 to 1.18), so a node with another
 * setting changes its own messages and those of its peers. Only similar messages are compared.
 * Active messages count as no scheme: non-contiguous data has no other one, whatever is set.
 */
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "site/judge/aggregates/aggregates.h"
#include "site/judge/rules/rules.h"

enum { FROM, TO, ENDS };

/* Messages from one node to another, or within one, that are alike in all but the manner. */
struct scheme_pair {
	const struct node *ends[ENDS];
	const char *transport;
	bool gpus[ENDS];
	int size_class;
	uint64_t least, most; /* bytes */
	unsigned int used; /* a bit for each manner */
	size_t parties[ENDS]; /* set by odd_find(): their places in the group's */
};

/* A node of a group, with how many others it has messages, by which end of them it is. */
struct party {
	const struct node *node;
	unsigned int used; /* by any of its pairs */
	size_t pairs[ENDS];
	size_t usual[ENDS],
		only[ENDS]; /* pairs in the usual manner, among others or in no other one */
	size_t accused[ENDS]; /* pairs that are otherwise, which the other end is not to blame for
			       */
	bool unclear; /* an end of a pair that is otherwise, and nobody is to blame for it */
};

/* Pairs that are alike; zeroed but for these two. */
struct scheme_group {
	struct scheme_pair *pairs;
	size_t count;
	VEC(struct party) parties;
	struct map index; /* node -> 1 + position */
};

/*
 * ---- nodes that differ from most ----
 *
 * Only the schemes of pairs are visible, and either node may be the reason.
 */

/* Adds the other one's sizes. */
static void pair_widen(struct scheme_pair *pair, const struct scheme_pair *other)
{
	pair->least = other->least < pair->least ? other->least : pair->least;
	pair->most = other->most > pair->most ? other->most : pair->most;
}

static void find_parties(struct scheme_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct scheme_pair *pair = &group->pairs[i];

		for (int end = 0; end < ENDS; end++) {
			uint64_t *at =
				map_insert(&group->index, (uintptr_t)pair->ends[end], 0, NULL);

			if (!*at) {
				vec_push(&group->parties,
					 ((struct party){ .node = pair->ends[end] }));
				*at = group->parties.len;
			}
			pair->parties[end] = *at - 1;
			group->parties.data[*at - 1].pairs[end]++;
			group->parties.data[*at - 1].used |= pair->used;
		}
	}
}

static bool is_usual(const struct scheme_pair *pair, unsigned int manner)
{
	return pair->used >> manner & 1;
}

static struct party *party_of(const struct scheme_group *group, const struct scheme_pair *pair,
			      int end)
{
	return &group->parties.data[pair->parties[end]];
}

static bool odd_at(const struct party *party, int end)
{
	return party->pairs[end] && !party->usual[end];
}

/* Whether, at one end or the other, none of its pairs is in the usual manner. */
static bool party_is_odd(const struct party *party)
{
	return odd_at(party, FROM) || odd_at(party, TO);
}

/*
 * Whether that is not due to another node: the other ends are two or more others, or the node
 * itself.
 */
static bool party_is_guilty(const struct party *party)
{
	return (odd_at(party, FROM) && party->accused[FROM] > 1) ||
	       (odd_at(party, TO) && party->accused[TO] > 1);
}

/* How many nodes are odd. */
static size_t mark(struct scheme_group *group, unsigned int manner)
{
	size_t odd = 0;

	for (size_t i = 0; i < group->parties.len; i++)
		for (int end = 0; end < ENDS; end++)
			group->parties.data[i].usual[end] = group->parties.data[i].only[end] = 0;
	for (size_t i = 0; i < group->count; i++)
		for (int end = 0; end < ENDS; end++) {
			struct party *party = party_of(group, &group->pairs[i], end);

			party->usual[end] += is_usual(&group->pairs[i], manner);
			party->only[end] += group->pairs[i].used == 1u << manner;
		}
	for (size_t i = 0; i < group->parties.len; i++)
		odd += party_is_odd(&group->parties.data[i]);
	return odd;
}

static bool is_explained(const struct scheme_group *group, const struct scheme_pair *pair)
{
	return odd_at(party_of(group, pair, FROM), FROM) || odd_at(party_of(group, pair, TO), TO);
}

static size_t unexplained(const struct scheme_group *group, unsigned int manner)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++)
		count += !is_usual(&group->pairs[i], manner) &&
			 !is_explained(group, &group->pairs[i]);
	return count;
}

/* The sizes of messages that were in this manner only. */
static struct scheme_pair usual_sizes(const struct scheme_group *group, unsigned int manner)
{
	struct scheme_pair sizes = { .least = UINT64_MAX };

	for (size_t i = 0; i < group->count; i++)
		if (group->pairs[i].used == 1u << manner)
			pair_widen(&sizes, &group->pairs[i]);
	return sizes;
}

/* The other end is cleared by another pair of its that is in the usual manner and in no other. */
static void accuse(struct scheme_group *group, const struct scheme_pair *pair)
{
	if (pair->ends[FROM] == pair->ends[TO]) {
		party_of(group, pair, FROM)->accused[FROM] += 2;
		return;
	}
	for (int end = 0; end < ENDS; end++)
		party_of(group, pair, end)->accused[end] +=
			party_of(group, pair, !end)->only[!end] > 0;
}

static void find_guilty(struct scheme_group *group, unsigned int manner)
{
	struct scheme_pair sizes = usual_sizes(group, manner);

	for (size_t i = 0; i < group->count; i++) {
		const struct scheme_pair *pair = &group->pairs[i];

		if (is_usual(pair, manner))
			continue;
		if (!is_explained(group, pair))
			party_of(group, pair, FROM)->unclear = party_of(group, pair, TO)->unclear =
				true;
		else if (pair->most >= sizes.least && pair->least <= sizes.most)
			accuse(group, pair);
	}
}

/*
 * The usual one of so many manners, the parties marked by it: most nodes have it, and the fewest
 * pairs are otherwise without an odd node at an end; of several such, the one with the fewest odd
 * ones. None: as many as there are.
 */
static unsigned int odd_find(struct scheme_group *group, unsigned int manners)
{
	unsigned int usual = manners;
	size_t least_odd = 0, least_open = 0;

	find_parties(group);
	for (unsigned int manner = 0; manner < manners; manner++) {
		size_t odd = mark(group, manner), open = unexplained(group, manner);

		if (2 * odd >= group->parties.len ||
		    (usual < manners &&
		     (open > least_open || (open == least_open && odd >= least_odd))))
			continue;
		usual = manner;
		least_odd = odd;
		least_open = open;
	}
	if (usual == manners)
		return usual;
	mark(group, usual);
	find_guilty(group, usual);
	return usual;
}

static void odd_release(struct scheme_group *group)
{
	vec_release(&group->parties);
	map_release(&group->index);
}

/*
 * The part of a protocol's name that gives the scheme, in UCX's protocol v2 and in our names for
 * v1; the first match counts.
 */
static const struct {
	const char *part, *name;
} schemes[] = {
	{ "ppln", "pipeline" },
	{ "rndv/get", "get" },
	{ "rndv/put", "put" },
};

#define SCHEMES (sizeof(schemes) / sizeof(*schemes))

typedef VEC(struct scheme_pair) pair_list;

static size_t scheme_of(const char *protocol)
{
	size_t scheme = 0;

	while (scheme < SCHEMES && !strstr(protocol, schemes[scheme].part))
		scheme++;
	return scheme;
}

/* It is not known how UCX classifies other memory. */
static bool is_plain(const char *memory)
{
	return memory && strcmp(memory, "managed");
}

static bool is_comparable(const struct traffic_cell *cell, const struct node *from,
			  const struct node *to)
{
	return from && to && from->name && to->name && from->class == to->class &&
	       cell_placed(cell) && cell->transport && is_plain(cell->src_mem) &&
	       is_plain(cell->dst_mem);
}

static void collect(const struct aggregates *aggregates, pair_list *list)
{
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		const struct node *from = aggregates_node(aggregates, cell->process);
		const struct node *to = aggregates_node(aggregates, cell->peer);
		size_t scheme = cell->protocol ? scheme_of(cell->protocol) : SCHEMES;

		if (scheme < SCHEMES && is_comparable(cell, from, to))
			vec_push(list,
				 ((struct scheme_pair){
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
static int by_kind(const struct scheme_pair *a, const struct scheme_pair *b)
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
	const struct scheme_pair *a = left, *b = right;
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
		struct scheme_pair *last = list->data + kept - 1, *pair = &list->data[i];

		if (!kept || by_kind_and_ends(last, pair)) {
			list->data[kept++] = *pair;
			continue;
		}
		last->used |= pair->used;
		pair_widen(last, pair);
	}
	list->len = kept;
}

/* ---- findings ---- */

static const char *memory(bool gpu)
{
	return gpu ? "gpu" : "host";
}

static const char *messages_text(struct judge *judge, const struct scheme_group *group)
{
	const struct scheme_pair *first = group->pairs;
	struct scheme_pair sizes = *first;

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
static void say_of(const struct rule_ctx *ctx, const struct scheme_group *group,
		   const struct party *party, size_t usual, const char **messages)
{
	enum verdict verdict = verdict_of(party, usual);
	struct finding *finding = found(ctx, verdict, subject_node(party->node->name));
	const char *used = schemes_text(ctx->judge, party->used);

	if (!*messages)
		*messages = messages_text(ctx->judge, group);
	if (verdict != VERDICT_UNKNOWN)
		finding->expected = say(ctx->judge, "%s: by %s, as on most nodes", *messages,
					schemes[usual].name);
	if (verdict == VERDICT_FAIL)
		finding->seen = say(ctx->judge, "by %s", used);
	if (verdict == VERDICT_UNKNOWN)
		finding->why =
			say(ctx->judge, "%s: by %s; nodes differ, and it is unclear which is right",
			    *messages, used);
}

/* Reports each node once for each verdict, with the first messages that show it. */
static void judge_group(const struct rule_ctx *ctx, struct scheme_pair *pairs, size_t count,
			struct map *said)
{
	struct scheme_group group = { .pairs = pairs, .count = count };
	size_t usual = odd_find(&group, SCHEMES);
	const char *messages = NULL;

	for (size_t i = 0; group.parties.len > 1 && i < group.parties.len; i++) {
		const struct party *party = &group.parties.data[i];
		bool fresh;

		map_insert(said, (uintptr_t)party->node, verdict_of(party, usual), &fresh);
		if (fresh)
			say_of(ctx, &group, party, usual, &messages);
	}
	odd_release(&group);
}

void schemes_judge(const struct rule_ctx *ctx)
{
	struct map said = { 0 };
	pair_list list = { 0 };
	size_t to;

	collect(ctx->aggregates, &list);
	join_equal(&list);
	for (size_t from = 0; from < list.len; from = to) {
		for (to = from + 1; to < list.len && !by_kind(&list.data[from], &list.data[to]);)
			to++;
		judge_group(ctx, &list.data[from], to - from, &said);
	}
	vec_release(&list);
	map_release(&said);
}
