// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/watch.h"

#include <stdlib.h>
#include <string.h>

#define MAX_OPEN (1 << 16)

struct life *watch_life(struct watch *watch, int process)
{
	while (process >= 0 && watch->lives.len <= (size_t)process)
		vec_add(&watch->lives);
	return process < 0 ? NULL : &watch->lives.data[process];
}

static void seen(struct watch *watch, int process, uint64_t when)
{
	struct life *life = watch_life(watch, process);

	if (life && when > life->last)
		life->last = when;
}

void watch_process(struct watch *watch, const struct fact_process *process)
{
	struct life *life = watch_life(watch, process->index);

	if (life)
		life->gpu_library = process->gpu_library;
}

void watch_lifetime(struct watch *watch, const struct fact_lifetime *lifetime)
{
	struct life *life = watch_life(watch, lifetime->process);

	if (life)
		life->until = lifetime->until;
}

void watch_call(struct watch *watch, const struct fact_call *call)
{
	uint64_t *at;

	seen(watch, call->process, call->start);
	at = map_insert(&watch->last_calls, (uint32_t)call->process, call->tid, NULL);
	if (!*at) {
		vec_add(&watch->threads);
		*at = watch->threads.len;
	}
	if (call->start >= watch->threads.data[*at - 1].start)
		watch->threads.data[*at - 1] =
			(struct last_call){ call->id, call->start, call->function };
}

/* Of a process that has a GPU: what UCX took a buffer for, and what it is by other evidence. */
static void add_taken(struct watch *watch, const struct fact_op *op)
{
	if (!op->memory || !op->taken_as || !op->memory_known_by ||
	    !strcmp(op->memory_known_by, "ucx"))
		return;
	sums_add(watch->sums, &(struct sum){
				      .kind = SUM_TAKEN,
				      .process = op->process,
				      .peer = -1,
				      .words = { op->memory, op->taken_as, op->op, op->function,
						 op->memory_known_by },
				      .count = 1,
				      .bytes = op->bytes == UINT64_MAX ? 0 : op->bytes,
			      });
}

void watch_transfer(struct watch *watch, const struct fact_transfer *transfer, uint64_t count,
		    uint64_t bytes)
{
	seen(watch, transfer->process, transfer->start);
	watch_fragment(watch, transfer, count, bytes);
}

void watch_op(struct watch *watch, const struct fact_op *op)
{
	struct life *life = watch_life(watch, op->process);

	seen(watch, op->process, op->start);
	seen(watch, op->process, op->end);
	if (life && life->gpu_library) {
		watch_collective(watch, op);
		add_taken(watch, op);
	}
	if (!op->end && watch->open.len < MAX_OPEN)
		vec_push(&watch->open, *op);
}

void watch_init(struct watch *watch, struct sums *sums, struct words *words)
{
	*watch = (struct watch){ .sums = sums, .words = words };
}

void watch_finish(struct watch *watch)
{
	watch_collectives_end(watch);
	watch_fragments_end(watch);
	watch_open_end(watch);
	watch_release(watch);
}

void watch_release(struct watch *watch)
{
	free(watch->calls);
	free(watch->ops);
	map_release(&watch->last_calls);
	vec_release(&watch->threads);
	vec_release(&watch->open);
	vec_release(&watch->lives);
	*watch = (struct watch){ .sums = watch->sums, .words = watch->words };
}
