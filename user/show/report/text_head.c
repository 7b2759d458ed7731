// SPDX-License-Identifier: BSD-3-Clause
/* The head of the report: traced processes, windows, and the cost of tracing. */
#include "show/report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/vec.h"

#define LINE 512
#define LABEL 8

static void print(const struct text_report *text, const char *label, const char *body)
{
	fprintf(text->out, "%-*s", LABEL, label);
	text_paragraph(text, LABEL, body, STYLE_PLAIN);
}

static void add_bytes(const struct text_report *text, char *line, uint64_t bytes)
{
	char number[40];

	unit_bytes(number, sizeof(number), bytes, text->options->exact);
	text_append(line, LINE, "%s", number);
}

/* The windows of one capture. */
struct sampled {
	size_t count;
	uint64_t seen, whole; /* ns */
};

static struct sampled sampled_from(const struct report *report, size_t first)
{
	const struct fact_window *windows = report->windows.data;
	struct sampled sampled = { .whole = windows[first].until - windows[first].from };

	for (size_t i = first; i < report->windows.len; i++) {
		if (windows[i].capture != windows[first].capture)
			break;
		sampled.seen += windows[i].to - windows[i].from;
		sampled.count++;
	}
	return sampled;
}

static void add_host(char *line, const char *name)
{
	char *plain = text_plain(name);

	text_append(line, LINE, " on %s", plain);
	free(plain);
}

#define CHANGES 8 /* changes that are printed */

