// SPDX-License-Identifier: BSD-3-Clause
/* Writes calls, operations and transfers as slices, messages as flows between them. */
#include <string.h>

#include "show/export/span_notes.h"
#include "show/export/spans.h"
#include "show/export/perfetto.h"

/* The tracks of one process, layer and thread. */
struct track_group {
	uint64_t key;
	bool open;
	uint32_t sequence;
	uint64_t parent;
	const char *name;
	struct lanes lanes;
	VEC(uint64_t) tracks; /* of the lanes */
	uint64_t sums, messages; /* tracks, 0: not yet needed */
};

struct perfetto_writer {
	struct perfetto *perfetto;
	struct track_group group;
	VEC(struct span) ends; /* ends of messages whose operation may still come */
	VEC(perfetto_bytes) packed; /* serialised members that spans of a shape share */
	VEC(uint32_t) packed_shapes; /* shapes that have been serialised */
	perfetto_bytes event;
};

/* A shape belongs to one process, whose spans are written together. */
static void forget_shapes(struct perfetto_writer *writer)
{
	for (size_t i = 0; i < writer->packed_shapes.len; i++)
		vec_release(&writer->packed.data[writer->packed_shapes.data[i]]);
	writer->packed_shapes.len = 0;
}

static const char *group_name(struct perfetto_writer *writer, const struct span *span)
{
	struct perfetto *perfetto = writer->perfetto;
	const struct fact_process *process = spans_process(&perfetto->spans, span_process(span));
	const char *layer = level_titles[span_layer(span)];
	uint32_t tid = span_tid(span);

	if (process && tid == process->tgid)
		return layer;
	if (!tid)
		return perfetto_text(&perfetto->out, "%s, thread not known", layer);
	return perfetto_text(&perfetto->out, "%s thread %u", layer, tid);
}

static void open_group(struct perfetto_writer *writer, const struct span *span)
{
	struct perfetto *perfetto = writer->perfetto;
	struct track_group *group = &writer->group;
	int process = span_process(span);
	bool same = group->open && group->key >> 40 == span->group >> 40;

	if (!same)
		forget_shapes(writer);
	group->key = span->group;
	group->open = true;
	group->sequence = sequence_of_host(spans_host_of(&perfetto->spans, process));
	group->parent = process >= 0 ? perfetto->process_tracks.data[process] : 0;
	group->name = group_name(writer, span);
	lanes_clear(&group->lanes);
	group->tracks.len = 0;
	group->sums = group->messages = 0;
}

static uint64_t track_for(struct perfetto_writer *writer, const char *format)
{
	struct track_group *group = &writer->group;
	struct perfetto_out *out = &writer->perfetto->out;
	const char *layer = level_titles[group->key >> 32 & 0xff];

	return perfetto_track(out, group->sequence, group->parent,
			      format ? perfetto_text(out, format, layer) : group->name,
			      (int)(group->key >> 32 & 0xff));
}

static uint64_t lane_track(struct perfetto_writer *writer, const struct span *span)
{
	struct track_group *group = &writer->group;
	size_t lane = lanes_take(&group->lanes, span->start, span->end);

	while (group->tracks.len <= lane) {
		uint64_t track = track_for(writer, NULL);

		vec_push(&group->tracks, track);
	}
	return group->tracks.data[lane];
}

static size_t notes_of(const struct span_note *values, size_t count, struct perfetto_note *notes)
{
	for (size_t i = 0; i < count; i++)
		notes[i] = (struct perfetto_note){ note_infos[values[i].note].name, values[i].text,
						   values[i].number };
	return count;
}

static const perfetto_bytes *shape_bytes(struct perfetto_writer *writer, const struct span *span)
{
	struct spans *spans = &writer->perfetto->spans;
	const struct span_shape *shape = spans_shape(spans, span);
	perfetto_bytes *bytes = &writer->packed.data[span->shape];
	struct span_note values[NOTES];
	struct perfetto_note notes[NOTES];
	struct perfetto_event event = {
		.category = level_titles[shape->layer],
		.name = shape->name ? shape->name : "unknown",
		.notes = notes,
	};

	if (bytes->len)
		return bytes;
	event.note_count = notes_of(values, notes_of_shape(spans, shape, values), notes);
	perfetto_pack(&writer->perfetto->out, writer->group.sequence, &event, bytes);
	vec_push(&writer->packed_shapes, span->shape);
	return bytes;
}

/*
 * The first or only event of a span. end: the end of the message that it sends or receives, or
 * NULL.
 */
