/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next record of a thread as it is expected, the same in encoder and decoder: a block stores
 * only where a record differs (docs/format.md).
 *
 * A context is the records of one thread that agree in site, kind, layout, flags, in which frame
 * numbers are there, and mostly in their first payload word. It keeps what its last record had.
 */
#ifndef UCXBPF_FILE_PREDICT_H
#define UCXBPF_FILE_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "ucxbpf.h"

/* In which ways a record is not as expected; each bit has a number in a column, in this order. */
enum how {
	HOW_CONTEXT = 1 << 0, /* its context is not the one that followed last time */
	HOW_SEQ = 1 << 1,
	HOW_CALL = 1 << 2,
	HOW_OP = 1 << 3,
	HOW_RX = 1 << 4,
	HOW_DUR = 1 << 5,
	HOW_LONG = 1 << 6, /* its time is more than 32 bits from that of the thread's last one */
	HOW_WORDS = 1 << 7, /* some payload words are not those of the context's last record */
};

/* A thread's last record. */
struct thread_last {
	uint64_t ts;
	uint32_t dur;
	uint32_t seq; /* last frame number of its own */
	uint32_t call; /* the call that its next record is expected to be in */
	uint32_t history; /* of its last contexts */
	uint32_t cpu;
	uint32_t cpu_seq; /* expected of its next record */
};

/* A context's last record: how far its frame numbers are below seq. */
struct context_last {
	uint32_t seq; /* own frame number, less the thread's last one */
	uint32_t op, rx;
};

/* Which context followed last time after the same ones of a thread: number + 1, 0 = none yet. */
#define FOLLOWERS_BITS 13

struct followers {
	uint16_t context[1 << FOLLOWERS_BITS];
};

static inline uint16_t *follower(struct followers *followers, const struct thread_last *thread)
{
	return &followers->context[thread->history * 0x9e3779b1u >> (32 - FOLLOWERS_BITS)];
}

/* The last four decide. */
static inline uint32_t history_with(uint32_t history, uint32_t context)
{
	return history << 8 ^ (context + 1) * 0x85ebca6bu >> 3;
}

/* A span around the thread's last record most likely ended a little after that one. */
static inline uint32_t expected_dur(const struct thread_last *last, uint64_t ts)
{
	uint64_t dur = last->ts + last->dur - ts;
	bool around = (last->dur != 0) & (ts <= last->ts) & (dur <= UINT32_MAX);

	return (uint32_t)dur & -(uint32_t)around;
}

/* The call around a thread's next record; a frame that is in no call is one itself. */
static inline uint32_t expected_call(uint32_t before, uint32_t seq, uint32_t call)
{
	if (call)
		return call;
	return seq ? seq : before;
}

#endif
