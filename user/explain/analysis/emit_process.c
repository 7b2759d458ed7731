// SPDX-License-Identifier: BSD-3-Clause
/* Processes, their clocks, windows, GPUs, NICs and memory, as facts. */
#include "explain/analysis/emit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"

static const struct process *process_at(const struct emitter *emitter, int process)
{
	return emitter->decoder->processes.data[process];
}

static void emit_use(struct emitter *emitter, const struct memory_use *use)
{
	const struct process *owner = process_at(emitter, use->numbered_by);
	int number =
		use->device < 0 ? -1 : decoder_gpu_number(emitter->decoder, owner, use->device);
	struct fact_memory fact = {
		.process = process_at(emitter, use->process)->index,
		.kind = memory_kind_name(use->kind),
		.sort = memory_sort_name(use->sort),
		.device = number,
		.exporter = use->numbered_by == use->process ? -1 : owner->index,
		.reason = use->device >= 0 && number < 0 ? NUMBER_NOT_TOLD : use->reason,
		.function = use->function,
		.allocations = use->allocations,
		.bytes = use->bytes,
		.unsized = use->unsized,
		.live_peak = use->live_peak,
	};

	fact_put(emitter->sink, FACT_MEMORY, &fact);
}

static void note(struct emitter *emitter, const char *text, uint64_t count)
{
	if (count)
		reason_add(emitter->totals->notes, text, count);
}

static void emit_counts(struct emitter *emitter, const struct process *process)
{
	struct memory_counts counts = memory_counts(&emitter->decoder->memory, process->id);

	note(emitter, "calls of a GPU library that failed", counts.failed);
	note(emitter, "memory made at an address that could not be read", counts.unreadable);
	note(emitter, "memory freed that was not seen allocated", counts.unmatched);
	note(emitter, "memory whose end was not seen: other memory took its place",
	     counts.replaced);
}

void emit_memory_uses(struct emitter *emitter)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; i < decoder->memory.uses.len; i++)
		emit_use(emitter, decoder->memory.uses.data[i]);
	for (size_t i = 0; i < decoder->processes.len; i++)
		emit_counts(emitter, decoder->processes.data[i]);
}

/* The GPUs of all hosts, which processes use them by which number, and processes' NICs. */

struct device_use {
	int gpu; /* position in decoder.gpus */
	struct fact_device_user user;
};

typedef VEC(struct device_use) device_uses;

static void add_uses(const struct decoder *decoder, const struct process *process,
		     device_uses *uses)
{
	for (size_t i = 0; i < process->ordinals.len && process->index >= 0; i++) {
		int gpu = decoder_ordinal_gpu(decoder, process, (int)i);

		if (gpu >= 0)
			vec_push(uses, ((struct device_use){ gpu,
							     { decoder->gpus.data[gpu].host,
							       decoder->gpus.data[gpu].number,
							       process->index, (int)i } }));
	}
}

/* Into one list, each device's behind each other, in the order in which they were added. */
static void place_users(struct emitter *emitter, const device_uses *uses)
{
	struct fact_device *devices = emitter->devices.data;
	struct fact_device_user *users = xcalloc(uses->len + 1, sizeof(*users));
	size_t *from = xcalloc(emitter->devices.len + 1, sizeof(*from)), placed = 0;

	emitter->device_users = users;
	for (size_t i = 0; i < uses->len; i++)
		devices[uses->data[i].gpu].user_count++;
	for (size_t i = 0; i < emitter->devices.len; i++) {
		devices[i].users = users + placed;
		from[i] = placed;
		placed += (size_t)devices[i].user_count;
	}
	for (size_t i = 0; i < uses->len; i++)
		users[from[uses->data[i].gpu]++] = uses->data[i].user;
	free(from);
}

static void add_users(struct emitter *emitter)
{
	device_uses uses = { 0 };

	for (size_t i = 0; i < emitter->decoder->processes.len; i++)
		add_uses(emitter->decoder, emitter->decoder->processes.data[i], &uses);
	place_users(emitter, &uses);
	vec_release(&uses);
}

static void add_device(struct emitter *emitter, const struct gpu *gpu)
{
	vec_push(&emitter->devices,
		 ((struct fact_device){
			 .host = gpu->host,
			 .host_name = emitter->decoder->hosts.data[gpu->host].name,
			 .number = gpu->number,
			 .pci = gpu->pci,
			 .uuid = gpu->uuid,
			 .model = gpu->model,
			 .numa_node = gpu->numa_node,
		 }));
}

static int in_order(const void *left, const void *right)
{
	const struct fact_device *a = left, *b = right;

	return a->host == b->host ? a->number - b->number : a->host - b->host;
}

