// SPDX-License-Identifier: BSD-3-Clause
/* Waits of one process for one other: for its send, its receive, its progress, for resources. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/order.h"
#include "explain/waits/internal.h"
#include "ucxbpf_am.h"

/* From the later of both begins, to a time on the culprit's clock, but no longer than until. */
static void tell_until(struct waits *waits, struct waiting *waiting, uint64_t from, uint64_t ns,
		       uint64_t until)
{
	const struct instant to =
		skew_time(waits, waiting->culprit.process->host, ns, waiting->line->process->host);

	from = order_later(from, waiting->turn->start);
	if (!to.known)
		return unknown(waits, "messages between hosts whose clocks are not known",
			       waiting->kind, waiting->turn, (struct wait_span){ from, until });
	waiting->span = (struct wait_span){ from, order_earlier(to.ns, until) };
	waiting->uncertainty = to.uncertainty;
	waiting->until = until;
	if (waiting->span.to > waiting->span.from)
		tell(waits, waiting);
}

/* When a message was waited for at most: not before its receive, nor once it was sent. */
static struct wait_span late_most(struct waits *waits, const struct message *message,
				  const struct wait_turn *turn)
{
	const struct instant sent =
		skew_time(waits, message->src->host, message->send_start, message->dst->host);
	struct wait_span span = { message->recv_start, message->arrival };

	if (sent.known)
		span.to = order_earlier(sent.ns + sent.uncertainty, span.to);
	/* the call that it came in waited, if any did: there is no other thread's */
	if (!span.from)
		span.from = turn && message->arrival_call && line_only(waits, message->dst)
				    ? turn->start
				    : message->dst->seen;
	return span;
}

void late_sender(struct waits *waits, const struct message *message)
{
	struct wait_thread *line = line_find(waits, message->dst, message->arrival_tid);
	struct wait_turn *turn = turn_at(line, message->arrival, message->arrival_call);
	struct waiting waiting = {
		.kind = WAIT_LATE_SENDER,
		.line = line,
		.turn = turn,
		.culprit = { message->src, message->function, NULL, message->send_place },
		.culprit_line = line_find(waits, message->src, message->send_tid),
	};

	if (!message->recv_call)
		return; /* no call waits for it */
	if (!message->recv_start || message->recv_tid != message->arrival_tid ||
	    !message->arrival_call)
		return unknown(waits, "messages whose waiting call is not known", WAIT_LATE_SENDER,
			       message->recv_tid == message->arrival_tid ? turn : NULL,
			       late_most(waits, message, turn));
	if (turn_awaits(turn, message->recv_call))
		tell_until(waits, &waiting, message->recv_start, message->send_start,
			   message->arrival);
}

/* ---- sends that wait for their receive ---- */

static void *of_op(struct map *map, uint64_t id, size_t size)
{
	uint64_t *at = map_insert(map, id, 0, NULL);

	if (!*at)
		*at = (uintptr_t)xcalloc(1, size);
	return (void *)(uintptr_t)*at;
}

static void *find_op(const struct map *map, uint64_t id)
{
	const uint64_t *at = map_find(map, id, 0);

	return at ? (void *)(uintptr_t)*at : NULL;
}

static void drop_op(struct map *map, uint64_t id)
{
	free(find_op(map, id));
	map_remove(map, id, 0);
}

void announce(struct waits *waits, const struct message *message)
{
	struct announced *announced = find_op(&waits->announced, message->send);
	struct wait_thread *line = line_find(waits, message->dst, message->arrival_tid);
	struct wait_turn *turn = turn_at(line, message->arrival, message->arrival_call);

	if (!announced || !message->rts || !message->recv_start)
		return;
	announced->joined = true;
	announced->recv = message->recv;
	announced->receiver = message->dst;
	announced->recv_start = message->recv_start;
	announced->arrival = message->arrival;
	announced->recv_tid = message->recv_tid;
	announced->posted =
		(struct cause){ message->dst, message->recv_function, NULL, message->recv_place };
	announced->progress_tid = message->arrival_tid;
	/* where no call is known to have met it, the handler itself is when progress was made */
	announced->progress = turn && message->arrival_call ? turn->start : message->arrival;
	announced->progressed = (struct cause){ message->dst, turn ? turn->function : NULL, NULL,
						turn ? turn->place : NULL };
}

