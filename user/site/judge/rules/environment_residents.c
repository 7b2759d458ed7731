// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/rules/environment.h"

#include <string.h>

#include "base/ucx_names.h"

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_node(const void *left, const void *right)
{
	const struct resident *a = left, *b = right;
	int order = compare((uintptr_t)a->node, (uintptr_t)b->node);

	order = order ? order : compare(a->member->fact.rank, b->member->fact.rank);
	return order ? order : compare(a->member->fact.pid, b->member->fact.pid);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct variable *)left)->name,
		      ((const struct variable *)right)->name);
}

static bool has_name(const struct residents *residents, const char *name)
{
	for (size_t i = 0; i < residents->names.len; i++)
		if (!strcmp(residents->names.data[i].name, name))
			return true;
	return false;
}

static void add_names(struct residents *residents, const struct member *member)
{
	for (size_t i = 0; i < member->environment.len; i++) {
		const char *name = member->environment.data[i].name;

		if (!has_name(residents, name))
			vec_push(&residents->names,
				 ((struct variable){ name,
						     !strncmp(name, "UCX_", 4) ||
							     !strncmp(name, "MPI_UCX_", 8),
						     ucx_name_mask(name) }));
	}
}

void residents_collect(const struct exhibits *exhibits, struct residents *residents)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];
		const struct node *node = exhibits_node(exhibits, i);

		if (!node || !node->name || (!member->fact.mpi && !member->ucx.len))
			continue;
		vec_push(&residents->list, ((struct resident){ node, member }));
		add_names(residents, member);
	}
	if (residents->list.len)
		qsort(residents->list.data, residents->list.len, sizeof(struct resident), by_node);
	if (residents->names.len)
		qsort(residents->names.data, residents->names.len, sizeof(struct variable),
		      by_name);
}

/* The next node's; false: there is none. */
bool residents_next(const struct residents *residents, struct stay *stay)
{
	stay->from = stay->to;
	while (stay->to < residents->list.len &&
	       residents->list.data[stay->to].node == residents->list.data[stay->from].node)
		stay->to++;
	return stay->to > stay->from;
}

const char *resident_value(const struct member *member, const char *name)
{
	for (size_t i = 0; i < member->environment.len; i++)
		if (!strcmp(member->environment.data[i].name, name))
			return member->environment.data[i].value;
	return NOT_SET;
}

bool residents_told(const struct residents *residents, struct stay stay)
{
	for (size_t i = stay.from; i < stay.to; i++)
		if (residents->list.data[i].member->fact.environment_cut < 0)
			return false;
	return true;
}

int residents_cut(const struct residents *residents, struct stay stay)
{
	int cut = 0;

	for (size_t i = stay.from; i < stay.to; i++)
		cut += residents->list.data[i].member->fact.environment_cut;
	return cut;
}

bool residents_any_told(const struct residents *residents)
{
	for (size_t i = 0; i < residents->list.len; i++)
		if (residents->list.data[i].member->fact.environment_cut >= 0)
			return true;
	return false;
}

void residents_release(struct residents *residents)
{
	vec_release(&residents->list);
	vec_release(&residents->names);
}