static void emit_device(const struct emitter *emitter, const struct fact_device *device)
{
	fact_put(emitter->sink, FACT_DEVICE, device);
	for (int i = 0; i < device->user_count; i++)
		fact_put(emitter->sink, FACT_DEVICE_USER, &device->users[i]);
}

void emit_devices(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->decoder->gpus.len; i++)
		add_device(emitter, &emitter->decoder->gpus.data[i]);
	add_users(emitter);
	if (emitter->devices.len)
		qsort(emitter->devices.data, emitter->devices.len, sizeof(*emitter->devices.data),
		      in_order);
	emitter->totals->devices = emitter->devices.data;
	emitter->totals->device_count = (int)emitter->devices.len;
	for (size_t i = 0; i < emitter->devices.len; i++)
		emit_device(emitter, &emitter->devices.data[i]);
}

static int by_interface(const void *left, const void *right)
{
	const struct open_device *a = left, *b = right;
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : strcmp(a->transport, b->transport);
	return order ? order : strcmp(a->device, b->device);
}

void emit_open_devices(struct emitter *emitter)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; i < decoder->objects.len; i++) {
		const struct object *object = decoder->objects.data[i];

		if (object->kind != OBJECT_IFACE || !object->transport || !object->device ||
		    object->process->index < 0)
			continue;
		vec_push(&emitter->open_devices,
			 ((struct open_device){ object->process->index, object->transport,
						object->device }));
	}
	if (emitter->open_devices.len)
		qsort(emitter->open_devices.data, emitter->open_devices.len,
		      sizeof(*emitter->open_devices.data), by_interface);
	emitter->totals->open_devices = emitter->open_devices.data;
	emitter->totals->open_device_count = (int)emitter->open_devices.len;
}

static int by_library(const void *left, const void *right)
{
	const struct library_use *a = left, *b = right;
	int order = (a->process > b->process) - (a->process < b->process);

	order = order ? order : strcmp(a->path, b->path);
	return order ? order : strcmp(a->role, b->role);
}

static void add_libraries(struct emitter *emitter, const struct process *process)
{
	for (size_t i = 0; i < process->libraries.len && process->index >= 0; i++) {
		const struct told_library *library = &process->libraries.data[i];

		if (library->role && library->path)
			vec_push(
				&emitter->libraries,
				((struct library_use){ process->index, library->role, library->path,
						       library->build_id, library->version }));
	}
}

void emit_software(struct emitter *emitter)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; i < decoder->processes.len; i++)
		add_libraries(emitter, decoder->processes.data[i]);
	for (size_t i = 0; i < decoder->hosts.len; i++)
		vec_push(&emitter->systems,
			 ((struct host_system){ decoder->hosts.data[i].kernel,
						decoder->hosts.data[i].machine }));
	if (emitter->libraries.len)
		qsort(emitter->libraries.data, emitter->libraries.len,
		      sizeof(*emitter->libraries.data), by_library);
	emitter->totals->libraries = emitter->libraries.data;
	emitter->totals->library_count = (int)emitter->libraries.len;
	emitter->totals->systems = emitter->systems.data;
	emitter->totals->system_count = (int)emitter->systems.len;
}

static void emitted_devices_release(struct emitter *emitter)
{
	free(emitter->device_users);
	vec_release(&emitter->devices);
	vec_release(&emitter->open_devices);
	vec_release(&emitter->libraries);
	vec_release(&emitter->systems);
}

void emitter_release(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->lists.len; i++)
		free(emitter->lists.data[i]);
	vec_release(&emitter->lists);
	emitted_devices_release(emitter);
}

static void *list_of(struct emitter *emitter, size_t length, size_t size)
{
	void *list = xcalloc(length + 1, size);

	vec_push(&emitter->lists, list);
	return list;
}

static const struct fact_ucx *ucx_facts(struct emitter *emitter, const struct process *process)
{
	struct fact_ucx *ucx = list_of(emitter, process->ucx.len, sizeof(*ucx));

	for (size_t i = 0; i < process->ucx.len; i++) {
		const struct ucx_library *library = &process->ucx.data[i];

		ucx[i] = (struct fact_ucx){ process->index, library->path, library->build_id,
					    library->version, library->layout };
	}
	return ucx;
}

static const struct fact_variable *environment_facts(struct emitter *emitter,
						     const struct process *process)
{
	struct fact_variable *environment =
		list_of(emitter, process->environment.len, sizeof(*environment));

	for (size_t i = 0; i < process->environment.len; i++)
		environment[i] =
			(struct fact_variable){ process->index, process->environment.data[i].name,
						process->environment.data[i].value };
	return environment;
}

