// SPDX-License-Identifier: BSD-3-Clause
#include <inttypes.h>
#include <stdlib.h>

#include "report/text.h"
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
	}
}
