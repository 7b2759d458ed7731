// SPDX-License-Identifier: BSD-3-Clause
/* Captures while they are analysed, and the order in which several are read. */
#include "explain/analysis/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/order.h"
#include "explain/analysis/internal.h"

struct extent extent_of(const json_t *sides)
{
	struct extent extent = { .host = "", .sides = sides };
	const json_t *side;
	size_t i;

	json_array_foreach(sides, i, side)
	{
		const char *t = json_string_value(json_object_get(side, "t"));
		json_int_t ts = json_integer_value(json_object_get(side, "ts"));

		if (t && !strcmp(t, "capture")) {
			json_t *host = json_object_get(side, "host");
			const char *id = json_string_value(json_object_get(host, "id"));

			extent.host = id ? id : "";
			extent.from = ts;
		}
		if (ts > extent.to)
			extent.to = ts;
	}
	return extent;
}

/* A process, by its pid and start time. */
static bool is_process(const json_t *side, uint64_t *tgid, uint64_t *start)
{
	const char *t = json_string_value(json_object_get(side, "t"));
	const json_t *pid = json_object_get(side, "tgid");
	const json_t *since = json_object_get(side, "start_time");

	*tgid = (uint64_t)json_integer_value(pid);
	*start = (uint64_t)json_integer_value(since);
	return t && !strcmp(t, "process") && json_is_integer(pid) && json_is_integer(since);
}

static bool has_process_of(const struct extent *a, const struct extent *b)
{
	struct map processes = { 0 };
	uint64_t tgid, start;
	bool found = false;
	const json_t *side;
	size_t i;

	json_array_foreach(a->sides, i, side)
	{
		if (is_process(side, &tgid, &start))
			map_insert(&processes, tgid, start, NULL);
	}
	json_array_foreach(b->sides, i, side)
	{
		if (is_process(side, &tgid, &start) && map_find(&processes, tgid, start))
			found = true;
	}
	map_release(&processes);
	return found;
}

bool extents_overlap(const struct extent *a, const struct extent *b)
{
	return !strcmp(a->host, b->host) && a->to >= b->from && b->to >= a->from &&
	       has_process_of(a, b);
}

/* A record as its CPU numbered it: when its work began, and when it was written. */
struct numbered {
	uint16_t cpu;
	uint32_t seq;
	uint64_t began, written;
};

typedef VEC(struct numbered) numbers;

/* A thread up to one of its records. Its frames are numbered without a gap. */
struct skipping_thread {
	uint32_t frame; /* the last number that was taken */
	uint64_t ts;
};

#define MAX_DEPTH 64 /* more than frames are inside of each other */
#define LATE_NS 2000000000ull /* a thread of the tracer writes its records sooner */

/* Where frames of threads are missing, by the thread's numbers alone. */
struct skips {
	struct map threads; /* (tgid, tid) -> its place in all */
	VEC(struct skipping_thread) all;
	VEC(struct gap) found;
};

