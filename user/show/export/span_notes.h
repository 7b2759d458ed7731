/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of a span beside its name and times, the same in all formats. */
#ifndef UCXBPF_EXPORT_SPAN_NOTES_H
#define UCXBPF_EXPORT_SPAN_NOTES_H

#include "show/export/spans.h"

enum note_column {
	NOTE_FUNCTION,
	NOTE_COMMUNICATOR,
	NOTE_CALL_SITE,
	NOTE_CALLER,
	NOTE_STACK,
	NOTE_UCP_OP,
	NOTE_PROTOCOL,
	NOTE_TRANSPORT,
	NOTE_DEVICE,
	NOTE_LOCALITY,
	NOTE_KIND,
	NOTE_DATA_PATH,
	NOTE_INITIATOR,
	NOTE_SRC_MEM,
	NOTE_DST_MEM,
	NOTE_SRC_REASON,
	NOTE_DST_REASON,
	NOTE_MEMORY,
	NOTE_MEMORY_REASON,
	NOTE_UNEXPLAINED,
	NOTE_CHAIN,
	NOTE_VIA,
	NOTE_CHAIN_REASON,
	NOTE_PRECISION,
	NOTE_RETRIED,
	NOTE_FETCHES,
	NOTE_SEEN,
	NOTE_TEXTS, /* number of texts; numbers from here on */
	NOTE_PEER = NOTE_TEXTS,
	NOTE_CONTEXT,
	NOTE_SEQUENCE,
	NOTE_ERROR,
	NOTE_BYTES,
	NOTE_BYTES_UNKNOWN,
	NOTE_WIRE_BYTES,
	NOTE_OPS,
	NOTE_TAG,
	NOTE_ID,
	NOTE_CALL,
	NOTE_CAUSED_BY,
	NOTE_COUNT,
	NOTE_TIME,
	NOTE_TIMED,
	NOTE_RETRIES,
	NOTE_MESSAGE,
	NOTE_ARRIVAL,
	NOTE_COPIES,
	NOTE_COPY_BYTES,
	NOTES
};

struct note_info {
	const char *name, *what;
};

extern const struct note_info note_infos[NOTES];

struct span_note {
	enum note_column note;
	const char *text; /* for texts; lives as long as the analysis and the spans */
	uint64_t number; /* of numbers */
};

/* Attributes shared by all spans of the shape. Returns their number. */
size_t notes_of_shape(struct spans *spans, const struct span_shape *shape,
		      struct span_note values[NOTES]);

/* Attributes of this span alone. Returns their number. */
size_t notes_of_span(const struct spans *spans, const struct span *span,
		     struct span_note values[NOTES]);

/* Attributes of a message's end that its operation lacks. Returns their number. */
size_t notes_of_message(const struct spans *spans, const struct span *end,
			struct span_note values[NOTES]);

#endif
