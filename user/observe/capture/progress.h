/* SPDX-License-Identifier: BSD-3-Clause */
/* The one line on stderr that is rewritten while a capture runs. */
#ifndef UCXBPF_CAPTURE_PROGRESS_H
#define UCXBPF_CAPTURE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/capture/cost.h"
#include "file/file.h"
#include "ucxbpf.h"

struct progress {
	char state[40]; /* of the session, behind the numbers; "" = nothing to say */
	bool on, shown;
	uint64_t last_time, last_records;
	struct cost_report last_cost;
};

void progress_init(struct progress *progress, bool on);
void progress_show(struct progress *progress, unsigned int processes, struct file_writer *writer,
		   const struct ub_stats *stats, const struct cost_report *cost);

/* Clears the line. */
void progress_end(struct progress *progress);

#endif
