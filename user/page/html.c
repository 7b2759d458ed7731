// SPDX-License-Identifier: BSD-3-Clause
/* One file: policy, style, data, program. Nothing in it is fetched, and only the program runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "page/internal.h"
#include "page/viewer.h"

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

/* Inside a script element nothing may look like markup. */
static int put_json(const json_t *value, FILE *out)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!text)
		return -ENOMEM;
	for (const char *c = text; *c; c++)
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned int)*c);
		else
			putc(*c, out);
	free(text);
	return 0;
}

static void put_head(FILE *out)
{
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
		"<title>ucxbpf report</title>\n"
		"<style>",
		page_viewer_js_hash, page_viewer_css_hash);
	fwrite(page_viewer_css, 1, page_viewer_css_end - page_viewer_css, out);
	fputs("</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
	      "<noscript>This report draws itself with a program that is part of it: allow this file "
	      "to run scripts. Nothing is fetched.</noscript>\n",
	      out);
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
	int err;

	errno = 0;
	put_head(out);
	fputs("<script type=\"application/json\" id=\"directory\">", out);
	err = put_json(directory, out);
	if (err)
		return err;
	fputs("</script>\n", out);
	put_sections(&page->pack, out);
	fputs("<script>", out);
	fwrite(page_viewer_js, 1, page_viewer_js_end - page_viewer_js, out);
	fputs("</script>\n</body>\n</html>\n", out);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
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
