// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/perfetto.h"

#include <stdarg.h>

#include "base/alloc.h"
#include "base/text.h"

#define HOST_CLOCK 64 /* first clock number that a sequence may define itself */

void perfetto_out_init(struct perfetto_out *out, FILE *file)
{
	*out = (struct perfetto_out){ .file = file };
}

void perfetto_out_release(struct perfetto_out *out)
{
	for (int i = 0; i < WORDS; i++) {
		map_release(&out->iids[i]);
		vec_release(&out->last_iid[i]);
	}
	for (size_t i = 0; i < out->texts.len; i++)
		free(out->texts.data[i]);
	vec_release(&out->texts);
	vec_release(&out->scratch);
}

/* Every packet is written as a trace of its own: their concatenation is one trace. */
static void perfetto_append(struct perfetto_out *out, const ProtobufCMessage *trace)
{
	size_t len = protobuf_c_message_get_packed_size(trace);

	vec_reserve(&out->scratch, len);
	protobuf_c_message_pack(trace, out->scratch.data);
	fwrite(out->scratch.data, 1, len, out->file);
}

static void put_packet(struct perfetto_out *out, uint32_t sequence, uint32_t flags,
		       TracePacket *packet)
{
	Trace trace = TRACE__INIT;

	trace.packet = &packet;
	trace.n_packet = 1;
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = sequence;
	packet->has_sequence_flags = true;
	packet->sequence_flags = flags;
	perfetto_append(out, &trace.base);
}

/* Fills in the packet's sequence, and writes it. */
static void perfetto_packet(struct perfetto_out *out, uint32_t sequence, TracePacket *packet)
{
	put_packet(out, sequence, SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE, packet);
}

void perfetto_sequence(struct perfetto_out *out, uint32_t sequence, const uint64_t *mono,
		       uint64_t real)
{
	TracePacket packet = TRACE_PACKET__INIT;
	TracePacketDefaults defaults = TRACE_PACKET_DEFAULTS__INIT;
	ClockSnapshot snapshot = CLOCK_SNAPSHOT__INIT;
	ClockSnapshot__Clock own = CLOCK_SNAPSHOT__CLOCK__INIT, common = own;
	ClockSnapshot__Clock *clocks[] = { &common, &own };

	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = mono ? HOST_CLOCK : BUILTIN_CLOCK__CLOCK_REALTIME;
	packet.trace_packet_defaults = &defaults;
	common.has_clock_id = common.has_timestamp = own.has_clock_id = own.has_timestamp = true;
	common.clock_id = BUILTIN_CLOCK__CLOCK_REALTIME;
	common.timestamp = real;
	own.clock_id = HOST_CLOCK;
	own.timestamp = mono ? *mono : 0;
	snapshot.clocks = clocks;
	snapshot.n_clocks = mono ? 2 : 1;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = BUILTIN_CLOCK__CLOCK_REALTIME;
	put_packet(out, sequence, SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED, &packet);
	packet = (TracePacket)TRACE_PACKET__INIT;
	packet.clock_snapshot = &snapshot;
	perfetto_packet(out, sequence, &packet);
}

void perfetto_write(struct perfetto_out *out, uint32_t sequence, uint64_t time,
		    const uint8_t *event, size_t len)
{
	PackedTrace trace = PACKED_TRACE__INIT;
	PackedPacket packet = PACKED_PACKET__INIT;

	trace.packet = &packet;
	packet.has_timestamp = packet.has_trusted_packet_sequence_id = true;
	packet.has_track_event = packet.has_sequence_flags = true;
	packet.timestamp = time;
	packet.trusted_packet_sequence_id = sequence;
	packet.track_event = (ProtobufCBinaryData){ len, (uint8_t *)event };
	packet.sequence_flags = SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
	perfetto_append(out, &trace.base);
}

static void tell_word(struct perfetto_out *out, uint32_t sequence, enum perfetto_words kind,
		      const char *word, uint64_t iid)
{
	TracePacket packet = TRACE_PACKET__INIT;
	InternedData data = INTERNED_DATA__INIT;
	InternedName name = INTERNED_NAME__INIT, *names = &name;
	InternedName ***const lists[WORDS] = { &data.event_categories, &data.event_names,
					       &data.debug_annotation_names,
					       &data.debug_annotation_string_values };
	size_t *const counts[WORDS] = { &data.n_event_categories, &data.n_event_names,
					&data.n_debug_annotation_names,
					&data.n_debug_annotation_string_values };

	name.has_iid = true;
	name.iid = iid;
	name.name = text_plain(word);
	*lists[kind] = &names;
	*counts[kind] = 1;
	packet.interned_data = &data;
	perfetto_packet(out, sequence, &packet);
	free(name.name);
}

