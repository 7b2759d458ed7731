// SPDX-License-Identifier: BSD-3-Clause
/* The report as one HTML file. */
#include <errno.h>
#include <stdlib.h>

#include "show/export/formats.h"
#include "show/page/page.h"

struct state {
	struct page *page;
	struct export_target *target;
};

static void *begin(struct export_target *target, int *err)
{
	struct state *state = malloc(sizeof(*state));
	struct page_options options = { .filter = target->request->filter,
					.window = target->request->window,
					.beside = target->request->beside };

	*err = -ENOMEM;
	if (state)
		*state = (struct state){ page_new(&options), target };
	return state;
}

static struct fact_sink sink(void *arg)
{
	struct state *state = arg;

	return page_sink(state->page);
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;
	int err = page_write(state->page, totals, state->target->file);

	if (err == -EFBIG)
		snprintf(state->target->why, sizeof(state->target->why),
			 "more than a page has room for: ask for less, by --process or --window");
	return err;
}

static void release(void *arg)
{
	struct state *state = arg;

	page_free(state->page);
	free(state);
}

const struct export_format export_html = {
	.name = "html",
	.help = "the interactive report, one file for a browser, nothing fetched",
	.place = EXPORT_STREAM,
	.binary = true,
	.has_windows = true,
	.unfiltered = true,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
