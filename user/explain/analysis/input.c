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

/* Records of a CPU with successive numbers. */
struct run {
	uint32_t first, last;
	uint64_t written; /* when its first record was, */
	uint64_t last_began, last_written; /* and of its last one */
};

/*
 * The numbers of a CPU. Records come in the order in which their work began, which is not quite
 * that of their numbers: runs are sorted and joined once there are many.
 */
struct numbered {
	VEC(struct run) runs;
	size_t settled; /* so many were left when they were last joined */
};

typedef VEC(struct numbered) numbers; /* by CPU */

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

static int by_first(const void *left, const void *right)
{
	const struct run *a = left, *b = right;

	return a->first < b->first ? -1 : a->first > b->first;
}

/* Sorts the runs of a CPU and joins those without a number between them. */
static void settle(struct numbered *cpu)
{
	struct run *runs = cpu->runs.data;
	size_t kept = 0;

	if (cpu->runs.len)
		qsort(runs, cpu->runs.len, sizeof(*runs), by_first);
	for (size_t i = 1; i < cpu->runs.len; i++) {
		if (runs[i].first > runs[kept].last && runs[i].first - runs[kept].last > 1) {
			runs[++kept] = runs[i];
		} else if (runs[i].last > runs[kept].last) {
			runs[kept].last = runs[i].last;
			runs[kept].last_began = runs[i].last_began;
			runs[kept].last_written = runs[i].last_written;
		}
	}
	cpu->runs.len = cpu->runs.len ? kept + 1 : 0;
	cpu->settled = cpu->runs.len;
}

#define UNSETTLED 4096 /* runs that are kept before they are joined */

static void numbers_add(numbers *all, const struct ub_hdr *h)
{
	const uint64_t written = h->ts + h->dur;
	struct numbered *cpu;
	struct run *newest;

	while (all->len <= h->cpu)
		vec_add(all);
	cpu = &all->data[h->cpu];
	newest = cpu->runs.len ? &cpu->runs.data[cpu->runs.len - 1] : NULL;
	if (newest && h->cpu_seq - newest->last == 1) {
		newest->last = h->cpu_seq;
		newest->last_began = h->ts;
		newest->last_written = written;
		return;
	}
	if (cpu->runs.len >= 2 * cpu->settled + UNSETTLED)
		settle(cpu);
	vec_push(&cpu->runs, ((struct run){ h->cpu_seq, h->cpu_seq, written, h->ts, written }));
}

static void numbers_release(numbers *all)
{
	for (size_t i = 0; i < all->len; i++)
		vec_release(&all->data[i].runs);
	vec_release(all);
}

static int by_from(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->until != b->until)
		return a->until < b->until ? -1 : 1;
	return a->tgid < b->tgid ? -1 : a->tgid > b->tgid;
}

/* The frames around a record that are not over when the tracer is killed have no record. */
static bool has_skip(const struct ub_hdr *h, uint32_t last)
{
	for (uint32_t frame = last + 1; frame < h->seq; frame++)
		if (frame != h->call && frame != h->op && frame != h->rx)
			return true;
	return false;
}

/* Numbers that a record's frames have taken, from its own on. */
static uint32_t frames_of(const struct ub_hdr *h)
{
	if (h->kind == UB_FRAGS)
		return ((const struct ub_frags *)h)->count;
	return h->kind == UB_POLLS ? ((const struct ub_polls *)h)->last - h->seq + 1 : 1;
}