static void emit_process(struct emitter *emitter, const struct process *process)
{
	const struct host *host = &emitter->decoder->hosts.data[process->host];
	struct fact_process fact = {
		.index = process->index,
		.host = process->host,
		.host_id = host->id,
		.host_name = host->name,
		.pid = process->ns_pid,
		.tgid = process->tgid,
		.start_time = process->start_time,
		.comm = process->comm,
		.exe = process->exe,
		.mpi = process->mpi,
		.job = process->job,
		.batch_job = process->batch_job,
		.step = process->step,
		.rank = process->rank,
		.size = process->size,
		.from_start = process->from_start,
		.ucx = ucx_facts(emitter, process),
		.ucx_count = (int)process->ucx.len,
		.gpu_library = process->gpu_library,
		.environment = environment_facts(emitter, process),
		.environment_count = (int)process->environment.len,
		.environment_cut = process->environment_cut,
		.cpus = process->cpus,
		.undescribed = !process->described,
		.ucx_unknown = !process->described || process->libraries_unread,
	};

	fact_put(emitter->sink, FACT_PROCESS, &fact);
	for (int i = 0; i < fact.ucx_count; i++)
		fact_put(emitter->sink, FACT_UCX, &fact.ucx[i]);
	for (int i = 0; i < fact.environment_count; i++)
		fact_put(emitter->sink, FACT_VARIABLE, &fact.environment[i]);
}

void emit_processes(struct emitter *emitter)
{
	while (emitter->processes < emitter->decoder->shown.len)
		emit_process(emitter, emitter->decoder->shown.data[emitter->processes++]);
}

/* A host's captures follow each other. */
void emit_clocks(struct emitter *emitter, const inputs *inputs)
{
	int told = -1;

	for (size_t i = 0; i < inputs->len; i++) {
		const struct input *input = inputs->data[i];

		if (!input->real || input->capture.host == told)
			continue;
		told = input->capture.host;
		fact_put(emitter->sink, FACT_CLOCK,
			 &(struct fact_clock){ told, input->mono, input->real });
	}
}

/* Marks processes that still have their pids as watched to the capture's end. */
static void watched(const struct input *input, uint64_t *until)
{
	uint64_t end = input->capture.ended ? input->capture.ended : input->last;
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&input->capture.tgids, &pos))) {
		const struct process *process = (const struct process *)(uintptr_t)slot->value;

		if (until[process->id] < end)
			until[process->id] = end;
	}
}

static struct fact_lifetime lifetime_of(const struct process *process, uint64_t until)
{
	const int how = process->exit_told & 0xffff;
	const bool told = process->exited && process->exit_told;

	return (struct fact_lifetime){
		.process = process->index,
		.until = until,
		.exited = process->exited,
		.exit_status = told && WIFEXITED(how) ? WEXITSTATUS(how) : -1,
		.exit_signal = told && WIFSIGNALED(how) ? WTERMSIG(how) : 0,
		.unprobed = process->unprobed,
	};
}

uint64_t *lifetimes_of(const struct decoder *decoder, const inputs *inputs)
{
	uint64_t *until = xcalloc(decoder->processes.len + 1, sizeof(*until));

	for (size_t i = 0; i < inputs->len; i++)
		watched(inputs->data[i], until);
	for (size_t i = 0; i < decoder->processes.len; i++) {
		const struct process *process = decoder->processes.data[i];

		if (process->exited)
			until[i] = process->exited_at;
		else if (until[i] < process->probed_at) /* it has done nothing since */
			until[i] = process->probed_at;
	}
	return until;
}

void emit_lifetimes(struct emitter *emitter, const uint64_t *until, struct waits *waits)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; i < decoder->processes.len; i++) {
		const struct process *process = decoder->processes.data[i];
		struct fact_lifetime fact = lifetime_of(process, until[i]);

		fact.entered = waits_entered(waits, process);
		if (process->index >= 0 && fact.until)
			fact_put(emitter->sink, FACT_LIFETIME, &fact);
	}
}

void emit_windows(struct emitter *emitter, const struct input *input, int number)
{
	const struct capture *capture = &input->capture;
	uint64_t until = capture->ended ? capture->ended : input->last;

	for (size_t i = 0; i < capture->windows.len; i++) {
		const struct window *window = &capture->windows.data[i];
		struct fact_window fact = {
			.host = capture->host,
			.host_name = emitter->decoder->hosts.data[capture->host].name,
			.capture = number,
			.from = window->from,
			.to = window->to ? window->to : input->last,
			.until = until,
			.step = window->step,
			.reason = window->reason,
			.paid_ppm = window->paid_ppm,
		};

		if (fact.to < fact.from)
			fact.to = fact.from;
		fact_put(emitter->sink, FACT_WINDOW, &fact);
	}
}
