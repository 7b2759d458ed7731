// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes calls, operations and transfers as regions, messages and collective operations as MPI
 * events.
 */
#include "show/export/otf2.h"

#include <errno.h>
#include <string.h>

#include "show/export/sorter.h"
#include "show/export/span_notes.h"
#include "show/export/worlds.h"
#include "show/report/report.h"

/* OTF2 holds 256 KiB and a file descriptor per open location. */
#define OPEN_LANES 64

/* A lane of a thread's layer, which is a location of the archive. */
struct lane {
	OTF2_EvtWriter *writer; /* NULL: not open */
	OTF2_LocationRef id;
	OTF2_StringRef name;
	uint64_t events;
	bool encloses; /* the first location of a process: in its program's region until over */
	OTF2_RegionRef program;
	uint64_t over;
	bool inside; /* of region, until leave */
	OTF2_RegionRef region;
	uint64_t leave;
	bool in_collective; /* its enclosing region is: */
	struct collective collective;
	OTF2_CommRef comm;
};

/* The lanes of one layer of a thread. */
struct otf2_writer {
	struct otf2 *otf2;
	uint64_t key; /* of the group */
	bool open;
	int process, host;
	OTF2_LocationGroupRef group;
	enum level layer;
	struct lanes lanes;
	struct lane open_lanes[OPEN_LANES], sums;
	struct sorter *waiting; /* spans of lanes that are not open yet; NULL: none */
};

/* Converts to the common timeline. Times of no host have no known clock. */
static uint64_t otf2_time(const struct otf2_writer *writer, uint64_t time)
{
	const struct placing *placing = &writer->otf2->placing;

	return writer->host < 0 ? placing->begin
				: time + (uint64_t)placing_to_real(placing, writer->host);
}

static void count_reason(otf2_reasons *reasons, const char *reason)
{
	for (size_t i = 0; i < reasons->len; i++)
		if (reasons->data[i].reason == reason) {
			reasons->data[i].count++;
			return;
		}
	vec_push(reasons, ((struct fact_reason){ reason, 1 }));
}

/* Marks an entered span as a collective operation if it is known to be one. */
static void otf2_collective_begin(struct otf2_writer *writer, struct lane *lane,
				  const struct span *span)
{
	struct otf2 *otf2 = writer->otf2;
	const struct span_shape *shape = spans_shape(&otf2->spans, span);
	const struct fact_call call = { .id = span->id,
					.process = writer->process,
					.function = shape->name,
					.comm = shape->comm,
					.start = span->start };
	const char *reason;
	const struct world *world = worlds_of(&otf2->worlds, &call, &lane->collective, &reason);

	if (reason)
		count_reason(&otf2->not_collective, reason);
	if (!world)
		return;
	lane->in_collective = true;
	lane->comm = COMM_WORLDS + (OTF2_CommRef)(world - otf2->worlds.worlds.data);
	lane->events++;
	otf2->collectives++;
	otf2_check(&otf2->out, OTF2_EvtWriter_MpiCollectiveBegin(lane->writer, NULL,
								 otf2_time(writer, span->start)));
}

/* Records do not contain the arguments that would give the size. */
static void otf2_collective_end(struct otf2_writer *writer, struct lane *lane)
{
	struct otf2_out *out = &writer->otf2->out;

	if (lane->collective.op != OTF2_COLLECTIVE_OP_BARRIER)
		otf2_check(out,
			   OTF2_AttributeList_AddUint64(out->attributes, NOTE_BYTES_UNKNOWN, 1));
	otf2_check(out, OTF2_EvtWriter_MpiCollectiveEnd(lane->writer, out->attributes, lane->leave,
							lane->collective.op, lane->comm,
							lane->collective.root, 0, 0));
	lane->in_collective = false;
	lane->events++;
}

static OTF2_StringRef lane_name(struct otf2_writer *writer, bool sums)
{
	struct otf2 *otf2 = writer->otf2;
	const struct fact_process *process = spans_process(&otf2->spans, writer->process);
	const char *layer = level_titles[writer->layer];
	uint32_t tid = (uint32_t)writer->key;

	if (sums)
		return otf2_text(&otf2->out, "%s sums, no single events (--count)", layer);
	if (process && tid == process->tgid)
		return otf2_word(&otf2->out, layer);
	if (!tid)
		return otf2_text(&otf2->out, "%s, thread not known", layer);
	return otf2_text(&otf2->out, "%s thread %u", layer, tid);
}

