// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/analysis.h"

#include <errno.h>
#include <string.h>

#include "explain/match/cut.h"
#include "explain/match/emit.h"
#include "explain/match/input.h"
#include "explain/match/totals.h"

struct analysis {
	inputs inputs, queue;
	uint64_t edge; /* no window begins before: cut_before() */
	struct decoder decoder;
	struct attribute *attribute;
	struct matcher *matcher;
	struct emitter emitter;
	VEC(struct analysis_loss) losses;
};

struct analysis *analysis_new(void)
{
	struct analysis *analysis = calloc(1, sizeof(*analysis));

	if (!analysis)
		abort();
	decoder_init(&analysis->decoder);
	return analysis;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	matcher_free(analysis->matcher);
	attribute_free(analysis->attribute);
	for (size_t i = 0; i < analysis->inputs.len; i++)
		input_free(analysis->inputs.data[i]);
	vec_release(&analysis->inputs);
	vec_release(&analysis->queue);
	emitter_release(&analysis->emitter);
	vec_release(&analysis->losses);
	decoder_release(&analysis->decoder);
	free(analysis);
}

void analysis_watch(struct analysis *analysis, void (*look)(void *arg, uint64_t facts), void *arg)
{
	analysis->emitter.watch = (struct watch){ look, arg };
}

bool analysis_overlaps(const struct analysis *analysis, const json_t *sides)
{
	const struct extent own = extent_of(sides);

	for (size_t i = 0; i < analysis->inputs.len; i++)
		if (extents_overlap(&analysis->inputs.data[i]->extent, &own))
			return true;
	return false;
}

void analysis_add_source(struct analysis *analysis, const struct record_source *source)
{
	vec_push(&analysis->inputs, input_new(source));
}

static void on_call(void *arg, const struct call *call)
{
	emit_call(&((struct analysis *)arg)->emitter, call);
}

static void on_op_start(void *arg, struct op *op)
{
	matcher_op_start(((struct analysis *)arg)->matcher, op);
}

static void on_op_done(void *arg, struct op *op)
{
	struct analysis *analysis = arg;

	matcher_op_done(analysis->matcher, op);
	emit_op(&analysis->emitter, op);
}

static void on_op_over(void *arg, struct op *op)
{
	emit_way_over(&((struct analysis *)arg)->emitter, op->way);
	way_drop(op->way);
}

static void on_transfer(void *arg, const struct transfer *transfer)
{
	emit_transfer(&((struct analysis *)arg)->emitter, transfer);
}

static void on_sent(void *arg, const struct event *event, struct op *op, struct object *ep)
{
	matcher_sent(((struct analysis *)arg)->matcher, event, op, ep);
}

static void on_arrived(void *arg, const struct event *event, uint64_t idle_since)
{
	matcher_arrived(((struct analysis *)arg)->matcher, event, idle_since);
}

static void on_completed(void *arg, const struct event *event, struct op *op)
{
	matcher_completed(((struct analysis *)arg)->matcher, event, op);
}

static void on_met(void *arg, const struct event *event, struct op *op)
{
	matcher_met(((struct analysis *)arg)->matcher, event, op);
}

static void on_message(void *arg, const struct message *message)
{
	emit_message(&((struct analysis *)arg)->emitter, message);
}

/* A capture may be read before the one with its peers' workers. */
static int foresee(struct analysis *analysis, struct input *input)
{
	const struct ub_hdr *h;
	int err;

	while ((err = input->source.next(input->source.ctx, &h)) > 0)
		decoder_foresee(&analysis->decoder, &input->capture, h);
	return err ? err : input->source.rewind(input->source.ctx);
}

static int start(struct analysis *analysis, const struct fact_sink *sink,
		 struct fact_totals *totals)
{
	struct attribute_sink stages = { analysis,     on_call,     on_op_start, on_op_done,
					 on_op_over,   on_transfer, on_sent,     on_arrived,
					 on_completed, on_met };
	int err = 0;

	memset(totals, 0, sizeof(*totals));
	inputs_sort(&analysis->inputs);
	for (size_t i = 0; i < analysis->inputs.len; i++) {
		struct input *input = analysis->inputs.data[i];

		decoder_add_capture(&analysis->decoder, &input->capture, input->source.sides);
	}
	for (size_t i = 0; i < analysis->inputs.len && err >= 0; i++)
		if (analysis->inputs.len > 1 || analysis->inputs.data[i]->capture.looked)
			err = foresee(analysis, analysis->inputs.data[i]);
	decoder_ready(&analysis->decoder);
	analysis->attribute = attribute_new(&analysis->decoder, &stages);
	analysis->matcher =
		matcher_new(&analysis->decoder, analysis->attribute, on_message, analysis);
	analysis->emitter.decoder = &analysis->decoder;
	analysis->emitter.sink = sink;
	analysis->emitter.totals = totals;
	emit_clocks(&analysis->emitter, &analysis->inputs);
	emit_processes(&analysis->emitter);
	return err;
}

