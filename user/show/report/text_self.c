// SPDX-License-Identifier: BSD-3-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/text.h"
#include "base/text.h"
#include "base/units.h"

#define LINE 512

static bool is_exact(const struct text *text)
{
	return text->options->exact || text->options->verbose;
}

static void add_time(const struct text *text, char *line, uint64_t ns)
{
	char number[40];

	unit_time(number, sizeof(number), ns, text->options->exact);
	text_append(line, LINE, "%s", number);
}

static void add_bytes(const struct text *text, char *line, uint64_t bytes)
{
	char number[40];

	unit_bytes(number, sizeof(number), bytes, text->options->exact);
	text_append(line, LINE, "%s", number);
}

static void add_count(const struct text *text, char *line, uint64_t count)
{
	char number[40];

	unit_count(number, sizeof(number), count, is_exact(text));
	text_append(line, LINE, "%s", number);
}

static void tracer(const struct text *text, const struct fact_self *self, char *line)
{
	add_time(text, line, self->cpu_ns);
	text_append(line, LINE, " of CPU");
	if (self->memory_peak) {
		text_append(line, LINE, ", ");
		add_bytes(text, line, self->memory_peak);
	}
	text_append(line, LINE, "; ");
	add_count(text, line, self->records);
	text_append(line, LINE, " records in ");
	add_bytes(text, line, self->bytes);
	if (self->drained)
		text_append(line, LINE, ", %" PRIu64 " thread%s, %" PRIu64 " ns each",
			    self->threads, self->threads == 1 ? "" : "s",
			    self->drained_ns / self->drained);
	if (self->known < self->captures)
		text_append(line, LINE, "; %u of %u captures say so", self->known, self->captures);
}

/* What is not measured is named: the trap often takes longer than the program. */
static void in_kernel(const struct text *text, const struct fact_self *self, char *line)
{
	char *reason = text_plain(self->kernel_unknown);

	if (!self->kernel_known)
		text_append(line, LINE, "time in BPF not known: %s",
			    *reason ? reason : "the kernel was not asked, or did not tell");
	free(reason);
	if (!self->kernel_known)
		return;
	add_time(text, line, self->kernel_ns);
	if (self->spread_known == self->kernel_known && self->hits) {
		text_append(line, LINE, " +- ");
		add_time(text, line, self->kernel_spread);
	}
	text_append(line, LINE, " in BPF");
	if (self->hits) {
		text_append(line, LINE, ", estimated from ");
		add_count(text, line, self->sampled_hits);
		text_append(line, LINE, " of ");
		add_count(text, line, self->hits);
		text_append(line, LINE, " hits, plus their traps");
	}
	if (self->kernel_known < self->captures)
		text_append(line, LINE, "; %u of %u captures", self->kernel_known, self->captures);
}

static void print(const struct text *text, const char *label, const char *body)
{
	fprintf(text->out, "%-7s %.*s\n", label, (int)text_fit(body, text->options->width - 8),
		body);
}

void text_self(const struct text *text)
{
	const struct fact_self *self = &text->report->totals.self;
	char line[LINE] = "tracer ";

	if (!self->known) {
		print(text, "cost:", "not known, the capture does not say");
		return;
	}
	tracer(text, self, line);
	print(text, "cost:", line);
	snprintf(line, sizeof(line), "job ");
	in_kernel(text, self, line);
	print(text, "", line);
}
