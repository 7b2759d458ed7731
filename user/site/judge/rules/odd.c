// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/rules/odd.h"

void pair_widen(struct pair *pair, const struct pair *other)
{
	pair->least = other->least < pair->least ? other->least : pair->least;
	pair->most = other->most > pair->most ? other->most : pair->most;
}

static void find_parties(struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct pair *pair = &group->pairs[i];

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

static bool is_usual(const struct pair *pair, unsigned int manner)
{
	return pair->used >> manner & 1;
}

static struct party *party_of(const struct group *group, const struct pair *pair, int end)
{
	return &group->parties.data[pair->parties[end]];
}

static bool odd_at(const struct party *party, int end)
{
	return party->pairs[end] && !party->usual[end];
}

bool party_is_odd(const struct party *party)
{
	return odd_at(party, FROM) || odd_at(party, TO);
}

bool party_is_guilty(const struct party *party)
{
	return (odd_at(party, FROM) && party->accused[FROM] > 1) ||
	       (odd_at(party, TO) && party->accused[TO] > 1);
}

/* How many nodes are odd. */
static size_t mark(struct group *group, unsigned int manner)
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

static bool is_explained(const struct group *group, const struct pair *pair)
{
	return odd_at(party_of(group, pair, FROM), FROM) || odd_at(party_of(group, pair, TO), TO);
}

static size_t unexplained(const struct group *group, unsigned int manner)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++)
		count += !is_usual(&group->pairs[i], manner) &&
			 !is_explained(group, &group->pairs[i]);
	return count;
}

/* Sizes of messages that were in no other manner. */
static struct pair usual_sizes(const struct group *group, unsigned int manner)
{
	struct pair sizes = { .least = UINT64_MAX };

	for (size_t i = 0; i < group->count; i++)
		if (group->pairs[i].used == 1u << manner)
			pair_widen(&sizes, &group->pairs[i]);
	return sizes;
}

/* The other end is cleared by another pair of its that is in the usual manner and in no other. */
static void accuse(struct group *group, const struct pair *pair)
{
	if (pair->ends[FROM] == pair->ends[TO]) {
		party_of(group, pair, FROM)->accused[FROM] += 2;
		return;
	}
	for (int end = 0; end < ENDS; end++)
		party_of(group, pair, end)->accused[end] +=
			party_of(group, pair, !end)->only[!end] > 0;
}

static void find_guilty(struct group *group, unsigned int manner)
{
	struct pair sizes = usual_sizes(group, manner);

	for (size_t i = 0; i < group->count; i++) {
		const struct pair *pair = &group->pairs[i];

		if (is_usual(pair, manner))
			continue;
		if (!is_explained(group, pair))
			party_of(group, pair, FROM)->unclear = party_of(group, pair, TO)->unclear =
				true;
		else if (pair->most >= sizes.least && pair->least <= sizes.most)
			accuse(group, pair);
	}
}

unsigned int odd_find(struct group *group, unsigned int manners)
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

void odd_release(struct group *group)
{
	vec_release(&group->parties);
	map_release(&group->index);
}