/* NULL: not known. */
static struct process *gap_owner(const struct capture *capture, const struct gap *gap)
{
	const uint64_t *process = gap->tgid ? map_find(&capture->tgids, gap->tgid, 0) : NULL;

	return process ? (struct process *)(uintptr_t)*process : NULL;
}

static void tell_gaps(struct analysis *analysis, struct input *input)
{
	struct gaps *gaps = &input->gaps;
	const struct gap *gap = &gaps->all.data[gaps->next];

	for (; gaps->next < gaps->all.len && gap->from <= input->head->ts; gaps->next++, gap++) {
		matcher_gap(analysis->matcher, input->capture.host, gap_owner(&input->capture, gap),
			    gap->from, gap->until);
		if (input->holes)
			decoder_memory_hole(&analysis->decoder, &input->capture, gap->until);
	}
	if (!input->holes)
		return;
	if (!input->stored && gaps->first)
		decoder_memory_hole(&analysis->decoder, &input->capture, gaps->first);
	if (input->head->ts < gaps->last)
		return;
	decoder_memory_hole(&analysis->decoder, &input->capture, UINT64_MAX);
	gaps->last = UINT64_MAX;
}

static void feed(struct analysis *analysis, struct input *input)
{
	struct event event;

	tell_gaps(analysis, input);
	cut_before(&analysis->inputs, input, &analysis->edge, &analysis->decoder,
		   analysis->attribute, analysis->matcher);
	input->stored++;
	input->last = input->head->ts;
	if (!decoder_event(&analysis->decoder, &input->capture, input->head, &event))
		return;
	if (analysis->emitter.processes < analysis->decoder.shown.len)
		emit_processes(&analysis->emitter);
	cut_lost(&event, &analysis->decoder, analysis->attribute, analysis->matcher);
	attribute_event(analysis->attribute, &event);
}

/* Peers may be named by another capture, so all of them come first. */
static void finish_cells(struct analysis *analysis)
{
	for (size_t i = 0; i < analysis->inputs.len; i++)
		decoder_cells(&analysis->decoder, &analysis->inputs.data[i]->capture);
	emit_processes(&analysis->emitter);
	for (size_t i = 0; i < analysis->inputs.len; i++)
		emit_cells(&analysis->emitter, &analysis->inputs.data[i]->capture);
}

static void add_totals(struct analysis *analysis, struct fact_totals *totals)
{
	for (size_t i = 0; i < analysis->inputs.len; i++) {
		const struct input *input = analysis->inputs.data[i];
		struct analysis_loss loss;

		if (!totals_add(totals, &input->source, &input->capture, input->stored, &loss))
			continue;
		loss.host_name = input->host_name;
		vec_push(&analysis->losses, loss);
	}
}

size_t analysis_losses(const struct analysis *analysis, const struct analysis_loss **losses)
{
	*losses = analysis->losses.data;
	return analysis->losses.len;
}

int analysis_run(struct analysis *analysis, const struct fact_sink *sink,
		 struct fact_totals *totals)
{
	int err = start(analysis, sink, totals);

	for (size_t i = 0; i < analysis->inputs.len && err >= 0; i++)
		err = input_open(analysis->inputs.data[i]);
	inputs_queue(&analysis->queue, &analysis->inputs);
	while (err >= 0 && analysis->queue.len) {
		struct input *input = analysis->queue.data[0];

		feed(analysis, input);
		err = input->source.next(input->source.ctx, &input->head);
		if (err <= 0)
			input->head = NULL;
		inputs_requeue(&analysis->queue);
	}
	cut_at_end(analysis->attribute, analysis->matcher);
	matcher_finish(analysis->matcher, totals);
	finish_cells(analysis);
	emit_memory_uses(&analysis->emitter);
	emit_devices(&analysis->emitter);
	emit_lifetimes(&analysis->emitter, &analysis->inputs);
	emit_open_devices(&analysis->emitter);
	for (size_t i = 0; i < analysis->inputs.len; i++)
		emit_windows(&analysis->emitter, analysis->inputs.data[i], i);
	add_totals(analysis, totals);
	totals_detail(totals);
	return err < 0 ? err : 0;
}
