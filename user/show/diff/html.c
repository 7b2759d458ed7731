// SPDX-License-Identifier: BSD-3-Clause
/* The comparison as a page: plain tables, no script, nothing from elsewhere; well-formed XML, too.
 */
#include <stdlib.h>

#include "base/text.h"
#include "show/diff/internal.h"

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\"/>\n"
	"<title>ucxbpf diff</title>\n"
	"<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { font: 15px/1.5 system-ui, sans-serif; max-width: 90rem; margin: 1.5rem auto; "
	"padding: 0 1rem; }\n"
	"table { border-collapse: collapse; margin: .5rem 0 1.5rem; width: 100%; }\n"
	"th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; "
	"border-bottom: 1px solid #8884; overflow-wrap: anywhere; }\n"
	"th { font-weight: 600; }\n"
	"h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-bottom: 0; }\n"
	"dt { font-weight: 600; } dd { margin: 0; }\n"
	"</style>\n"
	"</head>\n"
	"<body>\n";

/* Any bytes: no markup, nothing that steers. */
static void put_text(const char *text, FILE *out)
{
	char *plain = text_plain(text);

	for (const char *c = plain; *c; c++) {
		switch (*c) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*c, out);
		}
	}
	free(plain);
}

static void put_element(const char *tag, const char *text, FILE *out)
{
	fprintf(out, "<%s>", tag);
	put_text(text, out);
	fprintf(out, "</%s>\n", tag);
}

static bool is_of(const struct diff_row *row, int section, bool changed)
{
	return row->table->section == (enum diff_section)section &&
	       (changed ? row->verdict == DIFF_CHANGED
			: row->verdict != DIFF_CHANGED && diff_shows(row, 1));
}

static size_t count_of(const struct diff *diff, int section, bool changed)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->rows.len; i++)
		count += is_of(&diff->rows.data[i], section, changed);
	return count;
}

static void put_rows(const struct diff *diff, int section, bool changed, FILE *out)
{
	fputs("<table>\n<thead><tr><th></th><th>before</th><th>after</th><th>", out);
	fputs(changed ? "change" : "why it does not count", out);
	fputs("</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < diff->rows.len; i++) {
		struct diff_line line;

		if (!is_of(&diff->rows.data[i], section, changed))
			continue;
		line = diff_line(&diff->rows.data[i], false);
		fputs("<tr>", out);
		for (int column = 0; column < DIFF_COLUMNS; column++) {
			fputs("<td>", out);
			put_text(line.cells[column], out);
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
		diff_line_release(&line);
	}
	fputs("</tbody>\n</table>\n", out);
}

static void put_section(const struct diff *diff, int section, FILE *out)
{
	const size_t changed = count_of(diff, section, true);
	const size_t rest = count_of(diff, section, false);

	if (!changed && !rest)
		return;
	fprintf(out, "<h2>%s</h2>\n", diff_sections[section].title);
	if (changed)
		put_rows(diff, section, true, out);
	else
		fputs("<p>no difference</p>\n", out);
	if (!rest)
		return;
	fprintf(out, "<details><summary>%zu more that vary or were not compared</summary>\n", rest);
	put_rows(diff, section, false, out);
	fputs("</details>\n", out);
}

static void put_side(const struct diff *diff, enum diff_side side, FILE *out)
{
	put_element("dt", side == DIFF_BEFORE ? "before" : "after", out);
	for (size_t i = 0; i < diff->runs.len; i++) {
		char *line;

		if (diff->runs.data[i].side != side)
			continue;
		line = diff_run_line(&diff->runs.data[i]);
		put_element("dd", line, out);
		free(line);
	}
}

int diff_html(const struct diff *diff, FILE *out)
{
	char *verdict = diff_verdict(diff);

	fputs(head, out);
	put_element("h1", verdict, out);
	free(verdict);
	fputs("<dl>\n", out);
	put_side(diff, DIFF_BEFORE, out);
	put_side(diff, DIFF_AFTER, out);
	fputs("</dl>\n", out);
	for (size_t i = 0; i < diff->limits.notes.len; i++)
		put_element("p", diff->limits.notes.data[i], out);
	for (int i = 0; i < DIFF_SECTIONS; i++)
		put_section(diff, i, out);
	fputs("</body>\n</html>\n", out);
	return text_finish(out);
}
