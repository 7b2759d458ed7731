// SPDX-License-Identifier: BSD-3-Clause
/* Lines between sizes of messages: what policies and rules speak of, and powers of two. */
#include "base/order.h"
#include "site/judge/exhibits/exhibits.h"

/* Powers of two between them are lines, so that most policies can judge what others gathered. */
#define LEAST_SIZE 1024u
#define MOST_SIZE (16u << 20)

static int by_size(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void exhibits_line(struct exhibits *exhibits, uint64_t bytes)
{
	for (size_t i = 0; i < exhibits->sizes.len; i++)
		if (exhibits->sizes.data[i] == bytes)
			return;
	vec_push(&exhibits->sizes, bytes);
	qsort(exhibits->sizes.data, exhibits->sizes.len, sizeof(bytes), by_size);
}

void exhibits_draw_lines(struct exhibits *exhibits)
{
	const struct policy *policy = exhibits->policy;

	for (uint64_t size = LEAST_SIZE; size <= MOST_SIZE; size *= 2)
		exhibits_line(exhibits, size);
	for (size_t i = 0; i < policy->expect.len; i++) {
		exhibits_line(exhibits, policy->expect.data[i].from);
		exhibits_line(exhibits, policy->expect.data[i].to);
	}
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		for (size_t k = 0; k < CATALOGUE_PARAMS; k++)
			if (catalogue[i].params[k].type == PARAM_SIZE)
				exhibits_line(exhibits, policy->rules[i].number[k]);
}

uint64_t exhibits_class_from(const struct exhibits *exhibits, int class)
{
	return class ? exhibits->sizes.data[class - 1] : 0;
}

/* How many of the lines are at or below it. */
int exhibits_size_class(const struct exhibits *exhibits, uint64_t bytes)
{
	return (int)search_count(exhibits->sizes.len, at, exhibits->sizes.data[at] <= bytes);
}

bool cell_at_least(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes)
{
	if (cell->size_class == CELL_UNSIZED)
		return cell->least >= bytes;
	return cell->size_class >= exhibits_size_class(exhibits, bytes);
}

bool cell_below(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes)
{
	if (cell->size_class == CELL_UNSIZED)
		return false;
	return cell->size_class < exhibits_size_class(exhibits, bytes);
}
