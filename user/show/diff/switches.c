// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares the sizes from which on operations go by another protocol. Captures tell the sizes that
 * a program used: a switch point lies between two of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "show/diff/internal.h"

/* Sizes that follow each other and have the same protocols. */
struct step {
	const char *protocols; /* kept: "eager/short", "eager/bcopy or rndv/get" */
	uint64_t from, to;
};

/* A size, and all protocols that it has. */
struct rung {
	uint64_t size;
	const char *protocols; /* kept, as a step's */
	const struct diff_size
		*list; /* in order; the same one of several functions follows itself */
	size_t count;
};

/* Those of one operation, to one place, from one memory, in order of size. */
struct ladder {
	VEC(struct step) steps;
	VEC(struct rung) rungs;
	bool mixed; /* some size has several protocols */
};

struct switches {
	struct diff *diff;
	const struct diff_size *key; /* op, locality and memory */
	const char *function; /* NULL: all functions */
	struct ladder sides[DIFF_SIDES];
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_keys(const struct diff_size *a, const struct diff_size *b)
{
	int order = compare_text(a->op, b->op);

	order = order ? order : compare_text(a->locality, b->locality);
	return order ? order : compare_text(a->memory, b->memory);
}

/* Sizes of one ladder. */
static int by_size(const void *left, const void *right)
{
	const struct diff_size *a = left, *b = right;
	int order = (a->side > b->side) - (a->side < b->side);

	order = order ? order : (a->size > b->size) - (a->size < b->size);
	return order ? order : strcmp(a->protocol, b->protocol);
}

static int by_key(const void *left, const void *right)
{
	int order = compare_keys(left, right);

	order = order ? order
		      : compare_text(((const struct diff_size *)left)->function,
				     ((const struct diff_size *)right)->function);
	return order ? order : by_size(left, right);
}

/* ---- ladders ---- */

/* list: all of one size. */
static void add_rung(struct diff *diff, struct ladder *ladder, const struct diff_size *list,
		     size_t count)
{
	struct diff_texts protocols = { 0 };
	struct rung rung = { .size = list->size, .list = list, .count = count };

	for (size_t i = 0; i < count; i++)
		if (!i || list[i].protocol != list[i - 1].protocol)
			diff_texts_add(&protocols, list[i].protocol);
	ladder->mixed = ladder->mixed || protocols.count > 1;
	rung.protocols = diff_texts_join(diff, &protocols, " or ");
	vec_push(&ladder->rungs, rung);
}

static void make_steps(struct ladder *ladder)
{
	for (size_t i = 0; i < ladder->rungs.len; i++) {
		const struct rung *rung = &ladder->rungs.data[i];
		struct step *last =
			ladder->steps.len ? &ladder->steps.data[ladder->steps.len - 1] : NULL;

		if (last && last->protocols == rung->protocols)
			last->to = rung->size;
		else
			vec_push(&ladder->steps,
				 ((struct step){ rung->protocols, rung->size, rung->size }));
	}
}

static void clear(struct ladder *ladder)
{
	vec_release(&ladder->steps);
	vec_release(&ladder->rungs);
}

/* ---- rows ---- */

static const char *sizes_text(struct diff *diff, uint64_t from, uint64_t to)
{
	char low[32], high[32];

	unit_count(low, sizeof(low), from, true);
	unit_count(high, sizeof(high), to, true);
	return from == to ? diff_keepf(diff, "%s B", low) : diff_keepf(diff, "%s-%s B", low, high);
}

/* from: size that the row begins at. */
static void add_row(struct switches *switches, uint64_t from, const char *at, const char *before,
		    const char *after, enum diff_verdict verdict)
{
	const char *keys[DIFF_KEYS] = { switches->key->op, switches->key->locality,
					switches->key->memory, switches->function, at };
	struct diff_row *row = diff_row_add(switches->diff, TABLE_SWITCHES, keys);

	row->verdict = verdict;
	row->order = UINT64_MAX - from;
	row->values[DIFF_BEFORE] = (struct diff_value){ .there = before, .text = before };
	row->values[DIFF_AFTER] = (struct diff_value){ .there = after, .text = after };
}

/* The one step of these protocols, by its number; negative: none, or several. */
static long find_step(const struct ladder *ladder, const char *protocols)
{
	long found = -1;

	for (size_t i = 0; i < ladder->steps.len; i++) {
		if (ladder->steps.data[i].protocols != protocols)
			continue;
		if (found >= 0)
			return -1;
		found = (long)i;
	}
	return found;
}

/* Below its first size, and above the last one of the step before, if there is one. */
static const char *switch_text(struct switches *switches, const struct step *step, bool first)
{
	char above[32], most[32];

	unit_count(most, sizeof(most), step->from, true);
	if (first)
		return diff_keepf(switches->diff, "at most %s B", most);
	unit_count(above, sizeof(above), step[-1].to, true);
	return diff_keepf(switches->diff, "above %s B, at most %s B", above, most);
}

/* A step of both sides: its switch point has moved if it cannot be at the same size. */
static bool compare_switch(struct switches *switches, const char *protocols)
{
	const struct ladder *before = &switches->sides[DIFF_BEFORE];
	const struct ladder *after = &switches->sides[DIFF_AFTER];
	const long a = find_step(before, protocols), b = find_step(after, protocols);
	const struct step *from, *to;
	bool moved;

	if (a < 0 || b < 0 || (!a && !b))
		return false;
	from = &before->steps.data[a];
	to = &after->steps.data[b];
	moved = (b && from->from <= to[-1].to) || (a && to->from <= from[-1].to);
	add_row(switches, from->from, diff_keepf(switches->diff, "to %s", protocols),
		switch_text(switches, from, !a), switch_text(switches, to, !b),
		moved ? DIFF_CHANGED : DIFF_SAME);
	return moved;
}

/* Whether the one has all protocols of the other. */
static bool is_within(const struct rung *part, const struct rung *whole)
{
	size_t at = 0;

	for (size_t i = 0; i < part->count; i++) {
		while (at < whole->count &&
		       strcmp(whole->list[at].protocol, part->list[i].protocol) < 0)
			at++;
		if (at == whole->count || whole->list[at].protocol != part->list[i].protocol)
			return false;
	}
	return true;
}

/* Several sizes have two protocols where, say, messages of one size are laid out in two ways. */
static bool differ(const struct rung *a, const struct rung *b)
{
	return !is_within(a, b) && !is_within(b, a);
}

/* Sizes that both sides have and that go by other protocols: a row for each run of alike ones. */
static void compare_sizes(struct switches *switches)
{
	const struct ladder *a = &switches->sides[DIFF_BEFORE], *b = &switches->sides[DIFF_AFTER];
	const struct rung *first[DIFF_SIDES] = { NULL, NULL };
	uint64_t last = 0;

	for (size_t i = 0, j = 0; i < a->rungs.len && j < b->rungs.len;) {
		const struct rung *left = &a->rungs.data[i], *right = &b->rungs.data[j];

		if (left->size != right->size) {
			left->size < right->size ? i++ : j++;
			continue;
		}
		if (first[0] && (first[0]->protocols != left->protocols ||
				 first[1]->protocols != right->protocols)) {
			add_row(switches, first[0]->size,
				sizes_text(switches->diff, first[0]->size, last),
				first[0]->protocols, first[1]->protocols, DIFF_CHANGED);
			first[0] = NULL;
		}
		if (!first[0] && differ(left, right)) {
			first[0] = left;
			first[1] = right;
		}
		last = left->size;
		i++;
		j++;
	}
	if (first[0])
		add_row(switches, first[0]->size, sizes_text(switches->diff, first[0]->size, last),
			first[0]->protocols, first[1]->protocols, DIFF_CHANGED);
}

static void compare_ladders(struct switches *switches)
{
	const struct ladder *before = &switches->sides[DIFF_BEFORE];
	size_t moved = 0;

	if (!before->rungs.len || !switches->sides[DIFF_AFTER].rungs.len)
		return;
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++)
		make_steps(&switches->sides[side]);
	for (size_t i = 0; i < before->steps.len; i++)
		moved += compare_switch(switches, before->steps.data[i].protocols);
	if (!moved)
		compare_sizes(switches);
}