/* Data lay in a socket until the receiver made another call. */
static void late_reader(struct waits *waits, struct waiting *waiting,
			const struct announced *announced, uint64_t end)
{
	struct wait_thread *line = line_find(waits, announced->receiver, announced->recv_tid);
	const struct instant ended =
		skew_time(waits, waiting->line->process->host, end, announced->receiver->host);
	const struct wait_turn *turn = ended.known ? turn_at(line, ended.ns, 0) : NULL;

	if (!turn)
		return;
	waiting->culprit = turn_cause(line, turn);
	waiting->culprit_line = line;
	tell_until(waits, waiting, announced->unread, turn->start, end);
}

/* Up to when the RTS was handled; but as long as it found no resource, it waited for that. */
static void late_progress(struct waits *waits, struct waiting *waiting,
			  const struct announced *announced, uint64_t from, uint64_t end)
{
	const uint64_t handled = order_earlier(announced->progress, announced->arrival);
	const struct wait_span *refused = &announced->refused;

	if (refused->to)
		tell_until(waits, waiting, from, handled, order_earlier(refused->from, end));
	tell_until(waits, waiting, order_later(from, refused->to), handled, end);
}

const struct announced *announced_of(const struct waits *waits, const struct op *op)
{
	return find_op(&waits->announced, op->id);
}

/* The send is done: whatever it waited for was a receive, or the receiver's progress. */
void announced_done(struct waits *waits, const struct op *op)
{
	struct announced *announced = find_op(&waits->announced, op->id);
	const struct moment end = matched_end(op);
	struct wait_thread *line = line_find(waits, op->process, op->tid);
	struct wait_turn *turn = turn_at(line, end.ns, 0);
	struct waiting waiting = { .line = line, .turn = turn };
	struct instant posted;

	if (announced && announced->joined && end.precision == PRECISION_EXACT &&
	    turn_awaits(turn, op->call)) {
		waiting.kind = WAIT_LATE_RECEIVER;
		waiting.culprit = announced->posted;
		waiting.culprit_line = line_find(waits, announced->receiver, announced->recv_tid);
		tell_until(waits, &waiting, op->start, announced->recv_start, end.ns);
		posted = skew_time(waits, announced->receiver->host, announced->recv_start,
				   op->process->host);
		waiting.kind = WAIT_LATE_PROGRESS;
		waiting.culprit = announced->progressed;
		waiting.culprit_line =
			line_find(waits, announced->receiver, announced->progress_tid);
		if (posted.known && announced->recv_start < announced->arrival)
			/* the RTS itself may have waited for the peer, to connect to it */
			late_progress(waits, &waiting, announced, order_later(op->start, posted.ns),
				      end.ns);
	}
	if (waiting.kind == WAIT_LATE_PROGRESS && announced->unread)
		late_reader(waits, &waiting, announced, end.ns);
	if (announced)
		drop_op(&waits->announced, op->id);
}

/* ---- receives that wait for their sender to answer ---- */

void asked_done(struct waits *waits, const struct op *op)
{
	struct asked *asked = find_op(&waits->asked, op->id);
	const struct moment end = matched_end(op);
	struct wait_thread *line = line_find(waits, op->process, op->tid);
	struct wait_turn *turn = turn_at(line, end.ns, 0);
	struct waiting waiting = { .kind = WAIT_LATE_PROGRESS, .line = line, .turn = turn };

	if (asked && asked->sender && end.precision != PRECISION_UNKNOWN &&
	    turn_awaits(turn, op->call)) {
		waiting.culprit = asked->answered;
		waiting.culprit_line = asked->sender;
		tell_until(waits, &waiting, asked->at, asked->progress, end.ns);
	}
	if (asked)
		drop_op(&waits->asked, op->id);
}

