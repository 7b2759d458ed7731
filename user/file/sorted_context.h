/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context is what records of one thread at one site have in common; a chunk's records are stored
 * context by context. Also the running state from which the header fields of the next record of a
 * thread are predicted.
 */
#ifndef UCXBPF_FILE_SORTED_CONTEXT_H
#define UCXBPF_FILE_SORTED_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/format.h"

struct context {
	uint64_t key; /* first payload word of a keyed kind, else 0 */
	uint32_t tgid, tid;
	uint16_t cpu, site;
	uint8_t kind, layout;
	uint16_t flags;
	uint32_t frames; /* enum frames */
	uint32_t count; /* records of this chunk */
};

_Static_assert(sizeof(struct context) == 32, "hashed as words");

#define CONTEXT_FIELDS 10
struct context_field {
	uint8_t offset, width;
};
/* The columns of the context table, in file order. */
extern const struct context_field context_fields[CONTEXT_FIELDS];

static inline uint64_t context_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ULL;
	uint64_t h = (a ^ a >> 29) * odd;

	h = (h ^ b ^ h >> 32) * odd;
	h = (h ^ c ^ h >> 32) * odd;
	h = (h ^ d ^ h >> 32) * odd;
	return h ^ h >> 32;
}

/* What is predicted from: per thread, and the last cpu_seq per CPU. */
struct thread_state {
	uint64_t ts;
	uint32_t dur;
	uint32_t seq;
};

#define CONTEXT_HASH_SLOTS (2 * CHUNK_MAX_RECORDS)

/* Slots to use for up to n entries, a power of two: clearing all for a small chunk would be dear.
 */
static inline uint32_t context_slots(uint32_t n)
{
	uint32_t size = 64;

	while (size < 2 * n)
		size *= 2;
	return size;
}

struct threads {
	struct thread_state state[CHUNK_MAX_RECORDS];
	uint32_t of_context[CHUNK_MAX_RECORDS]; /* thread number of each context */
	uint32_t cpu_seq[1 << 16];
	uint32_t slots[CONTEXT_HASH_SLOTS]; /* context number + 1 */
};

/* Numbers the threads of n contexts; their state starts at base_ts. */
void threads_init(struct threads *threads, const struct context *contexts, uint32_t n,
		  uint64_t base_ts);

/* The residuals of one record's header: what prediction leaves over. */
enum residual { RES_TS, RES_CPU_SEQ, RES_SEQ, RES_CALL, RES_OP, RES_RX, RES_DUR, RESIDUALS };
extern const uint8_t residual_width[RESIDUALS];

/* Fills the record's predicted fields from res[], and moves the state on. */
void header_decode(struct threads *threads, uint32_t context, const struct context *c,
		   const uint64_t res[RESIDUALS], struct ub_hdr *h);

#endif
