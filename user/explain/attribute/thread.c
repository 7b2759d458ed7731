// SPDX-License-Identifier: BSD-3-Clause
/* The frames that a thread is inside of, by the frame numbers of its records. */
#include "explain/attribute/internal.h"

#include <string.h>

#include "base/alloc.h"

struct thread *thread_of(struct attribute *attribute, const struct event *event)
{
	struct thread **recent = &attribute->recent[event->h->tid % RECENT_THREADS];
	struct thread *thread = *recent;
	uint64_t *slot;
	bool fresh;

	if (thread && thread->tid == event->h->tid && thread->process == event->process)
		return thread;
	slot = map_insert(&attribute->threads, event->h->tid, event->process->id, &fresh);
	if (fresh) {
		thread = xcalloc(1, sizeof(*thread));
		thread->process = event->process;
		thread->tid = event->h->tid;
		*slot = (uintptr_t)thread;
		vec_push(&owned_by(attribute, event->process)->threads, thread);
	}
	*recent = (struct thread *)(uintptr_t)*slot;
	return *recent;
}

/* By its frame number: another call's record may be missing. */
static bool is_call(const struct thread *thread, uint32_t seq)
{
	return thread->in_call &&
	       (seq == thread->call.seq || (seq > thread->call.seq && seq <= thread->inner));
}

static bool inside_call(const struct thread *thread, const struct ub_hdr *h)
{
	return h->call && h->call != thread->left && is_call(thread, h->call);
}

void thread_leaves(struct thread *thread, const struct ub_hdr *h, bool leaves)
{
	if (leaves)
		thread->left = h->call;
	else if (thread->left == h->call)
		thread->left = 0;
}

/* An operation's frame is over once a record names another innermost one. */
static bool still_inside(const struct op *op, const struct ub_hdr *h)
{
	return h->op >= op->seq && (!op->returns || h->ts <= op->returned);
}

/* Records of calls, which begin with struct ub_call. */
static bool is_entry(const struct ub_hdr *h)
{
	return h->kind == UB_CALL || h->kind == UB_POLLS;
}

/* The frame of its last call. */
static uint32_t last_frame(const struct ub_hdr *h)
{
	return h->kind == UB_POLLS ? ((const struct ub_polls *)h)->last : h->seq;
}

static void step_idle(struct thread *thread, const struct ub_hdr *h, uint64_t end)
{
	thread->idle_since = h->call && h->call == thread->last_call ? thread->last_end : 0;
	thread->last_call = is_entry(h) ? last_frame(h) : h->call;
	if (end > thread->last_end)
		thread->last_end = end;
}

/* until: the thread was seen elsewhere then; 0: it was not. */
static void call_finish(struct attribute *attribute, struct thread *thread, uint64_t until)
{
	if (!thread->in_call)
		return;
	thread->in_call = false;
	thread->call.until = until;
	if (attribute->sink.call)
		attribute->sink.call(attribute->sink.arg, &thread->call);
}

static void call_return(struct attribute *attribute, struct thread *thread, uint64_t ns)
{
	thread->call.end = (struct moment){ ns, PRECISION_EXACT };
	call_finish(attribute, thread, ns);
}

/* Inside a call that has no record of its own. */
static void enter_missed(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h)
{
	const char *function = NULL;

	for (size_t i = 0; i < sizeof(thread->missed) / sizeof(*thread->missed); i++)
		if (thread->missed[i].seq == h->call)
			function = thread->missed[i].function;
	call_finish(attribute, thread, h->ts);
	if (!function)
		function = strings_intern(&attribute->decoder->strings, "unknown");
	thread->in_call = true;
	thread->inner = 0;
	thread->call = (struct call){ .process = thread->process,
				      .function = function,
				      .tid = thread->tid,
				      .seq = h->call,
				      .start = h->ts,
				      .end = { h->ts, PRECISION_UNKNOWN },
				      .count = 1 };
}

void thread_step(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h)
{
	uint64_t end = h->ts + (h->flags & UB_F_NO_RETURN ? 0 : h->dur);

	step_idle(thread, h, end);
	while (thread->depth && !still_inside(thread->frames[thread->depth - 1], h)) {
		struct op *op = thread->frames[--thread->depth];

		op_unframe(attribute, op);
		op_drop(attribute, op);
	}
	if (!is_entry(h) && h->kind != UB_CALL_END && h->call && h->call != thread->left &&
	    !inside_call(thread, h))
		enter_missed(attribute, thread, h);
	if (!is_entry(h) && inside_call(thread, h) && end > thread->call.end.ns &&
	    thread->call.end.precision != PRECISION_EXACT)
		thread->call.end.ns = end;
}

