// SPDX-License-Identifier: BSD-3-Clause
#include "explain/analysis/underway.h"

#include <string.h>

#include "base/mpi_function.h"
#include "explain/analysis/step.h"

/* Who a queued operation is with, and in which terms of MPI. */
struct with {
	const struct process *peer; /* NULL: not known, or any */
	int rank; /* of that, traced or not; -1: not known, or any */
	int tag; /* -1: as in struct fact_queued */
	const char *comm;
	uint64_t context;
};

static struct with with_of(const struct emitter *emitter, const struct process *process,
			   const struct queued *queued)
{
	const struct mpi_tag tag = decoder_tag(process, queued->tag, queued->mask);
	struct with with = { .rank = -1, .tag = -1 };

	if (!process->mpi)
		return with;
	with.comm = tag.of_world ? "MPI_COMM_WORLD" : "another";
	with.context = tag.context;
	if (!process->mpich || !(tag.context & 1)) /* odd: of collectives */
		with.tag = tag.tag;
	if (queued->what == QUEUED_SEND) {
		struct object *ep = decoder_object(emitter->decoder, process, OBJECT_EP, queued->ep,
						   queued->ts);

		with.peer = ep ? ep->peer_process : NULL;
		with.rank = with.peer ? with.peer->rank : -1;
	} else if (tag.world && tag.source >= 0) {
		with.peer = decoder_of_rank(emitter->decoder, process, tag.source);
		with.rank = tag.source;
	}
	return with;
}

/* ---- what a call waits for ---- */

#define OWN_STACK 65536 /* bytes below its frame in which a blocking call may keep a request */

static bool on_stack(const struct queued *queued, uint64_t frame)
{
	return queued->request < frame && queued->request >= frame - OWN_STACK;
}

static bool may_await(const struct process *process, const struct mpi_function *kind,
		      const char *function, const struct queued *queued)
{
	if (queued->what == QUEUED_MESSAGE)
		return false;
	if (kind->completes)
		return true;
	if (decoder_tag(process, queued->tag, queued->mask).collective != kind->collective)
		return false;
	if (kind->collective)
		return true;
	return strstr(function, queued->what == QUEUED_RECEIVE ? "ecv" : "end");
}

/* found: several operations may be the one. */
static void add_number(const struct process *process, const struct queued *queued, bool found,
		       struct fact_open *open)
{
	const struct mpi_tag tag = decoder_tag(process, queued->tag, queued->mask);
	const int context = tag.collective ? (int)tag.whole : -1;

	if (!found) {
		open->context = context;
		open->sequence = tag.number;
	} else if (open->context != context) {
		open->context = -1;
		open->sequence = 0;
	} else if (open->sequence != tag.number) {
		open->sequence = 0;
	}
	open->sequence_by = open->sequence ? FACT_BY_TAGS : NULL;
}

/*
 * The operation that the call waits for. Where several may be it, the members in which they agree.
 * A call that makes its own operation is in a receive before it is in a send. Only one that lies on
 * the call's own stack is its own: of others, such as the only one that is queued, the one that it
 * waits for may be in no queue, since its message is on the way.
 */
static void name_awaited(const struct emitter *emitter, const struct process *process,
			 const struct thread_look *look, struct fact_open *open)
{
	const struct mpi_function kind = mpi_function(look->function);
	bool own = false, found = false, receives = false;
	struct op_step step = step_none();

	for (size_t i = 0; i < process->queued.len; i++) {
		const struct queued *queued = &process->queued.data[i];

		if (may_await(process, &kind, look->function, queued)) {
			own = own || on_stack(queued, look->frame);
			receives = receives || (queued->what == QUEUED_RECEIVE && !kind.completes);
		}
	}
	for (size_t i = 0; i < process->queued.len; i++) {
		const struct queued *queued = &process->queued.data[i];
		struct with with;

		if (!may_await(process, &kind, look->function, queued) ||
		    (own && !on_stack(queued, look->frame)) ||
		    (receives && queued->what != QUEUED_RECEIVE))
			continue;
		with = with_of(emitter, process, queued);
		step = found ? step_join(step, step_of(process, NULL, queued, with.peer))
			     : step_of(process, NULL, queued, with.peer);
		add_number(process, queued, found, open);
		if (!found) {
			open->op = queued->what == QUEUED_RECEIVE ? "tag_recv" : "tag_send";
			open->peer = emit_index(with.peer);
			open->peer_rank = with.rank;
			open->tag = kind.collective ? -1 : with.tag;
			open->comm = with.comm;
		}
		if (open->comm != with.comm)
			open->comm = NULL;
		if (open->peer_rank != with.rank)
			open->peer = open->peer_rank = -1;
		if (open->tag != with.tag)
			open->tag = -1; /* as it is of a collective */
		found = true;
	}
	open->peer_certain = own && !process->unread.len;
	step_tell(step, open);
}

