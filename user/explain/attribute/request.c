// SPDX-License-Identifier: BSD-3-Clause
/* Requests that are still open, by address, id and buffer. */
#include "explain/attribute/internal.h"

#include <string.h>

#include "base/alloc.h"

struct owned *owned_by(struct attribute *attribute, const struct process *process)
{
	while (attribute->owned.len <= (size_t)process->id)
		vec_add(&attribute->owned);
	return &attribute->owned.data[process->id];
}

/*
 * Requests by address, with generations: the same address is one request after another, the moment
 * of reuse may lie inside the next operation's span.
 */

static struct op *pointer(const uint64_t *slot)
{
	return slot ? (struct op *)(uintptr_t)*slot : NULL;
}

/* A generation that nothing closed was closed by its address being handed out again. */
static void superseded(struct attribute *attribute, struct op *op, uint64_t ns)
{
	if (op->end.precision == PRECISION_UNKNOWN)
		op->end = (struct moment){ ns, PRECISION_UPPER };
	request_close(attribute, op);
}

/*
 * Whether the newer generation is surely the one in force at a record: its operation has returned,
 * or the record is of the operation's own thread.
 */
static bool in_force(const struct op *newer, const struct ub_hdr *h)
{
	return (newer->returns && h->ts > newer->returned) ||
	       (newer->tid == h->tid && h->tgid == newer->process->tgid);
}

static struct op *expire(struct attribute *attribute, struct op *op, const struct ub_hdr *h)
{
	while (op && op->newer && in_force(op->newer, h)) {
		struct op *newer = op->newer;

		superseded(attribute, op, newer->returned);
		op = newer;
	}
	return op;
}

/* Returns the generation that may still be in force beside the new one. */
static struct op *supersede(struct attribute *attribute, const struct op *op)
{
	struct op *older = pointer(map_find(&attribute->requests, op->req, op->process->id));

	while (older && older->newer) {
		struct op *next = older->newer;

		superseded(attribute, older, op->start);
		older = next;
	}
	if (!older || older->tid != op->tid)
		return older;
	superseded(attribute, older, op->start);
	return NULL;
}

static bool posted_before(const struct op *one, const struct op *other)
{
	if (one->number && other->number && one->object == other->object)
		return one->number < other->number;
	return one->start < other->start;
}

/*
 * Where most look-ups by memory end: at the beginning of a receive's. Benchmarks post many into one
 * buffer: UCX fills these in their order.
 */
static void buffer_open(struct attribute *attribute, struct op *op)
{
	struct op *oldest, *at;
	uint64_t *slot;

	if (!attribute->gpu || !op->buffer || op->sends)
		return;
	slot = map_insert(&attribute->buffers, op->buffer, op->process->id, NULL);
	oldest = at = pointer(slot);
	if (!oldest) {
		op->before = op->after = op;
		*slot = (uintptr_t)op;
		return;
	}
	while (posted_before(op, at->before)) {
		at = at->before;
		if (at == oldest) {
			*slot = (uintptr_t)op;
			break;
		}
	}
	op->after = at;
	op->before = at->before;
	op->before->after = op->after->before = op;
}

void request_begun(struct attribute *attribute, struct op *op)
{
	uint64_t *slot;

	if (!op->after)
		return;
	slot = map_find(&attribute->buffers, op->buffer, op->process->id);
	if (op->after == op)
		map_remove(&attribute->buffers, op->buffer, op->process->id);
	else if (pointer(slot) == op)
		*slot = (uintptr_t)op->after;
	op->before->after = op->after;
	op->after->before = op->before;
	op->before = op->after = NULL;
}

static void filled_by(struct attribute *attribute, struct op *op, uint64_t message)
{
	if (op->filled_by)
		map_remove(&attribute->filled, op->filled_by, op->process->id);
	op->filled_by = message;
	if (message)
		*map_insert(&attribute->filled, message, op->process->id, NULL) = (uintptr_t)op;
}

void request_open(struct attribute *attribute, struct op *op)
{
	struct op *older = supersede(attribute, op);
	struct inner *inner = inner_find(attribute, op->process, op->req);
	struct owned *owned;

	if (inner) /* its address is the operation's now */
		inner_bind(attribute, inner, NULL);
	if (op->immediate)
		return;
	owned = owned_by(attribute, op->process);
	if (op->returns && op->handle)
		owned->request_size = op->handle - op->req;
	op->open = true;
	op->open_at = owned->open.len;
	vec_push(&owned->open, op);
	op_hold(op);
	buffer_open(attribute, op);
	if (older)
		older->newer = op;
	else
		*map_insert(&attribute->requests, op->req, op->process->id, NULL) = (uintptr_t)op;
}

