// SPDX-License-Identifier: BSD-3-Clause
/* Events to operations: each record begins or ends frames and operations. */
#include "explain/attribute/attribute.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "explain/attribute/internal.h"

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

/*
 * An atomic without a result that cannot be sent at once frees its request itself and returns
 * success (ucp_atomic_op_nbx(), src/ucp/rma/amo_send.c of 1.13.1 to 1.22): the request goes on.
 */
static bool posted(struct attribute *attribute, struct op *op, uint64_t req)
{
	if (!op || op->site->op != OP_ATOMIC || !op->immediate || op->failed)
		return false;
	op->immediate = false;
	op->completed = false;
	op->released = true;
	op->req = req;
	op->end = (struct moment){ 0 };
	request_open(attribute, op);
	return true;
}

static void completion_event(struct attribute *attribute, const struct thread *thread,
			     const struct event *event)
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
		if (!posted(attribute, thread_op(thread, event->h), record->req))
			request_freed(attribute, event, record->req);
		break;
	}
}

/* From the process to itself, received without a transfer: UCX 1.18 copies, src/uct/sm/self/self.c.
 */
static bool was_copied(struct attribute *attribute, const struct op *op, uint64_t req)
{
	const struct request_answer *answer = answer_to(attribute, op->process, req);
	bool traced;

	return answer && answer->op && (!answer->op->protocol || answer->op->plain_rndv) &&
	       op->ep && decoder_peer(attribute->decoder, op->ep, &traced) &&
	       op->ep->peer_process == op->process;
}

/*
 * v1: a send that is acknowledged without having sent its data was fetched by the receiver, or its
 * memory mapped there.
 */
static void send_was_fetched(struct attribute *attribute, struct op *op, uint64_t req)
{
	if (!op->plain_rndv || op->process->maps_peers || was_copied(attribute, op, req))
		return;
	op->protocol = strings_intern(&attribute->decoder->strings, "rndv/get");
	op->plain_rndv = false;
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
			  const struct am_header *header)
{
	struct op *op = request_find(attribute, event->process, header->req, event->h,
				     1u << OP_GET | 1u << OP_ATOMIC);

	if (!op)
		return;
	if (event->site->am_id == AM_GET_REP)
		op->carried += header->payload;
	if (op->site->op == OP_ATOMIC || op->carried >= op->bytes)
		end_at(op, event->h->ts, PRECISION_EXACT);
}

static void arrival_event(struct attribute *attribute, struct thread *thread,
			  const struct event *event)
{
	const struct ub_rx *rx = (const struct ub_rx *)event->h;
	uint8_t am_id = event->site->am_id;
	struct am_header header = am_header_read(am_id, rx->w, ARRAY_SIZE(rx->w), rx->length);

	thread->arrival.seq = event->h->seq;
	thread->arrival.am_id = am_id;
	thread->arrival.req_id = am_id == AM_GET_REQ || am_id == AM_ATOMIC_REQ ? header.req : 0;
	thread->arrival.tag = header.first;
	thread->arrival.message = header.message;
	thread->arrival.unread = event->h->flags & UB_F_READ_FAULT;
	if (am_id == AM_RTR) {
		struct op *op = send_of(attribute, thread, event, header.req);

		thread_about(attribute, thread, event->h, op);
		answer_learn(attribute, event->process, header.receive, op,
			     op && op->ep ? op->ep->address : 0);
	}
	if (am_id == AM_ATP) {
		struct inner *inner = inner_find(attribute, event->process, header.req);

		thread_about(attribute, thread, event->h, inner ? inner->op : NULL);
	}
	if (am_id == AM_GET_REP || am_id == AM_ATOMIC_REP)
		reply_arrived(attribute, event, &header);
	if (ENDS_SEND >> (am_id & 31) & 1) {
		struct op *op = send_of(attribute, thread, event, header.req);

		if (op && op->end.precision != PRECISION_EXACT)
			end_at(op, event->h->ts, PRECISION_EXACT);
		if (op && am_id == AM_ATS)
			send_was_fetched(attribute, op, header.req);
	}
	if (attribute->sink.arrived)
		attribute->sink.arrived(attribute->sink.arg, event, thread->idle_since);
}

struct attribute *attribute_new(struct decoder *decoder, const struct attribute_sink *sink)
{
	struct attribute *attribute = xcalloc(1, sizeof(*attribute));

	attribute->decoder = decoder;
	attribute->sink = *sink;
	for (size_t i = 0; i < decoder->processes.len; i++)
		attribute->gpu = attribute->gpu || decoder->processes.data[i]->gpu_library;
	return attribute;
}

void attribute_free(struct attribute *attribute)
{
	if (!attribute)
		return;
	while (attribute->free_ops) {
		struct op *op = attribute->free_ops;

		attribute->free_ops = op->newer;
		free(op);
	}
	while (attribute->free_transfers) {
		struct transfer *transfer = attribute->free_transfers;

		attribute->free_transfers = transfer->next;
		free(transfer);
	}
	for (size_t i = 0; i < attribute->owned.len; i++) {
		vec_release(&attribute->owned.data[i].open);
		vec_release(&attribute->owned.data[i].inners);
		vec_release(&attribute->owned.data[i].answers);
		vec_release(&attribute->owned.data[i].threads);
	}
	vec_release(&attribute->owned);
	allocations_release(attribute);
	map_release(&attribute->inners);
	map_release(&attribute->requests);
	map_release(&attribute->buffers);
	map_release(&attribute->filled);
	map_release(&attribute->answers);
	map_release(&attribute->communicators);
	map_release(&attribute->threads);
	free(attribute);
}

