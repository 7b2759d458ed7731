// SPDX-License-Identifier: BSD-3-Clause
/* Looks at processes' memory (side records "memory"), and what their GPUs are called there. */
#include "explain/decode/internal.h"

#include <stdlib.h>
#include <string.h>

struct word {
	const char *text;
	int value;
};

static int word_value(const json_t *json, const struct word *words, size_t count)
{
	const char *text = json_string_value(json);

	for (size_t i = 0; text && i < count; i++)
		if (!strcmp(text, words[i].text))
			return words[i].value;
	return 0;
}

static uint64_t address_at(const json_t *list, size_t i)
{
	const char *text = json_string_value(json_array_get(list, i));

	return text ? strtoull(text, NULL, 0) : 0;
}

/* Of a damaged or foreign file: what is out of order cannot be searched. */
static bool follows(uint64_t *end, uint64_t start, uint64_t next)
{
	if (start < *end || start >= next)
		return false;
	*end = next;
	return true;
}

static void add_ranges(struct evidence_look *look, const json_t *maps)
{
	static const struct word classes[] = {
		{ "host", EVIDENCE_HOST },     { "managed", EVIDENCE_MANAGED },
		{ "pinned", EVIDENCE_PINNED }, { "reserved", EVIDENCE_RESERVED },
		{ "other", EVIDENCE_OTHER },
	};
	const json_t *range;
	uint64_t end = 0;
	size_t i;

	json_array_foreach(maps, i, range)
	{
		struct evidence_range add = { .start = address_at(range, 0),
					      .end = address_at(range, 1) };

		add.class = word_value(json_array_get(range, 2), classes,
				       sizeof(classes) / sizeof(*classes));
		if (follows(&end, add.start, add.end))
			vec_push(&look->ranges, add);
	}
}

typedef VEC(int) device_numbers;

static void add_regions(struct evidence_look *look, const json_t *regions,
			const device_numbers *devices)
{
	static const struct word types[] = {
		{ "host", UCX_SAYS_HOST },
		{ "cuda", UCX_SAYS_GPU },
		{ "cuda-managed", UCX_SAYS_MANAGED },
		{ "rocm", UCX_SAYS_GPU },
		{ "rocm-managed", UCX_SAYS_MANAGED },
	};
	const json_t *region;
	uint64_t end = 0;
	size_t i;

	json_array_foreach(regions, i, region)
	{
		json_int_t number = json_integer_value(json_array_get(region, 3));
		struct evidence_region add = { .start = address_at(region, 0),
					       .end = address_at(region, 1) };

		add.type = word_value(json_array_get(region, 2), types,
				      sizeof(types) / sizeof(*types));
		add.device =
			number >= 0 && (size_t)number < devices->len ? devices->data[number] : -1;
		if (follows(&end, add.start, add.end))
			vec_push(&look->regions, add);
	}
}

/* UCX's numbers of devices to ours; -1: no GPU. Which one alone is possible, if there is one. */
static int read_devices(struct decoder *decoder, struct process *process, const json_t *list,
			device_numbers *numbers)
{
	int only = -1, gpus = 0;
	const json_t *device;
	size_t i;

	json_array_foreach(list, i, device)
	{
		int number =
			gpu_named(decoder, process, json_string_value(json_array_get(device, 0)),
				  json_string_value(json_array_get(device, 1)));

		vec_push(numbers, number);
		if (number < 0)
			continue;
		only = number;
		gpus++;
	}
	return gpus == 1 ? only : -1;
}

/* UCX adds devices and never takes one away: the longest table has them all. */
static void keep_devices(struct process *process, const device_numbers *devices)
{
	for (size_t i = process->ucx_devices.len; i < devices->len; i++)
		vec_push(&process->ucx_devices, devices->data[i]);
}

static void read_joined(struct decoder *decoder, struct capture *capture, struct process *process,
			const json_t *gpus)
{
	int gpu = -1;

	if (json_array_size(gpus) == 1)
		gpu = gpu_used(decoder, process, json_string_value(json_array_get(gpus, 0)));
	if (gpu >= 0)
		evidence_joined(&process->evidence, capture, gpu);
}

void decode_look(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	uint64_t ts = side_u64(side, "ts");
	struct process *process = process_at(decoder, capture->host, side_u64(side, "tgid"), ts);
	const json_t *ucx = json_object_get(side, "ucx");
	device_numbers devices = { 0 };
	struct evidence_look *look;

	if (!process)
		return;
	capture->looked = true;
	look = evidence_look_add(&process->evidence, ts, capture);
	add_ranges(look, json_object_get(side, "maps"));
	look->only_device =
		read_devices(decoder, process, json_object_get(ucx, "devices"), &devices);
	look->cached = json_is_true(json_object_get(ucx, "cached"));
	add_regions(look, json_object_get(ucx, "regions"), &devices);
	read_joined(decoder, capture, process, json_object_get(side, "gpus"));
	if (capture->lost_memory)
		evidence_distrust(&process->evidence, capture);
	keep_devices(process, &devices);
	vec_release(&devices);
}

/* What a change at an address says of earlier and later looks at it. */
static void foresee_memory(struct process *process, enum ub_mem_what what,
			   const struct ub_mem *record)
{
	static const struct {
		bool makes, ends;
	} known[] = {
		[UB_MEM_ALLOC] = { true, false },         [UB_MEM_ALLOC_STREAM] = { true, false },
		[UB_MEM_ALLOC_POOL] = { true, false },    [UB_MEM_ALLOC_PITCH] = { true, false },
		[UB_MEM_ALLOC_MANAGED] = { true, false }, [UB_MEM_ALLOC_HOST] = { true, false },
		[UB_MEM_FREE] = { false, true },          [UB_MEM_MAP] = { true, false },
		[UB_MEM_UNMAP] = { true, true },          [UB_MEM_IMPORT] = { true, false },
		[UB_MEM_IMPORT_POOL] = { true, false },   [UB_MEM_ALLOC_ON] = { true, false },
	};
	bool all = what == UB_MEM_CTX_DESTROY || what == UB_MEM_CTX_RESET ||
		   what == UB_MEM_CTX_RELEASE;

	if (all && !record->status)
		evidence_change_add(&process->evidence, record->h.ts, 0, UINT64_MAX);
	if ((size_t)what >= sizeof(known) / sizeof(*known) || record->status ||
	    (!known[what].makes && !known[what].ends))
		return;
	evidence_change_add(&process->evidence, record->h.ts, record->address,
			    known[what].makes ? record->size : 0);
}

void evidence_foresee(struct decoder *decoder, struct capture *capture, const struct ub_hdr *h)
{
	const struct ub_task *task = (const struct ub_task *)h;
	struct process *process;

	if (h->kind != UB_MEM && (h->kind != UB_TASK || task->what != UB_EXEC))
		return;
	process = process_at(decoder, capture->host, h->tgid, h->ts);
	if (!process)
		return;
	if (h->kind == UB_TASK)
		evidence_end_add(&process->evidence, h->ts);
	else if (h->site < capture->sites.len)
		foresee_memory(process, capture->sites.data[h->site].what,
			       (const struct ub_mem *)h);
}

void evidences_ready(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->processes.len; i++) {
		struct process *process = decoder->processes.data[i];

		process->evidence.whole = process->from_start;
		evidence_ready(&process->evidence);
	}
}
