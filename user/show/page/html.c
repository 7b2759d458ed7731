// SPDX-License-Identifier: BSD-3-Clause
/* One file: policy, style, data, program. Nothing in it is fetched, and only the program runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "show/page/frame.h"
#include "show/page/internal.h"
#include "show/page/viewer.h"

#define GROUP 3 /* bytes that make four characters */

static void put_base64(const unsigned char *data, size_t bytes, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[4096];
	size_t filled = 0;

	for (size_t i = 0; i < bytes; i += GROUP) {
		size_t left = bytes - i;
		uint32_t group = (uint32_t)data[i] << 16 |
				 (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				 (left > 2 ? data[i + 2] : 0);

		line[filled++] = digits[group >> 18];
		line[filled++] = digits[group >> 12 & 63];
		line[filled++] = left > 1 ? digits[group >> 6 & 63] : '=';
		line[filled++] = left > 2 ? digits[group & 63] : '=';
		if (filled == sizeof(line) || left <= GROUP) {
			fwrite(line, 1, filled, out);
			filled = 0;
		}
	}
}

static void put_sections(const struct page_pack *pack, FILE *out)
{
	for (size_t i = 0; i < pack->sections.len; i++) {
		const struct page_section *section = &pack->sections.data[i];

		fprintf(out, "<script type=\"text/plain\" id=\"data-%s\">", section->name);
		put_base64(section->packed, section->packed_bytes, out);
		fputs("</script>\n", out);
	}
}

static int put_page(const struct page *page, const json_t *directory, FILE *out)
{
	const struct frame frame = {
		.title = "ucxbpf report",
		.beside = page->options.beside,
		.js = page_viewer_js,
		.js_end = page_viewer_js_end,
		.js_hash = page_viewer_js_hash,
		.css = page_viewer_css,
		.css_end = page_viewer_css_end,
		.css_hash = page_viewer_css_hash,
	};
	char *text = json_dumps(directory, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!text)
		return -ENOMEM;
	frame_head(&frame, out);
	frame_json("directory", text, out);
	free(text);
	put_sections(&page->pack, out);
	return frame_end(&frame, out);
}

int page_write(struct page *page, const struct fact_totals *totals, FILE *out)
{
	json_t *directory;
	int err = page_put(page, totals);

	if (err)
		return err;
	directory = page_directory(page);
	err = put_page(page, directory, out);
	json_decref(directory);
	return err;
}
