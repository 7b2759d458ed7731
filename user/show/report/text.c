// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

void text_append(char *out, size_t size, const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, size - used, format, args);
	va_end(args);
}

void text_paragraph(const struct text_report *text, int indent, const char *words, enum style style)
{
	int left = text->options->width - indent;
	char *plain = text_plain(words);
	const char *body = plain;

	style_on(text->out, text->options, style);
	while (text_width(body) > left) {
		size_t end = text_fit(body, left), space = end;

		while (space && body[space] != ' ')
			space--;
		end = space ? space : end;
		fprintf(text->out, "%.*s\n%*s", (int)end, body, indent, "");
		body += end;
		body += strspn(body, " ");
	}
	fputs(body, text->out);
	free(plain);
	style_off(text->out, text->options, style);
	fputc('\n', text->out);
}

bool text_is_exact(const struct text_report *text)
{
	return text->options->exact || text->options->verbose;
}

void text_count(const struct text_report *text, char *out, size_t size, uint64_t count)
{
	char number[40];

	unit_count(number, sizeof(number), count, text_is_exact(text));
	text_append(out, size, "%s", number);
}

void text_add_time(const struct text_report *text, char *out, size_t size, uint64_t ns)
{
	char number[40];

	unit_time(number, sizeof(number), ns, text->options->exact);
	text_append(out, size, "%s", number);
}

const char *text_layer_bound(const struct text_report *text, enum level level, uint64_t number)
{
	switch (report_recorded(text->report, level)) {
	case RECORDED_ALWAYS:
		return "";
	case RECORDED_PARTLY:
		return number ? text->at_least : NULL;
	case RECORDED_NEVER:
		break;
	}
	return NULL;
}

size_t text_limit(const struct text_report *text, size_t count, const size_t limits[TEXT_LIMITS])
{
	int verbose = text->options->verbose;

	/* a line saying that one row is hidden would gain nothing */
	if (verbose >= TEXT_LIMITS || count <= limits[verbose] + 1)
		return count;
	return limits[verbose];
}

void text_end(const struct text_report *text, size_t shown, size_t count)
{
	if (shown < count) {
		style_on(text->out, text->options, STYLE_DIM);
		fprintf(text->out, "  %s %zu more (%s)\n", text->options->utf8 ? "…" : "...",
			count - shown, text->options->verbose ? "-vv" : "-v");
		style_off(text->out, text->options, STYLE_DIM);
	}
	fputc('\n', text->out);
}

void text_process(const struct text_report *text, char *out, size_t size, int64_t index)
{
	const struct report_process *process = report_process_at(text->report, index);

	if (!process)
		snprintf(out, size, "?");
	else if (process->fact.rank < 0)
		snprintf(out, size, "pid %u", process->fact.pid);
	else if (text->ranks_unique)
		snprintf(out, size, "%d", process->fact.rank);
	else
		snprintf(out, size, "%d#%d", process->fact.rank, process->fact.index);
}

void text_who(const struct text_report *text, char *out, size_t size, int64_t index)
{
	const struct report_process *process = report_process_at(text->report, index);
	char who[40];

	text_process(text, who, sizeof(who), index);
	snprintf(out, size, "%s%s", process && process->fact.rank < 0 ? "" : "rank ", who);
}

void text_time(const struct text_report *text, char *out, size_t size, uint64_t ns,
	       uint32_t precisions)
{
	char number[40];

	unit_time(number, sizeof(number), ns, text->options->exact);
	if (precisions == 1u << TIME_UPPER_BOUND)
		snprintf(out, size, "%s%s", text->at_most, number);
	else if (precisions == 1u << TIME_LOWER_BOUND)
		snprintf(out, size, "%s%s", text->at_least, number);
	else
		snprintf(out, size, "%s%s", precisions == 1u << TIME_EXACT ? "" : "~", number);
}

void text_share(const struct text_report *text, char *out, size_t size, const char *bound,
		uint64_t part, uint64_t whole)
{
	char share[16];

	unit_share(share, sizeof(share), part, whole);
	if (*share == '<' && bound == text->at_least)
		snprintf(out, size, ">0 %%");
	else
		snprintf(out, size, "%s%s", *share == '<' || *share == '>' ? "" : bound, share);
}

void text_mean(const struct text_report *text, char *out, size_t size, const struct cube_sums *sums)
{
	if (!sums->timed) {
		snprintf(out, size, "unknown");
	} else if (!sums->exact) {
		text_time(text, out, size, sums->time_sum / sums->timed, sums->precisions);
	} else {
		unit_time(out, size, sums->exact_time / sums->exact, text->options->exact);
		if (sums->exact < sums->timed)
			text_append(out, size, " (%" PRIu64 " of %" PRIu64 ")", sums->exact,
				    sums->timed);
	}
}

/* In a list, whole percents are enough. */
static void add_share(char *out, size_t size, uint64_t part, uint64_t whole)
{
	double share = 100.0 * part / whole;

	if (share < 1)
		text_append(out, size, " <1 %%");
	else
		text_append(out, size, " %.0f %%", share > 99 ? 99 : share);
}

void text_shares(char *out, size_t size, const struct text_carried *carried, const uint64_t *prefix)
{
	const struct cube *cube = &carried->cube;
	int last = cube->shape->count - 1 - (carried->between != NULL);
	size_t count;
	const struct cube_row **rows = cube_prefix(cube, carried->sorted, prefix, last, &count);
	uint64_t whole = 0;

	for (size_t i = 0; i < count; i++)
		whole += rows[i]->sums.bytes;
	/* Sorting these few among themselves keeps the array sorted by its prefixes. */
	cube_sort(cube, rows, count, CUBE_BY_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i]->sums.count)
			continue;
		text_append(out, size, "%s%s", *out ? ", " : "",
			    cube_key_text(&cube->shape->keys[last], rows[i]->key[last]));
		if (carried->between)
			text_append(out, size, " %s %s", carried->between,
				    cube_key_text(&cube->shape->keys[last + 1],
						  rows[i]->key[last + 1]));
		if (whole && rows[i]->sums.bytes != whole)
			add_share(out, size, rows[i]->sums.bytes, whole);
	}
}
