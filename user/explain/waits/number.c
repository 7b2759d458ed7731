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

void number_missed(struct waits *waits, const struct call *call)
{
	lines_of(waits, call->process)->missed = true;
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

/* Why calls of a process have no numbers from here on; NULL: they have. */
static const char *uncounted(struct waits *waits, const struct process *process)
{
	const struct wait_lines *lines = lines_of(waits, process);

	if (!lines->began || !process->from_start || !process->told_by)
		return FACT_NOT_FROM_START;
	if (process->calls_unprobed)
		return "functions of its MPI library have no probe";
	if (lines->missed || process->missing_until || waits->sink.lacks_calls(process->told_by))
		return "calls before it may be missing";
	if (lines->unread)
		return "a collective before it has no recorded communicator";
	return NULL;
}

static const char *why_not(struct waits *waits, const struct call *call,
			   const struct comm_calls *calls)
{
	const bool world = call->comm && !strcmp(call->comm, "MPI_COMM_WORLD");
	const char *reason = uncounted(waits, call->process);

	if (!call->handle)
		return "its communicator is not recorded";
	if (!reason && calls->frees != lines_of(waits, call->process)->frees && !world)
		return "its communicator may have been freed, and another one has its handle";
	return reason;
}

uint64_t number_call(struct waits *waits, const struct call *call, const char **reason)
{
	struct comm_calls *calls = calls_of(waits, call);

	calls->count++;
	*reason = why_not(waits, call, calls);
	if (!call->handle)
		lines_of(waits, call->process)->unread = true;
	return *reason ? 0 : calls->count;
}

uint64_t number_entered(struct waits *waits, const struct process *process)
{
	const uint64_t *at = map_find(&waits->comms, process->comm_world, (uint64_t)process->id);

	return at && process->comm_world && !uncounted(waits, process)
		       ? waits->comm_calls.data[*at].count
		       : 0;
}

int64_t context_join(int64_t a, int64_t b)
{
	if (a == CONTEXT_NONE || a == b)
		return b;
	return b == CONTEXT_NONE ? a : CONTEXT_SEVERAL;
}

void number_check(struct waits *waits, struct instance *instance)
{
	const struct participant *first = instance->first;
	struct fact_joins *joins = waits->sink.joins;
	int64_t context = CONTEXT_NONE;
	bool all_known = true, one_comm = true;

	if (instance->size < 2)
		return;
	for (const struct participant *member = first; member; member = member->next) {
		const struct wait_turn *turn = member->turn;

		if (!instance->unnumbered)
			instance->unnumbered = turn->unnumbered;
		if (!instance->sequence)
			instance->sequence = turn->sequence;
		else if (turn->sequence && turn->sequence != instance->sequence)
			instance->contradicted = true;
		context = context_join(context, turn->context);
		all_known = all_known && turn->context != CONTEXT_NONE;
		one_comm = one_comm && turn->comm == first->turn->comm;
	}
	instance->context = all_known ? context : CONTEXT_NONE;
	/* every communicator has a first collective: numbers prove nothing across them */
	if (instance->contradicted)
		joins->contradicted++;
	else if (!one_comm || context == CONTEXT_SEVERAL)
		reason_add(joins->unproved, "its messages are of several communicators", 1);
	else if (instance->unnumbered)
		reason_add(joins->unproved, instance->unnumbered, 1);
	else
		joins->proved++;
}

void numbers_release(struct waits *waits)
{
	map_release(&waits->comms);
	vec_release(&waits->comm_calls);
}
