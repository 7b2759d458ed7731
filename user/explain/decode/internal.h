/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared among the files of decode/. */
#ifndef UCXBPF_DECODE_INTERNAL_H
#define UCXBPF_DECODE_INTERNAL_H

#include <stdlib.h>

#include "explain/decode/decode.h"

void decode_site(struct decoder *decoder, struct capture *capture, const json_t *side);

/* Hex string or integer member; 0 where absent. */
static inline uint64_t side_u64(const json_t *side, const char *key)
{
	const json_t *value = json_object_get(side, key);
	const char *text = json_string_value(value);

	return text ? strtoull(text, NULL, 0) : (uint64_t)json_integer_value(value);
}

/* Text member, interned; NULL where absent. */
static inline const char *side_string(struct decoder *decoder, const json_t *side, const char *key)
{
	return strings_intern(&decoder->strings, json_string_value(json_object_get(side, key)));
}

/* The process that has tgid now, made where no side record told of it. */
struct process *capture_process(struct decoder *decoder, struct capture *capture, uint32_t tgid);
/* The process with that tgid at ts: the last one whose first side record is not later. */
struct process *process_at(const struct decoder *decoder, int host, uint32_t tgid, uint64_t ts);
void process_show(struct decoder *decoder, struct process *process);
/*
 * The process that another one of its host, and of its user, means by a pid in the peer's
 * namespace: the one shown process that has it. A user's memory proves nothing about other users'
 * processes.
 */
struct process *process_named_by(const struct decoder *decoder, const struct process *process,
				 uint32_t ns_pid);
void processes_release(struct decoder *decoder);

void decode_process(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_library(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_task(struct decoder *decoder, struct capture *capture, const struct ub_task *task);

void decode_side_object(struct decoder *decoder, struct capture *capture, enum object_kind kind,
			const json_t *side);
void decode_object(struct decoder *decoder, const struct event *event, const struct ub_obj *record);
/* Side records' objects whose time has come; later snapshots add members. */
void objects_apply(struct decoder *decoder, struct capture *capture, uint64_t ts);
void objects_pair(struct decoder *decoder);
/* Endpoints and interfaces of a process may have ended, up to that time: they are not known. */
void objects_forget(struct process *process, uint64_t until);

void decode_cell(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_cells(struct decoder *decoder, struct capture *capture, const json_t *side);
void cells_sort(struct capture *capture);
/* Cells whose time has come: what their addresses stand for now. */
void cells_apply(struct decoder *decoder, struct capture *capture, uint64_t ts);

/* In this order: addresses are joined to modules and symbols. */
void decode_module(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_symbol(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_address(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_stack(struct decoder *decoder, const struct event *event,
		  const struct ub_stack *record);
void decoded_stacks_release(struct decoder *decoder);
/* Its library and role, by its symbol and module, and by the process's libraries. */
void name_caller(const struct process *process, struct place *place);
void decoded_places_release(struct decoder *decoder);

void decode_memory(struct decoder *decoder, const struct event *event, const struct ub_mem *record);
/* Any of the lost records may have been of memory, if one was. */
void decode_memory_loss(struct decoder *decoder, const struct event *event,
			const struct ub_loss *loss);
/* After decode_task(): what becomes of the memory. */
void decode_memory_task(struct decoder *decoder, const struct event *event,
			const struct ub_task *task);
void decoded_memory_ready(struct decoder *decoder);
void decoded_memory_release(struct decoder *decoder);

/* No machine has more: numbers beyond are of a damaged file. */
#define MAX_GPUS 1024
void decode_gpu(struct decoder *decoder, struct capture *capture, const json_t *side);
/* Position in decoder.gpus of what UCX calls so in a process; -1: no GPU. */
int gpu_named(struct decoder *decoder, struct process *process, const char *pci, const char *name);
/* One by its PCI address alone. */
int gpu_used(struct decoder *decoder, const struct process *process, const char *pci);
void gpus_ready(struct decoder *decoder);

void decode_thread(struct decoder *decoder, struct capture *capture, const json_t *side);
void decode_queues(struct decoder *decoder, struct capture *capture, const json_t *side);
/* Only what the last look at each worker found is kept. */
void underway_ready(struct decoder *decoder);

void decode_look(struct decoder *decoder, struct capture *capture, const json_t *side);
void evidence_foresee(struct decoder *decoder, struct capture *capture, const struct ub_hdr *h);
void evidences_ready(struct decoder *decoder);

#endif
