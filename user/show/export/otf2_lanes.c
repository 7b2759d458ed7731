// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/otf2_lanes.h"

#include <errno.h>

#include "show/export/span_notes.h"

static OTF2_StringRef lane_name(struct writer *writer, bool sums)
{
	struct otf2 *otf2 = writer->otf2;
	const struct fact_process *process = spans_process(&otf2->spans, writer->process);
	const char *layer = span_layer_names[writer->layer];
	uint32_t tid = (uint32_t)writer->key;

	if (sums)
		return otf2_text(&otf2->out, "%s sums, no single events (--count)", layer);
	if (process && tid == process->tgid)
		return otf2_word(&otf2->out, layer);
	if (!tid)
		return otf2_text(&otf2->out, "%s, thread not known", layer);
	return otf2_text(&otf2->out, "%s thread %u", layer, tid);
}

/* The first location of a process, which stands for it in communicators, has its number. */
static OTF2_LocationRef new_id(struct writer *writer, bool first)
{
	struct otf2 *otf2 = writer->otf2;
	const struct fact_process *process = spans_process(&otf2->spans, writer->process);

	if (!first || !process || writer->layer != LAYER_MPI ||
	    (uint32_t)writer->key != process->tgid)
		return writer->last_id++;
	otf2->begun.data[writer->process] = true;
	return (OTF2_LocationRef)writer->process;
}

void otf2_lane_open(struct writer *writer, struct lane *lane, bool sums)
{
	struct otf2_out *out = &writer->otf2->out;

	if (lane->writer)
		return;
	*lane = (struct lane){ .id = new_id(writer, lane == writer->open_lanes),
			       .name = lane_name(writer, sums) };
	lane->writer = OTF2_Archive_GetEvtWriter(out->archive, lane->id);
	if (!lane->writer && !out->err)
		out->err = -EIO;
}

void otf2_lane_leave(struct writer *writer, struct lane *lane)
{
	if (lane->collective)
		otf2_collective_end(writer, lane);
	if (lane->inside)
		otf2_check(&writer->otf2->out,
			   OTF2_EvtWriter_Leave(lane->writer, NULL, lane->leave, lane->region));
	lane->events += lane->inside;
	lane->inside = false;
}

void otf2_lane_close(struct writer *writer, struct lane *lane)
{
	struct otf2 *otf2 = writer->otf2;

	if (!lane->writer)
		return;
	otf2_lane_leave(writer, lane);
	otf2_check(&otf2->out, OTF2_Archive_CloseEvtWriter(otf2->out.archive, lane->writer));
	otf2_define_location(otf2, lane->id, lane->name, writer->group, lane->events);
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

void otf2_attributes(struct writer *writer, const struct span *span)
{
	struct spans *spans = &writer->otf2->spans;
	struct span_note notes[NOTES];

	add_notes(&writer->otf2->out, notes,
		  notes_of_shape(spans, spans_shape(spans, span), notes));
	add_notes(&writer->otf2->out, notes, notes_of_span(spans, span, notes));
}

uint64_t otf2_time(const struct writer *writer, uint64_t time)
{
	const struct placing *placing = &writer->otf2->placing;

	return writer->host < 0 ? placing->begin
				: time + (uint64_t)placing_to_real(placing, writer->host);
}

void otf2_lane_enter(struct writer *writer, struct lane *lane, const struct span *span)
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
	if (writer->layer == LAYER_MPI && !sums)
		otf2_collective_begin(writer, lane, span);
}
