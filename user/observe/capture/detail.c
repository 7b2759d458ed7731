// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/detail.h"

#include "base/log.h"
#include "base/shape.h"
#include "observe/capture/side.h"

#define FULL 0.75 /* of a ring that has not grown by then */
#define PRESSED 3 /* looks in a row, 10 ms each: a ring that is missing is made by then */
#define CALM 0.25
#define CALM_NS 4000000000ull /* several rounds of all slices */

uint64_t detail_mask(unsigned int kept)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < UB_SLICES; i++)
		if (i * kept % UB_SLICES < kept)
			mask |= 1ull << i;
	return mask;
}

/* The kernel first, so that records after the side record's time follow the new mask. */
static void change(struct detail *detail, unsigned int kept, const char *reason, double fill)
{
	uint64_t slices = detail_mask(kept);

	detail->kept = kept;
	detail->pressed = 0;
	kernel_set_detail(detail->kernel, slices);
	detail->calm_since = side_now();
	side_write(detail->writer,
		   json_pack("{s:s, s:I, s:o, s:i, s:i, s:s, s:i, s:I}", "t", "detail", "ts",
			     (json_int_t)detail->calm_since, "slices", json_hex(slices), "kept",
			     (int)kept, "of", UB_SLICES, "reason", reason, "fill_percent",
			     (int)(fill * 100), "lost", (json_int_t)detail->lost));
	log_debug("detail in %u of %u slices: %s", kept, UB_SLICES, reason);
}

void detail_init(struct detail *detail, struct kernel *kernel, struct file_writer *writer,
		 unsigned int kept)
{
	*detail = (struct detail){
		.kernel = kernel,
		.writer = writer,
		.kept = UB_SLICES,
		.fixed = kept,
		.calm_since = side_now(),
	};
	if (kept)
		change(detail, kept, "asked for", 0);
}

void detail_step(struct detail *detail, double fill, uint64_t lost)
{
	bool loses = lost > detail->lost;

	detail->lost = lost;
	if (detail->fixed)
		return;
	detail->pressed = fill >= FULL || loses ? detail->pressed + 1 : 0;
	if (fill >= CALM || loses)
		detail->calm_since = side_now();
	if (detail->pressed >= PRESSED && detail->kept > 1)
		change(detail, detail->kept / 2, loses ? "records were lost" : "a ring filled up",
		       fill);
	else if (detail->kept < UB_SLICES && side_now() - detail->calm_since > CALM_NS)
		change(detail, detail->kept * 2, "rings are nearly empty", fill);
}

void detail_end(struct detail *detail, const char *reason, double fill)
{
	detail->fixed = true;
	change(detail, 0, reason, fill);
}
