/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations by their algorithm. */
#ifndef UCXBPF_REPORT_COLLECTIVES_H
#define UCXBPF_REPORT_COLLECTIVES_H

#include "base/rowset.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

/* Interned texts; ranks negative: not known. */
struct collective_key {
	uint64_t function, comm, algorithm, reason;
	int64_t ranks;
};

struct collective_row {
	struct collective_key key;
	uint64_t count, messages, bytes; /* sums */
	uint64_t numbered; /* operations with a number */
	uint64_t first_sequence, last_sequence; /* the least and the greatest number; 0: none */
	int context; /* of all of them; -1: unknown, or several */
	uint64_t least, most; /* bytes of an operation */
	uint64_t rounds, most_sent; /* the most of an operation; rounds 0: not known */
	bool rounds_bound, bytes_bound; /* of some operation, as facts have it */
};

struct report_collectives {
	VEC(struct collective_row) rows;
	struct rowset index;
};

void report_collectives_release(struct report_collectives *collectives);
void report_collectives_add(struct report_collectives *collectives,
			    const struct fact_collective *fact);

/* Puts rows into their order: by function, ranks and bytes. */
void report_collectives_finish(struct report_collectives *collectives);

#endif
