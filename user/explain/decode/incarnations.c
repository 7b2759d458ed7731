// SPDX-License-Identifier: BSD-3-Clause
/* Which process a pid stands for: one number may have been several processes'. */
#include "explain/decode/internal.h"

static struct process **by_start(struct decoder *decoder, int host, uint32_t tgid,
				 uint64_t start_time)
{
	return (struct process **)map_insert(&decoder->by_start, (uint64_t)host << 32 | tgid,
					     start_time, NULL);
}

static struct process *first_of(const struct decoder *decoder, int host, uint32_t tgid)
{
	uint64_t *first = map_find(&decoder->by_tgid, tgid, host);

	return first ? (struct process *)(uintptr_t)*first : NULL;
}

/* Found by its pid from now on, behind those that were added before. */
static void index_process(struct decoder *decoder, struct process *process)
{
	struct process *first = first_of(decoder, process->host, process->tgid);
	struct process **same =
		by_start(decoder, process->host, process->tgid, process->start_time);

	if (!*same)
		*same = process;
	if (first)
		first->last->next = process;
	else
		*map_insert(&decoder->by_tgid, process->tgid, process->host, NULL) =
			(uintptr_t)(first = process);
	first->last = process;
}

struct process *process_add(struct decoder *decoder, struct capture *capture, uint32_t tgid,
			    uint64_t start_time)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		abort();
	*process = (struct process){ .id = (int)decoder->processes.len,
				     .index = -1,
				     .host = capture->host,
				     .tgid = tgid,
				     .ns_pid = tgid,
				     .start_time = start_time,
				     .rank = -1,
				     .size = -1,
				     .environment_cut = -1 };
	vec_push(&decoder->processes, process);
	index_process(decoder, process);
	return process;
}

struct process *process_find(struct decoder *decoder, int host, uint32_t tgid, uint64_t start_time)
{
	return *by_start(decoder, host, tgid, start_time);
}

/* Side records come first, so the process that a tgid names at the beginning is its oldest one. */
struct process *capture_process(struct decoder *decoder, struct capture *capture, uint32_t tgid)
{
	bool fresh;
	uint64_t *slot = map_insert(&capture->tgids, tgid, 0, &fresh);

	if (fresh)
		*slot = (uintptr_t)process_add(decoder, capture, tgid, 0);
	return (struct process *)(uintptr_t)*slot;
}

struct process *process_at(const struct decoder *decoder, int host, uint32_t tgid, uint64_t ts)
{
	struct process *best = first_of(decoder, host, tgid);

	for (struct process *process = best; process; process = process->next)
		if (process->seen <= ts && process->seen >= best->seen)
			best = process;
	return best;
}

void process_replace(struct decoder *decoder, struct capture *capture,
		     const struct process *process, uint64_t start_time)
{
	struct process *next = NULL, *other = first_of(decoder, process->host, process->tgid);

	for (; other; other = other->next)
		if (other->start_time > process->start_time &&
		    (!next || other->start_time < next->start_time))
			next = other;
	if (!next)
		next = process_add(decoder, capture, process->tgid, start_time);
	*map_insert(&capture->tgids, process->tgid, 0, NULL) = (uintptr_t)next;
}

void process_show(struct decoder *decoder, struct process *process)
{
	bool fresh;
	uint64_t *slot;

	if (process->index >= 0)
		return;
	process->index = (int)decoder->shown.len;
	vec_push(&decoder->shown, process);
	slot = map_insert(&decoder->by_ns_pid, process->ns_pid, process->host, &fresh);
	*slot = fresh ? (uintptr_t)process : 0;
}

struct process *process_by_ns_pid(const struct decoder *decoder, int host, uint32_t ns_pid)
{
	uint64_t *found = map_find(&decoder->by_ns_pid, ns_pid, host);

	return found ? (struct process *)(uintptr_t)*found : NULL;
}

void processes_release(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->processes.len; i++) {
		struct process *process = decoder->processes.data[i];

		vec_release(&process->ucx);
		vec_release(&process->environment);
		vec_release(&process->mpi_text);
		vec_release(&process->ordinals);
		vec_release(&process->ucx_devices);
		vec_release(&process->workers);
		vec_release(&process->ifaces);
		evidence_release(&process->evidence);
		free(process);
	}
	vec_release(&decoder->processes);
	vec_release(&decoder->shown);
	vec_release(&decoder->ending);
	map_release(&decoder->by_tgid);
	map_release(&decoder->by_start);
	map_release(&decoder->by_ns_pid);
}
