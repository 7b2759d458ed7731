// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi_function.h"
#include "base/order.h"
#include "explain/decode/decode.h"
#include "explain/decode/internal.h"

/* When a capture looked at its processes: duty cycles, and captures one after the other. */

bool capture_records(const struct capture *capture, enum level level, uint64_t at)
{
	const struct window *windows = capture->windows.data;
	size_t begun = search_count(capture->windows.len, i, windows[i].from <= at);
	int recorded = begun ? windows[begun - 1].level : capture->level;

	return recorded < 0 || recorded >= (int)level;
}

/* A window has a record at its start, and another at its end. */
static void decode_window(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	struct window window = {
		.from = side_u64(side, "from"),
		.to = side_u64(side, "to"),
		.step = side_string(decoder, side, "step"),
		.reason = side_string(decoder, side, "reason"),
		.paid_ppm = side_u64(side, "paid_ppm"),
	};
	struct window *last =
		capture->windows.len ? &capture->windows.data[capture->windows.len - 1] : NULL;

	window.level = window.step ? level_by_step(window.step) : capture->level;
	if (last && last->from == window.from)
		last->to = window.to;
	else if (!last || window.from > last->from)
		vec_push(&capture->windows, window);
}

/*
 * If the trace ended before a budget's first window: adds an empty one, so that nothing counts as
 * recorded.
 */
static void decode_budget(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const char *step = json_string_value(json_object_get(side, "step"));
	const uint64_t ts = side_u64(side, "ts");

	if (capture->windows.len || !step || strcmp(step, "windows") != 0)
		return;
	vec_push(&capture->windows,
		 ((struct window){ .from = ts,
				   .to = ts,
				   .step = strings_intern(&decoder->strings, step),
				   .reason = side_string(decoder, side, "reason"),
				   .level = level_by_step(step),
				   .paid_ppm = side_u64(side, "share_ppm") }));
}

static void decode_detail(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const size_t n = capture->details.len;
	struct detail_change change = { side_u64(side, "ts"), side_u64(side, "slices") };

	(void)decoder;
	if (!n || change.ts > capture->details.data[n - 1].ts)
		vec_push(&capture->details, change);
}

/* Where detail begins again behind that time, while the change is in force; UINT64_MAX: nowhere. */
static uint64_t edge_of(const struct detail_change *change, uint64_t after, uint64_t until)
{
	uint64_t slice = (after >> UB_SLICE_SHIFT) + 1, last = slice + UB_SLICES;

	for (; slice <= last; slice++) {
		uint64_t start = slice << UB_SLICE_SHIFT, before = slice - 1;

		if (start >= until || start <= after)
			break;
		if (change->slices >> slice % UB_SLICES & 1 &&
		    (!(change->slices >> before % UB_SLICES & 1) ||
		     before << UB_SLICE_SHIFT < change->ts))
			return start;
	}
	return UINT64_MAX;
}

uint64_t capture_slice_edge(const struct capture *capture, uint64_t after)
{
	const struct detail_change *changes = capture->details.data;
	size_t next = search_count(capture->details.len, i, changes[i].ts <= after);
	uint64_t until = next < capture->details.len ? changes[next].ts : UINT64_MAX;
	uint64_t edge = next ? edge_of(&changes[next - 1], after, until) : UINT64_MAX;

	return edge < until ? edge : until;
}

void decoder_end(struct decoder *decoder, struct process *process)
{
	if (process->ending)
		return;
	process->ending = true;
	vec_push(&decoder->ending, process);
}

void decoder_ended(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->ending.len; i++)
		decoder->ending.data[i]->ending = false;
	decoder->ending.len = 0;
}

static void decode_end(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	(void)decoder;
	capture->ended = side_u64(side, "ts");
}

void decoder_init(struct decoder *decoder)
{
	*decoder = (struct decoder){ 0 };
}

static void functions_release(struct decoder *decoder)
{
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&decoder->functions, &pos)))
		free((void *)(uintptr_t)slot->value);
	map_release(&decoder->functions);
}

void decoder_release(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->objects.len; i++) {
		vec_release(&decoder->objects.data[i]->lanes);
		free(decoder->objects.data[i]);
	}
	vec_release(&decoder->objects);
	processes_release(decoder);
	vec_release(&decoder->hosts);
	vec_release(&decoder->gpus);
	map_release(&decoder->gpu_numbers);
	map_release(&decoder->gpu_libraries);
	map_release(&decoder->by_address);
	map_release(&decoder->later);
	map_release(&decoder->uuids);
	map_release(&decoder->lanes);
	map_release(&decoder->names);
	functions_release(decoder);
	map_release(&decoder->queue_looks);
	map_release(&decoder->ranks);
	decoded_stacks_release(decoder);
	decoded_places_release(decoder);
	decoded_memory_release(decoder);
	strings_release(&decoder->strings);
}