/* The first data of a send that was announced: its process has seen what the receiver asks. */
static void answered(struct waits *waits, const struct transfer *transfer)
{
	struct announced *announced = find_op(&waits->announced, transfer->op->id);
	struct asked *asked =
		announced && announced->joined ? find_op(&waits->asked, announced->recv) : NULL;
	struct wait_thread *line;
	struct wait_turn *turn;

	if (announced && !announced->unread && transfer->iface && transfer->iface->tl->peer_reads)
		announced->unread = transfer->start;
	if (!asked || (asked->sender && asked->progress <= transfer->start))
		return;
	line = line_find(waits, transfer->process, transfer->tid);
	turn = turn_at(line, transfer->start, 0);
	if (!turn)
		return;
	asked->sender = line;
	asked->progress = turn->start;
	asked->answered = turn_cause(line, turn);
}

/* ---- transfers that wait for resources ---- */

/*
 * Where messages lie in a FIFO or a socket until the peer takes them, room comes of the first
 * call that it makes then. Other transports wait for the NIC.
 */
static void made_room(struct waits *waits, const struct transfer *transfer, struct waiting *waiting,
		      struct process *peer)
{
	const struct transport *tl = transfer->iface ? transfer->iface->tl : NULL;
	const int host = waiting->line->process->host;
	struct wait_thread *line = line_only(waits, peer);
	struct instant from, to;

	if (!tl || (!tl->fifo && !tl->peer_reads))
		return;
	waiting->culprit.process = peer;
	from = skew_time(waits, host, waiting->span.from, peer->host);
	to = skew_time(waits, host, waiting->span.to, peer->host);
	/* a socket's buffers grow by themselves, too */
	if (!tl->fifo || !line || !from.known || !to.known)
		return;
	waiting->culprit =
		turn_cause(line, turn_within(line, (struct wait_span){ from.ns, to.ns }));
	waiting->culprit_line = line;
}

static void got_resources(struct waits *waits, const struct transfer *transfer, uint64_t since)
{
	const struct op *op = transfer->op;
	struct process *peer = op->ep ? op->ep->peer_process : NULL;
	struct wait_thread *line = line_find(waits, transfer->process, transfer->tid);
	struct wait_turn *turn = turn_at(line, transfer->start, 0);
	struct waiting waiting = {
		.kind = WAIT_OUT_OF_RESOURCES,
		.line = line,
		.turn = turn,
	};

	if (peer == transfer->process || !turn_awaits(turn, op->call))
		return;
	waiting.span = (struct wait_span){ order_later(since, turn->start), transfer->start };
	if (waiting.span.to <= waiting.span.from)
		return;
	if (peer)
		made_room(waits, transfer, &waiting, peer);
	tell(waits, &waiting);
}

/* Returns how long it had found no resource; to 0: it had not asked before. */
static struct wait_span resources(struct waits *waits, const struct transfer *transfer)
{
	const uint64_t id = transfer->op->id;
	struct wait_span span = { 0 };
	uint64_t *since;
	bool fresh;

	if (transfer->retried) {
		since = map_insert(&waits->refused, id, 0, &fresh);
		if (fresh)
			*since = transfer->start;
		return span;
	}
	since = waits->refused.used ? map_find(&waits->refused, id, 0) : NULL;
	if (!since || transfer->start <= *since)
		return span;
	span = (struct wait_span){ *since, transfer->start };
	got_resources(waits, transfer, *since);
	map_remove(&waits->refused, id, 0);
	return span;
}

void points_transfer(struct waits *waits, const struct transfer *transfer)
{
	struct announced *announced;
	struct wait_span refused;

	if (!transfer->op)
		return;
	refused = resources(waits, transfer);
	if (transfer->retried)
		return;
	if (transfer->am_id == AM_RTS && transfer->site->verb == VERB_AM) {
		announced = of_op(&waits->announced, transfer->op->id, sizeof(*announced));
		if (refused.to)
			announced->refused = refused;
	} else if (transfer->am_id == AM_RTR && transfer->site->verb == VERB_AM) {
		struct asked *asked = of_op(&waits->asked, transfer->op->id, sizeof(struct asked));

		if (!asked->at)
			asked->at = transfer->start;
	} else if (!transfer->control && waits->announced.used) {
		answered(waits, transfer);
	}
}

void points_release(struct waits *waits)
{
	struct map *maps[] = { &waits->announced, &waits->asked };

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		const struct map_slot *slot;
		size_t pos = 0;

		while ((slot = map_next(maps[i], &pos)))
			free((void *)(uintptr_t)slot->value);
		map_release(maps[i]);
	}
	map_release(&waits->refused);
}
