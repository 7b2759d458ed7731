/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Functions that a task has entered and that may not have returned, the innermost last: an array of
 * structs whose first member is the stack pointer at the entry. It falls from one to the next, so a
 * function that is entered ends all those at or below its stack pointer, whether or not their
 * return was seen. (Recorded frames, which are looked at as well, are in frame.bpf.h.)
 */
#ifndef UCXBPF_ENTERED_BPF_H
#define UCXBPF_ENTERED_BPF_H

#include "context.bpf.h"

struct entered {
	__u8 *first;
	__u32 size; /* of an element */
	__u32 most; /* elements; power of two */
	__u32 *depth;
};

/* The elements of the array begin with sp. */
#define ENTERED(array, depth)                                                                      \
	((struct entered){ (__u8 *)&(array)->sp, sizeof((array)[0]),                               \
			   sizeof(array) / sizeof((array)[0]), &(depth) })

static __always_inline void *entered_at(struct entered in, __u32 i)
{
	/* clang drops the mask where it knows the range; Linux 6.12 does not */
	asm volatile("" : "+r"(i));
	return in.first + (i & (in.most - 1)) * in.size;
}

/* The innermost; only with a depth above 0. */
static __always_inline void *entered_last(struct entered in)
{
	return entered_at(in, *in.depth - 1);
}

/* Drops those entered at or below that stack pointer; says how many. */
static __always_inline __u32 entered_end(struct entered in, __u64 sp)
{
	__u32 dropped = 0;

	for (int i = 0; i < in.most; i++) {
		if (!*in.depth || *(__u64 *)entered_last(in) > sp)
			break;
		--*in.depth;
		dropped++;
	}
	return dropped;
}

/* Takes off the one that returns with that stack pointer; NULL: it is not there. */
static __always_inline void *entered_pop(struct entered in, __u64 sp)
{
	if (!*in.depth || *(__u64 *)entered_last(in) != sp)
		return NULL;
	--*in.depth;
	return entered_at(in, *in.depth);
}

#endif
