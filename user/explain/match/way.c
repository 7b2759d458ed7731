// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/way.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct way *way_new(struct way_pool *pool, const struct memory_answer *memory)
{
	struct way *way = pool->free;

	if (way)
		pool->free = way->next;
	else
		way = xmalloc(sizeof(*way));
	*way = (struct way){ .refs = 1, .from = pool };
	if (!memory)
		return way;
	way->memory = xmalloc(sizeof(*way->memory));
	*way->memory = *memory;
	return way;
}

struct way *way_hold(struct way *way)
{
	if (way)
		way->refs++;
	return way;
}

static void sorts_free(struct leg *leg)
{
	while (leg) {
		struct leg *next = leg->next;

		free(leg);
		leg = next;
	}
}

void way_drop(struct way *way)
{
	if (!way || --way->refs)
		return;
	sorts_free(way->copies.sorts);
	sorts_free(way->data.sorts);
	free(way->memory);
	way->next = way->from->free;
	way->from->free = way;
}

void way_pool_release(struct way_pool *pool)
{
	while (pool->free) {
		struct way *way = pool->free;

		pool->free = way->next;
		free(way);
	}
}

void way_add(struct way *way, bool copy, const struct leg *leg, uint64_t count, uint64_t bytes)
{
	struct legs *legs = copy ? &way->copies : &way->data;
	struct leg **sort = &legs->sorts;

	legs->count += count;
	legs->bytes += bytes;
	if (!way->memory)
		return;
	for (; *sort; sort = &(*sort)->next)
		if ((*sort)->transport == leg->transport && (*sort)->src == leg->src &&
		    (*sort)->dst == leg->dst)
			return;
	*sort = xmalloc(sizeof(**sort));
	**sort = *leg;
}

/* Transfers of one message, joined up: from where to where its bytes went, and how. */

#define MAX_NODES 5 /* copy, transfer, copy, and a join without a copy */
#define MAX_TEXT 160
#define UNKNOWN "unknown"

struct path {
	const char *nodes[MAX_NODES], *hops[MAX_NODES];
	int hop_count;
	bool broken;
};

static const char *text_of(const char *name)
{
	return name ? name : UNKNOWN;
}

/* Sorts of host memory: one end may know better which one it is. */
static bool is_sort_of(const char *name, const char *of)
{
	const struct memory_name one = memory_name_read(name), all = memory_name_read(of);

	if (all.kind == MEMORY_HOST)
		return one.kind == MEMORY_PINNED || one.kind == MEMORY_MANAGED;
	return all.kind == MEMORY_GPU && all.device < 0 && one.kind == MEMORY_GPU;
}

#define MAX_PARTS 8

/* Names side by side ("host+pinned"). */
struct sort_names {
	char names[MAX_PARTS][16];
	int count;
};

static struct sort_names sort_names_of(const char *text)
{
	struct sort_names parts = { 0 };

	while (parts.count < MAX_PARTS) {
		size_t length = strcspn(text, "+");

		snprintf(parts.names[parts.count++], sizeof(parts.names[0]), "%.*s", (int)length,
			 text);
		if (!text[length])
			break;
		text += length + 1;
	}
	return parts;
}

/* Each of one is one of the others or a sort of it; or, loosely, the other way round. */
static bool all_are(const struct sort_names *one, const struct sort_names *others, bool loosely)
{
	for (int i = 0; i < one->count; i++) {
		const char *name = one->names[i];
		int k = 0;

		while (k < others->count && strcmp(name, others->names[k]) &&
		       !is_sort_of(name, others->names[k]) &&
		       !(loosely && is_sort_of(others->names[k], name)))
			k++;
		if (k == others->count)
			return false;
	}
	return true;
}

/* Joins two statements about the same memory. */
static const char *join(struct path *path, const char *one, const char *other)
{
	struct sort_names ones, others;

	if (!one || !other)
		return one ? one : other;
	ones = sort_names_of(one);
	others = sort_names_of(other);
	if (!all_are(&ones, &others, true) || !all_are(&others, &ones, true))
		path->broken = true;
	return all_are(&ones, &others, false) ? one : other;
}