struct op *request_find(struct attribute *attribute, const struct process *process, uint64_t req,
			const struct ub_hdr *h, unsigned int kinds)
{
	struct op *op;

	if (!req)
		return NULL;
	op = pointer(map_find(&attribute->requests, req, process->id));
	if (!op)
		return NULL;
	if (h->tgid == process->tgid)
		op = expire(attribute, op, h);
	while (op && !(kinds >> op->site->op & 1))
		op = op->newer;
	return op;
}

static bool is_unsent(const struct op *op, unsigned int kinds, uint64_t ep, uint64_t tag,
		      uint64_t bytes)
{
	return (kinds >> op->site->op & 1) && !op->transfers && op->bytes == bytes &&
	       (!ep || op->object == ep) && (op->site->op == OP_STREAM_SEND || op->tag == tag);
}

struct op *request_unsent(struct attribute *attribute, const struct process *process,
			  unsigned int kinds, uint64_t ep, uint64_t tag, uint64_t bytes)
{
	const struct owned *owned = owned_by(attribute, process);
	struct op *found = NULL;
	bool several = false;

	for (size_t i = 0; i < owned->open.len; i++) {
		struct op *op = owned->open.data[i];

		if (!is_unsent(op, kinds, ep, tag, bytes))
			continue;
		several = several || (found && found->object != op->object);
		if (!found || op->start < found->start)
			found = op;
	}
	/* peers may have memory at the same address */
	return several && (BIT(found->site->op) & (BIT(OP_PUT) | BIT(OP_ATOMIC))) ? NULL : found;
}

struct op *request_left(struct attribute *attribute, const struct process *process, uint64_t ep,
			uint64_t ns)
{
	const struct owned *owned = owned_by(attribute, process);

	for (size_t i = 0; i < owned->open.len; i++) {
		struct op *op = owned->open.data[i];

		if (!op->refused || op->overtaken || op->transfers || op->object != ep ||
		    op->start >= ns)
			continue;
		op->overtaken = true;
		return op;
	}
	return NULL;
}

static bool covers(const struct op *op, unsigned int kinds, uint64_t address)
{
	return (kinds >> op->site->op & 1) && op_covers(op, address);
}

/*
 * Data that RTRs asked for comes in their order. It may be sent, with nothing that names its
 * request, where an RTR asked for it to be written; so may the last of several fragments, which is
 * no larger than the others.
 */
static bool due_before(const struct op *one, const struct op *other)
{
	if (one->coming_since || other->coming_since)
		return one->coming_since &&
		       (!other->coming_since || one->coming_since < other->coming_since);
	if (one->met && other->met) {
		if (one->asked_whole != other->asked_whole)
			return one->asked_whole;
		return one->asked < other->asked;
	}
	return one->met || (!other->met && posted_before(one, other));
}

static bool is_due(const struct op *op, uint64_t address, uint64_t bytes)
{
	uint64_t at = address - op->buffer;

	if (op->sends || !op->met)
		return !op->sends && op->copied == at;
	if (at + bytes > op->met || op->copied + bytes > op->met)
		return false;
	if (op->coming && op->coming < bytes)
		return false;
	if (op->filled_to == address)
		return true;
	if (address >= op->filled_from && address < op->filled_to)
		return false;
	return op->coming || !at || (op->rtrs > 1 && (op->met - at) * (op->rtrs - 1) <= at);
}

void request_asks(struct attribute *attribute, struct op *op, bool whole)
{
	if (op->rtrs++)
		return;
	op->asked = ++attribute->asked;
	op->asked_whole = whole;
}

void request_sent_to(struct attribute *attribute, const struct process *process, uint64_t req,
		     const struct ub_hdr *h, uint64_t bytes)
{
	struct inner *inner = inner_find(attribute, process, req);
	struct op *op = inner ? inner->op : NULL;

	if (!op)
		op = request_find(attribute, process, req, h,
				  BIT(OP_TAG_RECV) | BIT(OP_TAG_MSG_RECV));
	if (!op || !op->met || !op->open || op->newer) /* whose address may be a later one's */
		return;
	if (!op->coming)
		op->coming_since = ++attribute->asked;
	op->coming += bytes;
}

