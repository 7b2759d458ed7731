// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whose memory an address is of, at the time of the last event: by the calls that made it, and by
 * looks at processes' memory (side records "memory").
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/decode/internal.h"

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

/* Checks the order, which the search needs: the file may be damaged or foreign. */
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
	look->distrusted = capture->lost_memory;
	keep_devices(process, &devices);
	vec_release(&devices);
}

/* Notes a change at an address, for looks before and after it. */
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

static void forget_until(struct decoder *decoder, struct process *process, uint64_t until)
{
	memory_forget(&decoder->memory, process->id);
	if (until > process->memory_lost_until)
		process->memory_lost_until = until;
}

void decoder_memory_hole(struct decoder *decoder, const struct capture *capture, uint64_t until)
{
	for (size_t i = 0; i < decoder->processes.len; i++)
		if (decoder->processes.data[i]->host == capture->host)
			forget_until(decoder, decoder->processes.data[i], until);
}

void decode_memory_loss(struct decoder *decoder, const struct event *event,
			const struct ub_loss *loss)
{
	if (event->capture->lost_memory)
		forget_until(decoder, event->process, loss->until);
}

/* The function that the program called: the runtime's, if that is a library of its own. */
static const char *function_called(const struct event *event, const struct ub_mem *record)
{
	const struct capture *capture = event->capture;

	if (record->runtime && record->runtime < capture->sites.len)
		return capture->sites.data[record->runtime].name;
	return event->site->name;
}

/* Frees between two captures are unseen. */
void decode_memory(struct decoder *decoder, const struct event *event, const struct ub_mem *record)
{
	struct process *process = event->process;

	if (process->memory_by && process->memory_by != event->capture)
		memory_forget(&decoder->memory, process->id);
	process->memory_by = event->capture;
	process->gpu_library = true;
	if (record->h.ts <= process->memory_lost_until)
		return;
	memory_apply(&decoder->memory,
		     &(struct memory_call){ .process = process->id,
					    .host = process->host,
					    .tid = record->h.tid,
					    .what = event->site->what,
					    .function = function_called(event, record),
					    .record = record });
}

/* Captures list all mapped libraries, so a process without a GPU library in the list has none. */
void decoded_memory_ready(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->processes.len; i++) {
		const struct process *process = decoder->processes.data[i];

		if (process->told_by && !process->gpu_library)
			memory_no_library(&decoder->memory, process->id);
	}
}

/* A child has its parent's addresses, but none of its GPU memory. */
void decode_memory_task(struct decoder *decoder, const struct event *event,
			const struct ub_task *task)
{
	int process = event->process->id;

	if (task->what == UB_EXEC)
		memory_begin(&decoder->memory, process);
	if (task->what == UB_THREAD_EXIT)
		memory_thread_ended(&decoder->memory, process, task->h.tid);
	if (task->what == UB_FORK && task->other != task->h.tgid)
		memory_begin(&decoder->memory,
			     capture_process(decoder, event->capture, task->other)->id);
}

/* That no GPU library has made it: not where one has made memory, nobody knows how much. */
static bool is_by_elimination(const struct memory_answer *answer)
{
	return answer->known_by && !strcmp(answer->known_by, "elimination");
}

/*
 * What calls have told holds. Memory of another process is on its GPU, which this one's UCX may not
 * know; with records of calls lost, nobody knows how long UCX was right.
 */
static void ask_evidence(const struct decoder *decoder, const struct capture *capture,
			 const struct process *process, uint64_t address,
			 struct memory_answer *answer)
{
	struct memory_answer found;

	if (!address || !evidence_find(&process->evidence, capture, decoder->now, address, &found))
		return;
	if (answer->sort == MEMORY_IMPORTED && is_by_elimination(&found))
		return;
	if (found.kind == MEMORY_GPU && answer->sort == MEMORY_IMPORTED) {
		if (answer->kind == MEMORY_UNKNOWN)
			answer->known_by = found.known_by;
		answer->kind = MEMORY_GPU;
		return;
	}
	if (found.kind == MEMORY_GPU && found.device >= 0)
		found.device = decoder->gpus.data[found.device].number;
	if (answer->kind == MEMORY_UNKNOWN) {
		found.sort = answer->sort;
		*answer = found;
	} else if (found.kind == MEMORY_GPU && found.device >= 0) {
		answer->device = found.device;
		answer->reason = NULL;
		answer->known_by = found.known_by;
	}
}

/*
 * Two processes may see other GPUs under the same numbers (CUDA_VISIBLE_DEVICES): the exporter's
 * tells something if it is known which GPU that is, or if a look at the exporter's memory does.
 */
static void of_exporter(const struct decoder *decoder, const struct capture *capture,
			struct memory_answer *answer)
{
	const struct process *exporter = decoder->processes.data[answer->numbered_by];
	int gpu = decoder_ordinal_gpu(decoder, exporter, answer->device);
	struct memory_answer found = { .kind = MEMORY_UNKNOWN };

	if (answer->exported_at)
		evidence_find(&exporter->evidence, capture, decoder->now, answer->exported_at,
			      &found);
	if (found.kind == MEMORY_GPU && found.device >= 0) {
		gpu = found.device;
		answer->known_by = found.known_by;
		answer->reason = NULL;
	} else if (answer->device >= 0 && gpu < 0) {
		answer->reason = "imported: which GPU the exporter's number is, is not known";
	}
	answer->device = gpu < 0 ? -1 : decoder->gpus.data[gpu].number;
}

