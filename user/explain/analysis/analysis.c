// SPDX-License-Identifier: BSD-3-Clause
/* An analysis: captures read abreast, each record through all stages. */
#include "explain/analysis/analysis.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "explain/analysis/emit.h"
#include "explain/analysis/input.h"
#include "explain/analysis/internal.h"
#include "explain/analysis/underway.h"
#include "explain/teams/teams.h"
#include "explain/waits/waits.h"
#include "file/file.h"

/*
 * Times that nobody watched: between windows of a capture, between slices with detail, and between
 * captures of one process.
 */

static void cut(struct decoder *decoder, struct attribute *attribute, struct matcher *matcher,
		const char *reason)
{
	matcher_ending(matcher, reason);
	attribute_cut(attribute);
	matcher_cut(matcher);
	decoder_ended(decoder);
}

/* The capture before knew them: their state ends with it. */
static void rejoin(const struct capture *capture, struct decoder *decoder,
		   struct attribute *attribute, struct matcher *matcher)
{
	for (size_t i = 0; i < capture->rejoined.len; i++)
		decoder_end(decoder, capture->rejoined.data[i].process);
	if (capture->rejoined.len)
		cut(decoder, attribute, matcher, "between captures");
	for (size_t i = 0; i < capture->rejoined.len; i++)
		process_missing(capture->rejoined.data[i].process, capture->rejoined.data[i].until);
}

static void window_edge(const struct capture *capture, uint64_t from, struct decoder *decoder,
			struct attribute *attribute, struct matcher *matcher)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&capture->tgids, &pos)))
		decoder_end(decoder, (struct process *)(uintptr_t)slot->value);
	cut(decoder, attribute, matcher, "window edge");
	pos = 0;
	while ((slot = map_next(&capture->tgids, &pos)))
		process_missing((struct process *)(uintptr_t)slot->value, from);
}

/* Returns when the next one begins. */
static uint64_t cut_windows(struct input *input, uint64_t until, struct decoder *decoder,
			    struct attribute *attribute, struct matcher *matcher)
{
	const struct capture *capture = &input->capture;

	for (; input->window < capture->windows.len; input->window++) {
		uint64_t from = capture->windows.data[input->window].from;

		if (from + (uint64_t)input->to_real > until)
			return from + (uint64_t)input->to_real;
		if (input->window) /* before the first one nothing was watched either */
			window_edge(capture, from, decoder, attribute, matcher);
	}
	return UINT64_MAX;
}

/* Detail begins again: what a record named before may be another thing by now. */
static void slice_edge(const struct capture *capture, uint64_t from, struct decoder *decoder,
		       struct attribute *attribute, struct matcher *matcher)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&capture->tgids, &pos))) {
		struct process *process = (struct process *)(uintptr_t)slot->value;

		decoder_end(decoder, process);
		process_missing(process, from);
	}
	matcher_ending(matcher, "detail was thinned");
	attribute_forget(attribute);
	matcher_cut(matcher);
	decoder_ended(decoder);
}

/* Returns when detail begins again for the next time. */
static uint64_t cut_slices(struct input *input, uint64_t until, struct decoder *decoder,
			   struct attribute *attribute, struct matcher *matcher)
{
	const uint64_t round = (uint64_t)UB_SLICES << UB_SLICE_SHIFT;
	const uint64_t to_real = (uint64_t)input->to_real;
	uint64_t last = input->slice_edge, edge = capture_slice_edge(&input->capture, last), now;

	if (edge == UINT64_MAX || edge + to_real > until)
		return edge == UINT64_MAX ? edge : edge + to_real;
	/* no record lies between the edges that were passed: one cut is enough */
	now = until - to_real;
	last = edge;
	if (now > last && now - last > 2 * round)
		last = now - 2 * round;
	while ((edge = capture_slice_edge(&input->capture, last)) <= now && edge > last)
		last = edge;
	slice_edge(&input->capture, last, decoder, attribute, matcher);
	input->slice_edge = last;
	return edge == UINT64_MAX ? edge : edge + to_real;
}

/*
 * Cuts of all inputs that lie before the next record, which is this input's, are made. *edge: when
 * the first window that is not begun does, on the inputs' common clock; 0 at first.
 */
static void cut_before(const inputs *inputs, const struct input *next, uint64_t *edge,
		       struct decoder *decoder, struct attribute *attribute,
		       struct matcher *matcher)
{
	uint64_t until = next->head->ts + (uint64_t)next->to_real;

