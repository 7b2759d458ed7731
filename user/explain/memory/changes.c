// SPDX-License-Identifier: BSD-3-Clause
/*
 * Changes in order of time, in blocks, and in blocks of blocks. Between two times lie a few blocks
 * of each level, and a few changes at either end.
 */
#include "explain/memory/changes.h"

#include "base/order.h"

#define CHANGES_IN_BLOCK 32

void changes_release(struct memory_changes *changes)
{
	for (int level = 0; level < CHANGE_LEVELS; level++) {
		for (size_t i = 0; i < changes->blocks[level].len; i++) {
			vec_release(&changes->blocks[level].data[i].made);
			vec_release(&changes->blocks[level].data[i].ended);
		}
		vec_release(&changes->blocks[level]);
	}
	vec_release(&changes->all);
	vec_release(&changes->places);
}

void changes_add(struct memory_changes *changes, uint64_t ts, uint64_t start, uint64_t size)
{
	vec_push(&changes->all, ((struct memory_change){ ts, start, size }));
}

static int change_by_time(const void *left, const void *right)
{
	return order_compare(((const struct memory_change *)left)->ts,
			     ((const struct memory_change *)right)->ts);
}

static int span_by_start(const void *left, const void *right)
{
	return order_compare(((const struct memory_span *)left)->start,
			     ((const struct memory_span *)right)->start);
}

static void add_span(memory_spans *spans, uint64_t start, uint64_t size)
{
	const uint64_t end = size < UINT64_MAX - start ? start + size : UINT64_MAX;

	vec_push(spans, ((struct memory_span){ start, end }));
}

static void join_spans(memory_spans *spans)
{
	size_t kept = 0;

	if (!spans->len)
		return;
	qsort(spans->data, spans->len, sizeof(*spans->data), span_by_start);
	for (size_t i = 1; i < spans->len; i++) {
		struct memory_span *last = &spans->data[kept];
		const struct memory_span *next = &spans->data[i];

		if (next->start > last->end)
			spans->data[++kept] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	spans->len = kept + 1;
}

static void block_sort(struct change_block *block)
{
	size_t kept = 0;

	join_spans(&block->made);
	if (!block->ended.len)
		return;
	qsort(block->ended.data, block->ended.len, sizeof(*block->ended.data), order_by_value);
	for (size_t i = 1; i < block->ended.len; i++)
		if (block->ended.data[i] != block->ended.data[kept])
			block->ended.data[++kept] = block->ended.data[i];
	block->ended.len = kept + 1;
}

static void block_add_change(struct change_block *block, const struct memory_change *change)
{
	if (change->size)
		add_span(&block->made, change->start, change->size);
	else
		vec_push(&block->ended, change->start);
}

static void block_add_block(struct change_block *block, const struct change_block *part)
{
	for (size_t i = 0; i < part->made.len; i++)
		vec_push(&block->made, part->made.data[i]);
	for (size_t i = 0; i < part->ended.len; i++)
		vec_push(&block->ended, part->ended.data[i]);
}

static void make_blocks(struct memory_changes *changes, int level)
{
	const size_t parts = level ? changes->blocks[level - 1].len : changes->all.len;

	for (size_t i = 0; i + CHANGES_IN_BLOCK <= parts; i += CHANGES_IN_BLOCK) {
		struct change_block *block = vec_add(&changes->blocks[level]);

		for (size_t k = i; k < i + CHANGES_IN_BLOCK; k++)
			if (level)
				block_add_block(block, &changes->blocks[level - 1].data[k]);
			else
				block_add_change(block, &changes->all.data[k]);
		block_sort(block);
	}
}

void changes_ready(struct memory_changes *changes)
{
	if (!changes->all.len)
		return;
	qsort(changes->all.data, changes->all.len, sizeof(*changes->all.data), change_by_time);
	for (size_t i = 0; i < changes->all.len; i++) {
		const struct memory_change *change = &changes->all.data[i];

		if (change->size != UINT64_MAX)
			add_span(&changes->places, change->start, change->size ? change->size : 1);
	}
	join_spans(&changes->places);
	for (int level = 0; level < CHANGE_LEVELS; level++)
		make_blocks(changes, level);
}

static bool in_spans(const memory_spans *spans, uint64_t address)
{
	size_t i = search_count(spans->len, at, spans->data[at].end <= address);

	return i < spans->len && spans->data[i].start <= address;
}

bool changes_at(const struct memory_changes *changes, uint64_t address)
{
	return in_spans(&changes->places, address);
}

/* An end tells where its memory began only: any that began in the same region may be it. */
static bool change_concerns(const struct memory_change *change, uint64_t start, uint64_t address)
{
	if (change->size)
		return change->start <= address && address - change->start < change->size;
	return change->start >= start && change->start <= address;
}

static bool block_concerns(const struct change_block *block, uint64_t start, uint64_t address)
{
	size_t i = search_count(block->ended.len, at, block->ended.data[at] < start);

	return (i < block->ended.len && block->ended.data[i] <= address) ||
	       in_spans(&block->made, address);
}

bool changes_between(const struct memory_changes *changes, uint64_t from, uint64_t until,
		     uint64_t start, uint64_t address)
{
	const size_t end = search_count(changes->all.len, at, changes->all.data[at].ts <= until);
	size_t next = search_count(changes->all.len, at, changes->all.data[at].ts < from);

	while (next < end) {
		const struct change_block *block = NULL;
		size_t step = 1, size = CHANGES_IN_BLOCK;

		for (int level = 0; level < CHANGE_LEVELS && next % size == 0 && end - next >= size;
		     level++, size *= CHANGES_IN_BLOCK) {
			block = &changes->blocks[level].data[next / size];
			step = size;
		}
		if (block ? block_concerns(block, start, address)
			  : change_concerns(&changes->all.data[next], start, address))
			return true;
		next += step;
	}
	return false;
}
