/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of sums with a key of up to CUBE_MAX_KEYS words. Keys are interned pointers or small
 * numbers, so a fact costs one hash and one comparison of words.
 */
#ifndef UCXBPF_REPORT_CUBE_H
#define UCXBPF_REPORT_CUBE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rowset.h"
#include "base/vec.h"
#include "explain/facts/columns.h"

#define CUBE_MAX_KEYS 16

enum cube_key_type {
	CUBE_PROCESS,
	CUBE_STRING,
	CUBE_LIST, /* a string of comma-separated names */
	CUBE_LOCALITY,
	CUBE_KIND,
};

struct cube_key {
	const char *name;
	enum cube_key_type type;
	const char *absent; /* shown for NULL or -1; NULL: shown as null */
};

struct cube_shape {
	int count;
	struct cube_key keys[CUBE_MAX_KEYS];
};

struct cube_sums {
	/* Each fact adds to the first ones: they share as few cache lines as possible. */
	uint64_t count;
	uint64_t bytes;
	uint64_t timed; /* facts with a known duration; the sums below are over these */
	uint64_t time_sum, time_min, time_max; /* ns; min and max of no fact: UINT64_MAX and 0 */
	uint64_t exact, exact_time, exact_bytes; /* of the timed ones, those whose time is exact */
	uint32_t precisions; /* bit set of the enum fact_precision values seen */
	uint32_t durations; /* 1 + position of theirs in a struct durations; 0: not known yet */
	uint64_t wire_bytes;
	uint64_t ops, ops_unknown; /* unknown: calls made while no operations were recorded */
	uint64_t time_most; /* sum of the latest possible ends of calls, ns, */
	uint64_t unbounded; /* and calls without such an end, in no part of that sum */
	uint64_t bytes_unknown; /* facts of unknown size, in no byte count */
	uint64_t unexplained_bytes;
	uint64_t retries;
	uint64_t errors;
	uint64_t unchecked; /* facts of unknown status */
	uint64_t copies, copy_bytes; /* copies of a message within its processes */
};

/* Whether operations and bytes are known of some of the calls. */
static inline bool cube_ops_known(const struct cube_sums *sums)
{
	return !sums->count || sums->ops_unknown < sums->count;
}

struct cube_row {
	uint64_t key[CUBE_MAX_KEYS]; /* words beyond shape->count are 0 */
	struct cube_sums sums;
};

struct cube {
	const struct cube_shape *shape;
	VEC(struct cube_row) rows; /* in order of first appearance */
	struct key_at from[CUBE_MAX_KEYS]; /* where the fact has each key, set by cube_bind() */
	struct rowset index;
};

void cube_init(struct cube *cube, const struct cube_shape *shape);
void cube_release(struct cube *cube);

/* Finds the columns of the fact that have the names of the keys. */
void cube_bind(struct cube *cube, enum fact_type type);

/* The row of this key, added if new; valid until the next call. */
struct cube_row *cube_at(struct cube *cube, const uint64_t *key);

/* The row of this key or NULL. */
const struct cube_row *cube_find(const struct cube *cube, const uint64_t *key);

void cube_sums_add(struct cube_sums *to, const struct cube_sums *from);

/* Adds one duration; end 0 or TIME_UNKNOWN counts as not known. bytes: as below. */
void cube_sums_time(struct cube_sums *sums, uint64_t start, uint64_t end,
		    enum fact_precision precision, uint64_t bytes);

/* Adds a sum of durations. bytes: that were moved meanwhile; UINT64_MAX: unknown. */
void cube_sums_timed(struct cube_sums *sums, uint64_t timed, uint64_t time_sum,
		     enum fact_precision precision, uint64_t bytes);

/*
 * Adds every row of from under the keys that both shapes have, by name; the other keys are absent.
 */
void cube_rollup(struct cube *to, const struct cube *from);

enum cube_order {
	CUBE_BY_KEYS, /* key by key in the order of the shape, strings by their text, absent first
		       */
	CUBE_BY_BYTES, /* most bytes first, then most facts, then by keys */
	CUBE_BY_TIME, /* most time first, then as CUBE_BY_BYTES */
};

/* All rows in order; the caller frees the array only. */
const struct cube_row **cube_sorted(const struct cube *cube, enum cube_order order);

/* Sorts count rows of the cube in place. */
void cube_sort(const struct cube *cube, const struct cube_row **rows, size_t count,
	       enum cube_order order);

/*
 * The rows whose first keys are prefix, in an array sorted CUBE_BY_KEYS; their number is in *count.
 * Takes logarithmic time.
 */
const struct cube_row **cube_prefix(const struct cube *cube, const struct cube_row **sorted,
				    const uint64_t *prefix, int words, size_t *count);

/*
 * Joins rows whose keys have different pointers to the same text. Facts have one pointer per text,
 * but the compiler may duplicate a constant, which must not give two rows.
 */
void cube_join(struct cube *cube);

/* The text of a key word; NULL if it is absent and the shape has no text for that. */
const char *cube_key_text(const struct cube_key *key, uint64_t word);

#endif