/* By the process's own number of its GPU, or else by a look at its memory. */
static void of_process(const struct decoder *decoder, const struct capture *capture,
		       const struct process *process, uint64_t address,
		       struct memory_answer *answer)
{
	answer->device = decoder_gpu_number(decoder, process, answer->device);
	if (answer->device >= 0)
		return;
	answer->reason = NUMBER_NOT_TOLD;
	ask_evidence(decoder, capture, process, address, answer);
}

void decoder_memory(const struct decoder *decoder, const struct capture *capture,
		    const struct process *process, uint64_t address, struct memory_answer *answer)
{
	if (process->memory_by && process->memory_by != capture)
		*answer = (struct memory_answer){ .device = -1,
						  .numbered_by = -1,
						  .reason = "not seen allocated" };
	else
		memory_find(&decoder->memory, process->id, address, answer);
	if (answer->kind == MEMORY_UNKNOWN)
		ask_evidence(decoder, capture, process, address, answer);
	else if (answer->sort == MEMORY_IMPORTED && answer->numbered_by != process->id)
		of_exporter(decoder, capture, answer);
	else if (answer->kind == MEMORY_GPU && answer->device < 0)
		ask_evidence(decoder, capture, process, address, answer);
	else if (answer->kind == MEMORY_GPU)
		of_process(decoder, capture, process, address, answer);
}

#define REQUEST_PROTO_SEND 4 /* UCP_REQUEST_FLAG_PROTO_SEND, src/ucp/core/ucp_request.h */

/* ucs_memory_type_t, one more than in UCX: as far as it is the same since UCX 1.13 */
enum told { TOLD_NOTHING, TOLD_HOST, TOLD_CUDA, TOLD_CUDA_MANAGED };

static int gpu_told(const struct decoder *decoder, const struct process *process,
		    const struct ub_op *record)
{
	size_t device = (size_t)record->mem_device - 1;
	int gpu;

	if (!record->mem_device || device >= process->ucx_devices.len)
		return -1;
	gpu = process->ucx_devices.data[device];
	return gpu < 0 ? -1 : decoder->gpus.data[gpu].number;
}

/*
 * Protocol v1 calls the buffer of a put or get the host's without having looked
 * (ucp_rma_request_init(), src/ucp/rma/rma_send.c), and any buffer of no length may be.
 */
static bool is_told(const struct ub_op *record, enum op_kind op)
{
	if (!record->buffer || !record->count || !record->mem_type)
		return false;
	if (op == OP_PUT || op == OP_GET)
		return record->req_flags & REQUEST_PROTO_SEND;
	return op == OP_TAG_SEND || op == OP_AM_SEND || op == OP_TAG_RECV;
}

const char *decoder_memory_taken_as(const struct event *event)
{
	static const char *const names[] = { NULL, "host", "cuda", "cuda-managed" };
	const struct ub_op *record = (const struct ub_op *)event->h;

	if (!is_told(record, event->site->op) || record->mem_type >= sizeof(names) / sizeof(*names))
		return NULL;
	return names[record->mem_type];
}

void decoder_memory_told(const struct decoder *decoder, const struct event *event,
			 struct memory_answer *answer)
{
	const struct ub_op *record = (const struct ub_op *)event->h;
	const struct process *process = event->process;
	bool unknown = answer->kind == MEMORY_UNKNOWN && answer->sort == MEMORY_NO_SORT;
	bool lacks_gpu =
		answer->kind == MEMORY_GPU && answer->device < 0 && answer->sort != MEMORY_IMPORTED;
	int gpu = -1;

	if ((!unknown && !lacks_gpu) || !is_told(record, event->site->op))
		return;
	if (record->mem_type == TOLD_CUDA || (lacks_gpu && record->mem_type == TOLD_CUDA_MANAGED))
		gpu = gpu_told(decoder, process, record);
	if (unknown && record->mem_type == TOLD_HOST)
		*answer = (struct memory_answer){
			.kind = MEMORY_HOST, .device = -1, .numbered_by = -1, .known_by = "ucx"
		};
	else if (unknown && record->mem_type == TOLD_CUDA)
		*answer = (struct memory_answer){ .kind = MEMORY_GPU,
						  .device = gpu,
						  .numbered_by = -1,
						  .known_by = "ucx",
						  .reason = gpu < 0 ? answer->reason : NULL };
	else if (lacks_gpu && gpu >= 0) {
		answer->device = gpu;
		answer->known_by = "ucx";
		answer->reason = NULL;
	}
}

const char *decoder_memory_name(struct decoder *decoder, enum memory_kind kind, int device)
{
	const char **name;
	char text[MEMORY_NAME_MAX];

	if (kind != MEMORY_GPU || device < 0 || device >= MAX_GPUS)
		return memory_kind_name(kind);
	while (decoder->gpu_names.len <= (size_t)device)
		vec_add(&decoder->gpu_names);
	name = &decoder->gpu_names.data[device];
	if (!*name) {
		memory_gpu_name(text, device);
		*name = strings_intern(&decoder->strings, text);
	}
	return *name;
}

void decoded_memory_release(struct decoder *decoder)
{
	memory_release(&decoder->memory);
	vec_release(&decoder->gpu_names);
}