void request_filling(struct op *op, uint64_t address, uint64_t bytes)
{
	op->coming -= bytes < op->coming ? bytes : op->coming;
	if (!op->coming)
		op->coming_since = 0;
	if (op->filled_to != address)
		op->filled_from = address;
	op->filled_to = address + bytes;
}

struct op *request_covering(struct attribute *attribute, const struct process *process,
			    unsigned int kinds, uint64_t address, uint64_t bytes)
{
	struct op *found = NULL, *next = NULL;
	const struct owned *owned = owned_by(attribute, process);
	bool several = false, senders = false;

	for (size_t i = 0; i < owned->open.len; i++) {
		struct op *op = owned->open.data[i];

		if (!covers(op, kinds, address))
			continue;
		several = found;
		found = op;
		if (!is_due(op, address, bytes))
			continue;
		senders = senders || (next && next->met && op->met && next->met_by != op->met_by);
		if (!next || due_before(op, next))
			next = op;
	}
	/* the order of RTRs says nothing about the data of several senders */
	if (senders && !next->coming_since)
		return NULL;
	return next || several ? next : found;
}

/* The one that has a first fragment that was not seen to arrive, and all up to there. */
static struct op *half_filled(struct attribute *attribute, const struct process *process,
			      uint64_t address)
{
	const struct owned *owned = owned_by(attribute, process);
	struct op *found = NULL;

	for (size_t i = 0; i < owned->open.len; i++) {
		struct op *op = owned->open.data[i];

		if (op->filled_by || !op->copied || op->copied != address - op->buffer ||
		    !covers(op, BIT(OP_TAG_RECV) | BIT(OP_TAG_MSG_RECV), address))
			continue;
		if (found)
			return NULL;
		found = op;
	}
	return found;
}

struct op *request_filled(struct attribute *attribute, const struct thread *thread,
			  uint64_t address)
{
	const struct process *process = thread->process;
	uint64_t tag = thread->arrival.tag, message = thread->arrival.message;
	struct op *op =
		message ? pointer(map_find(&attribute->filled, message, process->id)) : NULL;
	struct op *oldest = pointer(map_find(&attribute->buffers, address, process->id)), *next;

	if (op)
		return op_covers(op, address) ? op : NULL;
	if (am_class(thread->arrival.am_id) == CLASS_NONE) {
		op = half_filled(attribute, process, address);
		if (op)
			filled_by(attribute, op, message);
		return op;
	}
	for (op = oldest; op; op = next) {
		next = op->after == oldest ? NULL : op->after;
		if (op->site->op != OP_TAG_RECV)
			continue;
		if (thread->arrival.unread && next)
			return NULL;
		if (!thread->arrival.unread && (op->tag ^ tag) & op->mask)
			continue;
		if (message)
			filled_by(attribute, op, message);
		return op;
	}
	return NULL;
}

/* The last one takes its place. */
static void leave_open(struct owned *owned, const struct op *op)
{
	struct op *last = owned->open.data[--owned->open.len];

	owned->open.data[op->open_at] = last;
	last->open_at = op->open_at;
}

void request_close(struct attribute *attribute, struct op *op)
{
	uint64_t *slot;
	struct op **link;

	if (!op->open)
		return;
	request_begun(attribute, op);
	filled_by(attribute, op, 0);
	slot = map_find(&attribute->requests, op->req, op->process->id);
	link = (struct op **)(uintptr_t)slot;
	while (link && *link && *link != op)
		link = &(*link)->newer;
	if (link && *link)
		*link = op->newer;
	op->newer = NULL;
	leave_open(owned_by(attribute, op->process), op);
	if (slot && !*slot)
		map_remove(&attribute->requests, op->req, op->process->id);
	op_close(attribute, op);
	op_drop(attribute, op);
}

struct inner *inner_find(struct attribute *attribute, const struct process *process, uint64_t req)
{
	uint64_t *slot = req ? map_find(&attribute->inners, req, process->id) : NULL;

	return slot ? (struct inner *)(uintptr_t)*slot : NULL;
}

struct inner *inner_get(struct attribute *attribute, const struct process *process, uint64_t req)
{
	bool fresh;
	uint64_t *slot = map_insert(&attribute->inners, req, process->id, &fresh);
	struct inner *inner;

	if (fresh) {
		inner = xcalloc(1, sizeof(*inner));
		inner->req = req;
		*slot = (uintptr_t)inner;
		vec_push(&owned_by(attribute, process)->inners, inner);
	}
	return (struct inner *)(uintptr_t)*slot;
}

