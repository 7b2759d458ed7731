// SPDX-License-Identifier: BSD-3-Clause
/* Calls, operations and transfers as regions that are entered and left, messages as MPI's. */
#include <string.h>

#include "show/export/otf2_lanes.h"
#include "show/export/sorter.h"

/* A span of a lane that is not open yet. */
struct waiting {
	uint64_t lane;
	struct span span;
};

static int in_order(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Both ends are in terms of ranks, and of a process that is known. */
static void put_message(struct writer *writer, const struct span *span)
{
	struct otf2 *otf2 = writer->otf2;
	const struct span_shape *shape = spans_shape(&otf2->spans, span);
	struct lane *lane = &writer->open_lanes[0];
	OTF2_CommRef comm = shape->function ? COMM_MPI : COMM_OUTSIDE;
	uint64_t bytes = span->bytes == UINT64_MAX ? 0 : span->bytes;
	uint64_t time = otf2_time(writer, span->start);
	uint32_t peer = otf2->ranks.data[shape->peer];

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

static void put_later(struct writer *writer, size_t lane, const struct span *span)
{
	struct waiting waiting;
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

static void put_fact(struct writer *writer, const struct span *span)
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

/* Lane after lane, of those that were too many to be open at once. */
static int put_waiting(struct writer *writer)
{
	struct lane lane = { 0 };
	const void *record;
	uint64_t number = 0;
	int more = sorter_finish(writer->waiting);

	while (!more && (more = sorter_next(writer->waiting, &record)) > 0) {
		const struct waiting *waiting = record;

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

static void close_group(struct writer *writer)
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

static void open_group(struct writer *writer, const struct span *span)
{
	writer->key = span->group;
	writer->open = true;
	writer->process = span_process(span);
	writer->host = spans_host_of(&writer->otf2->spans, writer->process);
	writer->group = otf2_group(writer->otf2, writer->process);
	writer->layer = span_layer(span);
}

static void take_span(struct writer *writer, const struct span *span)
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

/* Every process has its first location, be it empty. */
static void put_missing(struct writer *writer)
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

static void put_window(struct writer *writer, const struct fact_window *window,
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

static void begin_windows(struct writer *writer, const struct fact_window *window)
{
	struct otf2 *otf2 = writer->otf2;
	struct lane *lane = &writer->sums;

	close_group(writer);
	writer->host = window->host;
	writer->group = otf2_host_group(otf2, otf2_text(&otf2->out, "capture %d", window->capture),
					window->host);
	*lane = (struct lane){ .id = writer->last_id++,
			       .name = otf2_word(&otf2->out, "when it recorded") };
	lane->writer = OTF2_Archive_GetEvtWriter(otf2->out.archive, lane->id);
}

/* A location for each capture with a duty cycle, in a group of its own. */
static void put_windows(struct writer *writer)
{
	struct otf2 *otf2 = writer->otf2;
	OTF2_RegionRef region = 0;

	for (size_t i = 0; i < otf2->spans.windows.len; i++) {
		const struct fact_window *window = &otf2->spans.windows.data[i];

		if (!i)
			region = otf2_own_region(&otf2->out, "window");
		if (!i || window[-1].capture != window->capture)
			begin_windows(writer, window);
		put_window(writer, window, region);
	}
	close_group(writer);
}

int otf2_spans(struct otf2 *otf2)
{
	struct writer writer = { .otf2 = otf2, .last_id = otf2->spans.processes.len };
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
