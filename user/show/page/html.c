// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes each page as one file: security policy, style, data, program. It loads nothing else, and
 * only its own program runs.
 */
#include "show/page/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "show/page/viewer.h"

/* The parts of a page around its data. */
struct frame {
	const char *title;
	const char *beside; /* another page that it links to, see page_beside(); NULL: none */
	const char *js, *js_end, *js_hash;
	const char *css, *css_end, *css_hash;
};

/* The text of an attribute, escaped. */
static void put_quoted(const char *text, FILE *out)
{
	for (const char *c = text; *c; c++)
		if (strchr("<>&\"'", *c))
			fprintf(out, "&#%d;", *c);
		else
			putc(*c, out);
}

/* Everything before the data. */
static void frame_head(const struct frame *frame, FILE *out)
{
	errno = 0;
	fprintf(out,
		"<!doctype html>\n"
		"<html lang=\"en\">\n"
		"<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<title>%s</title>\n",
		frame->js_hash, frame->css_hash, frame->title);
	if (frame->beside) {
		fputs("<meta name=\"beside\" content=\"", out);
		put_quoted(frame->beside, out);
		fputs("\">\n", out);
	}
	fputs("<style>", out);
	fwrite(frame->css, 1, frame->css_end - frame->css, out);
	fputs("</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
	      "<noscript>This report draws itself with a program that is part of it: allow this file "
	      "to run scripts. Nothing is fetched.</noscript>\n",
	      out);
}

/* A script element with JSON text that contains no markup. */
static void frame_json(const char *id, const char *json, FILE *out)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	for (const char *c = json; *c; c++)
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned int)*c);
		else
			putc(*c, out);
	fputs("</script>\n", out);
}

/* Everything after the data. Returns 0 or -errno of any failed write. */
static int frame_end(const struct frame *frame, FILE *out)
{
	fputs("<script>", out);
	fwrite(frame->js, 1, frame->js_end - frame->js, out);
	fputs("</script>\n</body>\n</html>\n", out);
	return text_finish(out);
}

bool page_beside(const char *path)
{
	char *safe = text_utf8(path);
	bool same = safe && !strcmp(safe, path);

	free(safe);
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f || *c == ':' || *c == '\\')
			return false;
	return same && *path && *path != '/';
}

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