	if (!next->stored)
		rejoin(&next->capture, decoder, attribute, matcher);
	if (until < *edge)
		return;
	*edge = UINT64_MAX;
	for (size_t i = 0; i < inputs->len; i++) {
		uint64_t from = cut_windows(inputs->data[i], until, decoder, attribute, matcher);

		*edge = from < *edge ? from : *edge;
		from = cut_slices(inputs->data[i], until, decoder, attribute, matcher);
		*edge = from < *edge ? from : *edge;
	}
}

/*
 * Before an event: records of its process were lost up to it, or are said to be by it, and what
 * they named is no evidence any more.
 */
static void cut_lost(const struct event *event, struct decoder *decoder,
		     struct attribute *attribute, struct matcher *matcher)
{
	if (!process_forgets(event))
		return;
	decoder_end(decoder, event->process);
	matcher_ending(matcher, lost_records);
	attribute_forget(attribute);
	matcher_ending(matcher, NULL);
	decoder_ended(decoder);
}

/* If a capture breaks off, missing ends of messages of its host may have come later. */
static void mark_broken_off(const inputs *inputs, struct decoder *decoder)
{
	for (size_t i = 0; i < inputs->len; i++)
		for (size_t k = 0; inputs->data[i]->source.breaks_off && k < decoder->processes.len;
		     k++)
			if (decoder->processes.data[k]->host == inputs->data[i]->capture.host)
				decoder->processes.data[k]->broken_off = true;
}

/* The last cut, through everything. */
static void cut_at_end(const inputs *inputs, struct decoder *decoder, struct attribute *attribute,
		       struct matcher *matcher)
{
	mark_broken_off(inputs, decoder);
	matcher_ending(matcher, "in flight at end");
	attribute_finish(attribute);
	matcher_cut(matcher);
}

struct analysis {
	inputs inputs, queue;
	uint64_t edge; /* no window begins before: cut_before() */
	struct decoder decoder;
	struct attribute *attribute;
	struct matcher *matcher;
	struct waits *waits;
	struct teams *teams;
	uint64_t *until; /* once all records are read: lifetimes_of() */
	struct emitter emitter;
	VEC(struct analysis_loss) losses;
};

struct analysis *analysis_new(void)
{
	struct analysis *analysis = xcalloc(1, sizeof(*analysis));

	decoder_init(&analysis->decoder);
	return analysis;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	waits_free(analysis->waits);
	teams_free(analysis->teams);
	free(analysis->until);
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
	analysis->emitter.watch = (struct fact_watch){ look, arg };
}

/* Whether a source that is there already has a process of these side records at the same time. */
static bool analysis_overlaps(const struct analysis *analysis, const json_t *sides)
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

static void on_call_start(void *arg, const struct call *call)
{
	struct analysis *analysis = arg;

	matcher_handled(analysis->matcher, call->process, call->tid);
	waits_call_start(analysis->waits, call);
}

/*
 * Whether a process is known up to the end of its recording. Captures without their cost are old,
 * and end once their probes were gone.
 */
static bool knows_end(const struct analysis *analysis, const struct process *process)
{
	for (size_t i = 0; i < analysis->inputs.len && !process->exited; i++) {
		const struct input *input = analysis->inputs.data[i];

		if (&input->capture == process->told_by)
			return side_last(input->source.sides, "self");
	}
	return process->exited;
}

/* Whether a call that nothing came after has not returned. */
static bool is_open(const struct analysis *analysis, const struct call *call, uint64_t until,
		    struct fact_open *fact)
{
	struct awaited_state state;
	const bool open = until > call->start && waits_open(analysis->waits, call, fact, &state) &&
			  knows_end(analysis, call->process);

	if (open)
		underway_step(&analysis->emitter, call, &state, fact);

	if (!underway_looked(call, until))
		return open;
	switch (underway_call(&analysis->emitter, call, open ? &state : NULL, fact)) {
	case UNDERWAY_IN_CALL:
		return true;
	case UNDERWAY_ELSEWHERE:
		return false;
	default:
		return open;
	}
}

