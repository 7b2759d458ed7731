/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a process's memory over time, and whether one of them was at an address between two
 * times. A process decides how many changes there are, how often they are asked for, and what lies
 * between the times: a question takes time of the order of the logarithm of the number of changes,
 * squared.
 */
#ifndef UCXBPF_MEMORY_CHANGES_H
#define UCXBPF_MEMORY_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* An allocation or its end. */
struct memory_change {
	uint64_t ts, start;
	uint64_t size; /* 0: an end, of memory that begins at start; UINT64_MAX: place unknown */
};

struct memory_span {
	uint64_t start, end; /* end: the first address behind */
};

/* In order of address, without overlaps. */
typedef VEC(struct memory_span) memory_spans;

/* Changes that follow each other, their places in order. */
struct change_block {
	memory_spans made;
	VEC(uint64_t) ended; /* where memory began that ended */
};

#define CHANGE_LEVELS 4

/* A zeroed one is empty. */
struct memory_changes {
	VEC(struct memory_change) all; /* in order of time */
	memory_spans places; /* of all that have one; an end: the first byte */
	/* [i]: blocks of 32 to the power of i + 1 changes, full ones only */
	VEC(struct change_block) blocks[CHANGE_LEVELS];
};

void changes_release(struct memory_changes *changes);

void changes_add(struct memory_changes *changes, uint64_t ts, uint64_t start, uint64_t size);

/* After the last change, and before any question. */
void changes_ready(struct memory_changes *changes);

/* Whether any change was there, at whatever time. */
bool changes_at(const struct memory_changes *changes, uint64_t address);

/*
 * Whether a change from one time to another, both included, concerned an address. Memory that
 * ended, of unknown size, concerns it if it began between start and the address.
 */
bool changes_between(const struct memory_changes *changes, uint64_t from, uint64_t until,
		     uint64_t start, uint64_t address);

#endif