static void call_begin(struct attribute *attribute, struct thread *thread,
		       const struct event *event, uint32_t seq, uint64_t start)
{
	const struct ub_call *record = (const struct ub_call *)event->h;
	const struct place *place = decoder_place(attribute->decoder, event, record->ret_addr);

	thread->in_call = true;
	thread->inner = 0;
	thread->call = (struct call){ .id = ++attribute->ids,
				      .process = event->process,
				      .function = event->site->name,
				      .comm = decoder_comm(event->process, record->comm),
				      .handle = decoder_comm_handle(event->process, record->comm),
				      .place = place,
				      .returns_to = place,
				      .tid = event->h->tid,
				      .seq = seq,
				      .start = start,
				      .end = { start, PRECISION_LOWER },
				      .count = 1,
				      .one_op = event->site->one_op,
				      .bare = !capture_records(event->capture, LEVEL_UCP, start),
				      .derived = event->h->flags & UB_F_DERIVED };
}

static void call_begun(struct attribute *attribute, const struct thread *thread)
{
	if (attribute->sink.call_start)
		attribute->sink.call_start(attribute->sink.arg, &thread->call);
}

static bool is_folded(const struct ub_polls *polls)
{
	return polls->call.h.kind == UB_POLLS && polls->count > 1;
}

/* The calls of a record but for the last one: nothing was seen inside of them. */
static void calls_before(struct attribute *attribute, struct thread *thread,
			 const struct event *event)
{
	const struct ub_polls *polls = (const struct ub_polls *)event->h;
	uint64_t until = event->h->ts + polls->began;
	const uint64_t last = polls->ended == polls->count ? event->h->dur - polls->began : 0;

	call_begin(attribute, thread, event, event->h->seq, event->h->ts);
	thread->call.count = polls->count - 1;
	if (polls->ended >= thread->call.count && polls->time >= last)
		thread->call.end =
			(struct moment){ event->h->ts + polls->time - last, PRECISION_EXACT };
	if (thread->call.count == 1 && thread->call.end.precision == PRECISION_EXACT)
		until = thread->call.end.ns;
	call_begun(attribute, thread);
	call_finish(attribute, thread, until);
}

void thread_call(struct attribute *attribute, struct thread *thread, const struct event *event)
{
	const struct ub_call *record = (const struct ub_call *)event->h;
	const struct ub_polls *polls = (const struct ub_polls *)event->h;
	const bool folded = is_folded(polls);
	const uint64_t start = event->h->ts + (folded ? polls->began : 0);

	if (event->h->call && decoder_in_mpi(event->process, record->ret_addr)) {
		if (!inside_call(thread, event->h))
			enter_missed(attribute, thread, event->h);
		thread->inner = last_frame(event->h);
		if (start > thread->call.end.ns)
			thread->call.end.ns = start;
		return;
	}
	call_finish(attribute, thread, event->h->ts);
	if (folded)
		calls_before(attribute, thread, event);
	call_begin(attribute, thread, event, last_frame(event->h), start);
	call_begun(attribute, thread);
	if (event->h->kind == UB_POLLS && polls->ended == polls->count)
		call_return(attribute, thread, event->h->ts + event->h->dur);
}

void thread_missed(struct thread *thread, uint32_t seq, const char *function)
{
	const unsigned int at =
		thread->misses++ % (sizeof(thread->missed) / sizeof(*thread->missed));

	thread->missed[at].seq = seq;
	thread->missed[at].function = function;
}

/* The kernel may have taken it for one outside of calls that is inside of one. */
static void op_stack(struct attribute *attribute, const struct thread *thread,
		     const struct event *event, uint64_t stack)
{
	struct op *op = thread_op(thread, event->h);

	if (op && !op->function)
		op->stack = decoder_stack(attribute->decoder, event, stack);
}

void thread_stack(struct attribute *attribute, struct thread *thread, const struct event *event)
{
	const struct ub_call_stack *record = (const struct ub_call_stack *)event->h;
	struct call *call = &thread->call;
	const struct place *site;

	if (!record->h.call)
		return op_stack(attribute, thread, event, record->stack);
	if (!thread->in_call || record->h.call != call->seq)
		return;
	call->stack = decoder_stack(attribute->decoder, event, record->stack);
	site = decoder_call_site(call->stack);
	if (site)
		call->place = site;
}

void thread_call_end(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h)
{
	if (thread->in_call && h->call == thread->call.seq)
		call_return(attribute, thread, h->ts);
}

/* The context of a communicator's messages: MPI_COMM_WORLD's for as long as the process uses MPI.
 */
static uint64_t tag_context(const struct op *op)
{
	return decoder_tag(op->process, op->tag, UINT64_MAX).context;
}

#define SEVERAL 1 /* communicators that a context was seen with; no address */

/*
 * Calls with a probe show which communicator a context is of; derived ones, which show only the
 * context, get it from there. By the first operation of a call that makes no other: what follows is
 * MPI's progress, for any communicator. The table has both the contexts of each process and the
 * functions that have a communicator, by the address of their name: MPI_Start has none.
 */
