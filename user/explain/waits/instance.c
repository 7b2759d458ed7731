// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective operations: calls of different processes that are joined by the messages which they
 * made for each other. Messages tell the members of any communicator, and which of its operations
 * a call belongs to. Once every member is over and both ends of all its messages are known, no
 * other process can have taken part: each member of a collective sends or receives.
 */
#include <string.h>

#include "base/alloc.h"
#include "explain/waits/internal.h"

static struct instance *instance_new(struct waits *waits)
{
	struct instance *instance = waits->free_instances;

	if (!instance)
		return xcalloc(1, sizeof(*instance));
	waits->free_instances = instance->free;
	return instance;
}

#define PASSED_ROOM 256 /* messages that an unused instance keeps room for */

static void instance_drop(struct waits *waits, struct instance *instance)
{
	if (instance->passed.cap > PASSED_ROOM)
		vec_release(&instance->passed);
	instance->free = waits->free_instances;
	waits->free_instances = instance;
}

/* Of one member so far; it keeps its room for messages. */
static void instance_begin(struct instance *instance, struct participant *first,
			   const struct mpi_function *kind)
{
	__typeof__(instance->passed) passed = instance->passed;

	passed.len = 0;
	*instance = (struct instance){ .first = first,
				       .last = first,
				       .size = 1,
				       .undone = 1,
				       .kind = kind->kind,
				       .flow = kind->flow,
				       .passed = passed };
}

void member_begin(struct waits *waits, struct wait_thread *line, struct wait_turn *turn,
		  const struct call *call)
{
	struct participant *member = waits->free_members;

	if (!turn->kind->collective || !turn->kind->blocks)
		return;
	if (member)
		waits->free_members = member->next;
	else
		member = xmalloc(sizeof(*member));
	*member = (struct participant){
		.instance = instance_new(waits),
		.line = line,
		.turn = turn,
	};
	turn->comm = call->comm;
	turn->sequence = number_call(waits, call, &turn->unnumbered);
	instance_begin(member->instance, member, turn->kind);
	turn->member = member;
}

/* MPI may progress other messages meanwhile: those of a program's own, and of calls before. */
static void add_context(struct wait_turn *turn, const struct op *op)
{
	const struct mpi_tag tag = decoder_tag(op->process, op->tag, UINT64_MAX);

	if (!tag.collective || (op->caller && op->caller->library))
		return;
	turn->context = context_join(turn->context, (int64_t)tag.whole);
}

void member_op(struct wait_turn *turn, const struct op *op)
{
	struct participant *member = turn->member;

	if (turn->kind->collective && turn->kind->blocks)
		add_context(turn, op);
	if (!member)
		return;
	member->unpaired++;
	if (op->site->op == OP_TAG_SEND)
		member->sends++;
	else
		member->receives++;
}

/* ---- who waited for whom ---- */

/* The times at which members entered, on one clock. */
struct entrance {
	const struct participant *member;
	uint64_t at, uncertainty;
};

struct entrances {
	struct entrance last, before; /* the last two to enter */
	const struct participant *root; /* the one that sends nothing, or receives nothing */
	unsigned int roots;
	bool known; /* all are on clocks that are known */
};

static bool is_root(const struct instance *instance, const struct participant *member)
{
	return instance->flow == FLOW_TO_ROOT ? !member->sends : !member->receives;
}

static void add_entry(struct entrances *entries, const struct entrance *entry)
{
	if (!entries->last.member || entry->at > entries->last.at) {
		entries->before = entries->last;
		entries->last = *entry;
	} else if (!entries->before.member || entry->at > entries->before.at) {
		entries->before = *entry;
	}
}

static struct entrances entries_of(struct waits *waits, const struct instance *instance)
{
	const int host = instance->first->line->process->host;
	struct entrances entries = { .known = true };

	for (const struct participant *member = instance->first; member; member = member->next) {
		const struct instant entered =
			skew_time(waits, member->line->process->host, member->turn->start, host);
		const struct entrance entry = { member, entered.ns, entered.uncertainty };

		entries.known = entries.known && entered.known;
		add_entry(&entries, &entry);
		if (is_root(instance, member)) {
			entries.root = member;
			entries.roots++;
		}
	}
	return entries;
}

/* From a member's entry to another one's. */
static void tell_member(struct waits *waits, enum wait_kind kind, const struct participant *member,
			const struct participant *culprit, bool sure)
{
	const struct instant until = skew_time(waits, culprit->line->process->host,
					       culprit->turn->start, member->line->process->host);
	struct wait_turn *turn = member->turn;

	if (!until.known || until.ns <= turn->start)
		return;
	/* no message of the collective kept it: those without data are left out by some */
	if (turn_over_by(member->line, turn, until.ns - until.uncertainty))
		return;
	tell(waits, &(struct waiting){
			    .kind = kind,
			    .line = member->line,
			    .turn = turn,
			    .span = { turn->start, until.ns },
			    .uncertainty = until.uncertainty,
			    .until = member->until,
			    .culprit = sure ? turn_cause(culprit->line, culprit->turn)
					    : (struct cause){ 0 },
			    .culprit_line = sure ? culprit->line : NULL,
		    });
}

/* Whether no other member may have been the last one. */
static bool last_is_sure(const struct entrances *entries)
{
	const struct entrance *last = &entries->last, *before = &entries->before;

	return last->at - before->at >= last->uncertainty + before->uncertainty;
}

static void tell_all(struct waits *waits, const struct instance *instance,
		     const struct entrances *entries)
{
	const enum wait_kind kind = instance->flow == FLOW_BARRIER ? WAIT_AT_BARRIER : WAIT_AT_NXN;

	for (const struct participant *member = instance->first; member; member = member->next)
		tell_member(waits, kind, member, entries->last.member, last_is_sure(entries));
}

