// SPDX-License-Identifier: BSD-3-Clause
/* The levels of the timeline, each made of the one before. */
#include <stdio.h>
#include <string.h>

#include "show/page/internal.h"

#define LAST_LEVEL 256 /* buckets */
#define HALVINGS 2 /* from level to level */

static int order_of(const struct page_lane *a, const struct page_lane *b)
{
	bool devices = a->layer == LAYER_DEVICE;

	if (devices != (b->layer == LAYER_DEVICE))
		return devices ? 1 : -1;
	if (devices && a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	if (a->transport != b->transport)
		return a->transport < b->transport ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int by_lane(const void *left, const void *right, void *arg)
{
	const struct page_lane *lanes = arg;

	return order_of(&lanes[*(const uint32_t *)left], &lanes[*(const uint32_t *)right]);
}

void page_order_lanes(struct page *page)
{
	size_t count = page->timeline.lanes.len;

	for (size_t i = 0; i < count; i++)
		vec_push(&page->order, i);
	if (count)
		qsort_r(page->order.data, count, sizeof(uint32_t), by_lane,
			page->timeline.lanes.data);
	vec_reserve(&page->rank, count + 1);
	page->rank.len = count;
	for (size_t i = 0; i < count; i++)
		page->rank.data[page->order.data[i]] = i;
}

/* A lane's bucket, over all names. */
struct block {
	uint64_t bucket, started, busy, bytes, share;
	uint32_t lane, name;
};

struct blocks {
	VEC(struct block) all;
};

/* The spans of one lane and bucket are neighbours. */
static size_t sum_block(const struct page_timeline *timeline, size_t from, struct block *block)
{
	const struct page_span *first = &timeline->spans.data[from];
	uint64_t most = 0;
	size_t i;

	*block =
		(struct block){ .bucket = first->bucket, .lane = first->lane, .name = first->name };
	for (i = from; i < timeline->spans.len; i++) {
		const struct page_span *span = &timeline->spans.data[i];

		if (span->lane != first->lane || span->bucket != first->bucket)
			break;
		if (span->busy > most) {
			most = span->busy;
			block->name = span->name;
		}
		block->started += span->started;
		block->busy += span->busy;
		block->bytes += span->bytes;
	}
	block->share = block->busy ? (uint64_t)((double)most / (double)block->busy * 255) : 0;
	return i;
}

static uint64_t host_first(const struct page *page, const struct block *block)
{
	int host = page->timeline.lanes.data[block->lane].host;

	return host < 0 ? 0 : page->hosts.hosts.data[host].first;
}

static void put_blocks(struct page *page, const struct blocks *blocks)
{
	static const struct {
		const char *name;
		size_t offset; /* of a uint64_t in struct block */
	} columns[] = {
		{ "bucket", offsetof(struct block, bucket) },
		{ "started", offsetof(struct block, started) },
		{ "busy", offsetof(struct block, busy) },
		{ "bytes", offsetof(struct block, bytes) },
		{ "share", offsetof(struct block, share) },
	};
	size_t count = blocks->all.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++) {
		for (size_t i = 0; i < count; i++)
			memcpy(&values[i], (const char *)&blocks->all.data[i] + columns[c].offset,
			       sizeof(*values));
		page_pack_column(&page->pack, columns[c].name, count);
	}
	for (size_t i = 0; i < count; i++)
		values[i] = blocks->all.data[i].name;
	page_pack_column(&page->pack, "name", count);
}

/* Where each lane's blocks begin, in the order of lanes. */
static uint64_t *lane_starts(const struct page *page, const struct blocks *blocks)
{
	uint64_t *first = NULL;
	size_t at = 0, room = 0;

	first = vec_grow(first, &room, page->order.len + 1, sizeof(*first));
	for (size_t lane = 0; lane < page->order.len; lane++) {
		first[lane] = at;
		while (at < blocks->all.len && blocks->all.data[at].lane == page->order.data[lane])
			at++;
	}
	return first;
}

static void put_level(struct page *page)
{
	struct page_timeline *timeline = &page->timeline;
	struct blocks blocks = { 0 };

	page_timeline_sort(timeline, page->rank.data);
	for (size_t i = 0; i < timeline->spans.len;) {
		struct block *block = vec_add(&blocks.all);

		i = sum_block(timeline, i, block);
		block->bucket -= host_first(page, block) >> timeline->shift;
	}
	page_pack_begin(&page->pack, "level", true);
	put_blocks(page, &blocks);
	page_pack_end(&page->pack);
	vec_push(&page->levels,
		 ((struct page_level){ timeline->shift, lane_starts(page, &blocks) }));
	vec_release(&blocks.all);
}

static void drop_finest(struct page *page, size_t section)
{
	page_pack_drop(&page->pack, section);
	free(page->levels.data[0].first);
	page->levels.len--;
	memmove(page->levels.data, page->levels.data + 1,
		page->levels.len * sizeof(*page->levels.data));
}

void page_put_levels(struct page *page)
{
	size_t section = page->pack.sections.len, before = page->pack.total;
	struct page_timeline *timeline = &page->timeline;

	put_level(page);
	while (page_hosts_buckets(&page->hosts, timeline->shift) >= LAST_LEVEL) {
		page_timeline_coarsen(timeline, HALVINGS);
		put_level(page);
	}
	while (page->pack.total - before > page_shares(page).timeline && page->levels.len > 1)
		drop_finest(page, section);
	for (size_t i = 0; i < page->levels.len; i++) {
		struct page_section *level = &page->pack.sections.data[section + i];

		snprintf(level->name, sizeof(level->name), "level%zu", i);
	}
}
