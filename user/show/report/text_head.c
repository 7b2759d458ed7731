// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "show/report/text.h"
#include "base/text.h"
#include "base/units.h"

static void counted(char *out, size_t size, size_t count, const char *one, const char *many)
{
	text_append(out, size, ", %zu %s", count, count == 1 ? one : many);
}

/* Appends each different word once, in order of first appearance. */
static void add_once(char *out, size_t size, const char *prefix, const char *word)
{
	char item[80];

	snprintf(item, sizeof(item), ", %s%s", prefix, word ? word : "");
	if (word && !strstr(out, item))
		text_append(out, size, "%s", item);
}

static uint64_t longest_span(const struct report *report)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < report->hosts.len; i++) {
		uint64_t span = report->hosts.data[i].last - report->hosts.data[i].first;

		if (span > longest)
			longest = span;
	}
	return longest;
}

static size_t known_hosts(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->hosts.len; i++)
		count += report->hosts.data[i].known;
	return count;
}

static void versions(const struct report *report, char *out, size_t size)
{
	for (size_t i = 0; i < report->processes.len; i++)
		if (report->processes.data[i].known)
			add_once(out, size, "", report->processes.data[i].fact.mpi);
	for (size_t i = 0; i < report->processes.len; i++) {
		const struct fact_process *fact = &report->processes.data[i].fact;

		for (int k = 0; k < fact->ucx_count; k++)
			add_once(out, size, "UCX ", fact->ucx[k].version);
	}
}

static void levels(const struct report *report, char *out, size_t size)
{
	const struct fact_self *self = &report->totals.self;
	const char *separator = ", level ";

	for (int i = 0; i < FACT_LEVELS; i++) {
		if (!self->levels[i])
			continue;
		text_append(out, size, "%s%s", separator, fact_level_names[i]);
		separator = " and ";
	}
}

/* A line for each field, so that it is clear what it says nothing about. */
static void filter_lines(const struct text *text)
{
	const struct filter *filter = text->report->filter;
	const char *label = "filter:";

	for (int i = 0; i < FILTER_FIELDS; i++) {
		const struct filter_list *list = &filter->lists[i];

		if (!list->patterns.len)
			continue;
		fprintf(text->out, "%-7s %s ", label, filter_infos[i].name);
		for (size_t k = 0; k < list->patterns.len; k++)
			fprintf(text->out, "%s%s", k ? "," : "", list->patterns.data[k]);
		fprintf(text->out, " (%s)\n", filter_infos[i].facts);
		label = "";
	}
}

void text_header(const struct text *text)
{
	const struct report *report = text->report;
	char line[256] = "", span[40], *plain;
	size_t processes = 0;

	for (size_t i = 0; i < report->processes.len; i++)
		processes += report->processes.data[i].known;
	unit_time(span, sizeof(span), longest_span(report), false);
	counted(line, sizeof(line), processes, "process", "processes");
	counted(line, sizeof(line), known_hosts(report), "host", "hosts");
	text_append(line, sizeof(line), ", %s", span);
	levels(report, line, sizeof(line));
	versions(report, line, sizeof(line));
	style_on(text->out, text->options, STYLE_BOLD);
	fputs("ucxbpf", text->out);
	style_off(text->out, text->options, STYLE_BOLD);
	plain = text_plain(line + strlen(", "));
	fprintf(text->out, "  %.*s\n", (int)text_fit(plain, text->options->width - 8), plain);
	free(plain);
	text_windows(text);
	if (report->filtering)
		filter_lines(text);
	text_self(text);
	fputc('\n', text->out);
}