void inner_bind(struct attribute *attribute, struct inner *inner, struct op *op)
{
	if (inner->op == op)
		return;
	if (op)
		op_hold(op);
	op_drop(attribute, inner->op);
	inner->op = op;
}

static int by_start(const void *left, const void *right)
{
	const struct op *a = *(struct op *const *)left, *b = *(struct op *const *)right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->process->id != b->process->id)
		return a->process->id < b->process->id ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* What is still open at the end closes in order of start, so that the output has one order. */
static void close_all(struct attribute *attribute)
{
	VEC(struct op *) open = { 0 };

	for (size_t i = 0; i < attribute->decoder->ending.len; i++) {
		const struct owned *owned = owned_by(attribute, attribute->decoder->ending.data[i]);

		for (size_t k = 0; k < owned->open.len; k++)
			vec_push(&open, owned->open.data[k]);
	}
	if (open.len)
		qsort(open.data, open.len, sizeof(*open.data), by_start);
	for (size_t i = 0; i < open.len; i++)
		request_close(attribute, open.data[i]);
	vec_release(&open);
}

static void end_transfers(struct attribute *attribute, const struct process *process)
{
	const struct owned *owned = owned_by(attribute, process);

	for (size_t i = 0; i < owned->inners.len; i++)
		transfers_complete(attribute, owned->inners.data[i], 0, false, false);
}

static void drop_inners(struct attribute *attribute, const struct process *process)
{
	struct owned *owned = owned_by(attribute, process);

	for (size_t i = 0; i < owned->inners.len; i++) {
		struct inner *inner = owned->inners.data[i];

		map_remove(&attribute->inners, inner->req, process->id);
		inner_bind(attribute, inner, NULL);
		free(inner);
	}
	owned->inners.len = 0;
}

void requests_cut(struct attribute *attribute)
{
	const struct decoder *decoder = attribute->decoder;

	for (size_t i = 0; i < decoder->ending.len; i++)
		end_transfers(attribute, decoder->ending.data[i]);
	close_all(attribute);
	for (size_t i = 0; i < decoder->ending.len; i++)
		drop_inners(attribute, decoder->ending.data[i]);
}

/*
 * Rendezvous control messages go out with nothing but the peer's request id (am_short of
 * UCX 1.13.1, src/ucp/rndv/rndv.c): an ATS or RTR answers an RTS, an ATP answers an RTR.
 */

void answer_learn(struct attribute *attribute, const struct process *process, uint64_t id,
		  struct op *op, uint64_t ep)
{
	bool fresh;
	uint64_t *slot = map_insert(&attribute->answers, id, process->id, &fresh);
	struct request_answer *answer;

	if (fresh) {
		answer = xcalloc(1, sizeof(*answer));
		*slot = (uintptr_t)answer;
		vec_push(&owned_by(attribute, process)->answers, answer);
	}
	answer = (struct request_answer *)(uintptr_t)*slot;
	if (op)
		op_hold(op);
	op_drop(attribute, answer->op);
	*answer = (struct request_answer){ id, op, ep };
}

const struct request_answer *answer_to(const struct attribute *attribute,
				       const struct process *process, uint64_t id)
{
	uint64_t *slot = map_find(&attribute->answers, id, process->id);

	return slot ? (const struct request_answer *)(uintptr_t)*slot : NULL;
}

const struct request_answer *answer_find(const struct attribute *attribute,
					 const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;

	if (event->site->verb != VERB_AM || !(xfer->h.flags & UB_F_WIRE) ||
	    (xfer->am_id != AM_ATS && xfer->am_id != AM_RTR && xfer->am_id != AM_ATP))
		return NULL;
	return answer_to(attribute, event->process, xfer->w[0]);
}

static void answers_drop(struct attribute *attribute, const struct process *process)
{
	struct owned *owned = owned_by(attribute, process);

	for (size_t i = 0; i < owned->answers.len; i++) {
		struct request_answer *answer = owned->answers.data[i];

		map_remove(&attribute->answers, answer->id, process->id);
		op_drop(attribute, answer->op);
		free(answer);
	}
	owned->answers.len = 0;
}

void answers_cut(struct attribute *attribute)
{
	for (size_t i = 0; i < attribute->decoder->ending.len; i++)
		answers_drop(attribute, attribute->decoder->ending.data[i]);
}
