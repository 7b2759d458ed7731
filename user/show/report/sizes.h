/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of messages: how many of each class, how many came before their receive, and their
 * protocols.
 */
#ifndef UCXBPF_REPORT_SIZES_H
#define UCXBPF_REPORT_SIZES_H

#include "base/rowset.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

#define SIZE_CLASSES 65 /* 0; then 2^(n-1) to 2^n - 1 bytes */

struct size_class {
	uint64_t messages, bytes;
	/*
	 * A message was unexpected if it arrived before its receive was posted, both on the clock
	 * of one host. known: messages of which that is known.
	 */
	uint64_t known, unexpected, unexpected_bytes;
};

/* Interned texts; memory 0: not known. */
struct protocol_key {
	uint64_t op, function, memory, protocol;
	uint64_t locality; /* enum fact_locality of the operation's peer */
};

/* Operations that send by one protocol: the sizes between which a switch of protocols lies. */
struct protocol_sizes {
	struct protocol_key key;
	uint64_t count, bytes, least, most;
};

struct report_sizes {
	struct size_class classes[SIZE_CLASSES];
	VEC(struct protocol_sizes) protocols;
	struct rowset index;
};

void report_sizes_release(struct report_sizes *sizes);
void report_sizes_message(struct report_sizes *sizes, const struct fact_message *message);

/* An operation that sends, with a known protocol and size; others are left out. */
void report_sizes_op(struct report_sizes *sizes, const struct fact_op *op,
		     enum fact_locality locality);

/* Puts protocols into their order: by function, operation and memory, then by size. */
void report_sizes_finish(struct report_sizes *sizes);

/* The smallest size of a class, bytes. */
uint64_t size_class_from(int number);

#endif
