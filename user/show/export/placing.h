/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts beside each other on one timeline, that of CLOCK_REALTIME: as well as their wall clocks
 * agree, no better.
 */
#ifndef UCXBPF_EXPORT_PLACING_H
#define UCXBPF_EXPORT_PLACING_H

#include "show/export/spans.h"

struct placing_host {
	int64_t to_real; /* add to its times for those of CLOCK_REALTIME */
	bool made_up; /* no capture tells its offset: it was put at the beginning */
};

struct placing {
	VEC(struct placing_host) hosts; /* by number */
	uint64_t begin, end; /* CLOCK_REALTIME of the first and the last thing; 0: nothing */
};

/* After spans_finish(). */
void placing_make(struct placing *placing, const struct spans *spans);
void placing_release(struct placing *placing);

/* What to_real is of a host, 0 for none. */
int64_t placing_to_real(const struct placing *placing, int host);

#endif
