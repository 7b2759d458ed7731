// SPDX-License-Identifier: BSD-3-Clause
/* Formats that are the report in other clothes. */
#include <errno.h>
#include <stdlib.h>

#include "show/export/formats.h"

struct state {
	struct report *report;
	struct export_target *target;
};

static void *begin(struct export_target *target, int *err)
{
	struct state *state = malloc(sizeof(*state));

	*err = -ENOMEM;
	if (state)
		*state = (struct state){ report_new(target->request->filter), target };
	return state;
}

static struct fact_sink sink(void *arg)
{
	struct state *state = arg;

	return report_sink(state->report);
}

static void release(void *arg)
{
	struct state *state = arg;

	report_free(state->report);
	free(state);
}

static int end_json(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;

	report_finish(state->report, totals);
	return report_json(state->report, state->target->file);
}

static int end_folded(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;
	int err;

	report_finish(state->report, totals);
	err = report_folded(state->report, state->target->request->amount, state->target->file);
	if (err == -ENODATA)
		snprintf(state->target->why, sizeof(state->target->why),
			 "nothing written: no stacks in there, they are recorded with --stacks");
	return err;
}

const struct export_format export_json = {
	.name = "json",
	.help = "the report, as replay --json prints it",
	.place = EXPORT_STREAM,
	.unfiltered = true,
	.begin = begin,
	.sink = sink,
	.end = end_json,
	.free = release,
};

const struct export_format export_folded = {
	.name = "folded",
	.help = "stacks of MPI calls, for flame graphs (run --stacks)",
	.place = EXPORT_STREAM,
	.has_amounts = true,
	.unfiltered = true,
	.begin = begin,
	.sink = sink,
	.end = end_folded,
	.free = release,
};