static int by_number(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int by_from(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	return a->from < b->from ? -1 : a->from > b->from;
}

/* The frames around a record that are not over when the tracer is killed have no record. */
static bool has_skip(const struct ub_hdr *h, uint32_t last)
{
	for (uint32_t frame = last + 1; frame < h->seq; frame++)
		if (frame != h->call && frame != h->op && frame != h->rx)
			return true;
	return false;
}

static void skips_add(struct skips *skips, const struct ub_hdr *h)
{
	uint32_t frames = h->kind == UB_FRAGS ? ((const struct ub_frags *)h)->count : 1;
	uint64_t *place;
	struct skipping_thread *thread;

	if (!h->seq)
		return;
	place = map_insert(&skips->threads, h->tgid, h->tid, NULL);
	if (!*place) {
		vec_push(&skips->all, ((struct skipping_thread){ h->seq - 1, h->ts }));
		*place = skips->all.len;
	}
	thread = &skips->all.data[*place - 1];
	if ((int32_t)(h->seq - thread->frame) < -MAX_DEPTH) /* another thread of that number */
		thread->frame = h->seq - 1;
	if (has_skip(h, thread->frame))
		vec_push(&skips->found, ((struct gap){ thread->ts, h->ts, h->tgid }));
	if ((int32_t)(h->seq + frames - 1 - thread->frame) > 0)
		thread->frame = h->seq + frames - 1;
	thread->ts = h->ts;
}

static void skips_release(struct skips *skips)
{
	map_release(&skips->threads);
	vec_release(&skips->all);
	vec_release(&skips->found);
}

/* A thread reports its own losses; a hole may hide a whole batch of another thread. */
static int read_all(struct gaps *gaps, struct record_source *source, numbers *all, uint64_t *told,
		    struct skips *skips)
{
	const struct ub_hdr *h;
	int err;

	*told = 0;

	while ((err = source->next(source->ctx, &h)) > 0) {
		const struct ub_loss *loss = (const struct ub_loss *)h;

		vec_push(all, ((struct numbered){ h->cpu, h->cpu_seq, h->ts, h->ts + h->dur }));
		if (source->incomplete)
			skips_add(skips, h);
		if (h->kind != UB_LOSS || !loss->records)
			continue;
		vec_push(&gaps->all, ((struct gap){ h->ts, loss->until, h->tgid }));
		*told += loss->records;
	}
	return err ? err : source->rewind(source->ctx);
}

/* Records that have a number: records left out on purpose have none. */
static uint64_t count_numbered(const struct ub_stats *stats)
{
	uint64_t count = 0;

	for (size_t i = 0; i < sizeof(stats->produced) / sizeof(*stats->produced); i++)
		count += stats->produced[i] - stats->thinned[i];
	return count;
}

static bool is_last_of_cpu(const numbers *all, size_t i)
{
	return i + 1 == all->len || all->data[i + 1].cpu != all->data[i].cpu;
}

/* What is missing at both ends has a number on one side only. */
static void find_ends(struct gaps *gaps, const numbers *all, uint64_t produced)
{
	uint64_t numbered = 0, idle_since = UINT64_MAX;

	for (size_t i = 0; i < all->len; i++) {
		const struct numbered *at = &all->data[i];
		bool first = !i || at[-1].cpu != at->cpu;
		bool last = is_last_of_cpu(all, i);

		if (first && at->seq && at->written > gaps->first)
			gaps->first = at->written;
		numbered += last ? at->seq + 1ull : 0;
		if (last && at->began < idle_since)
			idle_since = at->began;
	}
	gaps->last = produced > numbered ? idle_since : UINT64_MAX;
}

/* Nobody knows who made records that no thread reports. */
static void find_holes(struct gaps *gaps, const numbers *all)
{
	for (size_t i = 0; i < gaps->all.len; i++)
		gaps->all.data[i].tgid = 0;
	for (size_t i = 1; i < all->len; i++) {
		const struct numbered *a = &all->data[i - 1], *b = &all->data[i];

		if (a->cpu == b->cpu && b->seq - a->seq > 1)
			vec_push(&gaps->all, ((struct gap){ a->began, b->written, 0 }));
	}
}

/*
 * A capture without an end lacks the records behind the last one of each CPU, and no number shows
 * it. A thread that went on elsewhere shows it by its frames. Before the first CPU fell silent,
 * skipped frames are those of hits that make no record. A CPU may have no record at all: then it
 * was first used since the tracer's threads last wrote, which they do twice a second.
 */
static void find_skips(struct gaps *gaps, const struct skips *skips, const numbers *all)
{
	uint64_t silent, newest = 0;

	for (size_t i = 0; i < all->len; i++)
		newest = all->data[i].written > newest ? all->data[i].written : newest;
	silent = newest > LATE_NS ? newest - LATE_NS : 0;
	for (size_t i = 0; i < all->len; i++)
		if (is_last_of_cpu(all, i) && all->data[i].written < silent)
			silent = all->data[i].written;
	for (size_t i = 0; i < skips->found.len; i++) {
		struct gap gap = skips->found.data[i];

		if (gap.until < silent)
			continue;
		gap.from = gap.from > silent ? gap.from : silent;
		vec_push(&gaps->all, gap);
		gaps->last = silent < gaps->last ? silent : gaps->last;
	}
}

/* Reads the whole source once and rewinds it. Takes 24 bytes per record meanwhile. */
static int gaps_find(struct gaps *gaps, struct record_source *source)
{
	uint64_t produced = count_numbered(&source->stats), told;
	struct skips skips = { 0 };
	numbers all = { 0 };
	int err = read_all(gaps, source, &all, &told, &skips);

	if (all.len)
		qsort(all.data, all.len, sizeof(*all.data), by_number);
	find_ends(gaps, &all, produced);
	if (all.len + told != produced)
		find_holes(gaps, &all);
	find_skips(gaps, &skips, &all);
	if (gaps->all.len)
		qsort(gaps->all.data, gaps->all.len, sizeof(*gaps->all.data), by_from);
	skips_release(&skips);
	vec_release(&all);
	return err;
}

static void gaps_release(struct gaps *gaps)
{
	vec_release(&gaps->all);
}

static void read_clock(struct input *input)
{
	const json_t *side;
	size_t i;

	json_array_foreach(input->source.sides, i, side)
	{
		const char *type = json_string_value(json_object_get(side, "t"));

		if (type && !strcmp(type, "clock") && !input->real) {
			input->mono = json_integer_value(json_object_get(side, "mono"));
			input->real = json_integer_value(json_object_get(side, "real"));
			input->to_real = (int64_t)(input->real - input->mono);
		}
		if (type && !strcmp(type, "capture")) {
			const json_t *host = json_object_get(side, "host");

			input->host = json_string_value(json_object_get(host, "id"));
			input->host_name = json_string_value(json_object_get(host, "name"));
			input->started = json_integer_value(json_object_get(side, "ts"));
		}
	}
}

/* Records that no thread reports may have been of any kind. */
static void any_may_be_missing(struct input *input)
{
	input->holes = true;
	input->capture.lost_objects = true;
	input->capture.lost_memory = true;
}

struct input *input_new(const struct record_source *source)
{
	struct input *input = xcalloc(1, sizeof(*input));

	input->source = *source;
	input->capture.lost_objects = source->stats.dropped[UB_OBJ];
	input->capture.lost_memory = source->stats.dropped[UB_MEM];
	if (source->damaged || source->refused)
		any_may_be_missing(input);
	read_clock(input);
	input->extent = extent_of(source->sides);
	return input;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	if (input->source.release)
		input->source.release(input->source.ctx);
	capture_release(&input->capture);
	gaps_release(&input->gaps);
	free(input);
}

static int canonical(const void *left, const void *right)
{
	const struct input *a = *(struct input *const *)left, *b = *(struct input *const *)right;
	int hosts = strcmp(a->host ? a->host : "", b->host ? b->host : "");

	if (hosts)
		return hosts;
	return a->started < b->started ? -1 : a->started > b->started;
}

void inputs_sort(inputs *inputs)
{
	if (inputs->len)
		qsort(inputs->data, inputs->len, sizeof(*inputs->data), canonical);
	for (size_t i = 0; i < inputs->len; i++)
		inputs->data[i]->place = i;
}

int input_open(struct input *input)
{
	int err = 0;

	if (stats_dropped(&input->source.stats) || input->holes || input->source.incomplete)
		err = gaps_find(&input->gaps, &input->source);
	if (input->source.incomplete && input->gaps.all.len)
		any_may_be_missing(input);
	return err < 0 ? err : input->source.next(input->source.ctx, &input->head);
}

/* Order of inputs: by time, then by position. */
static bool before(struct input *const *left, struct input *const *right)
{
	const struct input *a = *left, *b = *right;
	uint64_t a_ts = a->head->ts + (uint64_t)a->to_real;
	uint64_t b_ts = b->head->ts + (uint64_t)b->to_real;

	return a_ts == b_ts ? a->place < b->place : a_ts < b_ts;
}

void inputs_queue(inputs *queue, const inputs *all)
{
	for (size_t i = 0; i < all->len; i++)
		if (all->data[i]->head)
			vec_push(queue, all->data[i]);
	for (size_t i = queue->len; i-- > 0;)
		heap_sink(queue->data, queue->len, i, before);
}

void inputs_requeue(inputs *queue)
{
	if (!queue->data[0]->head)
		queue->data[0] = queue->data[--queue->len];
	if (queue->len)
		heap_sink(queue->data, queue->len, 0, before);
}
