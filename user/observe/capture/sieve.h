/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which records the session is to see: few, whatever the job does. Lives of processes and objects,
 * and stacks, all of them; calls, operations and transfers only where they carry an address that is
 * new: a call's site, a completion function, an endpoint or interface, a buffer. One per draining
 * thread. What it has forgotten passes again: the session tells new from old itself.
 */
#ifndef UCXBPF_CAPTURE_SIEVE_H
#define UCXBPF_CAPTURE_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

#include "ucxbpf.h"

#define SIEVE_SLOTS 1024 /* 16 KiB: what the ranks of one thread use at a time */

struct sieve {
	struct sieve_slot {
		uint64_t who, what;
	} slots[SIEVE_SLOTS];
	uint64_t generation;
	uint32_t pass;
	bool buffers; /* whether the session looks at buffers */
};

/*
 * Begins a pass over a ring. Everything seen is forgotten when the generation is another one: the
 * session has forgotten a process. Buffers are forgotten with each pass, since memory comes and
 * goes.
 */
void sieve_begin(struct sieve *sieve, uint64_t generation, bool buffers);

/* Whether the session is to see the record. */
bool sieve_passes(struct sieve *sieve, const struct ub_hdr *record);

#endif
