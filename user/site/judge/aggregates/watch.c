// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi_function.h"
#include "site/judge/aggregates/cells.h"

/* NULL: the process is unknown. */
static struct life *watch_life(struct op_watch *watch, int process)
{
	while (process >= 0 && watch->lives.len <= (size_t)process)
		vec_add(&watch->lives);
	return process < 0 ? NULL : &watch->lives.data[process];
}

/* ---- of which memory the operations of a collective call are ---- */

static const char *const collectives[] = {
	"Allreduce", "Reduce", "Bcast", "Alltoall", "Allgather", "Gather", "Scatter", "Scan",
};

static bool is_collective(const char *function)
{
	for (size_t i = 0; function && i < sizeof(collectives) / sizeof(*collectives); i++)
		if (strcasestr(function, collectives[i]))
			return true;
	return false;
}

static void end_call(struct op_watch *watch, struct watched_call *call)
{
	const char *memory = call->gpu && call->host ? "both" : call->gpu ? "gpu" : "host";

	if (call->gpu || call->host)
		sums_add(watch->sums, &(struct sum){
					      .kind = SUM_COLLECTIVE,
					      .process = call->process,
					      .peer = -1,
					      .words = { call->function, memory },
					      .count = 1,
					      .bytes = call->gpu + call->host,
					      .extra = call->host,
				      });
	*call = (struct watched_call){ 0 };
}

/* The process has a GPU. */
static void watch_collective(struct op_watch *watch, const struct fact_op *op)
{
	struct watched_call *call;

	if (!op->call || !is_collective(op->function) || !op->memory || op->bytes == UINT64_MAX)
		return;
	if (!watch->calls)
		watch->calls = xcalloc(WATCH_ROOM, sizeof(*watch->calls));
	call = &watch->calls[op->call % WATCH_ROOM];
	if (call->id != op->call)
		end_call(watch, call);
	call->id = op->call;
	call->process = op->process;
	call->function = op->function;
	if (is_gpu(op->memory))
		call->gpu += op->bytes;
	else if (strcmp(op->memory, "managed"))
		call->host += op->bytes;
}

/* There are no more facts: calls under way count as ended, and become sums. */
static void watch_collectives_end(struct op_watch *watch)
{
	for (size_t i = 0; watch->calls && i < WATCH_ROOM; i++)
		end_call(watch, &watch->calls[i]);
}

/* ---- over which devices the fragments of an operation go, and how unevenly ---- */

#define MOST_FRAGMENTS 16 /* that are stored one by one */

static int by_device(const void *left, const void *right)
{
	const struct watched_rail *a = left, *b = right;

	return strcmp(a->device, b->device);
}

