// SPDX-License-Identifier: BSD-3-Clause
#include "capture/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "capture/side.h"

void progress_init(struct progress *progress, bool on)
{
	*progress = (struct progress){ .on = on, .last_time = side_now() };
}

void progress_show(struct progress *progress, unsigned int processes, uint64_t records,
		   const struct ub_stats *stats)
{
	uint64_t now = side_now(), dropped = 0;
	double seconds = (now - progress->last_time) / 1e9;

	if (!progress->on)
		return;
	for (int kind = 0; kind < 16; kind++)
		dropped += stats->dropped[kind];
	fprintf(stderr,
		"\r\033[Kucxbpf: %u processes, %" PRIu64 " records, %.0f/s, %" PRIu64 " dropped%s",
		processes, records,
		seconds > 0 ? (records - progress->last_records) / seconds : 0.0, dropped,
		progress->state);
	fflush(stderr);
	progress->shown = true;
	progress->last_time = now;
	progress->last_records = records;
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