static struct fact_open open_call(const struct emitter *emitter, const struct process *process,
				  uint32_t tid, const struct thread_look *look)
{
	struct fact_open open = {
		.process = process->index,
		.function = look->function,
		.place = look->place,
		.tid = tid,
		.peer = -1,
		.peer_rank = -1,
		.tag = -1,
		.context = -1,
	};

	name_awaited(emitter, process, look, &open);
	return open;
}

static void forget_awaited(const struct emitter *emitter, const struct call *call,
			   const struct thread_look *look, struct fact_open *open)
{
	open->op = NULL;
	open->peer = open->peer_rank = -1;
	open->tag = open->context = -1;
	open->sequence = 0;
	open->sequence_by = NULL;
	open->peer_certain = false;
	name_awaited(emitter, call->process, look, open);
	open->comm = call->comm;
}

void underway_number(struct fact_open *open, const struct collective_identity *identity)
{
	const struct mpi_function kind = mpi_function(open->function);

	if (!kind.collective || !kind.blocks)
		return;
	if (identity->context >= 0)
		open->context = identity->context;
	open->sequence = identity->sequence;
	open->sequence_by = open->sequence ? FACT_BY_CALLS : NULL;
	open->sequence_reason = identity->unnumbered;
}

/* Whether a call that began between two times would have a record. */
static bool all_recorded(const struct process *process, uint64_t since, uint64_t until)
{
	const struct capture *capture = process->told_by;

	if (!capture || capture->counted || process->missing_until > since)
		return false;
	for (size_t i = 0; i < capture->windows.len; i++) {
		const struct window *window = &capture->windows.data[i];

		if (window->from <= since && (!window->to || window->to >= until))
			return true;
	}
	return !capture->windows.len;
}

#define AT_END 500000000u /* ns: looks at the end come so soon before it */

bool underway_looked(const struct call *call, uint64_t until)
{
	const struct thread_looks *looks = process_thread(call->process, call->tid);

	return looks && until <= looks->last.ts + AT_END;
}

void underway_step(const struct emitter *emitter, const struct call *call,
		   const struct awaited_state *state, struct fact_open *open)
{
	const struct queued *queued = step_row(call->process, state);
	const struct process *peer = queued ? with_of(emitter, call->process, queued).peer : NULL;

	step_tell(step_of(call->process, state, queued, peer), open);
}

enum underway underway_call(const struct emitter *emitter, const struct call *call,
			    const struct awaited_state *filled, struct fact_open *open)
{
	const struct thread_looks *looks = process_thread(call->process, call->tid);
	const struct thread_look *look = looks ? &looks->last : NULL;

	if (!look || look->ts < call->start || look->reason)
		return UNDERWAY_UNKNOWN;
	if (!look->function || strcmp(look->function, call->function) ||
	    (look->place && call->returns_to && look->place != call->returns_to))
		return UNDERWAY_ELSEWHERE;
	/* of several operations that it may wait for, none is more likely */
	if (filled && !open->certain && !filled->own)
		forget_awaited(emitter, call, look, open);
	if (!filled) {
		*open = open_call(emitter, call->process, call->tid, look);
		open->place = call->place ? call->place : look->place;
		open->since = call->start;
		open->comm = call->comm;
	}
	open->certain = all_recorded(call->process, call->start, look->ts);
	if (!open->certain) {
		/* it may be a later call from the same place */
		open->bound = true;
		open->since = look->ts;
	}
	return UNDERWAY_IN_CALL;
}