static void call_communicator(struct attribute *attribute, struct call *call, const struct op *op)
{
	const uint64_t process = op->process->id, function = (uintptr_t)call->function;
	uint64_t *known;
	bool fresh;

	if (!call->one_op || call->ops ||
	    !((1u << OP_TAG_SEND | 1u << OP_TAG_RECV) >> op->site->op & 1))
		return;
	if (!call->derived && call->comm) {
		known = map_insert(&attribute->communicators, process, tag_context(op), &fresh);
		*known = fresh || *known == (uintptr_t)call->comm ? (uintptr_t)call->comm : SEVERAL;
		*map_insert(&attribute->communicators, process, function, NULL) = 1;
	} else if (call->derived && map_find(&attribute->communicators, process, function)) {
		known = map_find(&attribute->communicators, process, tag_context(op));
		call->comm = known && *known != SEVERAL ? (const char *)(uintptr_t)*known : NULL;
	}
}

void thread_push(struct attribute *attribute, struct thread *thread, struct op *op)
{
	if (thread->in_call && op->function) {
		call_communicator(attribute, &thread->call, op);
		thread->call.ops++;
		if (op->sends && op->bytes != UINT64_MAX)
			thread->call.bytes += op->bytes;
	}
	if (thread->depth == MAX_FRAMES) {
		op_unframe(attribute, thread->frames[0]);
		op_drop(attribute, thread->frames[0]);
		thread->depth--;
		for (unsigned int i = 0; i < thread->depth; i++)
			thread->frames[i] = thread->frames[i + 1];
	}
	op_hold(op);
	thread->frames[thread->depth++] = op;
}

struct op *thread_op(const struct thread *thread, const struct ub_hdr *h)
{
	if (!h->op || h->rx > h->op)
		return NULL;
	for (unsigned int i = thread->depth; i-- > 0;)
		if (thread->frames[i]->seq == h->op)
			return thread->frames[i];
	return NULL;
}

struct op *thread_find(const struct thread *thread, uint64_t req, unsigned int kinds)
{
	for (unsigned int i = thread->depth; req && i-- > 0;)
		if (thread->frames[i]->req == req && (kinds >> thread->frames[i]->site->op & 1))
			return thread->frames[i];
	return NULL;
}

const char *thread_function(const struct thread *thread, const struct ub_hdr *h)
{
	return inside_call(thread, h) ? thread->call.function : NULL;
}

void thread_bytes(struct thread *thread, const struct ub_hdr *h, uint64_t bytes)
{
	if (inside_call(thread, h))
		thread->call.bytes += bytes;
}

static void forget(struct attribute *attribute, struct thread *thread)
{
	op_drop(attribute, thread->around.op);
	op_drop(attribute, thread->about.op);
	memset(&thread->around, 0, sizeof(thread->around));
	memset(&thread->about, 0, sizeof(thread->about));
	memset(&thread->arrival, 0, sizeof(thread->arrival));
	thread->idle_since = 0;
	thread->last_call = 0;
}

void threads_forget(struct attribute *attribute)
{
	for (size_t i = 0; i < attribute->decoder->ending.len; i++) {
		const struct owned *owned = owned_by(attribute, attribute->decoder->ending.data[i]);

		for (size_t k = 0; k < owned->threads.len; k++)
			forget(attribute, owned->threads.data[k]);
	}
}

static void cut(struct attribute *attribute, struct thread *thread)
{
	map_remove(&attribute->threads, thread->tid, thread->process->id);
	while (thread->depth) {
		struct op *op = thread->frames[--thread->depth];

		op_unframe(attribute, op);
		op_drop(attribute, op);
	}
	call_finish(attribute, thread, 0);
	op_drop(attribute, thread->around.op);
	op_drop(attribute, thread->about.op);
	free(thread);
}

void threads_cut(struct attribute *attribute)
{
	for (size_t i = 0; i < attribute->decoder->ending.len; i++) {
		struct owned *owned = owned_by(attribute, attribute->decoder->ending.data[i]);

		for (size_t k = 0; k < owned->threads.len; k++)
			cut(attribute, owned->threads.data[k]);
		owned->threads.len = 0;
	}
	memset(attribute->recent, 0, sizeof(attribute->recent));
}

void thread_around(struct attribute *attribute, struct thread *thread, const struct ub_xfer *xfer,
		   struct op *op)
{
	thread->around.from = xfer->h.ts;
	thread->around.to = xfer->h.flags & UB_F_NO_RETURN ? 0 : xfer->h.ts + xfer->h.dur;
	if (op == thread->around.op)
		return;
	if (op)
		op_hold(op);
	op_drop(attribute, thread->around.op);
	thread->around.op = op;
}

void thread_about(struct attribute *attribute, struct thread *thread, const struct ub_hdr *h,
		  struct op *op)
{
	thread->about.rx = h->kind == UB_RX ? h->seq : h->rx;
	thread->about.frame = h->kind == UB_RX || h->rx > h->op ? 0 : h->op;
	if (op)
		op_hold(op);
	op_drop(attribute, thread->about.op);
	thread->about.op = op;
}
