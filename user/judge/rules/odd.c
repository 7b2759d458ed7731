// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rules/odd.h"

#include <string.h>

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
		}
	}
}

static bool is_usual(const struct pair *pair, unsigned int manner)
{
	return pair->used >> manner & 1;
}

static bool odd_at(const struct party *party, int end)
{
	return party->pairs[end] && !party->usual[end];
}

static bool end_is_odd(const struct group *group, const struct pair *pair, int end)
{
	return odd_at(&group->parties.data[pair->parties[end]], end);
}

/* How many nodes are odd. */
static size_t mark(struct group *group, unsigned int manner)
{
	size_t odd = 0;

	for (size_t i = 0; i < group->parties.len; i++)
		memset(group->parties.data[i].usual, 0, sizeof(group->parties.data[i].usual));
	for (size_t i = 0; i < group->count; i++)
		for (int end = 0; end < ENDS; end++)
			group->parties.data[group->pairs[i].parties[end]].usual[end] +=
				is_usual(&group->pairs[i], manner);
	for (size_t i = 0; i < group->parties.len; i++) {
		struct party *party = &group->parties.data[i];

		party->odd = odd_at(party, FROM) || odd_at(party, TO);
		odd += party->odd;
	}
	return odd;
}

/* Whatever is otherwise has an odd one at an end. */
static bool explained(const struct group *group, unsigned int manner)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct pair *pair = &group->pairs[i];

		if (!is_usual(pair, manner) && !end_is_odd(group, pair, FROM) &&
		    !end_is_odd(group, pair, TO))
			return false;
	}
	return true;
}

/* Sizes of messages that were in no other manner. */
static struct pair usual_sizes(const struct group *group, unsigned int manner)
{
	struct pair sizes = { .least = UINT64_MAX };

	for (size_t i = 0; i < group->count; i++) {
		const struct pair *pair = &group->pairs[i];

		if (pair->used != 1u << manner)
			continue;
		sizes.least = pair->least < sizes.least ? pair->least : sizes.least;
		sizes.most = pair->most > sizes.most ? pair->most : sizes.most;
	}
	return sizes;
}

/* Of two odd nodes, their own messages do not tell which of them it is; and sizes must be
 * comparable. */
static void find_guilty(struct group *group, unsigned int manner)
{
	struct pair sizes = usual_sizes(group, manner);

	for (size_t i = 0; i < group->count; i++) {
		const struct pair *pair = &group->pairs[i];
		bool odd[ENDS] = { end_is_odd(group, pair, FROM), end_is_odd(group, pair, TO) };

		if (is_usual(pair, manner) || pair->most < sizes.least ||
		    pair->least > sizes.most ||
		    (odd[FROM] && odd[TO] && pair->ends[FROM] != pair->ends[TO]))
			continue;
		for (int end = 0; end < ENDS; end++)
			group->parties.data[pair->parties[end]].guilty |= odd[end];
	}
}

unsigned int odd_find(struct group *group, unsigned int manners)
{
	unsigned int usual = manners;
	size_t least;

	find_parties(group);
	least = group->parties.len;
	for (unsigned int manner = 0; manner < manners; manner++) {
		size_t odd = mark(group, manner);

		if (2 * odd >= group->parties.len || odd >= least || !explained(group, manner))
			continue;
		usual = manner;
		least = odd;
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