static void put_first(struct perfetto_writer *writer, const struct span *span, TrackEventType type,
		      uint64_t track, const struct span *end)
{
	struct perfetto *perfetto = writer->perfetto;
	const perfetto_bytes *common = shape_bytes(writer, span);
	bool instant = type == TRACK_EVENT_TYPE__TYPE_INSTANT;
	struct span_note values[NOTES];
	struct perfetto_note notes[2 * NOTES];
	struct perfetto_event event = { .type = type, .track = track, .notes = notes };

	event.note_count = notes_of(values, notes_of_span(&perfetto->spans, span, values), notes);
	if (end && end != span)
		event.note_count +=
			notes_of(values, notes_of_message(&perfetto->spans, end, values),
				 notes + event.note_count);
	if (end && (end->what == SPAN_SEND || instant)) {
		event.flows = &end->cause;
		event.flow_count = 1;
	}
	writer->event.len = 0;
	vec_reserve(&writer->event, common->len);
	memcpy(writer->event.data, common->data, common->len);
	writer->event.len = common->len;
	perfetto_pack(&perfetto->out, writer->group.sequence, &event, &writer->event);
	perfetto_write(&perfetto->out, writer->group.sequence,
		       span_process(span) < 0 ? perfetto->placing.begin : span->start,
		       writer->event.data, writer->event.len);
}

/*
 * A flow runs from its earliest event to its latest. A receive may be posted before the send
 * starts, so its flow ends with the end of the receive.
 */
static void put_last(struct perfetto_writer *writer, const struct span *span, uint64_t track,
		     const struct span *end)
{
	struct perfetto_event event = { .type = TRACK_EVENT_TYPE__TYPE_SLICE_END, .track = track };

	if (end && end->what == SPAN_RECEIVE) {
		event.flows = &end->cause;
		event.flow_count = 1;
	}
	perfetto_put(&writer->perfetto->out, writer->group.sequence, span->end, &event);
}

/* Removes the end of an operation's message from the waiting ones. */
static bool take_end(struct perfetto_writer *writer, const struct span *span, struct span *end)
{
	for (size_t i = 0; span->id && i < writer->ends.len; i++) {
		if (writer->ends.data[i].id != span->id)
			continue;
		*end = writer->ends.data[i];
		writer->ends.data[i] = writer->ends.data[--writer->ends.len];
		return true;
	}
	return false;
}

static void put_fact(struct perfetto_writer *writer, const struct span *span)
{
	struct span taken;
	const struct span *end = take_end(writer, span, &taken) ? &taken : NULL;
	uint64_t track = lane_track(writer, span);

	if (!span->end || span->end < span->start) {
		put_first(writer, span, TRACK_EVENT_TYPE__TYPE_INSTANT, track, end);
		return;
	}
	put_first(writer, span, TRACK_EVENT_TYPE__TYPE_SLICE_BEGIN, track, end);
	put_last(writer, span, track, end);
}

static void put_sums(struct perfetto_writer *writer, const struct span *span)
{
	struct track_group *group = &writer->group;

	if (!group->sums)
		group->sums = track_for(writer, "%s sums, no single events (--count)");
	put_first(writer, span, TRACK_EVENT_TYPE__TYPE_INSTANT, group->sums, NULL);
}

/* Ends of messages without a traced operation, or whose operation the filter left out. */
static void put_ends(struct perfetto_writer *writer)
{
	struct track_group *group = &writer->group;

	for (size_t i = 0; i < writer->ends.len; i++) {
		const struct span *end = &writer->ends.data[i];

		if (!group->messages)
			group->messages = track_for(writer, "%s messages");
		put_first(writer, end, TRACK_EVENT_TYPE__TYPE_INSTANT, group->messages, end);
	}
	writer->ends.len = 0;
}

static void put_span(struct perfetto_writer *writer, const struct span *span)
{
	switch ((enum span_what)span->what) {
	case SPAN_SEND:
	case SPAN_RECEIVE:
		vec_push(&writer->ends, *span);
		break;
	case SPAN_FACT:
		put_fact(writer, span);
		break;
	case SPAN_SUMS:
		put_sums(writer, span);
		break;
	}
}

static void take_span(struct perfetto_writer *writer, const struct span *span)
{
	const struct span *end = writer->ends.data;

	if (writer->ends.len && (end->group != span->group || end->start != span->start))
		put_ends(writer);
	if (!writer->group.open || writer->group.key != span->group)
		open_group(writer, span);
	put_span(writer, span);
}

static void writer_release(struct perfetto_writer *writer)
{
	forget_shapes(writer);
	lanes_release(&writer->group.lanes);
	vec_release(&writer->group.tracks);
	vec_release(&writer->ends);
	vec_release(&writer->packed);
	vec_release(&writer->packed_shapes);
	vec_release(&writer->event);
}

int perfetto_spans(struct perfetto *perfetto)
{
	struct perfetto_writer writer = { .perfetto = perfetto };
	const struct span *span;
	int more;

	for (size_t i = 0; i < perfetto->spans.shapes.len; i++)
		vec_add(&writer.packed);
	while ((more = spans_next(&perfetto->spans, &span)) > 0)
		take_span(&writer, span);
	put_ends(&writer);
	writer_release(&writer);
	return more;
}
