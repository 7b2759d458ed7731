// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/origins.h"

#include <stdlib.h>

#include "base/alloc.h"

struct origin {
	pid_t parent; /* 0: not known */
	uint64_t forked, execed; /* ns; 0: not known */
};

static struct origin *origin_at(const struct map_slot *slot)
{
	return (struct origin *)(uintptr_t)slot->value;
}

void origins_release(struct origins *origins)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&origins->all, &at)))
		free(origin_at(slot));
	map_release(&origins->all);
}

static struct origin *find(const struct origins *origins, pid_t tgid)
{
	const uint64_t *slot = map_find(&origins->all, (uint64_t)tgid, 0);

	return slot ? (struct origin *)(uintptr_t)*slot : NULL;
}

static struct origin *find_or_add(struct origins *origins, pid_t tgid)
{
	bool fresh;
	uint64_t *slot = map_insert(&origins->all, (uint64_t)tgid, 0, &fresh);

	if (fresh)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct origin));
	return (struct origin *)(uintptr_t)*slot;
}

void origins_fork(struct origins *origins, pid_t tgid, pid_t parent, uint64_t time)
{
	struct origin *origin = find_or_add(origins, tgid);

	origin->parent = parent;
	origin->forked = time;
}

void origins_exec(struct origins *origins, pid_t tgid, uint64_t time)
{
	struct origin *origin = find_or_add(origins, tgid);

	if (origin->execed < time)
		origin->execed = time;
}

bool origins_forked(const struct origins *origins, pid_t tgid)
{
	const struct origin *origin = find(origins, tgid);

	return origin && origin->forked;
}

pid_t origins_parent(const struct origins *origins, pid_t tgid)
{
	const struct origin *origin = find(origins, tgid), *parent;

	if (!origin || !origin->parent || origin->execed > origin->forked)
		return 0;
	parent = find(origins, origin->parent);
	return parent && parent->execed > origin->forked ? 0 : origin->parent;
}

bool origins_end(struct origins *origins, pid_t tgid, uint64_t time)
{
	struct origin *origin = find(origins, tgid);

	if (!origin)
		return true;
	if (origin->forked > time || origin->execed > time)
		return false;
	map_remove(&origins->all, (uint64_t)tgid, 0);
	free(origin);
	return true;
}

void origins_end_parents(struct origins *origins, const struct map *gone)
{
	struct map_slot *slot;
	size_t at = 0;

	while (gone->used && (slot = map_next(&origins->all, &at)))
		if (map_find(gone, (uint64_t)origin_at(slot)->parent, 0))
			origin_at(slot)->parent = 0;
}
