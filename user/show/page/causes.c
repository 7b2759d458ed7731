// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/causes.h"

#include <string.h>

#define MOST_KINDS 65536
#define MOST_SETS 262144
#define MOST_MEMBERS 512 /* of a set */

const enum fact_key causes_keys[CAUSES_KEYS] = {
	KEY_FUNCTION,  KEY_PLACE,     KEY_UCP_OP,    KEY_OP,      KEY_PROTOCOL,
	KEY_TRANSPORT, KEY_DEVICE,    KEY_SRC_MEM,   KEY_DST_MEM, KEY_LOCALITY,
	KEY_KIND,      KEY_DATA_PATH, KEY_INITIATOR, KEY_PROCESS,
};

void page_causes_init(struct page_causes *causes)
{
	*causes = (struct page_causes){ 0 };
	vec_add(&causes->sets);
}

void page_causes_release(struct page_causes *causes)
{
	vec_release(&causes->kinds);
	rowset_release(&causes->index);
	vec_release(&causes->sets);
	map_release(&causes->sums);
	vec_release(&causes->of);
	vec_release(&causes->calls);
	vec_release(&causes->sizes);
}

/* The set of all kinds that a set has up to one, and that one. */
static uint32_t set_child(struct page_causes *causes, uint32_t parent, uint32_t kind)
{
	bool fresh;
	uint64_t *at = map_insert(&causes->sums, parent, kind, &fresh);
	const struct causes_set set = { parent, kind, causes->sets.data[parent].count + 1 };

	if (!fresh)
		return (uint32_t)*at;
	*at = causes->sets.len;
	vec_push(&causes->sets, set);
	causes->given_up =
		causes->given_up || causes->sets.len > MOST_SETS || set.count >= MOST_MEMBERS;
	return (uint32_t)(causes->sets.len - 1);
}

/* A set with a kind that comes before its last one: the kinds behind it follow again. */
static uint32_t set_inserted(struct page_causes *causes, uint32_t set, uint32_t kind)
{
	uint32_t above[MOST_MEMBERS], count = 0;

	for (; set && causes->sets.data[set].last > kind; set = causes->sets.data[set].parent)
		above[count++] = causes->sets.data[set].last;
	if (!set || causes->sets.data[set].last != kind)
		set = set_child(causes, set, kind);
	while (count && !causes->given_up)
		set = set_child(causes, set, above[--count]);
	return set;
}

static uint32_t set_with(struct page_causes *causes, uint32_t set, uint32_t kind)
{
	const uint64_t *known = map_find(&causes->sums, set, kind);
	uint32_t sum;

	if (known)
		return (uint32_t)*known;
	if (!set || causes->sets.data[set].last < kind)
		return set_child(causes, set, kind);
	sum = set_inserted(causes, set, kind);
	*map_insert(&causes->sums, set, kind, NULL) = sum;
	return sum;
}

static uint32_t kind_number(struct page_causes *causes, enum causes_layer layer,
			    const uint32_t *key)
{
	struct causes_kind kind = { .layer = layer };
	size_t n;

	for (int i = 0; i < CAUSES_KEYS; i++)
		kind.code[i] = key[causes_keys[i]];
	n = rowset_add(&causes->index, ROWSET_ROWS(&causes->kinds, sizeof(kind)), &kind);
	if (n == causes->kinds.len)
		vec_push(&causes->kinds, kind);
	causes->given_up = causes->given_up || causes->kinds.len > MOST_KINDS;
	return (uint32_t)n;
}

/* Ids count from 1. */
#define REACH(vec, id)                                                                             \
	do {                                                                                       \
		while ((vec)->len <= (id))                                                         \
			vec_add(vec);                                                              \
	} while (0)

void page_causes_add(struct page_causes *causes, uint64_t id, enum causes_layer layer,
		     const uint32_t *key)
{
	if (!id || causes->given_up)
		return;
	REACH(&causes->of, id);
	causes->of.data[id] =
		set_with(causes, causes->of.data[id], kind_number(causes, layer, key));
}

void page_causes_made(struct page_causes *causes, uint64_t call, uint64_t op)
{
	if (!call || !op || causes->given_up)
		return;
	REACH(&causes->calls, op);
	causes->calls.data[op] = (uint32_t)call;
}

void page_causes_call(struct page_causes *causes, uint64_t call, uint8_t size)
{
	if (!call)
		return;
	REACH(&causes->sizes, call);
	causes->sizes.data[call] = size;
}

static uint32_t set_sum(struct page_causes *causes, uint32_t a, uint32_t b)
{
	for (; b && !causes->given_up; b = causes->sets.data[b].parent)
		a = set_with(causes, a, causes->sets.data[b].last);
	return a;
}

void page_causes_end(struct page_causes *causes)
{
	for (size_t op = 0; op < causes->calls.len && !causes->given_up; op++) {
		const uint32_t call = causes->calls.data[op];

		if (!call || op >= causes->of.len)
			continue;
		REACH(&causes->of, call);
		causes->of.data[call] = set_sum(causes, causes->of.data[call], causes->of.data[op]);
	}
	causes->known = !causes->given_up;
	vec_release(&causes->calls);
	map_release(&causes->sums);
	rowset_release(&causes->index);
	if (causes->known)
		return;
	vec_release(&causes->of);
	vec_release(&causes->kinds);
	causes->sets.len = 1;
}

uint32_t page_causes_code(const struct page_causes *causes, uint64_t id)
{
	if (!causes->known)
		return 0;
	return (id < causes->of.len ? causes->of.data[id] : 0) + 1;
}

uint8_t page_causes_size(const struct page_causes *causes, uint64_t call)
{
	return call < causes->sizes.len ? causes->sizes.data[call] : 0;
}