/* "eth0 3, eth1 2", or the devices alone. */
static const char *pattern(struct op_watch *watch, const struct watched_op *op, uint64_t fragments)
{
	const char *kept;
	char *text;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	for (size_t i = 0; i < op->rails.len; i++) {
		const struct watched_rail *rail = &op->rails.data[i];

		fprintf(out, "%s%s", i ? ", " : "", rail->device);
		if (fragments <= MOST_FRAGMENTS)
			fprintf(out, " %" PRIu64, rail->fragments);
	}
	fclose(out);
	kept = words_keep(watch->words, text);
	free(text);
	return kept;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * The first and the last fragment may be small: only a spread that is uneven both by number and by
 * bytes counts.
 */
static void end_op(struct op_watch *watch, struct watched_op *op)
{
	uint64_t fragments = 0, bytes = 0, most = 0, most_bytes = 0;
	double over;

	for (size_t i = 0; i < op->rails.len; i++) {
		const struct watched_rail *rail = &op->rails.data[i];

		fragments += rail->fragments;
		bytes += rail->bytes;
		most = larger(most, rail->fragments);
		most_bytes = larger(most_bytes, rail->bytes);
	}
	if (op->rails.len > 1 && bytes) {
		over = fmin((double)most / fragments, (double)most_bytes / bytes) * op->rails.len;
		qsort(op->rails.data, op->rails.len, sizeof(*op->rails.data), by_device);
		sums_add(watch->sums, &(struct sum){
					      .kind = SUM_SPREAD,
					      .process = op->process,
					      .peer = -1,
					      .words = { pattern(watch, op, fragments) },
					      .count = 1,
					      .bytes = bytes,
					      .extra = bytes * over,
					      .least = fragments,
					      .most = fragments,
				      });
	}
	op->rails.len = 0;
}

static struct watched_rail *rail_of(struct watched_op *op, const char *device)
{
	for (size_t i = 0; i < op->rails.len; i++)
		if (!strcmp(op->rails.data[i].device, device))
			return &op->rails.data[i];
	vec_push(&op->rails, (struct watched_rail){ .device = device });
	return &op->rails.data[op->rails.len - 1];
}

static void watch_fragment(struct op_watch *watch, const struct fact_transfer *transfer,
			   uint64_t count, uint64_t bytes)
{
	struct watched_rail *rail;
	struct watched_op *op;

	if (!transfer->caused_by || !transfer->device || !is_network(transfer->transport) ||
	    transfer->kind != KIND_DATA || transfer->retried)
		return;
	if (!watch->ops)
		watch->ops = xcalloc(WATCH_ROOM, sizeof(*watch->ops));
	op = &watch->ops[transfer->caused_by % WATCH_ROOM];
	if (op->id != transfer->caused_by)
		end_op(watch, op);
	op->id = transfer->caused_by;
	op->process = transfer->process;
	rail = rail_of(op, transfer->device);
	rail->fragments += count;
	rail->bytes += bytes;
}

static void watch_fragments_end(struct op_watch *watch)
{
	for (size_t i = 0; watch->ops && i < WATCH_ROOM; i++)
		end_op(watch, &watch->ops[i]);
}

/* ---- operations that never ended: which call waits for them ---- */

/*
 * The call that waits for an operation without an end: its own, if nothing came behind it, or a
 * later one that waits for earlier operations. NULL: none was seen.
 */
static const char *kept_call(const struct op_watch *watch, const struct open_op *op)
{
	const uint64_t *at = map_find(&watch->last_calls, (uint32_t)op->process, op->tid);
	const struct last_call *last = at ? &watch->threads.data[*at - 1] : NULL;

	if (!last || !last->function)
		return NULL;
	if (last->id == op->call)
		return mpi_function(last->function).blocks ? last->function : NULL;
	return last->start > op->start && mpi_function(last->function).completes ? last->function
										 : NULL;
}

static void end_open(struct op_watch *watch, const struct open_op *op)
{
	const struct life *life = watch_life(watch, op->process);
	const char *call = kept_call(watch, op);

	if (!life || !call || life->until <= life->last)
		return;
	sums_add(watch->sums, &(struct sum){
				      .kind = SUM_OPEN,
				      .process = op->process,
				      .peer = op->peer,
				      .words = { op->op, call },
				      .count = 1,
				      .bytes = op->bytes,
				      .least = life->until - life->last,
				      .most = life->until - op->start,
			      });
}

static void watch_open_end(struct op_watch *watch)
{
	for (size_t i = 0; !watch->windows && i < watch->open.len; i++)
		end_open(watch, &watch->open.data[i]);
}

/* ---- facts as they come ---- */

static void seen(struct op_watch *watch, int process, uint64_t when)
{
	struct life *life = watch_life(watch, process);

	if (life && when > life->last)
		life->last = when;
}

void watch_process(struct op_watch *watch, const struct fact_process *process)
{
	struct life *life = watch_life(watch, process->index);

	if (life)
		life->gpu_library = process->gpu_library;
}

void watch_lifetime(struct op_watch *watch, const struct fact_lifetime *lifetime)
{
	struct life *life = watch_life(watch, lifetime->process);

	if (life)
		life->until = lifetime->until;
}

void watch_call(struct op_watch *watch, const struct fact_call *call)
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

/* Compares UCX's idea of a buffer's memory with other evidence, in a process that has a GPU. */
static void add_taken(struct op_watch *watch, const struct fact_op *op)
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

static void add_freed(struct op_watch *watch, const struct fact_op *op)
{
	const char *place = op->place ? words_keep(watch->words, op->place->label) : NULL;

	sums_add(watch->sums, &(struct sum){
				      .kind = SUM_FREED,
				      .process = op->process,
				      .peer = -1,
				      .words = { op->op, op->function, place },
				      .count = 1,
				      .bytes = op->bytes == UINT64_MAX ? 0 : op->bytes,
			      });
}

void watch_transfer(struct op_watch *watch, const struct fact_transfer *transfer, uint64_t count,
		    uint64_t bytes)
{
	seen(watch, transfer->process, transfer->start);
	watch_fragment(watch, transfer, count, bytes);
}

void watch_op(struct op_watch *watch, const struct fact_op *op)
{
	struct life *life = watch_life(watch, op->process);

	seen(watch, op->process, op->start);
	seen(watch, op->process, op->end);
	if (life && life->gpu_library) {
		watch_collective(watch, op);
		add_taken(watch, op);
	}
	if (op->freed)
		add_freed(watch, op);
	if (!op->end)
		vec_push(&watch->open, ((struct open_op){
					       .process = op->process,
					       .peer = op->peer,
					       .tid = op->tid,
					       .call = op->call,
					       .start = op->start,
					       .bytes = op->bytes == UINT64_MAX ? 0 : op->bytes,
					       .op = op->op,
				       }));
}

void watch_init(struct op_watch *watch, struct sums *sums, struct words *words)
{
	*watch = (struct op_watch){ .sums = sums, .words = words };
}

void watch_finish(struct op_watch *watch)
{
	watch_collectives_end(watch);
	watch_fragments_end(watch);
	watch_open_end(watch);
	watch_release(watch);
}

void watch_release(struct op_watch *watch)
{
	for (size_t i = 0; watch->ops && i < WATCH_ROOM; i++)
		vec_release(&watch->ops[i].rails);
	free(watch->calls);
	free(watch->ops);
	map_release(&watch->last_calls);
	vec_release(&watch->threads);
	vec_release(&watch->open);
	vec_release(&watch->lives);
	*watch = (struct op_watch){ .sums = watch->sums, .words = watch->words };
}
