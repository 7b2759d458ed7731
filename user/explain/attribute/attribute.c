// SPDX-License-Identifier: BSD-3-Clause
#include "explain/attribute/attribute.h"

#include "explain/attribute/internal.h"

struct attribute *attribute_new(struct decoder *decoder, const struct attribute_sink *sink)
{
	struct attribute *attribute = calloc(1, sizeof(*attribute));

	if (!attribute)
		abort();
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
	map_release(&attribute->inners);
	map_release(&attribute->requests);
	map_release(&attribute->buffers);
	map_release(&attribute->answers);
	map_release(&attribute->threads);
	free(attribute);
}

struct owned *owned_by(struct attribute *attribute, const struct process *process)
{
	while (attribute->owned.len <= (size_t)process->id)
		vec_add(&attribute->owned);
	return &attribute->owned.data[process->id];
}

static void cancelled(struct attribute *attribute, const struct op *cancel)
{
	struct process *process = cancel->process;
	struct ub_hdr h = { .tgid = process->tgid, .tid = cancel->tid, .ts = cancel->start };
	struct op *op;

	if (!process->request_size)
		return;
	op = request_find(attribute, process, cancel->handle - process->request_size, &h, ~0u);
	if (op)
		op->failed = true;
}

static void op_event(struct attribute *attribute, struct thread *thread, const struct event *event)
{
	struct op *op = op_new(attribute, event);

	op->id = ++attribute->ids;
	op->function = thread_function(thread, event->h);
	op->call = op->function ? thread->call.id : 0;
	op->place = op->function ? thread->call.place : NULL;
	op->framed = true;
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

	thread_about(attribute, thread, event->h, op);
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
	const unsigned int no_work =
		1u << UB_TASK | 1u << UB_NAME | 1u << UB_OBJ | 1u << UB_STACK | 1u << UB_MEM;
	struct thread *thread;

	if (1u << event->h->kind & no_work)
		return;
	thread = thread_of(attribute, event);
	if (event->h->kind == UB_LOSS)
		return loss_event(thread, event);
	if (event->h->kind == UB_CALL_STACK)
		return thread_stack(attribute, thread, event);
	thread_step(attribute, thread, event->h);
	switch (event->h->kind) {
	case UB_CALL:
		return thread_call(attribute, thread, event);
	case UB_CALL_END:
		return thread_call_end(attribute, thread, event->h);
	case UB_OP:
		return op_event(attribute, thread, event);
	case UB_XFER:
	case UB_FRAGS:
		return transfer_event(attribute, thread, event);
	case UB_RX:
		return arrival_event(attribute, thread, event);
	case UB_COMP:
		return completion_event(attribute, event);
	case UB_MATCH:
		return match_event(attribute, thread, event);
	}
}

void attribute_finish(struct attribute *attribute)
{
	for (size_t i = 0; i < attribute->decoder->processes.len; i++)
		decoder_end(attribute->decoder, attribute->decoder->processes.data[i]);
	attribute_cut(attribute);
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
