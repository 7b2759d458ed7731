// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/facts_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "explain/match/facts.h"

#define SHOW_EVERY 200000000u
#define PATIENCE 1000000000u

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void show(void *arg, uint64_t facts)
{
	struct facts_progress *progress = arg;
	uint64_t time = now();

	if (time - progress->started < PATIENCE || time - progress->shown < SHOW_EVERY)
		return;
	progress->shown = time;
	fprintf(stderr, "\r%s: %.1f million facts, %.0f s ", progress->name, facts / 1e6,
		(time - progress->started) / 1e9);
}

void facts_progress_start(struct facts_progress *progress, const char *name,
			  struct analysis *analysis)
{
	*progress = (struct facts_progress){ .name = name, .started = now() };
	if (isatty(STDERR_FILENO))
		analysis_watch(analysis, show, progress);
}

void facts_progress_end(struct facts_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
