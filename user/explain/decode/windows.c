// SPDX-License-Identifier: BSD-3-Clause
/* When a capture looked at its processes: duty cycles, and captures one after the other. */
#include "base/search.h"
#include "explain/decode/internal.h"

/* A window is told of at its start, and again at its end. */
void decode_window(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	struct window window = {
		.from = side_u64(side, "from"),
		.to = side_u64(side, "to"),
		.step = strings_intern(&decoder->strings,
				       json_string_value(json_object_get(side, "step"))),
		.reason = strings_intern(&decoder->strings,
					 json_string_value(json_object_get(side, "reason"))),
		.paid_ppm = side_u64(side, "paid_ppm"),
	};
	struct window *last =
		capture->windows.len ? &capture->windows.data[capture->windows.len - 1] : NULL;

	if (last && last->from == window.from)
		last->to = window.to;
	else if (!last || window.from > last->from)
		vec_push(&capture->windows, window);
}

void decode_detail(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const size_t n = capture->details.len;
	struct detail_change change = { side_u64(side, "ts"), side_u64(side, "slices") };

	(void)decoder;
	if (!n || change.ts > capture->details.data[n - 1].ts)
		vec_push(&capture->details, change);
}

/* Where detail begins again behind that time, while the change is in force; UINT64_MAX: nowhere. */
static uint64_t edge_of(const struct detail_change *change, uint64_t after, uint64_t until)
{
	uint64_t slice = (after >> UB_SLICE_SHIFT) + 1, last = slice + UB_SLICES;

	for (; slice <= last; slice++) {
		uint64_t start = slice << UB_SLICE_SHIFT, before = slice - 1;

		if (start >= until || start <= after)
			break;
		if (change->slices >> slice % UB_SLICES & 1 &&
		    (!(change->slices >> before % UB_SLICES & 1) ||
		     before << UB_SLICE_SHIFT < change->ts))
			return start;
	}
	return UINT64_MAX;
}

uint64_t capture_slice_edge(const struct capture *capture, uint64_t after)
{
	const struct detail_change *changes = capture->details.data;
	size_t next = search_count(capture->details.len, i, changes[i].ts <= after);
	uint64_t until = next < capture->details.len ? changes[next].ts : UINT64_MAX;
	uint64_t edge = next ? edge_of(&changes[next - 1], after, until) : UINT64_MAX;

	return edge < until ? edge : until;
}

void decoder_end(struct decoder *decoder, struct process *process)
{
	if (process->ending)
		return;
	process->ending = true;
	vec_push(&decoder->ending, process);
}

void decoder_ended(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->ending.len; i++)
		decoder->ending.data[i]->ending = false;
	decoder->ending.len = 0;
}

void decode_end(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	(void)decoder;
	capture->ended = side_u64(side, "ts");
}

/* Joined in mid-run: what it did before is not known, nor what it did since another capture. */
void process_joined(struct capture *capture, struct process *process, uint64_t ts)
{
	if (process->told_by && process->told_by != capture) {
		vec_push(&capture->rejoined, ((struct rejoined){ process, ts + 1 }));
		return;
	}
	if (ts >= process->blind_until)
		process->blind_until = ts + 1;
	if (ts >= process->missing_until)
		process->missing_until = ts + 1;
}
