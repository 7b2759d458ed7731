// SPDX-License-Identifier: BSD-3-Clause
/* The table of formats, and the formats that only wrap the report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/page/page.h"

struct report_export {
	struct report *report;
	struct export_target *target;
};

static void *report_format_begin(struct export_target *target, int *err)
{
	struct report_export *state = xmalloc(sizeof(*state));

	(void)err;
	*state = (struct report_export){ report_new(target->request->filter), target };
	return state;
}

static struct fact_sink sink(void *arg)
{
	struct report_export *state = arg;

	return report_sink(state->report);
}

static void report_format_free(void *arg)
{
	struct report_export *state = arg;

	report_free(state->report);
	free(state);
}

static int end_json(void *arg, const struct fact_totals *totals)
{
	struct report_export *state = arg;

	report_finish(state->report, totals);
	return report_json(state->report, state->target->file);
}

static int end_folded(void *arg, const struct fact_totals *totals)
{
	struct report_export *state = arg;
	int err;

	report_finish(state->report, totals);
	err = report_folded(state->report, state->target->request->amount, state->target->file);
	if (err == -ENODATA)
		snprintf(
			state->target->why, sizeof(state->target->why),
			"nothing written: the captures have no stacks, which are recorded with --stacks");
	return err;
}

static const struct export_format export_json = {
	.name = "json",
	.help = "the report, as replay --json prints it",
	.place = EXPORT_STREAM,
	.unfiltered = true,
	.begin = report_format_begin,
	.sink = sink,
	.end = end_json,
	.free = report_format_free,
};

static const struct export_format export_folded = {
	.name = "folded",
	.help = "stacks of calls and operations, for flame graphs (run --stacks)",
	.place = EXPORT_STREAM,
	.has_amounts = true,
	.unfiltered = true,
	.begin = report_format_begin,
	.sink = sink,
	.end = end_folded,
	.free = report_format_free,
};

struct html_export {
	struct page *page;
	struct export_target *target;
};

static void *html_begin(struct export_target *target, int *err)
{
	struct html_export *state = xmalloc(sizeof(*state));
	struct page_options options = { .filter = target->request->filter,
					.window = target->request->window,
					.beside = target->request->beside };

	(void)err;
	*state = (struct html_export){ page_new(&options), target };
	return state;
}

static struct fact_sink html_sink(void *arg)
{
	struct html_export *state = arg;

	return page_sink(state->page);
}

static struct fact_sink html_scan(void *arg)
{
	struct html_export *state = arg;

	return page_scan(state->page);
}

static void html_scan_end(void *arg)
{
	struct html_export *state = arg;

	page_scan_end(state->page);
}

static int report_format_end(void *arg, const struct fact_totals *totals)
{
	struct html_export *state = arg;
	int err = page_write(state->page, totals, state->target->file);

	if (err == -EFBIG)
		snprintf(state->target->why, sizeof(state->target->why),
			 "does not fit into a page: select less with --process or --window");
	else if (err == -EINVAL)
		snprintf(state->target->why, sizeof(state->target->why),
			 "nothing written: --window begins after the last event of every host");
	return err;
}

static void html_release(void *arg)
{
	struct html_export *state = arg;

	page_free(state->page);
	free(state);
}

static const struct export_format export_html = {
	.name = "html",
	.help = "the interactive report as one self-contained HTML file",
	.place = EXPORT_STREAM,
	.binary = true,
	.has_windows = true,
	.unfiltered = true,
	.begin = html_begin,
	.sink = html_sink,
	.scan = html_scan,
	.scan_end = html_scan_end,
	.end = report_format_end,
	.free = html_release,
};

static const struct export_format *const formats[] = {
	&export_json,   &export_html,     &export_ndjson, &export_csv,
	&export_sqlite, &export_perfetto, &export_otf2,   &export_folded,
};

const struct export_format *export_format_at(size_t i)
{
	return i < ARRAY_SIZE(formats) ? formats[i] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; export_format_at(i); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}
