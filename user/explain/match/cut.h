/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times that nobody watched: between windows of a capture, between slices with detail, and between
 * captures of one process.
 */
#ifndef UCXBPF_MATCH_CUT_H
#define UCXBPF_MATCH_CUT_H

#include "explain/attribute/attribute.h"
#include "explain/match/input.h"
#include "explain/match/match.h"

/*
 * Cuts of all inputs that lie before the next record, which is this input's, are made. *edge: when
 * the first window that is not begun does, on the inputs' common clock; 0 at first.
 */
void cut_before(const inputs *inputs, const struct input *next, uint64_t *edge,
		struct decoder *decoder, struct attribute *attribute, struct matcher *matcher);

/*
 * Before an event: records of its process were lost up to it, or are said to be by it, and what
 * they named is no evidence any more.
 */
void cut_lost(const struct event *event, struct decoder *decoder, struct attribute *attribute,
	      struct matcher *matcher);

/* The last cut, through everything. */
void cut_at_end(struct attribute *attribute, struct matcher *matcher);

#endif