/* The first location of a process represents it in communicators and has its group's number. */
static OTF2_LocationRef new_id(struct otf2_writer *writer, bool first)
{
	struct otf2 *otf2 = writer->otf2;
	const struct fact_process *process = spans_process(&otf2->spans, writer->process);

	if (!first || !process || writer->layer != LEVEL_MPI ||
	    (uint32_t)writer->key != process->tgid)
		return otf2_next_location(&otf2->out, writer->group);
	otf2->begun.data[writer->process] = true;
	return (OTF2_LocationRef)writer->group;
}

/* Why the time of a process outside of its calls is not known to be its program's; NULL: it is. */
static const char *why_no_program(const struct otf2 *otf2, struct spans_life life)
{
	if (otf2->no_program)
		return otf2->no_program;
	if (life.summed)
		return "calls are known by their sums alone";
	return life.first ? NULL : "nothing was seen of it";
}

/* The region around all events of the first location of a process. */
static void enter_program(struct otf2_writer *writer, struct lane *lane)
{
	struct otf2 *otf2 = writer->otf2;
	const struct spans_life life = spans_life(&otf2->spans, writer->process);
	const char *reason = why_no_program(otf2, life);

	if (reason) {
		count_reason(&otf2->without_program, reason);
		return;
	}
	lane->encloses = true;
	lane->program =
		otf2_program(&otf2->out, spans_process(&otf2->spans, writer->process)->comm);
	lane->over = otf2_time(writer, life.last);
	lane->events++;
	otf2->programs++;
	otf2_check(&otf2->out, OTF2_EvtWriter_Enter(lane->writer, NULL,
						    otf2_time(writer, life.first), lane->program));
}

static void leave_program(struct otf2_writer *writer, struct lane *lane)
{
	if (!lane->encloses)
		return;
	lane->events++;
	otf2_check(&writer->otf2->out,
		   OTF2_EvtWriter_Leave(lane->writer, NULL, lane->over, lane->program));
}

/* Opens it if necessary; sums: it holds no single events. */
static void otf2_lane_open(struct otf2_writer *writer, struct lane *lane, bool sums)
{
	struct otf2_out *out = &writer->otf2->out;

	if (lane->writer)
		return;
	*lane = (struct lane){ .id = new_id(writer, lane == writer->open_lanes),
			       .name = lane_name(writer, sums) };
	lane->writer = OTF2_Archive_GetEvtWriter(out->archive, lane->id);
	if (!lane->writer && !out->err)
		out->err = -EIO;
	if (writer->process >= 0 && lane->id == writer->group)
		enter_program(writer, lane);
}

static void otf2_lane_leave(struct otf2_writer *writer, struct lane *lane)
{
	if (lane->in_collective)
		otf2_collective_end(writer, lane);
	if (lane->inside)
		otf2_check(&writer->otf2->out,
			   OTF2_EvtWriter_Leave(lane->writer, NULL, lane->leave, lane->region));
	lane->events += lane->inside;
	lane->inside = false;
}

/* Leaves the last region and defines the location with its number of events. */
static void otf2_lane_close(struct otf2_writer *writer, struct lane *lane)
{
	struct otf2 *otf2 = writer->otf2;

	if (!lane->writer)
		return;
	otf2_lane_leave(writer, lane);
	leave_program(writer, lane);
	otf2_check(&otf2->out, OTF2_Archive_CloseEvtWriter(otf2->out.archive, lane->writer));
	vec_push(&otf2->out.locations,
		 ((struct otf2_location){ lane->id, lane->name, writer->group, lane->events }));
	lane->writer = NULL;
}

static void add_notes(struct otf2_out *out, const struct span_note *notes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		OTF2_AttributeRef attribute = (OTF2_AttributeRef)notes[i].note;

		if (notes[i].text)
			otf2_check(out,
				   OTF2_AttributeList_AddStringRef(out->attributes, attribute,
								   otf2_word(out, notes[i].text)));
		else
			otf2_check(out, OTF2_AttributeList_AddUint64(out->attributes, attribute,
								     notes[i].number));
	}
}

/* Attributes are written with the next event, which empties the list. */
static void otf2_attributes(struct otf2_writer *writer, const struct span *span)
{
	struct spans *spans = &writer->otf2->spans;
	struct span_note notes[NOTES];

	add_notes(&writer->otf2->out, notes,
		  notes_of_shape(spans, spans_shape(spans, span), notes));
	add_notes(&writer->otf2->out, notes, notes_of_span(spans, span, notes));
}

