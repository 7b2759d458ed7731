// SPDX-License-Identifier: BSD-3-Clause
/*
 * Numbers of collective calls. MPI requires that all processes of a communicator call its
 * collectives in the same order, so the n-th of one is the n-th of each other one: calls that
 * messages join must have equal numbers, which do not come from messages. They are counted where
 * no call of the process can be missing. A communicator is its handle, as long as none that the
 * process used before was freed: which one MPI_Comm_free frees, no record tells.
 */
#include <string.h>

#include "explain/waits/internal.h"

void number_watch(struct waits *waits, const struct call *call, const struct mpi_function *kind)
{
	struct wait_lines *lines;

	if (!kind->begins && !kind->frees)
		return;
	lines = lines_of(waits, call->process);
	lines->began = lines->began || kind->begins;
	lines->frees += kind->frees;
}

static struct comm_calls *calls_of(struct waits *waits, const struct call *call)
{
	bool fresh;
	uint64_t *at = map_insert(&waits->comms, call->handle, (uint64_t)call->process->id, &fresh);

	if (fresh) {
		*at = waits->comm_calls.len;
		vec_push(&waits->comm_calls,
			 ((struct comm_calls){ .frees = lines_of(waits, call->process)->frees }));
	}
	return &waits->comm_calls.data[*at];
}

static const char *why_not(struct waits *waits, const struct call *call,
			   const struct comm_calls *calls)
{
	const struct process *process = call->process;
	const struct wait_lines *lines = lines_of(waits, process);
	const bool world = call->comm && !strcmp(call->comm, "MPI_COMM_WORLD");

	if (!call->handle)
		return "its communicator is not recorded";
	if (!lines->began || !process->from_start || !process->told_by)
		return "a rank was not traced from its start";
	if (process->missing_until || waits->sink.lacks_calls(process->told_by))
		return "calls before it may be missing";
	if (calls->frees != lines->frees && !world)
		return "its communicator may have been freed, and another one has its handle";
	return NULL;
}

uint64_t number_call(struct waits *waits, const struct call *call, const char **reason)
{
	struct comm_calls *calls = calls_of(waits, call);

	calls->count++;
	*reason = why_not(waits, call, calls);
	return *reason ? 0 : calls->count;
}

/* Every communicator has a first collective: equal numbers prove nothing across communicators. */
static bool is_of_one_comm(const struct instance *instance)
{
	int64_t context = CONTEXT_NONE;

	for (const struct participant *member = instance->first; member; member = member->next) {
		if (member->context == CONTEXT_SEVERAL || member->comm != instance->first->comm)
			return false;
		if (member->context == CONTEXT_NONE)
			continue;
		if (context != CONTEXT_NONE && context != member->context)
			return false;
		context = member->context;
	}
	return true;
}

void number_check(struct waits *waits, struct instance *instance)
{
	struct fact_joins *joins = waits->sink.joins;
	const char *unnumbered = NULL;
	uint64_t sequence = 0;

	if (instance->size < 2)
		return;
	for (const struct participant *member = instance->first; member; member = member->next) {
		unnumbered = unnumbered ? unnumbered : member->unnumbered;
		if (sequence && member->sequence && member->sequence != sequence)
			instance->contradicted = true;
		sequence = member->sequence ? member->sequence : sequence;
	}
	if (instance->contradicted)
		joins->contradicted++;
	else if (!is_of_one_comm(instance))
		reason_add(joins->unproved, "its messages are of several communicators", 1);
	else if (unnumbered)
		reason_add(joins->unproved, unnumbered, 1);
	else
		joins->proved++;
}

void numbers_release(struct waits *waits)
{
	map_release(&waits->comms);
	vec_release(&waits->comm_calls);
}
