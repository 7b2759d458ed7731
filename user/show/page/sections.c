// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes the sections of numbers: sums, coarsened until they fit; the levels of the timeline, each
 * made from the one before; lanes, events, threads and messages, thinned until they fit.
 */
#include "show/page/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/vec.h"

#define PAGE_BYTES (24u << 20) /* at most, by itself */

struct page_shares page_shares(const struct page *page)
{
	size_t all = page->options.bytes ? page->options.bytes : PAGE_BYTES;

	return (struct page_shares){ all, all / 3, all / 6 };
}

static void put_keys(struct page_pack *pack, const struct page_cells *cells, unsigned int columns)
{
	size_t count = cells->keys.rows.len;

	for (int column = 0; column < PAGE_KEYS; column++) {
		uint64_t *values = page_pack_values(pack, count);

		if (!(columns >> column & 1))
			continue;
		for (size_t i = 0; i < count; i++)
			values[i] = cells->keys.rows.data[i].code[column];
		page_pack_column(pack, page_key_name(column), count);
	}
}

/* Buckets count from the bucket in which the host's trace starts. */
static uint64_t bucket(const struct page *page, const struct page_cells *cells, enum page_sort sort,
		       const struct page_cell *cell)
{
	const struct page_key *key = &cells->keys.rows.data[cell->key];
	uint32_t who = key->code[sort == PAGE_MESSAGES ? KEY_SRC : KEY_PROCESS];
	const struct page_host *host = page_host_of(&page->hosts, (int)who - 1);

	if (!cell->time)
		return 0;
	return cell->time - (host ? host->first >> page->cube.shift : 0);
}

/* If all times of a cell are exact, its exact sums equal others, and 0 stands for them. */
static uint64_t cell_sum(const struct page_cell *cell, enum page_sum sum)
{
	const uint64_t *of = cell->sums.of;
	bool all = of[SUM_EXACT] == of[SUM_TIMED] && of[SUM_TIMED] == of[SUM_COUNT];

	return all && sum >= SUM_EXACT && sum <= SUM_EXACT_BYTES ? 0 : of[sum];
}

static void put_cells(struct page *page, enum page_sort sort)
{
	const struct page_cells *cells = &page->cube.of[sort];
	const struct page_shape *shape = &page_shapes[sort];
	size_t count = cells->cells.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	for (size_t i = 0; i < count; i++)
		values[i] = cells->cells.data[i].key;
	page_pack_column(&page->pack, "key", count);
	for (size_t i = 0; i < count; i++)
		values[i] = bucket(page, cells, sort, &cells->cells.data[i]);
	page_pack_column(&page->pack, "time", count);
	for (size_t i = 0; i < count; i++)
		values[i] = cells->cells.data[i].size;
	page_pack_column(&page->pack, "size", count);
	for (int sum = 0; sum < PAGE_SUMS; sum++) {
		if (!shape->sums[sum])
			continue;
		for (size_t i = 0; i < count; i++)
			values[i] = cell_sum(&cells->cells.data[i], sum);
		page_pack_column(&page->pack, shape->sums[sum], count);
	}
	if (!shape->sums[SUM_TIMED])
		return;
	for (size_t i = 0; i < count; i++)
		values[i] = cells->cells.data[i].sums.precisions;
	page_pack_column(&page->pack, "precision", count);
}

/* Kinds by their codes, and sets as a tree whose parents come first. */
static void put_causes(struct page *page)
{
	const struct page_causes *causes = &page->causes;
	const size_t kinds = causes->kinds.len, sets = causes->sets.len;
	uint64_t *values = page_pack_values(&page->pack, kinds > sets ? kinds : sets);

	page_pack_begin(&page->pack, "causes", true);
	for (size_t i = 0; i < kinds; i++)
		values[i] = causes->kinds.data[i].layer;
	page_pack_column(&page->pack, "layer", kinds);
	for (int column = 0; column < CAUSES_KEYS; column++) {
		for (size_t i = 0; i < kinds; i++)
			values[i] = causes->kinds.data[i].code[column];
		page_pack_column(&page->pack, fact_key_names[causes_keys[column]], kinds);
	}
	for (size_t i = 0; i < sets; i++)
		values[i] = causes->sets.data[i].parent;
	page_pack_column(&page->pack, "parent", sets);
	for (size_t i = 0; i < sets; i++)
		values[i] = causes->sets.data[i].last;
	page_pack_column(&page->pack, "last", sets);
	page_pack_end(&page->pack);
}

static void cube_put_all(struct page *page)
{
	page_cube_sort(&page->cube);
	put_causes(page);
	for (int sort = 0; sort < PAGE_SORTS; sort++) {
		page_pack_begin(&page->pack, page_shapes[sort].name, true);
		put_keys(&page->pack, &page->cube.of[sort], page_cube_keyed(&page->cube, sort));
		put_cells(page, sort);
		page_pack_end(&page->pack);
	}
}

