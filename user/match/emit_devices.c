// SPDX-License-Identifier: BSD-3-Clause
/* The GPUs of all hosts, which processes use them by which number, and processes' NICs. */
#include "match/emit.h"

#include <stdlib.h>
#include <string.h>

static void add_users(const struct decoder *decoder, const struct process *process, int gpu,
		      struct fact_device *fact, struct fact_device_user *users)
{
	for (size_t i = 0; i < process->ordinals.len && process->index >= 0; i++)
		if (decoder_ordinal_gpu(decoder, process, (int)i) == gpu)
			users[fact->user_count++] =
				(struct fact_device_user){ process->index, (int)i };
}

static size_t users_at_most(const struct decoder *decoder)
{
	size_t count = 1;

	for (size_t i = 0; i < decoder->processes.len; i++)
		count += decoder->processes.data[i]->ordinals.len;
	return count;
}

static void add_device(struct emitter *emitter, int number)
{
	const struct decoder *decoder = emitter->decoder;
	const struct gpu *gpu = &decoder->gpus.data[number];
	struct fact_device_user *users = calloc(users_at_most(decoder), sizeof(*users));
	struct fact_device fact = {
		.host = gpu->host,
		.host_name = decoder->hosts.data[gpu->host].name,
		.number = gpu->number,
		.pci = gpu->pci,
		.uuid = gpu->uuid,
		.model = gpu->model,
		.numa_node = gpu->numa_node,
		.users = users,
	};

	if (!users)
		abort();
	vec_push(&emitter->device_users, users);
	for (size_t i = 0; i < decoder->processes.len; i++)
		add_users(decoder, decoder->processes.data[i], number, &fact, users);
	vec_push(&emitter->devices, fact);
}

static int in_order(const void *left, const void *right)
{
	const struct fact_device *a = left, *b = right;

	return a->host == b->host ? a->number - b->number : a->host - b->host;
}

void emit_devices(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->decoder->gpus.len; i++)
		add_device(emitter, (int)i);
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
	for (size_t i = 0; i < emitter->device_users.len; i++)
		free(emitter->device_users.data[i]);
	vec_release(&emitter->device_users);
	vec_release(&emitter->devices);
	vec_release(&emitter->open_devices);
}