/*
 * The number of a string in the sequence, defined there if it is new. The text must live as long as
 * out.
 */
static uint64_t perfetto_iid(struct perfetto_out *out, uint32_t sequence, enum perfetto_words kind,
			     const char *word)
{
	bool fresh;
	uint64_t *iid = map_insert(&out->iids[kind], (uintptr_t)word, sequence, &fresh);

	if (!fresh)
		return *iid;
	while (out->last_iid[kind].len <= sequence)
		vec_push(&out->last_iid[kind], 0);
	*iid = ++out->last_iid[kind].data[sequence];
	tell_word(out, sequence, kind, word, *iid);
	return *iid;
}

const char *perfetto_text(struct perfetto_out *out, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	vec_push(&out->texts, text);
	return text;
}

uint64_t perfetto_describe(struct perfetto_out *out, uint32_t sequence, TrackDescriptor *track)
{
	TracePacket packet = TRACE_PACKET__INIT;
	char *raw = track->name;

	track->has_uuid = true;
	track->uuid = ++out->last_uuid;
	track->name = text_plain(raw);
	packet.track_descriptor = track;
	perfetto_packet(out, sequence, &packet);
	free(track->name);
	track->name = raw;
	return track->uuid;
}

uint64_t perfetto_track(struct perfetto_out *out, uint32_t sequence, uint64_t parent,
			const char *name, int rank)
{
	TrackDescriptor track = TRACK_DESCRIPTOR__INIT;

	track.name = (char *)name;
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	track.has_sibling_order_rank = true;
	track.sibling_order_rank = rank;
	track.has_child_ordering = true;
	track.child_ordering = CHILD_TRACKS_ORDERING__ORDERING_EXPLICIT;
	return perfetto_describe(out, sequence, &track);
}

static void fill_note(struct perfetto_out *out, uint32_t sequence, const struct perfetto_note *note,
		      DebugAnnotation *to)
{
	*to = (DebugAnnotation)DEBUG_ANNOTATION__INIT;
	to->has_name_iid = true;
	to->name_iid = perfetto_iid(out, sequence, WORDS_KEY, note->key);
	to->has_string_value_iid = note->text != NULL;
	if (note->text)
		to->string_value_iid = perfetto_iid(out, sequence, WORDS_TEXT, note->text);
	to->has_uint_value = !note->text;
	to->uint_value = note->number;
}

static void fill_words(struct perfetto_out *out, uint32_t sequence,
		       const struct perfetto_event *event, TrackEvent *to, uint64_t *category)
{
	if (event->category) {
		*category = perfetto_iid(out, sequence, WORDS_CATEGORY, event->category);
		to->category_iids = category;
		to->n_category_iids = 1;
	}
	to->has_name_iid = event->name != NULL;
	if (event->name)
		to->name_iid = perfetto_iid(out, sequence, WORDS_NAME, event->name);
}

void perfetto_pack(struct perfetto_out *out, uint32_t sequence, const struct perfetto_event *event,
		   perfetto_bytes *to)
{
	TrackEvent message = TRACK_EVENT__INIT;
	DebugAnnotation notes[PERFETTO_MAX_NOTES], *list[PERFETTO_MAX_NOTES];
	uint64_t category;
	size_t len;

	for (size_t i = 0; i < event->note_count; i++) {
		fill_note(out, sequence, &event->notes[i], &notes[i]);
		list[i] = &notes[i];
	}
	fill_words(out, sequence, event, &message, &category);
	message.debug_annotations = list;
	message.n_debug_annotations = event->note_count;
	message.has_type = event->type != TRACK_EVENT_TYPE__TYPE_UNSPECIFIED;
	message.type = event->type;
	message.has_track_uuid = event->track != 0;
	message.track_uuid = event->track;
	message.flow_ids = (uint64_t *)event->flows;
	message.n_flow_ids = event->flow_count;
	message.has_double_counter_value = event->type == TRACK_EVENT_TYPE__TYPE_COUNTER;
	message.double_counter_value = event->counter;
	len = track_event__get_packed_size(&message);
	vec_reserve(to, to->len + len);
	to->len += track_event__pack(&message, to->data + to->len);
}

void perfetto_put(struct perfetto_out *out, uint32_t sequence, uint64_t time,
		  const struct perfetto_event *event)
{
	perfetto_bytes bytes = { 0 };

	perfetto_pack(out, sequence, event, &bytes);
	perfetto_write(out, sequence, time, bytes.data, bytes.len);
	vec_release(&bytes);
}