void page_put_cube(struct page *page)
{
	size_t sections = page->pack.sections.len, before = page->pack.total;

	cube_put_all(page);
	while (page->pack.total - before > page_shares(page).cube &&
	       page_cube_coarsen(&page->cube)) {
		page_pack_cut(&page->pack, sections);
		cube_put_all(page);
	}
}

#define LAST_LEVEL 256 /* buckets */
#define HALVINGS 2 /* from level to level */

static int order_of(const struct page_lane *a, const struct page_lane *b)
{
	bool devices = a->layer == LEVEL_BESIDE;

	if (devices != (b->layer == LEVEL_BESIDE))
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
	uint64_t bucket, started, busy, bytes, waited, share;
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
		block->waited += span->waited;
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
		{ "waited", offsetof(struct block, waited) },
		{ "share", offsetof(struct block, share) },
	};
	size_t count = blocks->all.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		for (size_t i = 0; i < count; i++)
			memcpy(&values[i], (const char *)&blocks->all.data[i] + columns[c].offset,
			       sizeof(*values));
		page_pack_column(&page->pack, columns[c].name, count);
	}
	for (size_t i = 0; i < count; i++)
		values[i] = blocks->all.data[i].name;
	page_pack_column(&page->pack, "name", count);
}

/* The first block of each lane, in the order of lanes. */
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

/* Position of the events with ids, plus 1. */
static void index_events(const struct page_events *events, struct map *index)
{
	for (size_t i = 0; i < events->events.len; i++)
		if (events->events.data[i].id)
			*map_insert(index, events->events.data[i].id, 0, NULL) = i + 1;
}

static uint64_t event_of(const struct map *index, uint64_t id)
{
	const uint64_t *at = id ? map_find(index, id, 0) : NULL;

	return at ? *at : 0;
}

static uint64_t delta(const struct page_events *events, size_t i)
{
	const struct page_event *event = &events->events.data[i];
	bool first = !i || events->events.data[i - 1].lane != event->lane;

	return first ? 0 : event->start - events->events.data[i - 1].start;
}

static uint64_t field(const struct page_events *events, const struct map *index, size_t i,
		      int column)
{
	const struct page_event *event = &events->events.data[i];

	switch (column) {
	case 0:
		return delta(events, i);
	case 1:
		return event->duration;
	case 2:
		return event->precision;
	case 3:
		return event->key;
	case 4:
		return event->bytes + 1;
	case 5:
		return event->thread;
	case 6:
		return event_of(index, event->parent);
	case 7:
		return event->flags;
	}
	return event->count;
}

static void put_events(struct page *page, const struct map *index)
{
	static const char *const columns[] = { "delta",  "duration", "precision", "key",  "bytes",
					       "thread", "parent",   "flags",     "count" };
	size_t count = page->events.events.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	page_pack_begin(&page->pack, "events", true);
	for (int c = 0; c < (int)ARRAY_SIZE(columns); c++) {
		for (size_t i = 0; i < count; i++)
			values[i] = field(&page->events, index, i, c);
		page_pack_column(&page->pack, columns[c], count);
	}
	page_pack_end(&page->pack);
}

struct message_pair {
	uint64_t send, recv, arrival;
};

static int by_send(const void *left, const void *right)
{
	const struct message_pair *a = left, *b = right;

	if (a->send != b->send)
		return a->send < b->send ? -1 : 1;
	return (a->recv > b->recv) - (a->recv < b->recv);
}

static uint64_t arrival_at(const struct page *page, const struct page_link *link)
{
	const struct page_host *host =
		link->recv_host < 0 ? NULL : &page->hosts.hosts.data[link->recv_host];

	return host && link->arrival >= host->first ? link->arrival - host->first + 1 : 0;
}

static void put_links(struct page *page, const struct map *index)
{
	VEC(struct message_pair) pairs = { 0 };
	uint64_t *values;

	for (size_t i = 0; i < page->events.links.len; i++) {
		const struct page_link *link = &page->events.links.data[i];
		struct message_pair pair = { event_of(index, link->send),
					     event_of(index, link->recv), arrival_at(page, link) };

		if (pair.send || pair.recv)
			vec_push(&pairs, pair);
	}
	if (pairs.len)
		qsort(pairs.data, pairs.len, sizeof(*pairs.data), by_send);
	values = page_pack_values(&page->pack, pairs.len);
	page_pack_begin(&page->pack, "links", true);
	for (size_t i = 0; i < pairs.len; i++)
		values[i] = pairs.data[i].send;
	page_pack_column(&page->pack, "send", pairs.len);
	for (size_t i = 0; i < pairs.len; i++)
		values[i] = pairs.data[i].recv;
	page_pack_column(&page->pack, "recv", pairs.len);
	for (size_t i = 0; i < pairs.len; i++)
		values[i] = pairs.data[i].arrival;
	page_pack_column(&page->pack, "arrival", pairs.len);
	page_pack_end(&page->pack);
	vec_release(&pairs);
}

