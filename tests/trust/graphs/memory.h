/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a stopped process as a hostile one could have it: reads of it are answered from a
 * copy in which words are replaced. A graph of objects is a number: the same number replaces the
 * same words by the same values, as long as the process lives.
 */
#ifndef TESTS_TRUST_GRAPHS_MEMORY_H
#define TESTS_TRUST_GRAPHS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_BYTES 4096u

/*
 * Addresses at which nothing is mapped, and at which graphs have structures without an end; each
 * kind has a part of its own, which begins at MADE + kind * MADE_PART.
 */
#define MADE 0x5a0000000000ull
#define MADE_PART (1ull << 38)

/* Writes the page of an endless structure at that address, into zeros. */
typedef void (*made_page)(uint64_t address, uint8_t *page);

void memory_open(pid_t pid, made_page fill);

/* Until memory_end(), reads are those of a graph, and the clock goes on by reads alone. */
void memory_begin(uint64_t graph);
void memory_end(void);

/* Replaces a word in this graph, after memory_begin(). */
void memory_replace(uint64_t address, uint64_t value);

/* Reads a word as it is in the process; 0: it cannot be read. */
uint64_t memory_word(uint64_t address);

/* The next number of this graph's own. */
uint64_t memory_dice(uint64_t sides);

/* One of the values that replace words. */
uint64_t memory_value(uint64_t at, uint64_t old);

/* A pointer that the process has in what the tracer reads of it. */
uint64_t memory_pointer(void);

struct memory_counts {
	uint64_t reads; /* served */
	uint64_t words; /* replaced in their answers */
};

extern struct memory_counts memory_counts;

#endif
