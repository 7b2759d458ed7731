/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoder's first step: which contexts the records of a block have, and their new order. */
#ifndef UCXBPF_FILE_ENCODE_H
#define UCXBPF_FILE_ENCODE_H

#include <stdint.h>

#include "file/codec.h"
#include "file/context.h"

struct grouping {
	uint32_t keyed; /* kinds whose key is in use, by bit */
	uint32_t n; /* contexts, sorted by kind */
	struct context contexts[ENCODER_RECORDS];
	uint32_t of_record[ENCODER_RECORDS];
	uint32_t next[ENCODER_RECORDS]; /* place of a context's next record in the new order */
	const struct ub_hdr *sorted[ENCODER_RECORDS]; /* filled by the encoder */
	/* 0 where a context followed the one before it as it did last time, else its number + 1 */
	uint64_t successor_misses[ENCODER_RECORDS];
	struct context found[ENCODER_RECORDS]; /* in order of appearance */
	uint32_t successor[ENCODER_RECORDS];
	uint32_t slots[2 * ENCODER_RECORDS]; /* context number + 1 */
};

void group_records(struct grouping *grouping, const void *records, uint32_t n, uint32_t keyed);

#endif