static uint64_t wait_field(const struct page *page, const struct map *index,
			   const struct page_wait *wait, int column)
{
	const uint64_t fields[] = {
		wait->process,
		event_of(index, wait->call),
		wait->start - page->hosts.hosts.data[wait->host].first,
		wait->duration,
		wait->kind,
		wait->culprit,
		wait->function,
		wait->did,
		wait->root,
		wait->root_function,
		wait->root_did,
		wait->ns,
		wait->fresh,
		wait->uncertainty,
		wait->place,
		wait->root_place,
	};

	return fields[column];
}

static void put_waits(struct page *page, const struct map *index)
{
	static const char *const columns[] = {
		"process",  "call",        "start", "duration",      "kind",     "culprit",
		"function", "did",         "root",  "root_function", "root_did", "ns",
		"fresh",    "uncertainty", "place", "root_place"
	};
	size_t count = page->events.waits.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	page_pack_begin(&page->pack, "waits", true);
	for (int c = 0; c < (int)ARRAY_SIZE(columns); c++) {
		for (size_t i = 0; i < count; i++)
			values[i] = wait_field(page, index, &page->events.waits.data[i], c);
		page_pack_column(&page->pack, columns[c], count);
	}
	page_pack_end(&page->pack);
}

static void put_threads(struct page *page)
{
	size_t count = page->events.threads.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	page_pack_begin(&page->pack, "threads", true);
	for (size_t i = 0; i < count; i++)
		values[i] = (uint64_t)page->events.threads.data[i].process + 1;
	page_pack_column(&page->pack, "process", count);
	for (size_t i = 0; i < count; i++)
		values[i] = page->events.threads.data[i].tid;
	page_pack_column(&page->pack, "tid", count);
	page_pack_end(&page->pack);
}

/* The first event of each lane, and its start. */
static void note_lanes(const struct page *page, uint64_t *first, uint64_t *start)
{
	const struct page_events *events = &page->events;
	size_t at = 0;

	for (size_t lane = 0; lane < page->order.len; lane++) {
		const struct page_lane *of = &page->timeline.lanes.data[page->order.data[lane]];

		first[lane] = at;
		start[lane] = 0;
		if (at < events->events.len &&
		    events->events.data[at].lane == page->order.data[lane])
			start[lane] = events->events.data[at].start -
				      page->hosts.hosts.data[of->host].first;
		while (at < events->events.len &&
		       events->events.data[at].lane == page->order.data[lane])
			at++;
	}
}

static uint64_t lane_field(const struct page_lane *lane, int column)
{
	switch (column) {
	case 0:
		return lane->layer;
	case 1:
		return (uint64_t)lane->process + 1;
	case 2:
		return lane->host < 0 ? 0 : (uint64_t)lane->host;
	case 3:
		return lane->transport;
	}
	return lane->device;
}

static void put_column(struct page *page, const char *name, const uint64_t *values, size_t count)
{
	uint64_t *to = page_pack_values(&page->pack, count);

	for (size_t i = 0; i < count; i++)
		to[i] = values[i];
	page_pack_column(&page->pack, name, count);
}

static void put_lanes(struct page *page)
{
	static const char *const columns[] = { "layer", "process", "host", "transport", "device" };
	size_t count = page->order.len, room = 0;
	uint64_t *first = NULL;
	char name[32];

	first = vec_grow(first, &room, 2 * count + 1, sizeof(*first));
	page_pack_begin(&page->pack, "lanes", true);
	for (int c = 0; c < (int)ARRAY_SIZE(columns); c++) {
		for (size_t i = 0; i < count; i++)
			first[i] = lane_field(&page->timeline.lanes.data[page->order.data[i]], c);
		put_column(page, columns[c], first, count);
	}
	note_lanes(page, first, first + count);
	put_column(page, "events", first, count);
	put_column(page, "start", first + count, count);
	for (size_t i = 0; i < page->levels.len; i++) {
		snprintf(name, sizeof(name), "level%zu", i);
		put_column(page, name, page->levels.data[i].first, count);
	}
	page_pack_end(&page->pack);
	free(first);
}

static void events_put_all(struct page *page)
{
	struct map index = { 0 };

	page_events_sort(&page->events, page->rank.data);
	index_events(&page->events, &index);
	put_lanes(page);
	put_events(page, &index);
	put_links(page, &index);
	put_waits(page, &index);
	put_threads(page);
	map_release(&index);
}

void page_put_events(struct page *page)
{
	size_t sections = page->pack.sections.len;

	page_events_settle(&page->events);
	events_put_all(page);
	while (page->pack.total > page_shares(page).all && page_events_thin(&page->events)) {
		page_pack_cut(&page->pack, sections);
		events_put_all(page);
	}
}
