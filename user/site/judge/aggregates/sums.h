/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums that rules use besides transfers: over equal messages, operations and calls. Only here the
 * words and numbers of each kind are defined.
 */
#ifndef UCXBPF_JUDGE_AGGREGATES_SUMS_H
#define UCXBPF_JUDGE_AGGREGATES_SUMS_H

#include "base/rowset.h"
#include "base/vec.h"

enum sum_kind {
	SUM_WAY, /* messages: src_mem, dst_mem, chain, via, chain_reason */
	/* operations whose bytes went over several devices: those, and how many fragments each had
	   where these are few; extra: bytes, had each device carried as many as that of most */
	SUM_SPREAD,
	/* calls of collectives: function, "gpu", "host" or "both", of which memory their operations
	   were; extra: bytes of host memory */
	SUM_COLLECTIVE,
	/*
	 * operations: memory, the kind that UCX took it for, operation, function, how memory is
	 * known
	 */
	SUM_TAKEN,
	/* operations that never ended: operation, the call that waits for it; least: ns since the
	   process did anything at all, most: ns since it began. "before": both are of a call that
	   began before the trace, ns since it was first seen */
	SUM_OPEN,
	/*
	 * which rank is behind: the reason, the call that others have waited in longest, "before":
	 * since before the trace, "perhaps"; least and most: ns that it has lasted
	 */
	SUM_BEHIND,
	/*
	 * Transfers over a NIC, data and control alike, with UCX's headers, from process to peer:
	 * device, locality, "sent" or "fetched"; least: when the first began, UINT64_MAX unknown;
	 * most: when the last ended, ns of its host
	 */
	SUM_PORT,
	/* waits: "caused", "progress" or "collectives", as in struct member_time, the function and
	   the call site of that process; extra: ns */
	SUM_WAIT,
	/* operations that were not done when ucp_mem_unmap() freed their memory: operation,
	   function, place of the call */
	SUM_FREED,
	SUM_WINDOW, /* windows of captures that saw no more: host id, host name */
	SUM_KINDS
};

/* Word 0 of SUM_WAIT: the purpose of the sum. */
#define WAIT_CAUSED "caused"
#define WAIT_PROGRESS "progress"
#define WAIT_COLLECTIVES "collectives"

/* The words of SUM_WAY. */
enum { WAY_SRC_MEM, WAY_DST_MEM, WAY_CHAIN, WAY_VIA, WAY_REASON };

#define SUM_WORDS 5

struct sum {
	enum sum_kind kind;
	int process, peer; /* of messages, sender and receiver; -1: none or unknown */
	int size_class; /* of messages, as in struct traffic_cell; else 0 */
	const char *words[SUM_WORDS]; /* NULL: none or unknown; the key ends here */
	uint64_t count, bytes;
	uint64_t extra; /* a further sum */
	uint64_t least, most; /* of messages, their bytes; of a spread, fragments; else as said */
};

extern const char *const sum_kind_names[SUM_KINDS + 1]; /* NULL behind the last one */

#define SUM_KEY offsetof(struct sum, count)

/* A zeroed one is empty. */
struct sums {
	VEC(struct sum) list;
	struct rowset index; /* while facts come in */
};

void sums_release(struct sums *sums);

/* To the sum of the same key, by the places of its words. */
void sums_add(struct sums *sums, const struct sum *one);

/* By all of the key, those of one key joined; nothing can be added any more. */
void sums_order(struct sums *sums);

#endif