const char *report_step_text(const char *step)
{
	static const char *const texts[][2] = {
		{ "uct", "all layers" },
		{ "ucp", "MPI calls and operations" },
		{ "mpi", "MPI calls" },
		{ "windows", "windows of all layers" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(step, texts[i][0]))
			return texts[i][1];
	return step;
}

static void print_step(const struct text_report *text, const struct fact_window *window, bool first)
{
	/* then the cost was measured for a few ms, with the layers that were tried */
	const bool start = window->reason && !strcmp(window->reason, "start");
	char line[LINE] = "from ", paid[16];

	text_add_time(text, line, LINE,
		      window->from - text->report->hosts.data[window->host].first);
	text_append(line, LINE, " on %s (%s", report_step_text(window->step),
		    window->reason ? window->reason : "?");
	unit_share(paid, sizeof(paid), window->paid_ppm, 1000000);
	if (window->paid_ppm)
		text_append(line, LINE, ", a thread paid %s of %s", paid,
			    start ? "the first milliseconds, in which the cost was measured"
				  : "its time");
	text_append(line, LINE, ")");
	print(text, first ? "budget:" : "", line);
}

/* With a budget: the layers recorded over time. Equal neighbours are merged. */
static void print_steps(const struct text_report *text, size_t first, size_t count)
{
	const struct fact_window *windows = text->report->windows.data + first;
	size_t changes = 0;

	for (size_t i = 0; i < count; i++) {
		if (!windows[i].step ||
		    (i && windows[i - 1].step && !strcmp(windows[i].step, windows[i - 1].step)))
			continue;
		if (changes++ < CHANGES)
			print_step(text, &windows[i], changes == 1);
	}
	if (changes > CHANGES)
		fprintf(text->out, "        and %zu changes more: --json\n", changes - CHANGES);
}

static void text_windows(const struct text_report *text)
{
	const struct report *report = text->report;
	struct sampled sampled;

	for (size_t i = 0; i < report->windows.len; i += sampled.count) {
		const struct fact_window *first = &report->windows.data[i];
		char line[LINE] = "", share[16];

		sampled = sampled_from(report, i);
		text_append(line, LINE, "%zu window%s, ", sampled.count,
			    sampled.count == 1 ? "" : "s");
		text_add_time(text, line, LINE, sampled.seen);
		text_append(line, LINE, " of ");
		text_add_time(text, line, LINE, sampled.whole);
		unit_share(share, sizeof(share), sampled.seen, sampled.whole);
		text_append(line, LINE, " (%s)", share);
		if (sampled.count < report->windows.len)
			add_host(line, first->host_name ? first->host_name : "?");
		if (!i)
			text_append(line, LINE, ": all numbers are of the windows alone");
		print(text, "sampled", line);
		print_steps(text, i, sampled.count);
	}
}

static void tracer(const struct text_report *text, const struct fact_self *self, char *line)
{
	text_add_time(text, line, LINE, self->cpu_ns);
	text_append(line, LINE, " of CPU");
	if (self->memory_peak) {
		text_append(line, LINE, ", ");
		add_bytes(text, line, self->memory_peak);
	}
	text_append(line, LINE, "; ");
	text_count(text, line, LINE, self->records);
	text_append(line, LINE, " records in ");
	add_bytes(text, line, self->bytes);
	if (self->drained) {
		text_append(line, LINE, ", ");
		text_add_time(text, line, LINE, self->drained_ns / self->drained);
		text_append(line, LINE, " each, by %" PRIu64 " thread%s", self->threads,
			    self->threads == 1 ? "" : "s");
	}
	if (self->known < self->captures)
		text_append(line, LINE, "; known for %u of %u captures", self->known,
			    self->captures);
}

/* Mentions the unmeasured part: the trap often takes longer than the program. */
static void in_kernel(const struct text_report *text, const struct fact_self *self, char *line)
{
	char *reason = text_plain(self->kernel_unknown);

	if (!self->kernel_known)
		text_append(line, LINE, "time in BPF not known: %s",
			    *reason ? reason : "the kernel was not asked, or did not tell");
	free(reason);
	if (!self->kernel_known)
		return;
	text_add_time(text, line, LINE, self->kernel_ns);
	if (self->spread_known == self->kernel_known && self->hits) {
		text_append(line, LINE, " +- ");
		text_add_time(text, line, LINE, self->kernel_spread);
	}
	text_append(line, LINE, " in BPF");
	if (self->hits) {
		text_append(line, LINE, ", estimated from ");
		text_count(text, line, LINE, self->sampled_hits);
		text_append(line, LINE, " of ");
		text_count(text, line, LINE, self->hits);
		text_append(line, LINE, " hits, plus their traps");
	}
	if (self->kernel_known < self->captures)
		text_append(line, LINE, "; %u of %u captures", self->kernel_known, self->captures);
}

/* The cost of tracing, as lines of the header. */
static void text_self(const struct text_report *text)
{
	const struct fact_self *self = &text->report->totals.self;
	char line[LINE] = "tracer ";

	if (!self->known) {
		print(text, "cost:", "unknown, not recorded in the capture");
		return;
	}
	tracer(text, self, line);
	print(text, "cost:", line);
	snprintf(line, sizeof(line), "job ");
	in_kernel(text, self, line);
	print(text, "", line);
}

static void text_compared(const struct text_report *text, char *line, uint64_t compared,
			  uint64_t differing)
{
	text_append(line, LINE, "; of ");
	text_count(text, line, LINE, compared);
	text_append(line, LINE, " compared, ");
	text_count(text, line, LINE, differing);
	text_append(line, LINE, " differ; ");
}

/* MPI calls without a probe, and how calls with one compared before. */
static void text_derived_calls(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	uint64_t calls = 0, compared = 0, differing = 0, away = 0;
	char line[LINE] = "";

	for (int i = 0; i < totals->derived_count; i++) {
		const struct fact_derived *one = &totals->derived[i];

		calls += one->calls;
		compared += one->compared;
		differing += one->differing;
		away = one->away_ns > away ? one->away_ns : away;
	}
	if (!calls && !differing)
		return;
	text_count(text, line, LINE, calls);
	text_append(line, LINE, " MPI calls");
	text_compared(text, line, compared, differing);
	text_append(line, LINE, "those without an operation unseen for ");
	text_add_time(text, line, LINE, away);
	text_append(line, LINE, " (--exact sees them)");
	print(text, "derived", line);
}

/* Likewise for transfers. */
static void text_derived_transfers(const struct text_report *text)
{
	const struct fact_short_sends *sends = &text->report->totals.short_sends;
	char line[LINE] = "";

	if (!sends->transfers && !sends->differing && !sends->unproven)
		return;
	text_count(text, line, LINE, sends->transfers);
	text_append(line, LINE, " short transfers");
	text_compared(text, line, sends->compared, sends->differing);
	if (sends->unproven) {
		text_append(line, LINE, "those of ");
		text_count(text, line, LINE, sends->unproven);
		text_append(line, LINE, " sends are missing; ");
	}
	text_append(line, LINE, "those outside of sends unseen for ");
	text_add_time(text, line, LINE, sends->away_ns);
	print(text, "derived", line);
}

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

	for (int i = 0; i < LEVELS; i++) {
		if (!self->levels[i])
			continue;
		text_append(out, size, "%s%s", separator, level_names[i]);
		separator = " and ";
	}
}