static void skips_add(struct skips *skips, const struct ub_hdr *h)
{
	const uint32_t frames = frames_of(h);
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

/* The records of a source. */
struct census {
	numbers cpus;
	struct skips skips;
	uint64_t records, told; /* told: the lost ones, by those that are there */
	uint64_t newest; /* when the last one was written */
};

/* A thread reports its own losses; a hole may hide a whole batch of another thread. */
static int read_all(struct gaps *gaps, struct record_source *source, struct census *census)
{
	/* only a thread's frames are followed in order of time */
	int (*next)(void *ctx, const struct ub_hdr **record) =
		source->next_stored && !source->incomplete ? source->next_stored : source->next;
	const struct ub_hdr *h;
	int err;

	while ((err = next(source->ctx, &h)) > 0) {
		const struct ub_loss *loss = (const struct ub_loss *)h;

		numbers_add(&census->cpus, h);
		census->records++;
		census->newest = h->ts + h->dur > census->newest ? h->ts + h->dur : census->newest;
		if (source->incomplete)
			skips_add(&census->skips, h);
		if (h->kind != UB_LOSS || !loss->records)
			continue;
		vec_push(&gaps->all, ((struct gap){ h->ts, loss->until, h->tgid }));
		census->told += loss->records;
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

/* What is missing at both ends has a number on one side only. */
static void find_ends(struct gaps *gaps, const numbers *cpus, uint64_t produced)
{
	uint64_t numbered = 0, idle_since = UINT64_MAX;

	for (size_t i = 0; i < cpus->len; i++) {
		const struct run *runs = cpus->data[i].runs.data;
		const size_t count = cpus->data[i].runs.len;

		if (!count)
			continue;
		if (runs[0].first && runs[0].written > gaps->first)
			gaps->first = runs[0].written;
		numbered += runs[count - 1].last + 1ull;
		if (runs[count - 1].last_began < idle_since)
			idle_since = runs[count - 1].last_began;
	}
	gaps->last = produced > numbered ? idle_since : UINT64_MAX;
}

/* Nobody knows who made records that no thread reports. */
static void find_holes(struct gaps *gaps, const numbers *cpus)
{
	for (size_t i = 0; i < gaps->all.len; i++)
		gaps->all.data[i].tgid = 0;
	for (size_t i = 0; i < cpus->len; i++) {
		const struct run *runs = cpus->data[i].runs.data;

		for (size_t k = 1; k < cpus->data[i].runs.len; k++)
			vec_push(&gaps->all,
				 ((struct gap){ runs[k - 1].last_began, runs[k].written, 0 }));
	}
}

/*
 * A capture without an end lacks the records behind the last one of each CPU, and no number shows
 * it. A thread that went on elsewhere shows it by its frames. Before the first CPU fell silent,
 * skipped frames are those of hits that make no record. A CPU may have no record at all: then it
 * was first used since the tracer's threads last wrote, which they do twice a second.
 */
static void find_skips(struct gaps *gaps, const struct census *census)
{
	uint64_t silent = census->newest > LATE_NS ? census->newest - LATE_NS : 0;

	for (size_t i = 0; i < census->cpus.len; i++) {
		const struct run *runs = census->cpus.data[i].runs.data;
		const size_t count = census->cpus.data[i].runs.len;

		if (count && runs[count - 1].last_written < silent)
			silent = runs[count - 1].last_written;
	}
	for (size_t i = 0; i < census->skips.found.len; i++) {
		struct gap gap = census->skips.found.data[i];

		if (gap.until < silent)
			continue;
		gap.from = gap.from > silent ? gap.from : silent;
		vec_push(&gaps->all, gap);
		gaps->last = silent < gaps->last ? silent : gaps->last;
	}
}

/* Reads the whole source once and rewinds it. */
static int gaps_find(struct gaps *gaps, struct record_source *source)
{
	uint64_t produced = count_numbered(&source->stats);
	struct census census = { 0 };
	int err = read_all(gaps, source, &census);

	for (size_t i = 0; i < census.cpus.len; i++)
		settle(&census.cpus.data[i]);
	/* then losses are known only as far as threads tell them, and the kernel counts them */
	if (source->trimmed) {
		gaps->last = UINT64_MAX;
	} else {
		find_ends(gaps, &census.cpus, produced);
		if (census.records + census.told != produced)
			find_holes(gaps, &census.cpus);
		find_skips(gaps, &census);
	}
	if (gaps->all.len)
		qsort(gaps->all.data, gaps->all.len, sizeof(*gaps->all.data), by_from);
	skips_release(&census.skips);
	numbers_release(&census.cpus);
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

bool input_lacks_calls(const struct capture *capture)
{
	const struct input *input =
		(const struct input *)((const char *)capture - offsetof(struct input, capture));
	const struct record_source *source = &input->source;

	return input->holes || source->trimmed || source->stats.task_nomem || capture->late_mpi ||
	       source_damage(source);
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
	if (queue->len > 1)
		heap_sink(queue->data, queue->len, 0, before);
}