/* Each member waited while it was in its call, at most; the call of one that still is comes later.
 */
static void unknown_instance(struct waits *waits, const struct instance *instance,
			     const char *reason)
{
	reason_add(waits->sink.unknown, reason, 1);
	for (const struct participant *member = instance->first; member; member = member->next)
		hidden(waits, WAIT_AT_NXN, member->turn,
		       (struct wait_span){ member->turn->start, member->until });
}

static void tell_rooted(struct waits *waits, const struct instance *instance,
			const struct entrances *entries)
{
	if (entries->roots != 1)
		return unknown_instance(waits, instance, "collectives whose root is not certain");
	if (instance->flow == FLOW_TO_ROOT)
		return tell_member(waits, WAIT_EARLY_REDUCE, entries->root, entries->last.member,
				   last_is_sure(entries));
	for (const struct participant *member = instance->first; member; member = member->next)
		tell_member(waits, WAIT_LATE_BROADCAST, member, entries->root, true);
}

static void tell_instance(struct waits *waits, const struct instance *instance)
{
	struct entrances entries;

	if (instance->size < 2 || instance->flow == FLOW_PREFIX)
		return;
	entries = entries_of(waits, instance);
	if (!entries.known)
		return unknown_instance(waits, instance,
					"collectives between hosts whose clocks are not known");
	if (instance->flow == FLOW_BARRIER || instance->flow == FLOW_ALL)
		tell_all(waits, instance, &entries);
	else
		tell_rooted(waits, instance, &entries);
}

/* ---- members that come and go ---- */

static void instance_close(struct waits *waits, struct instance *instance, bool whole)
{
	number_check(waits, instance);
	whole = whole && !instance->contradicted;
	if (whole)
		tell_instance(waits, instance);
	else if (instance->size > 1)
		unknown_instance(waits, instance,
				 instance->contradicted
					 ? FACT_CONTRADICTED
					 : "collectives whose messages are not all known");
	show_instance(waits, instance, whole);
	for (struct participant *member = instance->first, *next; member; member = next) {
		next = member->next;
		member->turn->member = NULL;
		member->turn->given_up = !member->over && instance->size > 1;
		member->next = waits->free_members;
		waits->free_members = member;
	}
	instance_drop(waits, instance);
}

static bool is_done(const struct participant *member)
{
	return member->over && !member->unpaired;
}

static void settle(struct waits *waits, struct participant *member)
{
	if (is_done(member) && !--member->instance->undone)
		instance_close(waits, member->instance, true);
}

static void keep(struct instance *instance, const struct passed *passed)
{
	if (instance->passed.len < PASSED_MOST)
		vec_push(&instance->passed, *passed);
	else
		instance->unkept = true;
}

static void add_message(struct participant *from, const struct participant *to, uint64_t bytes)
{
	struct instance *instance = from->instance;

	if (from == to)
		return;
	from->sent++;
	instance->messages++;
	instance->bytes += bytes == UINT64_MAX ? 0 : bytes;
	instance->unsized = instance->unsized || bytes == UINT64_MAX;
}

static void merge(struct waits *waits, struct instance *a, struct instance *b)
{
	struct instance *into = a->size < b->size ? b : a, *from = into == a ? b : a;

	if (a == b)
		return;
	for (struct participant *member = from->first; member; member = member->next)
		member->instance = into;
	into->last->next = from->first;
	into->last = from->last;
	into->size += from->size;
	into->undone += from->undone;
	into->messages += from->messages;
	into->bytes += from->bytes;
	into->unsized = into->unsized || from->unsized;
	into->unkept = into->unkept || from->unkept;
	into->cut = into->cut || from->cut;
	for (size_t i = 0; i < from->passed.len; i++)
		keep(into, &from->passed.data[i]);
	instance_drop(waits, from);
}

static struct participant *paired(struct wait_turn *turn)
{
	struct participant *member = turn ? turn->member : NULL;

	if (!member || !member->unpaired)
		return NULL;
	member->unpaired--;
	return member;
}

void member_join(struct waits *waits, struct wait_turn *send, struct wait_turn *receive,
		 const struct message *message)
{
	struct participant *sender = paired(send), *receiver = paired(receive);

	if (sender && receiver && send->kind == receive->kind) {
		merge(waits, sender->instance, receiver->instance);
		add_message(sender, receiver, message->bytes);
		keep(sender->instance,
		     &(struct passed){
			     sender, receiver, message->bytes, message->send_start,
			     message->recv_start, message->arrival,
			     decoder_tag(message->src, message->tag, UINT64_MAX).context });
	}
	if (sender)
		settle(waits, sender);
	/* which closed the instance if it was the last one, but not while the other is undone */
	if (receiver && receiver != sender)
		settle(waits, receiver);
}

void member_over(struct waits *waits, struct wait_turn *turn, uint64_t until, bool cut)
{
	if (turn->given_up)
		hidden(waits, WAIT_AT_NXN, turn, (struct wait_span){ turn->start, until });
	if (!turn->member || turn->member->over)
		return;
	turn->member->over = true;
	turn->member->until = until;
	turn->member->instance->cut = turn->member->instance->cut || cut;
	settle(waits, turn->member);
}

void member_leave(struct waits *waits, struct wait_turn *turn)
{
	if (turn->member)
		instance_close(waits, turn->member->instance, false);
}

void members_release(struct waits *waits)
{
	while (waits->free_members) {
		struct participant *member = waits->free_members;

		waits->free_members = member->next;
		free(member);
	}
	while (waits->free_instances) {
		struct instance *instance = waits->free_instances;

		waits->free_instances = instance->free;
		vec_release(&instance->passed);
		free(instance);
	}
}
