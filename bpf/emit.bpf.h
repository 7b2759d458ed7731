/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Records leave through here and nowhere else: counted first, then given space, then submitted
 * without a wake-up (user space drains by time). produced = stored + dropped holds for every CPU.
 */
#ifndef UCXBPF_EMIT_BPF_H
#define UCXBPF_EMIT_BPF_H

#include "maps.bpf.h"

static __always_inline struct cpu_stats *cpu_stats(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&stats, &zero);
}

/* Counts the record, stamps cpu and cpu_seq, returns space for it or NULL. */
static __always_inline void *emit_reserve(struct ub_hdr *h, __u32 size)
{
	struct cpu_stats *st = cpu_stats();
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring, *space;

	if (!st)
		return NULL;
	h->cpu = cpu;
	h->cpu_seq = __sync_fetch_and_add(&st->cpu_seq, 1);
	__sync_fetch_and_add(&st->s.produced[h->kind & 15], 1);
	ring = bpf_map_lookup_elem(&rings, &cpu);
	space = ring ? bpf_ringbuf_reserve(ring, size, 0) : NULL;
	if (!space)
		__sync_fetch_and_add(&st->s.dropped[h->kind & 15], 1);
	return space;
}

/* A record that could not be made: produced, and dropped at once. */
static __always_inline void emit_nothing(__u8 kind)
{
	struct cpu_stats *st = cpu_stats();

	if (!st)
		return;
	__sync_fetch_and_add(&st->cpu_seq, 1);
	__sync_fetch_and_add(&st->s.produced[kind & 15], 1);
	__sync_fetch_and_add(&st->s.dropped[kind & 15], 1);
}

/* Emits a record of a fixed type: size must be a constant for the verifier. */
#define emit(record)                                                                               \
	({                                                                                         \
		void *__space = emit_reserve(&(record)->h, sizeof(*(record)));                     \
		if (__space) {                                                                     \
			__builtin_memcpy(__space, (record), sizeof(*(record)));                    \
			bpf_ringbuf_submit(__space, BPF_RB_NO_WAKEUP);                             \
		}                                                                                  \
	})

#endif