void capture_release(struct capture *capture)
{
	vec_release(&capture->sites);
	vec_release(&capture->side_objects);
	vec_release(&capture->notes);
	vec_release(&capture->modules);
	map_release(&capture->symbols);
	vec_release(&capture->windows);
	vec_release(&capture->details);
	vec_release(&capture->rejoined);
	vec_release(&capture->cells);
	map_release(&capture->cell_ids);
	map_release(&capture->tgids);
}

static const char *told(struct decoder *decoder, const json_t *object, const char *key)
{
	return strings_intern(&decoder->strings, json_string_value(json_object_get(object, key)));
}

static void decode_capture(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const json_t *host = json_object_get(side, "host");
	const char *mode = json_string_value(json_object_get(side, "mode"));
	const char *level = json_string_value(json_object_get(side, "level"));
	const char *id = told(decoder, host, "id");

	capture->started = side_u64(side, "ts");
	capture->level = level_by_name(level);
	capture->attached = mode && !strcmp(mode, "attach");
	capture->timed_every = (uint32_t)side_u64(side, "timed_every");
	capture->counted = capture->timed_every;
	for (size_t i = 0; i < decoder->hosts.len; i++)
		if (id && decoder->hosts.data[i].id == id)
			capture->host = (int)i;
	if (capture->host >= 0)
		return;
	capture->host = (int)decoder->hosts.len;
	vec_push(&decoder->hosts, ((struct host){ .id = id,
						  .name = told(decoder, host, "name"),
						  .kernel = told(decoder, host, "kernel"),
						  .machine = told(decoder, host, "machine") }));
}

static void decode_note(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const char *text = json_string_value(json_object_get(side, "text"));

	if (text)
		vec_push(&capture->notes, strings_intern(&decoder->strings, text));
}

/* Gaps of a process overlap: its libraries are probed one after the other. */
static void add_unprobed(struct process *process, uint64_t from, uint64_t to)
{
	if (from < process->probed_at)
		from = process->probed_at;
	if (to <= from)
		return;
	process->unprobed += to - from;
	process->probed_at = to;
}

/* The moment is short, but MPI_Init may lie in it, or an allocation. */
static void decode_gap(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const uint64_t from = side_u64(side, "from"), to = side_u64(side, "to");
	struct process *process = process_at(decoder, capture->host, side_u64(side, "tgid"), to);
	const char *path = side_string(decoder, side, "path");
	const char *name = path ? strrchr(path, '/') : NULL;
	const bool gpu = process && path &&
			 map_find(&decoder->gpu_libraries, (uintptr_t)path, (uint64_t)process->id);
	char text[256];

	if (process && !gpu)
		add_unprobed(process, from, to);
	snprintf(text, sizeof(text),
		 "%s was mapped before it was probed: first calls may be missing",
		 name ? name + 1 : "a library");
	vec_push(&capture->notes, strings_intern(&decoder->strings, text));
	if (path && capture->mpi_library && !strcmp(path, capture->mpi_library))
		capture->late_mpi++;
	if (gpu)
		process->evidence.late = true;
}

static void decode_unseen(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const uint64_t to = side_u64(side, "to");
	struct process *process = process_at(decoder, capture->host, side_u64(side, "tgid"), to);

	if (!process)
		return;
	add_unprobed(process, side_u64(side, "from"), to);
	if (!json_is_true(json_object_get(side, "ended")))
		return;
	process->exited = true;
	process->exited_at = to;
}

static void decode_unread(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	struct process *process =
		process_at(decoder, capture->host, side_u64(side, "tgid"), side_u64(side, "ts"));

	if (process)
		process->libraries_unread = true;
}

static void decode_worker(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	decode_side_object(decoder, capture, OBJECT_WORKER, side);
}

static void decode_iface(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	decode_side_object(decoder, capture, OBJECT_IFACE, side);
}

static void decode_ep(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	decode_side_object(decoder, capture, OBJECT_EP, side);
}

static void decode_uct_ep(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	decode_side_object(decoder, capture, OBJECT_UCT_EP, side);
}

/* In the order in which they must be read: objects need processes, a budget the windows. */
static const struct {
	const char *type;
	void (*decode)(struct decoder *decoder, struct capture *capture, const json_t *side);
} side_types[] = {
	{ "capture", decode_capture }, { "site", decode_site },     { "process", decode_process },
	{ "library", decode_library }, { "worker", decode_worker }, { "iface", decode_iface },
	{ "uct_ep", decode_uct_ep },   { "ep", decode_ep },         { "note", decode_note },
	{ "gap", decode_gap },         { "module", decode_module }, { "symbol", decode_symbol },
	{ "address", decode_address }, { "window", decode_window }, { "budget", decode_budget },
	{ "end", decode_end },         { "detail", decode_detail }, { "cell", decode_cell },
	{ "cells", decode_cells },     { "gpu", decode_gpu },       { "memory", decode_look },
	{ "thread", decode_thread },   { "queues", decode_queues }, { "unread", decode_unread },
	{ "unseen", decode_unseen },
};