static void cancelled(struct attribute *attribute, const struct op *cancel)
{
	struct process *process = cancel->process;
	struct ub_hdr h = { .tgid = process->tgid, .tid = cancel->tid, .ts = cancel->start };
	uint64_t size = owned_by(attribute, process)->request_size;
	struct op *op;

	if (!size)
		return;
	op = request_find(attribute, process, cancel->handle - size, &h, ~0u);
	if (op)
		op->failed = true;
}

static const struct place *caller_of(struct attribute *attribute, const struct event *event)
{
	const uint64_t address = ub_op_caller((const struct ub_op *)event->h);

	return address ? decoder_place(attribute->decoder, event, address) : NULL;
}

static void op_event(struct attribute *attribute, struct thread *thread, const struct event *event,
		     const struct place *caller)
{
	struct op *op = op_new(attribute, event);

	op->id = ++attribute->ids;
	op->caller = caller;
	op->function = thread_function(thread, event->h);
	op->call = op->function ? thread->call.id : 0;
	op->place = op->function ? thread->call.place : caller;
	op->framed = true;
	op->handled = event->h->rx;
	thread_push(attribute, thread, op);
	if (op->site->op == OP_CANCEL)
		cancelled(attribute, op);
	if (op->req)
		request_open(attribute, op);
	if (attribute->sink.op_start)
		attribute->sink.op_start(attribute->sink.arg, op);
}

static void match_event(struct attribute *attribute, struct thread *thread,
			const struct event *event)
{
	const struct ub_match *record = (const struct ub_match *)event->h;
	unsigned int kinds = 1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV;
	struct op *op = request_find(attribute, event->process, record->req, event->h, kinds);
	struct op *around = thread_op(thread, event->h);

	/* one of no bytes is done before its receive returns, whose request nobody gets */
	if (!op && around && around->immediate && kinds >> around->site->op & 1)
		op = around;
	thread_about(attribute, thread, event->h, op);
	if (op) {
		op->met = record->size;
		op->met_by = record->ep_id;
		request_begun(attribute, op);
	}
	answer_learn(attribute, event->process, record->req_id, op, record->ep_id);
	if (attribute->sink.met)
		attribute->sink.met(attribute->sink.arg, event, op);
}

static void loss_event(struct thread *thread, const struct event *event)
{
	const struct ub_loss *loss = (const struct ub_loss *)event->h;
	const struct capture *capture = event->capture;

	if (loss->call && loss->call_site && loss->call_site < capture->sites.len)
		thread_missed(thread, loss->call, capture->sites.data[loss->call_site].name);
}

void attribute_event(struct attribute *attribute, const struct event *event)
{
	const struct place *caller = NULL;
	const unsigned int no_work = 1u << UB_TASK | 1u << UB_NAME | 1u << UB_STACK | 1u << UB_MEM;
	struct thread *thread;

	if (1u << event->h->kind & no_work)
		return;
	if (event->h->kind == UB_OBJ)
		return allocation_event(attribute, event);
	thread = thread_of(attribute, event);
	if (event->h->kind == UB_LOSS)
		return loss_event(thread, event);
	if (event->h->kind == UB_CALL_STACK)
		return thread_stack(attribute, thread, event);
	if (event->h->kind == UB_OP) {
		caller = caller_of(attribute, event);
		thread_leaves(thread, event->h, decoder_beyond_mpi(event->process, caller));
	}
	thread_step(attribute, thread, event->h);
	switch (event->h->kind) {
	case UB_CALL:
	case UB_POLLS:
		return thread_call(attribute, thread, event);
	case UB_CALL_END:
		return thread_call_end(attribute, thread, event->h);
	case UB_OP:
		return op_event(attribute, thread, event, caller);
	case UB_XFER:
	case UB_FRAGS:
		return transfer_event(attribute, thread, event);
	case UB_RX:
		return arrival_event(attribute, thread, event);
	case UB_COMP:
		return completion_event(attribute, thread, event);
	case UB_MATCH:
		return match_event(attribute, thread, event);
	}
}

void attribute_finish(struct attribute *attribute)
{
	for (size_t i = 0; i < attribute->decoder->processes.len; i++)
		decoder_end(attribute->decoder, attribute->decoder->processes.data[i]);
	attribute_cut(attribute);
	strangers_emit(attribute, true);
}

void attribute_forget(struct attribute *attribute)
{
	requests_cut(attribute);
	answers_cut(attribute);
	threads_forget(attribute);
}

void attribute_cut(struct attribute *attribute)
{
	requests_cut(attribute);
	answers_cut(attribute);
	threads_cut(attribute);
}
