/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consequences of each operation, call and message: sets of kinds of operations and transfers,
 * by which the filters of the page select them. A kind is a combination of codes (causes_keys[]).
 * Sets are kept as a tree: each is its parent and one kind more, and kinds ascend from the root,
 * which is the empty set, so that equal sets have one number.
 *
 * They are found in a scan of all facts before those of the page: an operation's transfers may come
 * after it, and after the call that made it.
 */
#ifndef UCXBPF_PAGE_CAUSES_H
#define UCXBPF_PAGE_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/rowset.h"
#include "base/vec.h"
#include "explain/facts/columns.h"

#define CAUSES_KEYS 14

/* The columns of a kind. */
extern const enum fact_key causes_keys[CAUSES_KEYS];

/* For an operation, or transfers; memory of an operation is at both ends. */
enum causes_layer { CAUSES_OP, CAUSES_TRANSFER };

struct causes_kind {
	uint32_t layer, code[CAUSES_KEYS];
};

struct causes_set {
	uint32_t parent, last; /* last: number of the kind that the parent lacks, its highest */
	uint32_t count;
};

struct page_causes {
	bool known; /* a scan found them */
	bool given_up; /* too many sets: all are unknown */
	VEC(struct causes_kind) kinds;
	struct rowset index;
	VEC(struct causes_set) sets; /* 0: the empty one */
	struct map sums; /* (set, kind) -> number of the set of both */
	VEC(uint32_t) of; /* by the id of an operation or a call: its set */
	VEC(uint32_t) calls; /* by the id of an operation, in the scan: that of its call, 0 none */
	VEC(uint8_t) sizes; /* by the id of a call: its size class */
};

void page_causes_init(struct page_causes *causes);
void page_causes_release(struct page_causes *causes);

/*
 * In the scan. key: codes by enum fact_key: memory of an operation as source and destination;
 * process: 0, or another one than that of the operation.
 */
void page_causes_add(struct page_causes *causes, uint64_t id, enum causes_layer layer,
		     const uint32_t *key);
void page_causes_made(struct page_causes *causes, uint64_t call, uint64_t op);
void page_causes_call(struct page_causes *causes, uint64_t call, uint8_t size);

/* Adds to each call the kinds that its operations caused. */
void page_causes_end(struct page_causes *causes);

/* The set of an operation or a call, plus 1; 0: not known. id 0: no operation, the empty set. */
uint32_t page_causes_code(const struct page_causes *causes, uint64_t id);

/* The size class of a call, 0: not known. */
uint8_t page_causes_size(const struct page_causes *causes, uint64_t call);

#endif
