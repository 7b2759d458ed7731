// SPDX-License-Identifier: BSD-3-Clause
#include "explain/teams/teams.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* No library counts further than this before it begins again. */
#define ROUND 32768

/*
 * Operations that lack a message are kept up to the end, but for the oldest where this many
 * operations of UCP wait for theirs, or so many are kept.
 */
#define MAX_OPERATIONS (1u << 16)
#define MAX_WAITING (1u << 20)

struct operation;

/* A process's part in one collective operation. */
struct team_part {
	struct team_part *next; /* of the same operation */
	struct team_part *older, *newer; /* of the same stream, that it has not left behind */
	struct operation *operation;
	struct stream *stream;
	uint64_t number; /* as struct stream.last */
	int process;
	VEC(uint64_t) ops; /* ids, of which so many still wait for their message */
	size_t waiting;
	bool left; /* its stream went on by OUTSTANDING */
	uint64_t sent;
};

struct operation {
	struct operation *before, *after;
	struct team_part *first, *last;
	int size, left; /* parts, and how many of them are left behind */
	uint64_t unmatched; /* operations of UCP */
	const char *team;
	struct named_collective named; /* by the first of its functions that tells */
	bool mixed; /* another one tells something else */
	uint64_t messages, bytes;
	bool unsized; /* the size of some message is not known */
};

/* The operations of a team as one process goes through them. */
struct stream {
	uint64_t last; /* the highest number so far, which counts on where the library's wraps */
	uint64_t round; /* added to the library's numbers */
	struct team_part *oldest, *newest; /* that it has not left behind */
};

struct teams {
	struct decoder *decoder;
	struct teams_sink sink;
	struct map streams; /* (process, team) -> struct stream * */
	struct map parts; /* (stream, number) -> struct team_part * */
	struct map by_op; /* id -> struct team_part * */
	struct operation *first, *last; /* all that are not over, oldest first */
	size_t operations;
	VEC(struct collective_member) members;
};

struct teams *teams_new(struct decoder *decoder, const struct teams_sink *sink)
{
	struct teams *teams = xcalloc(1, sizeof(*teams));

	teams->decoder = decoder;
	teams->sink = *sink;
	return teams;
}

/* ---- parts ---- */

static struct stream *stream_of(struct teams *teams, const struct process *process,
				const char *team)
{
	uint64_t *slot = map_insert(&teams->streams, (uint64_t)process->id, (uintptr_t)team, NULL);

	if (!*slot)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct stream));
	return (struct stream *)(uintptr_t)*slot;
}

/* One that is far behind the last begins a round: numbers wrapped, or the team is another one. */
static uint64_t counted_on(struct stream *stream, uint64_t number)
{
	const uint64_t on = stream->round + number;

	if (stream->round && on > stream->last + ROUND / 2)
		return on - ROUND;
	if (on + OUTSTANDING >= stream->last) {
		stream->last = on > stream->last ? on : stream->last;
		return on;
	}
	stream->round += ROUND;
	return stream->last = stream->round + number;
}

static void operation_link(struct teams *teams, struct operation *operation)
{
	operation->before = teams->last;
	*(teams->last ? &teams->last->after : &teams->first) = operation;
	teams->last = operation;
	teams->operations++;
}

static void operation_free(struct teams *teams, struct operation *operation)
{
	*(operation->before ? &operation->before->after : &teams->first) = operation->after;
	*(operation->after ? &operation->after->before : &teams->last) = operation->before;
	teams->operations--;
	free(operation);
}

static struct team_part *part_new(struct teams *teams, struct stream *stream, uint64_t number,
				  const struct process *process, const char *team)
{
	struct team_part *part = xcalloc(1, sizeof(*part));
	struct operation *operation = xcalloc(1, sizeof(*operation));

	part->operation = operation;
	part->stream = stream;
	part->number = number;
	part->process = process->index;
	operation->first = operation->last = part;
	operation->size = 1;
	operation->team = team;
	operation_link(teams, operation);
	part->older = stream->newest;
	*(stream->newest ? &stream->newest->newer : &stream->oldest) = part;
	stream->newest = part;
	return part;
}

static void leave(struct team_part *part)
{
	struct stream *stream = part->stream;

	*(part->older ? &part->older->newer : &stream->oldest) = part->newer;
	*(part->newer ? &part->newer->older : &stream->newest) = part->older;
	part->left = true;
	part->operation->left++;
}

static void part_free(struct teams *teams, struct team_part *part)
{
	for (size_t i = 0; i < part->ops.len; i++)
		map_remove(&teams->by_op, part->ops.data[i], 0);
	map_remove(&teams->parts, (uintptr_t)part->stream, part->number);
	if (!part->left)
		leave(part);
	vec_release(&part->ops);
	free(part);
}

/* ---- operations ---- */

static void name_operation(struct operation *operation, const struct named_collective *named)
{
	if (!named->function)
		return;
	if (!operation->named.function)
		operation->named = *named;
	operation->mixed = operation->mixed || operation->named.function != named->function ||
			   operation->named.algorithm != named->algorithm;
}

static void join(struct teams *teams, struct team_part *a, struct team_part *b)
{
	struct operation *into = a->operation, *from = b->operation;

	if (into == from)
		return;
	if (into->size < from->size) {
		into = b->operation;
		from = a->operation;
	}
	for (struct team_part *part = from->first; part; part = part->next)
		part->operation = into;
	into->last->next = from->first;
	into->last = from->last;
	into->size += from->size;
	into->left += from->left;
	into->unmatched += from->unmatched;
	into->messages += from->messages;
	into->bytes += from->bytes;
	into->unsized = into->unsized || from->unsized;
	name_operation(into, &from->named);
	into->mixed = into->mixed || from->mixed;
	operation_free(teams, from);
}

