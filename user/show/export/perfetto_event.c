// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/perfetto_out.h"

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
