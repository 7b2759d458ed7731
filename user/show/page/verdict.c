// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/verdict.h"

#include "show/page/frame.h"
#include "show/page/viewer.h"

int page_verdict(const char *json, const char *beside, FILE *out)
{
	const struct frame frame = {
		.title = "ucxbpf verdict",
		.beside = beside,
		.js = page_verdict_js,
		.js_end = page_verdict_js_end,
		.js_hash = page_verdict_js_hash,
		.css = page_verdict_css,
		.css_end = page_verdict_css_end,
		.css_hash = page_verdict_css_hash,
	};

	frame_head(&frame, out);
	frame_json("verdict", json, out);
	return frame_end(&frame, out);
}
