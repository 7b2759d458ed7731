/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures that a process may make up: all but the table have no end. */
#ifndef TESTS_TRUST_GRAPHS_MADE_H
#define TESTS_TRUST_GRAPHS_MADE_H

#include "observe/process/layout.h"

enum made {
	MADE_ENDPOINTS,
	MADE_RECEIVES,
	MADE_MESSAGES,
	MADE_CHUNKS,
	MADE_REGIONS,
	MADE_TABLE,
	MADE_KINDS
};

/* The worker to which they pretend to belong. */
struct made_owner {
	const struct layout *layout;
	uint64_t worker, iface;
};

extern struct made_owner made_owner;

void made_fill(uint64_t address, uint8_t *page);

/* Hangs one into the worker, in the graph that has begun. */
void made_insert(enum made kind);

/* Where the pointer to such a cache of memory types lies: MADE_REGIONS, MADE_TABLE. */
uint64_t made_cache(enum made kind);

#endif