/* A call that nothing came after lasts to the end of its process at most. */
static void on_call(void *arg, const struct call *call)
{
	struct analysis *analysis = arg;
	const struct collective_identity identity = waits_identity(analysis->waits, call);
	uint64_t until = call->until;
	struct fact_open fact;
	bool open = false;

	if (!until && analysis->until) {
		until = analysis->until[call->process->id];
		open = is_open(analysis, call, until, &fact);
	}
	waits_call(analysis->waits, call, until);
	emit_call(&analysis->emitter, call, until, open && fact.certain, identity);
	if (!open)
		return;
	underway_number(&fact, &identity);
	fact.until = until;
	fact_put(analysis->emitter.sink, FACT_OPEN, &fact);
}

static void on_op_start(void *arg, struct op *op)
{
	struct analysis *analysis = arg;

	if (op->sends && !op->handled)
		matcher_handled(analysis->matcher, op->process, op->tid);
	waits_op_start(analysis->waits, op); /* which may find its message at once */
	teams_op_start(analysis->teams, op);
	matcher_op_start(analysis->matcher, op);
}

static void on_op_done(void *arg, struct op *op)
{
	struct analysis *analysis = arg;

	matcher_op_done(analysis->matcher, op);
	waits_op_done(analysis->waits, op);
	emit_op(&analysis->emitter, op);
}

static void on_op_over(void *arg, struct op *op)
{
	struct analysis *analysis = arg;
	struct way *way = matched_way(op);

	if (way)
		emit_way_over(&analysis->emitter, way);
	matcher_op_over(analysis->matcher, op);
}

static void on_transfer(void *arg, const struct transfer *transfer)
{
	struct analysis *analysis = arg;
	struct way *send = matcher_fetched(analysis->matcher, transfer);

	if (send)
		emit_way_joined(send, matched_way(transfer->op));
	emit_transfer(&analysis->emitter, transfer);
	waits_transfer(analysis->waits, transfer);
}

static void on_hidden(void *arg, const struct event *event, uint64_t from)
{
	matcher_gap(((struct analysis *)arg)->matcher, event->capture->host, event->process, from,
		    event->h->ts - 1, order_not_known);
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
	struct analysis *analysis = arg;

	teams_message(analysis->teams, message);
	emit_message(&analysis->emitter, message);
}

static void on_joined(void *arg, const struct message *message)
{
	waits_message(((struct analysis *)arg)->waits, message);
}

static void on_wait(void *arg, const struct fact_wait *wait)
{
	emit_wait(&((struct analysis *)arg)->emitter, wait);
}