static void add_hop(struct path *path, const struct leg *leg)
{
	const char **last = &path->nodes[path->hop_count];

	*last = path->hop_count ? join(path, *last, leg->src) : leg->src;
	path->hops[path->hop_count++] = leg->transport;
	path->nodes[path->hop_count] = leg->dst;
}

/* Lists differing values of legs side by side: several rails, several memory types. */
static const char *side_by_side(struct strings *strings, const struct legs *const *all,
				size_t field)
{
	char text[MAX_TEXT] = "";
	const char *first = NULL;
	size_t used = 0;

	for (int side = 0; side < 2 && all[side]; side++)
		for (const struct leg *leg = all[side]->sorts; leg; leg = leg->next) {
			const char *name;

			memcpy(&name, (const char *)leg + field, sizeof(name));
			if (used && strstr(text, text_of(name)))
				continue;
			first = used ? NULL : name;
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? "+" : "", text_of(name));
			if (used >= sizeof(text))
				return NULL;
		}
	return first || !strcmp(text, UNKNOWN) ? first : strings_intern(strings, text);
}

static void add_legs(struct strings *strings, struct path *path, const struct legs *one,
		     const struct legs *other)
{
	const struct legs *all[] = { one ? one : other, one ? other : NULL };
	struct leg leg;

	if (!all[0] || (!all[0]->count && !(all[1] && all[1]->count)))
		return;
	leg.transport = side_by_side(strings, all, offsetof(struct leg, transport));
	leg.src = side_by_side(strings, all, offsetof(struct leg, src));
	leg.dst = side_by_side(strings, all, offsetof(struct leg, dst));
	add_hop(path, &leg);
}

static const char *listed(struct strings *strings, const char *const *names, int count)
{
	char text[MAX_NODES * MAX_TEXT];
	size_t used = 0;

	for (int i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "",
					 text_of(names[i]));
	return strings_intern(strings, text);
}

static bool incomplete(const struct legs *copies, uint64_t bytes)
{
	return copies && copies->count && copies->bytes != bytes;
}

const char *way_lacks(const struct way *send, const struct way *recv, uint64_t bytes)
{
	uint64_t carried = (send ? send->data.bytes : 0) + (recv ? recv->data.bytes : 0);

	if (bytes == UINT64_MAX)
		return "its length is not known";
	if (!bytes)
		return "it has no bytes";
	if (!carried && !recv)
		return "the operation that received it is not known";
	if (!carried)
		return "no transfer of its data was seen";
	if (carried != bytes)
		return "its transfers' bytes are not its own";
	if (incomplete(send ? &send->copies : NULL, bytes) ||
	    incomplete(recv ? &recv->copies : NULL, bytes))
		return "its copies' bytes are not its own";
	return NULL;
}

struct chain chain_of(struct strings *strings, const struct way *send, const struct way *recv,
		      const char *src, const char *dst, uint64_t bytes)
{
	struct chain chain = { .reason = way_lacks(send, recv, bytes) };
	struct path path = { 0 };

	if (chain.reason)
		return chain;
	add_legs(strings, &path, send ? &send->copies : NULL, NULL);
	add_legs(strings, &path, send ? &send->data : NULL, recv ? &recv->data : NULL);
	add_legs(strings, &path, recv ? &recv->copies : NULL, NULL);
	path.nodes[0] = join(&path, path.nodes[0], src);
	path.nodes[path.hop_count] = join(&path, path.nodes[path.hop_count], dst);
	if (path.broken) {
		chain.reason = "its transfers do not join up";
		return chain;
	}
	chain.nodes = listed(strings, path.nodes, path.hop_count + 1);
	chain.hops = listed(strings, path.hops, path.hop_count);
	return chain;
}
