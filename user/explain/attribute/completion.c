// SPDX-License-Identifier: BSD-3-Clause
/* The ends of requests and transfers. */
#include "explain/attribute/internal.h"

#include <string.h>

#define ANY_KIND (~0u)

static void end_at(struct op *op, uint64_t ns, enum precision precision)
{
	if (op->end.precision == PRECISION_EXACT && precision != PRECISION_EXACT)
		return;
	op->end = (struct moment){ ns, precision };
}

static void uct_completed(struct attribute *attribute, const struct event *event, uint64_t req)
{
	struct inner *inner = inner_find(attribute, event->process, req);
	struct op *op = request_find(attribute, event->process, req, event->h, ANY_KIND);

	if (inner) {
		bool copied = inner->pending && inner->pending->copy;

		transfers_complete(attribute, inner, event->h->ts, false, true);
		if (!op)
			op = inner->op;
		if (copied && op && op->sends)
			return; /* its data is still to be sent */
	}
	if (op && op->open)
		end_at(op, event->h->ts, PRECISION_EXACT);
}

static void user_completed(struct attribute *attribute, const struct event *event,
			   const struct ub_comp *record)
{
	struct op *op = request_find(attribute, event->process, record->req, event->h, ANY_KIND);

	if (op) {
		end_at(op, event->h->ts, PRECISION_EXACT);
		op->completed = true;
		op->status = (int)record->status;
		op->failed = record->status < 0;
		if (event->site->what == UB_COMP_RECV_CB && (event->h->flags & UB_F_INFO)) {
			op->info = true;
			op->info_tag = record->tag;
			op->info_len = record->length;
			op->bytes = op->failed ? 0 : record->length;
		}
	}
	if (attribute->sink.completed)
		attribute->sink.completed(attribute->sink.arg, event, op);
	if (op)
		request_close(attribute, op);
}

#define RECEIVES (1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV | 1u << OP_STREAM_RECV)

/*
 * A handle that another thread frees inside the span of the operation that returns it is older.
 * What is freed before it is done goes on (ucp_request_release(), src/ucp/core/ucp_request.c): then
 * the request ends when its address is handed out again.
 */
static void request_freed(struct attribute *attribute, const struct event *event, uint64_t req)
{
	struct op *op = request_find(attribute, event->process, req, event->h, ANY_KIND);
	bool ended;

	if (!op || (op->tid != event->h->tid && op->returns && event->h->ts < op->returned))
		return;
	ended = op->end.precision == PRECISION_EXACT || (RECEIVES >> op->site->op & 1);
	if (op->end.precision == PRECISION_UNKNOWN)
		end_at(op, event->h->ts, PRECISION_UPPER);
	op->released = true;
	if (ended)
		request_close(attribute, op);
}

void completion_event(struct attribute *attribute, const struct event *event)
{
	const struct ub_comp *record = (const struct ub_comp *)event->h;
	struct inner *inner;

	switch (event->site->what) {
	case UB_COMP_UCT:
		uct_completed(attribute, event, record->req);
		break;
	case UB_COMP_SCOPY:
		inner = inner_find(attribute, event->process, record->req);
		if (inner && record->status == 0)
			transfers_complete(attribute, inner, event->h->ts, true, true);
		break;
	case UB_COMP_SEND_CB:
	case UB_COMP_RECV_CB:
		user_completed(attribute, event, record);
		break;
	case UB_COMP_REQ_FREE:
		request_freed(attribute, event, record->req);
		break;
	}
}

static bool is_plain_rndv(const struct op *op)
{
	return op && op->protocol && !strcmp(op->protocol, "rndv");
}

/* From the process to itself, received without a transfer: UCX 1.18 copies, src/uct/sm/self/self.c.
 */
static bool was_copied(struct attribute *attribute, const struct op *op, uint64_t req)
{
	const struct answer *answer = answer_to(attribute, op->process, req);
	bool traced;

	return answer && is_plain_rndv(answer->op) && op->ep &&
	       decoder_peer(attribute->decoder, op->ep, &traced) &&
	       op->ep->peer_process == op->process;
}

/*
 * v1: a send that is acknowledged without having sent its data was fetched by the receiver, or its
 * memory mapped there.
 */
static void send_was_fetched(struct attribute *attribute, struct op *op, uint64_t req)
{
	if (is_plain_rndv(op) && !op->process->maps_peers && !was_copied(attribute, op, req))
		op->protocol = strings_intern(&attribute->decoder->strings, "rndv/get");
}

/* Answers that end a send, with the send's request id in front. */
#define ENDS_SEND (1u << AM_SYNC_ACK | 1u << AM_ATS | 1u << AM_ATP)

static struct op *send_of(struct attribute *attribute, const struct thread *thread,
			  const struct event *event, uint64_t req)
{
	unsigned int sends = 1u << OP_TAG_SEND | 1u << OP_AM_SEND;
	struct op *op = thread_find(thread, req, sends);

	return op ? op : request_find(attribute, event->process, req, event->h, sends);
}

/* An emulated get is done with its last reply, an atomic with its only one. */
static void reply_arrived(struct attribute *attribute, const struct event *event,
			  const struct ub_rx *rx)
{
	struct op *op = request_find(attribute, event->process, rx->w[0], event->h,
				     1u << OP_GET | 1u << OP_ATOMIC);

	if (!op)
		return;
	if (event->site->am_id == AM_GET_REP)
		op->carried += rx->length > 16 ? rx->length - 16 : 0;
	if (op->site->op == OP_ATOMIC || op->carried >= op->bytes)
		end_at(op, event->h->ts, PRECISION_EXACT);
}

void arrival_event(struct attribute *attribute, struct thread *thread, const struct event *event)
{
	const struct ub_rx *rx = (const struct ub_rx *)event->h;
	uint8_t am_id = event->site->am_id;

	thread->arrival.seq = event->h->seq;
	thread->arrival.am_id = am_id;
	thread->arrival.req_id = am_id == AM_GET_REQ      ? rx->w[3]
				 : am_id == AM_ATOMIC_REQ ? rx->w[2]
							  : 0;
	if (am_id == AM_RTR) {
		struct op *op = send_of(attribute, thread, event, rx->w[0]);

		thread_about(attribute, thread, event->h, op);
		answer_learn(attribute, event->process, rx->w[1], op,
			     op && op->ep ? op->ep->address : 0);
	}
	if (am_id == AM_GET_REP || am_id == AM_ATOMIC_REP)
		reply_arrived(attribute, event, rx);
	if (ENDS_SEND >> (am_id & 31) & 1) {
		struct op *op = send_of(attribute, thread, event, rx->w[0]);

		if (op && op->end.precision != PRECISION_EXACT)
			end_at(op, event->h->ts, PRECISION_EXACT);
		if (op && am_id == AM_ATS)
			send_was_fetched(attribute, op, rx->w[0]);
	}
	if (attribute->sink.arrived)
		attribute->sink.arrived(attribute->sink.arg, event, thread->idle_since);
}
