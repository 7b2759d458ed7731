// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "show/export/export.h"

static void *begin(struct export_target *target, int *err)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	*err = -ENOMEM;
	if (!perfetto)
		return NULL;
	perfetto->target = target;
	perfetto_out_init(&perfetto->out, target->file);
	spans_init(&perfetto->spans, LAYER_UCP);
	traffic_init(&perfetto->traffic);
	perfetto->spans.traffic = &perfetto->traffic;
	return perfetto;
}

static struct fact_sink sink(void *arg)
{
	struct perfetto *perfetto = arg;

	return spans_sink(&perfetto->spans);
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct perfetto *perfetto = arg;
	int err = spans_finish(&perfetto->spans, perfetto->target->why);

	if (err)
		return err;
	perfetto_setup(perfetto);
	perfetto_unknowns(perfetto, totals);
	perfetto_windows(perfetto);
	perfetto_memory(perfetto);
	perfetto_gpus(perfetto, totals);
	err = perfetto_spans(perfetto);
	return err ? err : perfetto_devices(perfetto);
}

static void release(void *arg)
{
	struct perfetto *perfetto = arg;

	perfetto_out_release(&perfetto->out);
	spans_release(&perfetto->spans);
	traffic_release(&perfetto->traffic);
	placing_release(&perfetto->placing);
	vec_release(&perfetto->host_tracks);
	vec_release(&perfetto->process_tracks);
	free(perfetto);
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.help = "a timeline for ui.perfetto.dev and trace_processor",
	.place = EXPORT_STREAM,
	.binary = true,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
