// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/exhibits.h"

void exhibits_init(struct exhibits *exhibits, const struct policy *policy)
{
	*exhibits = (struct exhibits){ .policy = policy };
	watch_init(&exhibits->watch, &exhibits->sums, &exhibits->words);
	waiting_init(&exhibits->waiting);
	exhibits_draw_lines(exhibits);
}

void exhibits_release(struct exhibits *exhibits)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		vec_release(&exhibits->members.data[i].ucx);
		vec_release(&exhibits->members.data[i].environment);
	}
	traced_release(&exhibits->traced);
	vec_release(&exhibits->members);
	vec_release(&exhibits->nodes);
	vec_release(&exhibits->cells);
	vec_release(&exhibits->next);
	vec_release(&exhibits->sizes);
	map_release(&exhibits->index);
	map_release(&exhibits->by_id);
	waiting_release(&exhibits->waiting);
	vec_release(&exhibits->captures);
	watch_release(&exhibits->watch);
	sums_release(&exhibits->sums);
	words_release(&exhibits->words);
}

struct node *exhibits_node(const struct exhibits *exhibits, int process)
{
	const struct member *member;

	if (process < 0 || (size_t)process >= exhibits->members.len)
		return NULL;
	member = &exhibits->members.data[process];
	if (!member->known || member->fact.host < 0)
		return NULL;
	return &exhibits->nodes.data[member->fact.host];
}

/* ids are kept words: they lie at one place each, and no process at a host's */
struct member *exhibits_member(struct exhibits *exhibits, const char *id)
{
	uint64_t *at = map_insert(&exhibits->by_id, (uintptr_t)id, 0, NULL);

	if (!*at) {
		vec_add(&exhibits->members)->id = id;
		*at = exhibits->members.len;
	}
	return &exhibits->members.data[*at - 1];
}

void exhibits_name_node(struct exhibits *exhibits, const struct fact_process *fact)
{
	struct node *node = &exhibits->nodes.data[fact->host];

	node->name = fact->host_name ? fact->host_name : fact->host_id;
	node->id = fact->host_id;
	node->class = policy_class_of(exhibits->policy, node->name);
}

void exhibits_place(struct exhibits *exhibits, struct fact_process *fact)
{
	uint64_t *at = map_insert(&exhibits->by_id, (uintptr_t)fact->host_id,
				  (uintptr_t)fact->host_name, NULL);

	fact->host = -1;
	if (!fact->host_id)
		return;
	fact->host = *at ? *at - 1 : exhibits->nodes.len;
	if (*at)
		return;
	vec_add(&exhibits->nodes);
	*at = exhibits->nodes.len;
	exhibits_name_node(exhibits, fact);
}
