// SPDX-License-Identifier: BSD-3-Clause
/* Collective operations as facts, with the algorithm that their messages show. */
#include <stdio.h>
#include <string.h>

#include "explain/waits/internal.h"

/* Members get their numbers, messages those of members. */
static void number_members(struct waits *waits, const struct instance *instance)
{
	uint32_t number = 0;

	waits->members.len = 0;
	for (struct participant *member = instance->first; member; member = member->next) {
		member->number = number++;
		vec_push(&waits->members,
			 ((struct collective_member){ member->turn->id,
						      member->line->process->index }));
	}
	waits->pattern.len = 0;
	for (size_t i = 0; i < instance->passed.len; i++) {
		const struct passed *passed = &instance->passed.data[i];

		if (passed->from != passed->to)
			vec_push(&waits->pattern,
				 ((struct pattern_message){
					 passed->from->number, passed->to->number, passed->bytes,
					 passed->sent, passed->posted, passed->arrived }));
	}
}

/* Libraries make communicators of their own, for the ranks of each node. */
static bool has_parts(const struct instance *instance)
{
	for (size_t i = 1; i < instance->passed.len; i++)
		if (instance->passed.data[i].context != instance->passed.data[0].context)
			return true;
	return false;
}

static struct algorithm algorithm_of(struct waits *waits, const struct instance *instance,
				     bool whole)
{
	struct algorithm found;

	if (instance->contradicted)
		return (struct algorithm){ .reason = "its calls have different numbers" };
	if (!whole)
		return (struct algorithm){ .reason = "not all of its messages are known" };
	if (instance->cut)
		return (struct algorithm){ .reason = "a call was not seen to end" };
	if (instance->unkept)
		return (struct algorithm){ .reason = "too many messages" };
	found = pattern_find(waits->patterns, instance->kind, instance->size, waits->pattern.data,
			     waits->pattern.len);
	if (!found.name && has_parts(instance))
		snprintf(found.reason, sizeof(found.reason), "%s",
			 "in parts: several communicators");
	return found;
}

static uint64_t most_sent(const struct instance *instance)
{
	uint64_t most = 0;

	for (struct participant *member = instance->first; member; member = member->next)
		most = member->sent > most ? member->sent : most;
	return most;
}

/* An MPI library may have other ways within a node: then UCX sees a part of the messages. */
static bool lacks_ranks(const struct instance *instance)
{
	const struct participant *first = instance->first;
	const int size = first->line->process->size;

	return first->turn->comm && !strcmp(first->turn->comm, "MPI_COMM_WORLD") && size > 0 &&
	       instance->size != (uint32_t)size;
}

void show_instance(struct waits *waits, struct instance *instance, bool whole)
{
	const struct wait_turn *first = instance->first->turn;
	struct fact_collective fact = {
		.function = first->function,
		.comm = first->comm,
		.ranks = whole ? (int)instance->size : -1,
		.context = instance->context < 0 ? -1 : (int)instance->context,
		.sequence = instance->contradicted ? 0 : instance->sequence,
		.sequence_reason = instance->unnumbered,
		.contradicted = instance->contradicted,
	};
	struct algorithm algorithm;

	if (instance->size < 2)
		return;
	number_members(waits, instance);
	algorithm = algorithm_of(waits, instance, whole);
	fact.members = waits->members.data;
	fact.member_count = (int)waits->members.len;
	fact.algorithm = algorithm.name;
	fact.reason = strings_intern(&waits->decoder->strings, algorithm.reason);
	fact.several = algorithm.several;
	fact.rounds = algorithm.rounds;
	fact.rounds_bound = algorithm.in_parts;
	if (lacks_ranks(instance)) {
		fact.ranks = -1;
		fact.algorithm = NULL;
		fact.rounds = 0;
		fact.rounds_bound = false;
		fact.several = false;
		fact.reason = "some ranks sent no message that UCX saw";
	}
	fact.messages = instance->messages;
	fact.bytes = instance->bytes;
	fact.bytes_bound = !whole || instance->cut || instance->unsized || lacks_ranks(instance);
	fact.most_sent = most_sent(instance);
	waits->sink.collective(waits->sink.arg, &fact);
}