static int by_time(const void *left, const void *right)
{
	const struct object *a = *(struct object *const *)left;
	const struct object *b = *(struct object *const *)right;

	return a->from < b->from ? -1 : a->from > b->from;
}

void decoder_add_capture(struct decoder *decoder, struct capture *capture, const json_t *sides)
{
	const json_t *side;
	size_t i;

	capture->host = -1;
	for (size_t t = 0; t < sizeof(side_types) / sizeof(*side_types); t++) {
		json_array_foreach(sides, i, side)
		{
			const char *type = json_string_value(json_object_get(side, "t"));

			if (type && !strcmp(type, side_types[t].type))
				side_types[t].decode(decoder, capture, side);
		}
		if (capture->host < 0)
			decode_capture(decoder, capture, NULL);
	}
	if (capture->side_objects.len)
		qsort(capture->side_objects.data, capture->side_objects.len,
		      sizeof(*capture->side_objects.data), by_time);
	cells_sort(capture);
}

/* Processes that use UCX or are ranks; others only once a record of theirs comes. */
void decoder_ready(struct decoder *decoder)
{
	struct map has_worker = { 0 };

	for (size_t i = 0; i < decoder->objects.len; i++)
		if (decoder->objects.data[i]->kind == OBJECT_WORKER)
			map_insert(&has_worker, decoder->objects.data[i]->process->id, 0, NULL);
	for (size_t i = 0; i < decoder->processes.len; i++) {
		struct process *process = decoder->processes.data[i];

		if (process->ucx.len || process->rank >= 0 || map_find(&has_worker, process->id, 0))
			process_show(decoder, process);
	}
	map_release(&has_worker);
	decoded_memory_ready(decoder);
	gpus_ready(decoder);
	evidences_ready(decoder);
	objects_pair(decoder);
	underway_ready(decoder);
}

const char *decoder_name(const struct decoder *decoder, const struct process *process, uint64_t key)
{
	uint64_t *name = map_find(&decoder->names, key, process->id);

	return name ? (const char *)(uintptr_t)*name : NULL;
}

const struct mpi_function *decoder_function(struct decoder *decoder, const char *function)
{
	uint64_t *known = map_insert(&decoder->functions, (uintptr_t)function, 0, NULL);

	if (!*known) {
		struct mpi_function *found = xmalloc(sizeof(*found));

		*found = mpi_function(function);
		*known = (uintptr_t)found;
	}
	return (const struct mpi_function *)(uintptr_t)*known;
}

static void decode_name(struct decoder *decoder, const struct event *event,
			const struct ub_name *record)
{
	*map_insert(&decoder->names, record->key, event->process->id, NULL) =
		(uintptr_t)strings_field(&decoder->strings, record->name, sizeof(record->name));
}

static void decode_loss(struct decoder *decoder, const struct event *event,
			const struct ub_loss *loss)
{
	if (!loss->records)
		return;
	decode_memory_loss(decoder, event, loss);
	if (event->capture->lost_objects)
		objects_forget(event->process, loss->until);
}

bool decoder_event(struct decoder *decoder, struct capture *capture, const struct ub_hdr *h,
		   struct event *event)
{
	static const struct site_info unknown_site;

	if (!ub_kind_size(h->kind))
		return false;
	decoder->now = h->ts;
	cells_apply(decoder, capture, h->ts);
	objects_apply(decoder, capture, h->ts);
	*event =
		(struct event){ .capture = capture,
				.process = capture_process(decoder, capture, h->tgid),
				.site = h->site < capture->sites.len ? &capture->sites.data[h->site]
								     : &unknown_site,
				.h = h };
	if (h->kind == UB_TASK) {
		decode_task(decoder, capture, (const struct ub_task *)h);
		decode_memory_task(decoder, event, (const struct ub_task *)h);
	} else {
		process_show(decoder, event->process);
	}
	if (h->kind == UB_OBJ)
		decode_object(decoder, event, (const struct ub_obj *)h);
	if (h->kind == UB_STACK)
		decode_stack(decoder, event, (const struct ub_stack *)h);
	if (h->kind == UB_MEM)
		decode_memory(decoder, event, (const struct ub_mem *)h);
	if (h->kind == UB_LOSS)
		decode_loss(decoder, event, (const struct ub_loss *)h);
	if (h->kind == UB_NAME)
		decode_name(decoder, event, (const struct ub_name *)h);
	return true;
}
