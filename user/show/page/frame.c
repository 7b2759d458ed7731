// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/frame.h"

#include <errno.h>
#include <string.h>

/* Text of an attribute. */
static void put_quoted(const char *text, FILE *out)
{
	for (const char *c = text; *c; c++)
		if (strchr("<>&\"'", *c))
			fprintf(out, "&#%d;", *c);
		else
			putc(*c, out);
}

void frame_head(const struct frame *frame, FILE *out)
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

void frame_json(const char *id, const char *json, FILE *out)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	for (const char *c = json; *c; c++)
		if (*c == '<' || *c == '>' || *c == '&')
			fprintf(out, "\\u%04x", (unsigned int)*c);
		else
			putc(*c, out);
	fputs("</script>\n", out);
}

int frame_end(const struct frame *frame, FILE *out)
{
	fputs("<script>", out);
	fwrite(frame->js, 1, frame->js_end - frame->js, out);
	fputs("</script>\n</body>\n</html>\n", out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
