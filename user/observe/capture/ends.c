// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/ends.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "observe/capture/side.h"
#include "observe/process/library.h"

static void refuse(struct track *track, const char *what, const char *runtime)
{
	char text[320];

	snprintf(text, sizeof(text),
		 "no exact ends of MPI calls in %s: it uses %s, whose user-level threads switch "
		 "stacks, and a return probe there would end the program",
		 what, runtime);
	log_warn("%s", text);
	side_write(track->writer, side_note(text));
}

void ends_library(struct track *track, const struct probed *probed)
{
	bool fresh = false;

	if (probed->user_threads)
		map_insert(&track->ends_refused, probed->library->dev, probed->library->ino,
			   &fresh);
	if (fresh)
		refuse(track, probed->library->path, probed->user_threads);
}

void ends_process(struct track *track, struct tracked *tracked, const mapped_libraries *mapped)
{
	const char *runtime =
		track->probes->call_ends && !tracked->no_ends ? user_threads_mapped(mapped) : NULL;
	char name[40];

	if (!runtime)
		return;
	tracked->no_ends = true;
	kernel_allow_call_ends(track->kernel, tracked->tgid, false);
	if (track->probes->links.mechanism != LINK_SESSION) {
		kernel_end_call_ends(track->kernel);
		hot_drop_call_returns(&track->probes->hot);
		track->probes->call_ends = false;
	}
	snprintf(name, sizeof(name), "process %d%s", tracked->tgid,
		 track->probes->call_ends ? "" : " and all others");
	refuse(track, name, runtime);
}

void ends_forget(struct track *track, const struct tracked *tracked)
{
	if (tracked->no_ends)
		kernel_allow_call_ends(track->kernel, tracked->tgid, true);
}