static bool is_over(const struct operation *operation)
{
	return operation->left == operation->size && !operation->unmatched;
}

/* Why the algorithm is not known; NULL: it is. */
static const char *why_unknown(const struct operation *operation)
{
	if (operation->mixed)
		return "its processes called several functions";
	if (operation->named.algorithm)
		return NULL;
	return operation->unmatched ? "not all of its messages are known"
				    : "its functions have no known names";
}

static void show(struct teams *teams, const struct operation *operation)
{
	struct strings *strings = &teams->decoder->strings;
	const struct named_collective *named = &operation->named;
	const char *reason = why_unknown(operation);
	const bool whole = !operation->unmatched;
	struct fact_collective fact = {
		.function =
			named->function ? named->function : strings_constant(strings, "collective"),
		.comm = operation->team,
		.algorithm = reason ? NULL : named->algorithm,
		.reason = strings_constant(strings, reason),
		/* a rank without data makes no message in one with a size for each rank */
		.ranks = whole && !named->sized ? operation->size : -1,
		.messages = operation->messages,
		.bytes = operation->bytes,
		.bytes_bound = !whole || operation->unsized,
	};

	teams->members.len = 0;
	for (const struct team_part *part = operation->first; part; part = part->next) {
		vec_push(&teams->members, ((struct collective_member){ 0, part->process }));
		fact.most_sent = part->sent > fact.most_sent ? part->sent : fact.most_sent;
	}
	fact.members = teams->members.data;
	fact.member_count = (int)teams->members.len;
	teams->sink.collective(teams->sink.arg, &fact);
}

static void operation_end(struct teams *teams, struct operation *operation)
{
	struct team_part *next;

	show(teams, operation);
	for (struct team_part *part = operation->first; part; part = next) {
		next = part->next;
		part_free(teams, part);
	}
	operation_free(teams, operation);
}

/* ---- operations of UCP, and their messages ---- */

/* Ends operations whose last part the stream has left behind. */
static void end_operations(struct teams *teams, struct stream *stream)
{
	struct team_part *part;

	while ((part = stream->oldest) && part->number + OUTSTANDING < stream->last) {
		leave(part);
		if (is_over(part->operation))
			operation_end(teams, part->operation);
	}
	while (teams->operations > MAX_OPERATIONS || teams->by_op.used > MAX_WAITING)
		operation_end(teams, teams->first);
}

static struct identity identity_of(struct teams *teams, const struct op *op)
{
	return decoder_identity(teams->decoder, op->caller, op->site->name, op->tag);
}

void teams_op_start(struct teams *teams, const struct op *op)
{
	const bool sends = op->site->op == OP_TAG_SEND;
	struct named_collective named;
	struct identity identity;
	struct stream *stream;
	struct team_part *part;
	uint64_t number, *slot;

	if (!op->caller || !op->caller->library || (!sends && op->site->op != OP_TAG_RECV))
		return;
	identity = identity_of(teams, op);
	if (identity.number < 0)
		return;
	stream = stream_of(teams, op->process, identity.team);
	number = counted_on(stream, (uint64_t)identity.number);
	slot = map_insert(&teams->parts, (uintptr_t)stream, number, NULL);
	if (!*slot)
		*slot = (uintptr_t)part_new(teams, stream, number, op->process, identity.team);
	part = (struct team_part *)(uintptr_t)*slot;
	named = decoder_collective(teams->decoder, op->caller);
	name_operation(part->operation, &named);
	vec_push(&part->ops, op->id);
	part->operation->unmatched++;
	part->waiting++;
	part->sent += sends;
	*map_insert(&teams->by_op, op->id, 0, NULL) = (uintptr_t)part;
	end_operations(teams, stream);
}

/* A persistent operation keeps its number for as long as it is posted again. */
static void forget_matched(struct teams *teams, struct team_part *part)
{
	size_t kept = 0;

	for (size_t i = 0; i < part->ops.len; i++)
		if (map_find(&teams->by_op, part->ops.data[i], 0))
			part->ops.data[kept++] = part->ops.data[i];
	part->ops.len = kept;
}

/* The part of an operation of UCP that has its message now. */
static struct team_part *matched(struct teams *teams, uint64_t op)
{
	const uint64_t *slot = op ? map_find(&teams->by_op, op, 0) : NULL;
	struct team_part *part = slot ? (struct team_part *)(uintptr_t)*slot : NULL;

	if (!part)
		return NULL;
	map_remove(&teams->by_op, op, 0);
	part->operation->unmatched--;
	part->waiting--;
	if (part->ops.len > 2 * part->waiting + OUTSTANDING)
		forget_matched(teams, part);
	return part;
}

void teams_message(struct teams *teams, const struct message *message)
{
	struct team_part *from, *to;

	if (!teams->by_op.used)
		return;
	from = matched(teams, message->send);
	to = matched(teams, message->recv);
	if (!from || !to)
		return;
	join(teams, from, to);
	from->operation->messages++;
	if (message->bytes == UINT64_MAX)
		from->operation->unsized = true;
	else
		from->operation->bytes += message->bytes;
	if (is_over(from->operation))
		operation_end(teams, from->operation);
}

void teams_finish(struct teams *teams)
{
	while (teams->first)
		operation_end(teams, teams->first);
}

void teams_free(struct teams *teams)
{
	struct map_slot *slot;
	size_t pos = 0;

	if (!teams)
		return;
	while ((slot = map_next(&teams->streams, &pos)))
		free((struct stream *)(uintptr_t)slot->value);
	map_release(&teams->streams);
	map_release(&teams->parts);
	map_release(&teams->by_op);
	vec_release(&teams->members);
	free(teams);
}