/* One line per field, so that it is clear which facts it does not apply to. */
static void filter_lines(const struct text_report *text)
{
	const struct report_filter *filter = text->report->filter;
	const char *label = "filter:";

	for (int i = 0; i < FILTER_FIELDS; i++) {
		const struct filter_list *list = &filter->lists[i];

		if (!list->patterns.len)
			continue;
		fprintf(text->out, "%-7s %s ", label, filter_infos[i].name);
		for (size_t k = 0; k < list->patterns.len; k++) {
			char *plain = text_plain(list->patterns.data[k]);

			fprintf(text->out, "%s%s", k ? "," : "", plain);
			free(plain);
		}
		fprintf(text->out, " (%s)\n", filter_infos[i].facts);
		label = "";
	}
}

static void add_selected(const struct text_report *text, char *line, const char *what,
			 const struct selected *selected)
{
	text_append(line, LINE, "%s", *line ? ", " : "");
	text_count(text, line, LINE, selected->count);
	text_append(line, LINE, " of ");
	text_count(text, line, LINE, selected->of);
	text_append(line, LINE, " %s", what);
	if (selected->unknown) {
		text_append(line, LINE, ", not known of ");
		text_count(text, line, LINE, selected->unknown);
		return;
	}
	if (!selected->bytes_of)
		return;
	text_append(line, LINE, " (");
	add_bytes(text, line, selected->bytes);
	text_append(line, LINE, " of ");
	add_bytes(text, line, selected->bytes_of);
	text_append(line, LINE, ")");
}

#define NAMES 40

/* A filter that matches nothing is rather a mistyped one. */
static void print_names(const struct text_report *text)
{
	bool first = true;

	for (int i = 0; i < FILTER_FIELDS; i++) {
		const char *names[NAMES];
		size_t count = filter_names(text->report->filter, i, names, NAMES);
		char line[LINE * 2] = "";

		if (!count)
			continue;
		if (first)
			print(text, "", "nothing passes; there is");
		first = false;
		text_append(line, sizeof(line), "%s: ", filter_infos[i].name);
		for (size_t k = 0; k < count; k++)
			text_append(line, sizeof(line), "%s%s", k ? ", " : "", names[k]);
		print(text, "", line);
	}
	if (first)
		print(text, "", "nothing passes");
}

static void text_selected(const struct text_report *text)
{
	const struct report *report = text->report;
	char line[LINE] = "";

	if (report_selects_nothing(report))
		return print_names(text);
	add_selected(text, line, "calls", &report->selected.calls);
	add_selected(text, line, "operations", &report->selected.ops);
	add_selected(text, line, "transfers", &report->selected.transfers);
	add_selected(text, line, "messages", &report->selected.messages);
	print(text, "", line);
}

void text_header(const struct text_report *text)
{
	const struct report *report = text->report;
	char line[256] = "", span[40];
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
	fprintf(text->out, "%*s", LABEL - (int)strlen("ucxbpf"), "");
	text_paragraph(text, LABEL, line + strlen(", "), STYLE_PLAIN);
	text_open(text);
	text_time_shares(text);
	text_windows(text);
	if (report->filtering) {
		filter_lines(text);
		text_selected(text);
	}
	text_self(text);
	text_derived_calls(text);
	text_derived_transfers(text);
	fputc('\n', text->out);
}