/* A span starts; the previous one ends there. */
static void otf2_lane_enter(struct otf2_writer *writer, struct lane *lane, const struct span *span)
{
	struct otf2_out *out = &writer->otf2->out;
	const char *name = spans_shape(&writer->otf2->spans, span)->name;
	bool sums = span->what == SPAN_SUMS;
	bool ends = span->end > span->start && !sums;

	otf2_lane_leave(writer, lane);
	lane->region = otf2_region(out, name, writer->layer, sums);
	lane->leave = otf2_time(writer, ends ? span->end : span->start);
	lane->inside = true;
	lane->events++;
	otf2_attributes(writer, span);
	otf2_check(out, OTF2_EvtWriter_Enter(lane->writer, out->attributes,
					     otf2_time(writer, span->start), lane->region));
	if (writer->layer == LEVEL_MPI && !sums)
		otf2_collective_begin(writer, lane, span);
}

/* A span in a lane that is not open yet. */
struct waiting_span {
	uint64_t lane;
	struct span span;
};

static int in_order(const void *left, const void *right)
{
	const struct waiting_span *a = left, *b = right;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Both ends are known processes. */
static void put_message(struct otf2_writer *writer, const struct span *span)
{
	struct otf2 *otf2 = writer->otf2;
	const struct span_shape *shape = spans_shape(&otf2->spans, span);
	struct lane *lane = &writer->open_lanes[0];
	OTF2_CommRef comm = shape->function ? COMM_MPI : COMM_OUTSIDE;
	uint64_t bytes = span->bytes == UINT64_MAX ? 0 : span->bytes;
	uint64_t time = otf2_time(writer, span->start);
	uint32_t peer = otf2_group(otf2, shape->peer);

	otf2_lane_open(writer, lane, false);
	if (lane->leave < time)
		otf2_lane_leave(writer, lane);
	otf2_attributes(writer, span);
	lane->events++;
	if (span->what == SPAN_SEND)
		otf2_check(&otf2->out,
			   OTF2_EvtWriter_MpiSend(lane->writer, otf2->out.attributes, time, peer,
						  comm, span->number, bytes));
	else
		otf2_check(&otf2->out,
			   OTF2_EvtWriter_MpiRecv(lane->writer, otf2->out.attributes, time, peer,
						  comm, span->number, bytes));
}

static void put_later(struct otf2_writer *writer, size_t lane, const struct span *span)
{
	struct waiting_span waiting;
	int err;

	memset(&waiting, 0, sizeof(waiting));
	waiting.lane = lane;
	waiting.span = *span;
	if (!writer->waiting)
		writer->waiting = sorter_new(sizeof(waiting), in_order);
	err = sorter_add(writer->waiting, &waiting);
	if (err && !writer->otf2->out.err)
		writer->otf2->out.err = err;
}

static void put_fact(struct otf2_writer *writer, const struct span *span)
{
	size_t number = lanes_take(&writer->lanes, span->start, span->end);
	struct lane *lane = &writer->open_lanes[number % OPEN_LANES];

	if (number >= OPEN_LANES) {
		put_later(writer, number, span);
		return;
	}
	otf2_lane_open(writer, lane, false);
	otf2_lane_enter(writer, lane, span);
}

/* Writes the remaining lanes one by one, as too many to be open at once. */
static int put_waiting(struct otf2_writer *writer)
{
	struct lane lane = { 0 };
	const void *record;
	uint64_t number = 0;
	int more = sorter_finish(writer->waiting);

	while (!more && (more = sorter_next(writer->waiting, &record)) > 0) {
		const struct waiting_span *waiting = record;

		if (waiting->lane != number)
			otf2_lane_close(writer, &lane);
		number = waiting->lane;
		otf2_lane_open(writer, &lane, false);
		otf2_lane_enter(writer, &lane, &waiting->span);
		more = 0;
	}
	otf2_lane_close(writer, &lane);
	sorter_free(writer->waiting);
	writer->waiting = NULL;
	return more;
}

static void close_group(struct otf2_writer *writer)
{
	int err;

	for (int i = 0; i < OPEN_LANES; i++)
		otf2_lane_close(writer, &writer->open_lanes[i]);
	otf2_lane_close(writer, &writer->sums);
	err = writer->waiting ? put_waiting(writer) : 0;
	if (err && !writer->otf2->out.err)
		writer->otf2->out.err = err;
	lanes_clear(&writer->lanes);
}

static void open_group(struct otf2_writer *writer, const struct span *span)
{
	writer->key = span->group;
	writer->open = true;
	writer->process = span_process(span);
	writer->host = spans_host_of(&writer->otf2->spans, writer->process);
	writer->group = otf2_group(writer->otf2, writer->process);
	writer->layer = span_layer(span);
}

static void take_span(struct otf2_writer *writer, const struct span *span)
{
	if (!writer->open || writer->key != span->group) {
		close_group(writer);
		open_group(writer, span);
	}
	switch ((enum span_what)span->what) {
	case SPAN_SEND:
	case SPAN_RECEIVE:
		put_message(writer, span);
		break;
	case SPAN_FACT:
		put_fact(writer, span);
		break;
	case SPAN_SUMS:
		otf2_lane_open(writer, &writer->sums, true);
		otf2_lane_enter(writer, &writer->sums, span);
		break;
	}
}

/* Every process has a first location, even if it is empty. */
static void put_missing(struct otf2_writer *writer)
{
	struct otf2 *otf2 = writer->otf2;

	for (size_t i = 0; i < otf2->begun.len; i++) {
		const struct fact_process *process = spans_process(&otf2->spans, (int)i);

		if (otf2->begun.data[i] || !process)
			continue;
		open_group(writer,
			   &(struct span){ .group = (uint64_t)(i + 1) << 40 | process->tgid });
		otf2_lane_open(writer, &writer->open_lanes[0], false);
		close_group(writer);
	}
}

static void put_window(struct otf2_writer *writer, const struct fact_window *window,
		       OTF2_RegionRef region)
{
	struct otf2_out *out = &writer->otf2->out;
	struct lane *lane = &writer->sums;

	otf2_lane_leave(writer, lane);
	otf2_check(out, OTF2_EvtWriter_Enter(lane->writer, NULL, otf2_time(writer, window->from),
					     region));
	lane->events++;
	lane->inside = true;
	lane->leave = otf2_time(writer, window->to);
	lane->region = region;
}

static void begin_windows(struct otf2_writer *writer, const struct fact_window *window)
{
	struct otf2 *otf2 = writer->otf2;
	struct lane *lane = &writer->sums;

	close_group(writer);
	writer->host = window->host;
	writer->group = otf2_host_group(otf2, otf2_text(&otf2->out, "capture %d", window->capture),
					window->host);
	*lane = (struct lane){ .id = otf2_next_location(&otf2->out, writer->group),
			       .name = otf2_word(&otf2->out, "when it recorded") };
	lane->writer = OTF2_Archive_GetEvtWriter(otf2->out.archive, lane->id);
}

/* With a budget, a region for each pair of recorded levels and reason. */
static OTF2_RegionRef window_region(struct otf2_out *out, struct map *regions,
				    const struct fact_window *window)
{
	bool fresh;
	uint64_t *region =
		map_insert(regions, (uintptr_t)window->step, (uintptr_t)window->reason, &fresh);

	if (fresh)
		*region = otf2_own_region(out, window->step
						       ? otf2_text(out, "%s (%s)",
								   report_step_text(window->step),
								   otf2_or_unknown(window->reason))
						       : otf2_word(out, "window"));
	return (OTF2_RegionRef)*region;
}

/* One location per capture with a duty cycle, in its own group. */
static void put_windows(struct otf2_writer *writer)
{
	struct otf2 *otf2 = writer->otf2;
	struct map regions = { 0 };

	for (size_t i = 0; i < otf2->spans.windows.len; i++) {
		const struct fact_window *window = &otf2->spans.windows.data[i];

		if (!i || window[-1].capture != window->capture)
			begin_windows(writer, window);
		put_window(writer, window, window_region(&otf2->out, &regions, window));
	}
	map_release(&regions);
	close_group(writer);
}

int otf2_spans(struct otf2 *otf2)
{
	struct otf2_writer writer = { .otf2 = otf2 };
	const struct span *span;
	int more = 0;

	while (!otf2->out.err && (more = spans_next(&otf2->spans, &span)) > 0)
		take_span(&writer, span);
	close_group(&writer);
	put_missing(&writer);
	put_windows(&writer);
	lanes_release(&writer.lanes);
	return otf2->out.err ? otf2->out.err : more;
}
