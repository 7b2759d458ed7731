/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long facts that are alike took, of those whose time is exact: a histogram for each key, whose
 * memory does not grow with the facts.
 */
#ifndef UCXBPF_REPORT_DURATIONS_H
#define UCXBPF_REPORT_DURATIONS_H

#include "base/spread.h"
#include "show/report/cube.h"

#define DURATIONS_MOST 1024 /* keys; of further ones nothing is known */

struct durations {
	const unsigned char *from; /* for each key of the shape, its place in rows that are given */
	struct cube rows;
	VEC(struct spread *) spreads; /* by position of the row */
};

void durations_init(struct durations *durations, const struct cube_shape *shape,
		    const unsigned char *from);
void durations_release(struct durations *durations);

/* Of one fact of a row that durations are added of, and of no other ones. */
void durations_add(struct durations *durations, struct cube_row *row, uint64_t ns);

/* Adds all of others, whose rows have the keys that from tells the places of. */
void durations_join(struct durations *to, const struct durations *others);

/* NULL: there are none. */
const struct spread *durations_of(const struct durations *durations, const uint64_t *key);

#endif
