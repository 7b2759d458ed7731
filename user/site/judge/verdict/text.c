// SPDX-License-Identifier: BSD-3-Clause
/* Findings as people read them: a line for what is said of one or many subjects, then a footer. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "site/judge/verdict/footer.h"
#include "site/judge/verdict/lines.h"

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

#define LEAST_SUBJECT 8
#define MOST_SUBJECT 32
#define INDENT 9 /* of what goes on in the next line */

struct table {
	const struct judge *judge;
	const struct judge_output *how;
	FILE *out;
	int subject; /* columns */
	int column; /* where the line is */
};

static const char *colour_of(const struct table *table, const struct finding *finding)
{
	if (!table->how->colour)
		return "";
	if (finding->verdict == VERDICT_FAIL && finding->severity == SEVERITY_CRITICAL)
		return RED;
	if (finding->verdict == VERDICT_FAIL || finding->verdict == VERDICT_UNKNOWN)
		return YELLOW;
	return "";
}

/* Each byte that does not begin a character is none of its own. */
static int columns(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* A part of the line; in the next one where there is no room for it. */
static void put(struct table *table, const char *text)
{
	char *plain = text_plain(text);
	int wide = columns(plain);

	if (table->how->width && table->column > INDENT &&
	    table->column + 2 + wide > table->how->width) {
		fprintf(table->out, "\n%*s", INDENT, "");
		table->column = INDENT;
	} else {
		fputs("  ", table->out);
		table->column += 2;
	}
	fputs(plain, table->out);
	table->column += wide;
	free(plain);
}

static void put_seen(struct table *table, const struct line *line)
{
	const struct finding *finding = line->finding;
	char *text;

	if (!finding->seen && !finding->why) {
		put(table, finding->rule->title);
		return;
	}
	if (asprintf(&text, "%s%s", line->differs ? "e.g. " : "",
		     finding->why ? finding->why : finding->seen) < 0)
		abort();
	put(table, text);
	free(text);
	if (finding->why || !finding->expected)
		return;
	if (asprintf(&text, "expected %s", finding->expected) < 0)
		abort();
	put(table, text);
	free(text);
}

/* How much of what the rule looks at. */
static void put_amount(struct table *table, const struct line *line)
{
	const struct finding *finding = line->finding;
	char count[32], bytes[32], text[160];
	int length = 0;

	unit_count(count, sizeof(count), line->count, false);
	unit_bytes(bytes, sizeof(bytes), line->bytes, false);
	if (finding->example_count)
		length = snprintf(text, sizeof(text), "%s transfer%s, %s", count,
				  line->count == 1 ? "" : "s", bytes);
	else if (line->bytes)
		length = snprintf(text, sizeof(text), "%s", bytes);
	if (length && !isnan(finding->share) && line->subjects == 1)
		snprintf(text + length, sizeof(text) - length, " (%.3g %%)", 100 * finding->share);
	if (length)
		put(table, text);
}

/* "inter.host-host", of rules that compare times: see cohort_name() */
static bool is_class(const struct finding *finding)
{
	return finding->rule->needs & NEEDS_TIMES &&
	       (!strncmp(finding->subject, "inter.", 6) || !strncmp(finding->subject, "intra.", 6));
}

static const char *kind_of(const struct finding *finding)
{
	const char *subject = finding->subject, *below = strchr(subject, ':');

	if (is_class(finding))
		return "classes";
	if (strpbrk(subject, "<>"))
		return "pairs";
	if (!below)
		return "nodes";
	if (!strncmp(below, ":rank", 5))
		return "ranks";
	return strncmp(below, ":gpu", 4) ? "NICs" : "GPUs";
}

static void put_extent(struct table *table, const struct line *line)
{
	char text[80];

	if (line->of < 2)
		return;
	snprintf(text, sizeof(text), "%zu of %zu %s", line->subjects, line->of,
		 kind_of(line->finding));
	put(table, text);
}

static void put_cause(struct table *table, const struct finding *finding)
{
	char *text;

	if (asprintf(&text, "%s%s", finding->cause ? "" : "likely: ",
		     finding->cause ? finding->cause : finding->rule->causes[0]) < 0)
		abort();
	put(table, text);
	free(text);
}

/* ---- below a line, where all is asked for ---- */

static void put_example(const struct table *table, const struct finding_example *example)
{
	const struct node *from = exhibits_node(&table->judge->exhibits, example->process);
	const struct node *to = exhibits_node(&table->judge->exhibits, example->peer);
	char *text, *plain;

	if (asprintf(&text, "%s %" PRIu64 " B over %s/%s from %s to %s%s%s at %" PRIu64 " ns",
		     example->op ? example->op : "?", example->bytes,
		     example->transport ? example->transport : "?",
		     example->device ? example->device : "?", from ? from->name : "?",
		     to ? to->name : "?", example->function ? " in " : "",
		     example->function ? example->function : "", example->start) < 0)
		abort();
	plain = text_plain(text);
	fprintf(table->out, "%*se.g.   %s\n", INDENT, "", plain);
	free(plain);
	free(text);
}

static void put_more(const struct table *table, const struct finding *finding)
{
	for (size_t i = 0; i < finding->example_count; i++)
		put_example(table, &finding->examples[i]);
	if (finding->verdict != VERDICT_FAIL)
		return;
	for (size_t i = 0; i < CATALOGUE_CAUSES && finding->rule->causes[i]; i++)
		fprintf(table->out, "%*s%s %s\n", INDENT, "",
			i ? "      " : "cause:", finding->rule->causes[i]);
	fprintf(table->out, "%*sdo:    %s\n%*sseen:  %s\n", INDENT, "", finding->rule->remedy,
		INDENT, "", finding->rule->reference);
}

static void put_line(struct table *table, const struct line *line)
{
	const struct finding *finding = line->finding;
	const char *colour = colour_of(table, finding);
	char *subject = text_plain(line->subject);
	int wide = columns(subject);

	fprintf(table->out, "%s%-6s%s %-8s %s%*s", colour, finding_mark(finding),
		*colour ? PLAIN : "", finding->rule->id, subject,
		wide < table->subject ? table->subject - wide : 0, "");
	table->column = 16 + (wide < table->subject ? table->subject : wide);
	free(subject);
	put_seen(table, line);
	if (finding->verdict == VERDICT_FAIL) {
		put_amount(table, line);
		put_extent(table, line);
		put_cause(table, finding);
	}
	putc('\n', table->out);
	if (table->how->verbose)
		put_more(table, finding);
}

int judge_text(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	struct table table = { .judge = judge, .how = how, .out = out, .subject = LEAST_SUBJECT };
	struct lines lines = { 0 };

	lines_make(&lines, judge, how->verbose);
	for (size_t i = 0; i < lines.list.len; i++) {
		int wide = columns(lines.list.data[i].subject);

		if (wide > table.subject)
			table.subject = wide < MOST_SUBJECT ? wide : MOST_SUBJECT;
	}
	text_head(judge, out);
	for (size_t i = 0; i < lines.list.len; i++)
		put_line(&table, &lines.list.data[i]);
	lines_release(&lines);
	text_footer(judge, how, out);
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
