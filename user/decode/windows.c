// SPDX-License-Identifier: BSD-3-Clause
/* When a capture looked at its processes: duty cycles, and captures one after the other. */
#include "decode/internal.h"

/* A window is told of at its start, and again at its end. */
void decode_window(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	struct window window = { side_u64(side, "from"), side_u64(side, "to") };
	struct window *last =
		capture->windows.len ? &capture->windows.data[capture->windows.len - 1] : NULL;

	(void)decoder;
	if (last && last->from == window.from)
		last->to = window.to;
	else if (!last || window.from > last->from)
		vec_push(&capture->windows, window);
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
}
