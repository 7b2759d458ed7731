// SPDX-License-Identifier: BSD-3-Clause
/*
 * The GPUs of each host and each process's numbers for them. Reports number the GPUs of a host in
 * order of PCI address; a process numbers the ones it may use, from 0.
 */
#include "explain/decode/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int gpu_find(const struct decoder *decoder, int host, const char *pci)
{
	const uint64_t *found = map_find(&decoder->gpu_numbers, (uintptr_t)pci, host);

	return found ? (int)*found - 1 : -1;
}

static int gpu_add(struct decoder *decoder, int host, const char *pci)
{
	int found = gpu_find(decoder, host, pci);

	if (found >= 0)
		return found;
	found = (int)decoder->gpus.len;
	vec_push(&decoder->gpus, ((struct gpu){ .host = host, .pci = pci, .numa_node = -1 }));
	*map_insert(&decoder->gpu_numbers, (uintptr_t)pci, host, NULL) = (uint64_t)found + 1;
	decoder->hosts.data[host].gpus++;
	decoder->hosts.data[host].gpu = found;
	return found;
}

/* That a process names: the driver's list is complete, and a process can name any. -1: none. */
static int gpu_of_process(struct decoder *decoder, int host, const char *pci)
{
	return decoder->hosts.data[host].gpus_listed ? gpu_find(decoder, host, pci)
						     : gpu_add(decoder, host, pci);
}

/* In lower case: the driver's list has it so, others may not. */
static const char *intern_pci(struct decoder *decoder, const char *text)
{
	char pci[24] = "";

	for (size_t i = 0; text && text[i] && i < sizeof(pci) - 1; i++)
		pci[i] = (char)tolower((unsigned char)text[i]);
	return *pci ? strings_intern(&decoder->strings, pci) : NULL;
}

void decode_gpu(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const char *pci = intern_pci(decoder, json_string_value(json_object_get(side, "pci")));
	const json_t *node = json_object_get(side, "numa_node");
	struct gpu *gpu;
	int index;

	if (!pci)
		return;
	decoder->hosts.data[capture->host].gpus_listed = true;
	index = gpu_add(decoder, capture->host, pci); /* may move them */
	gpu = &decoder->gpus.data[index];
	gpu->uuid =
		strings_intern(&decoder->strings, json_string_value(json_object_get(side, "uuid")));
	gpu->model = strings_intern(&decoder->strings,
				    json_string_value(json_object_get(side, "model")));
	gpu->numa_node = json_is_integer(node) ? (int)json_integer_value(node) : -1;
}

/* "GPU3": CUDA's number of it in that process (uct_cuda_base_query_md_resources(), UCX 1.13 on). */
static int ordinal_in(const char *name)
{
	char *end;
	long ordinal;

	if (!name || strncmp(name, "GPU", 3) || !isdigit((unsigned char)name[3]))
		return -1;
	ordinal = strtol(name + 3, &end, 10);
	return *end || ordinal >= MAX_GPUS ? -1 : (int)ordinal;
}

int gpu_named(struct decoder *decoder, struct process *process, const char *pci, const char *name)
{
	const char *address = intern_pci(decoder, pci);
	int ordinal = ordinal_in(name), gpu;

	if (!address)
		return -1;
	if (ordinal < 0)
		return gpu_find(decoder, process->host, address);
	gpu = gpu_of_process(decoder, process->host, address);
	while (process->ordinals.len <= (size_t)ordinal)
		vec_push(&process->ordinals, -1);
	process->ordinals.data[ordinal] = gpu;
	return gpu;
}

int gpu_used(struct decoder *decoder, const struct process *process, const char *pci)
{
	const char *address = intern_pci(decoder, pci);

	return address ? gpu_of_process(decoder, process->host, address) : -1;
}

static int by_address(const void *left, const void *right)
{
	const struct gpu *a = *(struct gpu *const *)left, *b = *(struct gpu *const *)right;

	return a->host == b->host ? strcmp(a->pci, b->pci) : a->host - b->host;
}

/* After all of them were told. */
void gpus_ready(struct decoder *decoder)
{
	VEC(struct gpu *) order = { 0 };

	for (size_t i = 0; i < decoder->gpus.len; i++)
		vec_push(&order, &decoder->gpus.data[i]);
	if (order.len)
		qsort(order.data, order.len, sizeof(*order.data), by_address);
	for (size_t i = 1; i < order.len; i++)
		if (order.data[i]->host == order.data[i - 1]->host)
			order.data[i]->number = order.data[i - 1]->number + 1;
	vec_release(&order);
}

int decoder_ordinal_gpu(const struct decoder *decoder, const struct process *process, int ordinal)
{
	const struct host *host = &decoder->hosts.data[process->host];
	int gpu = -1;

	if (ordinal >= 0 && (size_t)ordinal < process->ordinals.len)
		gpu = process->ordinals.data[ordinal];
	/* whatever is made visible, there is but one */
	return gpu < 0 && ordinal == 0 && host->gpus == 1 ? host->gpu : gpu;
}

int decoder_gpu_number(const struct decoder *decoder, const struct process *process, int ordinal)
{
	int gpu = decoder_ordinal_gpu(decoder, process, ordinal);

	if (gpu >= 0)
		return decoder->gpus.data[gpu].number;
	return decoder->hosts.data[process->host].gpus ? -1 : ordinal;
}