static void on_collective(void *arg, const struct fact_collective *collective)
{
	emit_collective(&((struct analysis *)arg)->emitter, collective);
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
	struct attribute_sink stages = { analysis,   on_call_start, on_call,      on_op_start,
					 on_op_done, on_op_over,    on_transfer,  on_hidden,
					 on_sent,    on_arrived,    on_completed, on_met };
	struct match_sink messages = { analysis, on_message, on_joined };
	struct waits_sink found = { analysis,
				    on_wait,
				    on_collective,
				    totals->waits_unknown,
				    &totals->waits_hidden,
				    &totals->joins,
				    input_lacks_calls };
	struct teams_sink joined = { analysis, on_collective };
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
	analysis->matcher = matcher_new(&analysis->decoder, analysis->attribute, &messages);
	analysis->waits = waits_new(&analysis->decoder, &found);
	analysis->teams = teams_new(&analysis->decoder, &joined);
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

	for (; gaps->next < gaps->all.len; gaps->next++) {
		const struct gap *gap = &gaps->all.data[gaps->next];

		if (gap->from > input->head->ts)
			break;
		matcher_gap(analysis->matcher, input->capture.host, gap_owner(&input->capture, gap),
			    gap->from, gap->until, lost_records);
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

/* Operations may have sent messages that no record shows. */
static void tell_unseen(struct analysis *analysis, const struct event *event)
{
	const struct ub_loss *loss = (const struct ub_loss *)event->h;

	if (event->h->kind == UB_LOSS && loss->unseen)
		matcher_gap(analysis->matcher, event->capture->host, event->process, loss->h.ts,
			    loss->until, order_not_known);
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
	tell_unseen(analysis, &event);
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

		if (!totals_add(totals, &input->source, &input->capture, input->stored, input->last,
				&loss))
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
	analysis->until = lifetimes_of(&analysis->decoder, &analysis->inputs);
	waits_ending(analysis->waits);
	cut_at_end(&analysis->inputs, &analysis->decoder, analysis->attribute, analysis->matcher);
	matcher_finish(analysis->matcher, totals);
	totals->unmapped = attribute_unmapped(analysis->attribute);
	waits_finish(analysis->waits);
	teams_finish(analysis->teams);
	finish_cells(analysis);
	emit_underway(&analysis->emitter, analysis->waits);
	emit_memory_uses(&analysis->emitter);
	emit_lifetimes(&analysis->emitter, analysis->until, analysis->waits);
	emit_open_devices(&analysis->emitter);
	emit_software(&analysis->emitter);
	for (size_t i = 0; i < analysis->inputs.len; i++)
		emit_windows(&analysis->emitter, analysis->inputs.data[i], i);
	emit_devices(&analysis->emitter);
	add_totals(analysis, totals);
	totals_finish(totals);
	return err < 0 ? err : 0;
}

/* Capture files as sources of records. */

struct file_source {
	char *path;
	struct file_reader *reader, *first; /* first: owns the side records */
	json_t *sides; /* with those of an interval; NULL: none */
};

static int file_next(void *ctx, const struct ub_hdr **record)
{
	return file_reader_next(((struct file_source *)ctx)->reader, record);
}

static int file_next_stored(void *ctx, const struct ub_hdr **record)
{
	return file_reader_next_stored(((struct file_source *)ctx)->reader, record);
}

static int file_rewind(void *ctx)
{
	struct file_source *source = ctx;
	const char *why;

	if (source->reader != source->first)
		file_reader_free(source->reader);
	source->reader = NULL;
	return file_reader_again(&source->reader, source->path, &why);
}

static uint64_t file_damage(void *ctx)
{
	const struct file_source *source = ctx;

	return source->reader ? file_reader_damaged(source->reader) : 0;
}

static void file_release(void *ctx)
{
	struct file_source *source = ctx;

	if (source->reader != source->first)
		file_reader_free(source->reader);
	file_reader_free(source->first);
	json_decref(source->sides);
	free(source->path);
	free(source);
}

/* The side records of both files; NULL: the second one cannot be read. */
static json_t *join_sides(const struct file_reader *reader, const char *path, int *err,
			  const char **why)
{
	struct file_reader *interval;
	json_t *sides, *side;
	size_t i;

	*err = file_reader_open(&interval, path, why);
	if (*err < 0)
		return NULL;
	sides = json_copy((json_t *)file_reader_sides(reader));
	json_array_foreach(file_reader_sides(interval), i, side) json_array_append(sides, side);
	file_reader_free(interval);
	return sides;
}

/* interval: of a capture that goes on; NULL: it has ended. */
static int add_file(struct analysis *analysis, const char *path, const char *interval,
		    const char **why)
{
	struct file_source *file = xcalloc(1, sizeof(*file));
	struct record_source source = {
		.ctx = file,
		.next = file_next,
		.next_stored = file_next_stored,
		.rewind = file_rewind,
		.damage = file_damage,
		.release = file_release,
	};
	int err;

	err = file_reader_open(&file->first, path, why);
	if (err >= 0 && interval)
		file->sides = join_sides(file->first, interval, &err, why);
	if (err < 0) {
		file_reader_free(file->first);
		free(file);
		return err;
	}
	if (analysis_overlaps(analysis, file_reader_sides(file->first))) {
		*why = "it has the same processes at the same time as another one, left out";
		file_reader_free(file->first);
		json_decref(file->sides);
		free(file);
		return -EEXIST;
	}
	file->reader = file->first;
	file->path = xstrdup(path);
	source.sides = interval ? file->sides : file_reader_sides(file->first);
	source.stats = *file_reader_stats(file->first);
	source.damaged = file_reader_damaged(file->first);
	source.refused = file_reader_refused(file->first);
	source.unknown = file_reader_unknown(file->first);
	if (file_reader_complete(file->first, why) || interval)
		*why = NULL;
	source.incomplete = *why;
	source.trimmed = side_last(source.sides, "trimmed");
	source.breaks_off = !interval && !file_reader_has_end(file->first);
	analysis_add_source(analysis, &source);
	return 0;
}

int analysis_add_file(struct analysis *analysis, const char *path, const char **why)
{
	return add_file(analysis, path, NULL, why);
}

int analysis_add_interval(struct analysis *analysis, const char *path, const char *interval,
			  const char **why)
{
	return add_file(analysis, path, interval, why);
}
