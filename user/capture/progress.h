/* SPDX-License-Identifier: BSD-3-Clause */
/* The one line on stderr that is rewritten while a capture runs. */
#ifndef UCXBPF_CAPTURE_PROGRESS_H
#define UCXBPF_CAPTURE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ucxbpf.h"

struct progress {
	char state[40]; /* of the session, behind the numbers; "" = nothing to say */
	bool on, shown;
	uint64_t last_time, last_records;
};

void progress_init(struct progress *progress, bool on);
void progress_show(struct progress *progress, unsigned int processes, uint64_t records,
		   const struct ub_stats *stats);

/* Clears the line. */
void progress_end(struct progress *progress);

#endif
