// SPDX-License-Identifier: BSD-3-Clause
/* The GPUs of all hosts, which processes use them by which number, and processes' NICs. */
#include "explain/match/emit.h"

#include <stdlib.h>
#include <string.h>

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
			vec_push(uses, ((struct device_use){ gpu, { process->index, (int)i } }));
	}
}

/* Into one list, each device's behind each other, in the order in which they were added. */
static void place_users(struct emitter *emitter, const device_uses *uses)
{
	struct fact_device *devices = emitter->devices.data;
	struct fact_device_user *users = calloc(uses->len + 1, sizeof(*users));
	size_t *from = calloc(emitter->devices.len + 1, sizeof(*from)), placed = 0;

	if (!users || !from)
		abort();
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

void emitted_devices_release(struct emitter *emitter)
{
	free(emitter->device_users);
	vec_release(&emitter->devices);
	vec_release(&emitter->open_devices);
}
