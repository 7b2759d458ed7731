// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/traced.h"

#include <string.h>

#include "base/memory_name.h"

#define PROGRAM "ucxbpf-traffic-"

uint32_t traced_at(struct traced *traced, const char *id)
{
	uint64_t *at = map_insert(&traced->by_id, (uintptr_t)id, 0, NULL);

	if (!*at) {
		vec_push(&traced->processes, ((struct traced_process){ .id = id }));
		*at = traced->processes.len;
	}
	return *at - 1;
}

bool traced_is(const struct traced *traced, const char *id)
{
	return map_find(&traced->by_id, (uintptr_t)id, 0);
}

static bool is_traffic(const struct fact_process *fact)
{
	const char *name = fact->exe ? basename(fact->exe) : fact->comm;

	return name && !strncmp(name, PROGRAM, strlen(PROGRAM));
}

void traced_process(struct traced *traced, const struct fact_process *fact, const char *id)
{
	if (fact->index < 0 || !is_traffic(fact))
		return;
	while (traced->by_fact.len <= (size_t)fact->index)
		vec_add(&traced->by_fact);
	traced->by_fact.data[fact->index] = 1 + traced_at(traced, id);
}

/* -1: none of the traffic's. */
static int64_t position(const struct traced *traced, int process)
{
	if (process < 0 || (size_t)process >= traced->by_fact.len)
		return -1;
	return (int64_t)traced->by_fact.data[process] - 1;
}

bool traced_has(const struct traced *traced, int process)
{
	return position(traced, process) >= 0;
}

void traced_call(struct traced *traced, const struct fact_call *call)
{
	static const char *const names[TRACED_CALLS] = { "MPI_Alltoall", "MPI_Allreduce" };
	int64_t at = position(traced, call->process);

	for (int i = 0; at >= 0 && call->function && i < TRACED_CALLS; i++)
		traced->processes.data[at].calls[i] += !strcmp(call->function, names[i]);
}

static bool of_traffic(const char *function)
{
	return function && (!strcmp(function, "MPI_Isend") || !strcmp(function, "MPI_Start"));
}

static enum traced_memory memory_of(const char *memory)
{
	switch (memory_name_read(memory).kind) {
	case MEMORY_HOST:
		return TRACED_HOST;
	case MEMORY_GPU:
		return TRACED_GPU;
	default:
		return TRACED_UNKNOWN;
	}
}

uint64_t traced_sent_key(uint64_t size, enum traced_memory memory)
{
	return size * TRACED_MEMORIES + memory;
}

uint64_t traced_met_key(uint32_t process, uint32_t peer)
{
	return (uint64_t)process << 32 | peer;
}

/* Empty ones are answers, which nobody plans. */
void traced_op(struct traced *traced, const struct fact_op *op)
{
	int64_t at = position(traced, op->process);

	if (at < 0 || !op->sends || !op->bytes || op->bytes == UINT64_MAX ||
	    !of_traffic(op->function))
		return;
	++*map_insert(&traced->sent, at, traced_sent_key(op->bytes, memory_of(op->memory)), NULL);
}

void traced_sums(struct traced *traced, const struct fact_op *op)
{
	int64_t at = position(traced, op->process);

	if (at >= 0)
		traced->processes.data[at].counted = true;
}

void traced_message(struct traced *traced, const struct fact_message *message)
{
	int64_t src = position(traced, message->src), dst = position(traced, message->dst);

	if (src < 0 || dst < 0 || !message->bytes || !of_traffic(message->function))
		return;
	++*map_insert(&traced->met, traced_met_key(src, dst), message->bytes, NULL);
}

void traced_release(struct traced *traced)
{
	vec_release(&traced->processes);
	vec_release(&traced->by_fact);
	map_release(&traced->by_id);
	map_release(&traced->sent);
	map_release(&traced->met);
}

uint64_t traced_sent(const struct traced *traced, size_t process, uint64_t size,
		     enum traced_memory memory)
{
	const uint64_t *count = map_find(&traced->sent, process, traced_sent_key(size, memory));

	return count ? *count : 0;
}

uint64_t traced_met(const struct traced *traced, size_t process, size_t peer, uint64_t size)
{
	const uint64_t *count = map_find(&traced->met, traced_met_key(process, peer), size);

	return count ? *count : 0;
}