/* ---- calls without a record ---- */

static bool same_call(const struct thread_look *a, const struct thread_look *b)
{
	return a->function && b->function && !strcmp(a->function, b->function) &&
	       a->address == b->address && a->frame == b->frame;
}

/*
 * With sums: whether no call was counted since that time. Cells have no threads, so a counted call
 * may be any thread's.
 */
static bool counted_none(const struct process *process, uint64_t since)
{
	const struct capture *capture = process->told_by;

	if (!capture || !capture->counted)
		return false;
	for (size_t i = 0; i < capture->cells.len; i++) {
		const struct count_cell *cell = &capture->cells.data[i];

		if ((!cell->process || cell->process == process) && cell->call && cell->count &&
		    cell->last > since)
			return false;
	}
	return true;
}

static void emit_held(struct emitter *emitter, const struct process *process,
		      const struct thread_looks *looks)
{
	const bool same = same_call(&looks->first, &looks->last);
	const struct collective_identity unknown = { -1, 0, FACT_NOT_FROM_START };
	struct fact_open open = open_call(emitter, process, looks->tid, &looks->last);

	underway_number(&open, &unknown);
	open.bound = true;
	open.until = looks->last.ts;
	open.certain = same && looks->first.ts < looks->last.ts &&
		       all_recorded(process, looks->first.ts, looks->last.ts);
	/* otherwise it may be a later call from the same place */
	open.since = open.certain || (same && counted_none(process, looks->first.ts))
			     ? looks->first.ts
			     : looks->last.ts;
	fact_put(emitter->sink, FACT_OPEN, &open);
}

static void emit_thread(struct emitter *emitter, const struct process *process,
			const struct thread_looks *looks)
{
	const struct fact_thread thread = {
		.process = process->index,
		.tid = looks->tid,
		.state = looks->last.state,
		.function = looks->last.function,
		.place = looks->last.place,
		.outside = looks->last.outside,
		.reason = looks->last.reason,
		.at = looks->last.ts,
	};

	fact_put(emitter->sink, FACT_THREAD, &thread);
}

static void emit_queued(struct emitter *emitter, const struct process *process,
			const struct queued *queued)
{
	static const char *const words[] = { "receive", "send", "message" };
	const struct with with = with_of(emitter, process, queued);
	const struct fact_queued fact = {
		.process = process->index,
		.what = words[queued->what],
		.peer = emit_index(with.peer),
		.peer_rank = with.rank,
		.tag = with.tag,
		.comm = with.comm,
		.context = with.context,
		.bytes = queued->bytes,
		.at = queued->ts,
	};

	fact_put(emitter->sink, FACT_QUEUED, &fact);
}

static void emit_unread(struct emitter *emitter, const struct process *process,
			const struct unread_queues *unread)
{
	const struct fact_unread fact = {
		.process = process->index,
		.reason = unread->reason,
		.entries = unread->cut,
		.at = unread->ts,
	};

	fact_put(emitter->sink, FACT_UNREAD, &fact);
}

void emit_underway(struct emitter *emitter, struct waits *waits)
{
	const struct decoder *decoder = emitter->decoder;

	for (size_t i = 0; i < decoder->shown.len; i++) {
		const struct process *process = decoder->shown.data[i];

		if (process->exited)
			continue;
		for (size_t k = 0; k < process->threads.len; k++) {
			const struct thread_looks *looks = &process->threads.data[k];

			if (looks->last.function && !waits_knows(waits, process, looks->tid))
				emit_held(emitter, process, looks);
			emit_thread(emitter, process, looks);
		}
		for (size_t k = 0; k < process->queued.len; k++)
			emit_queued(emitter, process, &process->queued.data[k]);
		for (size_t k = 0; k < process->unread.len; k++)
			emit_unread(emitter, process, &process->unread.data[k]);
	}
}
