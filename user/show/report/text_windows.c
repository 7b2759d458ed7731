// SPDX-License-Identifier: BSD-3-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/text.h"
#include "base/text.h"
#include "base/units.h"

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

static void print_host(const struct text *text, const char *name)
{
	char *plain = text_plain(name);

	fprintf(text->out, " on %s", plain);
	free(plain);
}

#define CHANGES 8 /* that are told */

static const char *step_text(const char *step)
{
	static const char *const texts[][2] = {
		{ "uct", "all layers" },
		{ "ucp", "MPI calls and operations" },
		{ "mpi", "MPI calls" },
		{ "windows", "windows of all layers" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(step, texts[i][0]))
			return texts[i][1];
	return step;
}

static void print_step(const struct text *text, const struct fact_window *window, bool first)
{
	char at[40], paid[16];

	unit_time(at, sizeof(at), window->from - text->report->hosts.data[window->host].first,
		  text->options->exact);
	unit_share(paid, sizeof(paid), window->paid_ppm, 1000000);
	fprintf(text->out, "%-7s from %s on %s (%s%s%s%s)\n", first ? "budget:" : "", at,
		step_text(window->step), window->reason ? window->reason : "?",
		window->paid_ppm ? ", a thread paid " : "", window->paid_ppm ? paid : "",
		window->paid_ppm ? " of its time" : "");
}

/* With a budget: what was recorded from when on. Its changes are neighbours. */
static void print_steps(const struct text *text, size_t first, size_t count)
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

void text_windows(const struct text *text)
{
	const struct report *report = text->report;
	struct sampled sampled;

	for (size_t i = 0; i < report->windows.len; i += sampled.count) {
		const struct fact_window *first = &report->windows.data[i];
		char seen[40], whole[40], share[16];

		sampled = sampled_from(report, i);
		unit_time(seen, sizeof(seen), sampled.seen, text->options->exact);
		unit_time(whole, sizeof(whole), sampled.whole, text->options->exact);
		unit_share(share, sizeof(share), sampled.seen, sampled.whole);
		fprintf(text->out, "sampled %zu window%s, %s of %s (%s)", sampled.count,
			sampled.count == 1 ? "" : "s", seen, whole, share);
		if (sampled.count < report->windows.len)
			print_host(text, first->host_name ? first->host_name : "?");
		fputs(i ? "\n" : ": all numbers are of the windows alone\n", text->out);
		print_steps(text, i, sampled.count);
	}
}