/* sizes: by side, size and protocol; they must stay until the ladders are released. */
static void make_ladders(struct switches *switches, const struct diff_size *sizes, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && sizes[end].side == sizes[i].side &&
			      sizes[end].size == sizes[i].size;
		     end++)
			;
		add_rung(switches->diff, &switches->sides[sizes[i].side], &sizes[i], end - i);
	}
}

static void release(struct switches *switches)
{
	clear(&switches->sides[DIFF_BEFORE]);
	clear(&switches->sides[DIFF_AFTER]);
}

/* Functions may have switch points of their own: blocking sends of UCX 1.13 have a later one. */
static void compare_functions(struct diff *diff, const struct diff_size *sizes, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		const char *function = sizes[i].function;
		struct switches switches = { .diff = diff, .key = sizes };

		switches.function = function ? function : diff_keep(diff, FACT_OUTSIDE_MPI);
		for (end = i; end < count && sizes[end].function == function; end++)
			;
		make_ladders(&switches, &sizes[i], end - i);
		compare_ladders(&switches);
		release(&switches);
	}
}

/* Sizes of one operation, locality and memory, by function. */
static void compare_sorted(struct diff *diff, const struct diff_size *sizes, size_t count)
{
	struct switches switches = { .diff = diff, .key = sizes };
	struct diff_size *all = xcalloc(count, sizeof(*all));

	memcpy(all, sizes, count * sizeof(*all));
	qsort(all, count, sizeof(*all), by_size);
	make_ladders(&switches, all, count);
	if (switches.sides[DIFF_BEFORE].mixed || switches.sides[DIFF_AFTER].mixed)
		compare_functions(diff, sizes, count);
	else
		compare_ladders(&switches);
	release(&switches);
	free(all);
}

void diff_compare_switches(struct diff *diff)
{
	const struct diff_size *list = diff->sizes.data;
	const size_t count = diff->sizes.len;

	if (diff->limits.level < LEVEL_UCT || diff->limits.protocols || !count)
		return;
	rowset_release(&diff->sizes_by_key); /* rows move */
	diff->sizes_by_key = (struct rowset){ 0 };
	qsort(diff->sizes.data, count, sizeof(*diff->sizes.data), by_key);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && !compare_keys(&list[i], &list[end]); end++)
			;
		compare_sorted(diff, &list[i], end - i);
	}
}
