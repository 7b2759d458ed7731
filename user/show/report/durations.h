/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact durations of equal facts: a histogram for each key, whose memory does not grow with the
 * facts.
 */
#ifndef UCXBPF_REPORT_DURATIONS_H
#define UCXBPF_REPORT_DURATIONS_H

#include "base/spread.h"
#include "show/report/cube.h"

#define DURATIONS_MOST 1024 /* most keys; further ones have no histogram */

struct durations {
	const unsigned char *from; /* for each key of the shape, its index in the rows' keys */
	struct cube rows;
	VEC(struct spread *) spreads; /* by position of the row */
};

void durations_init(struct durations *durations, const struct cube_shape *shape,
		    const unsigned char *from);
void durations_release(struct durations *durations);

/* Adds one fact; all durations of a row come this way, or none. */
void durations_add(struct durations *durations, struct cube_row *row, uint64_t ns);

/* Adds all durations of others; from maps the keys of its rows. */
void durations_join(struct durations *to, const struct durations *others);

/* NULL: there are none. */
const struct spread *durations_of(const struct durations *durations, const uint64_t *key);

#endif
