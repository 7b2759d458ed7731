/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A part of stack.bpf.h: one walk over the rows of the mapped files, from frame to frame. x86-64.
 */
#ifndef UCXBPF_STACK_WALK_BPF_H
#define UCXBPF_STACK_WALK_BPF_H

#include "context.bpf.h"
#include "ucxbpf_rows.h"

#define STACK_CHECKS                                                                               \
	96 /* words that may tell one path from another; more: it is walked each time */
#define STACK_WINDOW 64 /* words read in one go: hardly more expensive than one, power of two */
#define RANGE_STEPS 9 /* 2^9 = UB_MAX_RANGES */
#define ROW_STEPS 24

struct stack_check {
	__u64 at, value;
};

struct stack_key {
	__u64 ret, sp;
	__u64 mm; /* address space: a pid or a program that comes after is another one */
};

struct stack_path {
	__u64 id;
	__u64 bp; /* %rbp at the call */
	__u32 needs_bp;
	__u32 checks;
	__u32 tgid, pad; /* a process may get the address space of one that has ended */
	struct stack_check check[STACK_CHECKS];
};

/* One walk; lives in task storage, since a task may lose its CPU in the middle. */
struct stack_walk {
	struct stack_path path;
	__u64 pc, sp, bp;
	__u64 bp_at; /* where bp was read from; 0: it is the register */
	__u32 depth;
	__u32 end; /* enum ub_stack_end, 0 = not there yet */
	__u32 range; /* the last one that a frame was in */
	__u32 same; /* comparing: checks that held */
	__u64 window_at;
	__u64 window[STACK_WINDOW];
	__u64 pcs[UB_MAX_DEPTH];
	struct ub_hdr h; /* of the records that it makes */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_walk);
} walks SEC(".maps");

/* Rows of all files, one after the other; appended by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct ub_row);
} rows SEC(".maps");

/* tgid -> its executable mappings; written by user space as they change. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct ub_process_ranges);
} ranges SEC(".maps");

/* Paths that were walked. Full: the least recently used one is walked again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct stack_key);
	__type(value, struct stack_path);
} paths SEC(".maps");

/* (tgid, id) of stacks that were written. Full: one is written again. */
struct stack_name {
	__u64 id, tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct stack_name);
	__type(value, __u8);
} stacks SEC(".maps");

static __always_inline __u64 stack_hash(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* 1 where a <= b, without a branch for the verifier to follow; both below 2^63. */
static __always_inline __u64 at_most(__u64 a, __u64 b)
{
	return (a - b - 1) >> 63;
}

static __always_inline __u64 range_start(struct ub_process_ranges *all, __u64 i)
{
	asm volatile("" : "+r"(i)); /* as in frame_at() */
	return all->range[i & (UB_MAX_RANGES - 1)].start;
}

/* The mapping around pc, usually the last frame's. */
static __always_inline struct ub_range *stack_range(struct stack_walk *walk,
						    struct ub_process_ranges *all, __u64 pc)
{
	__u64 base = walk->range & (UB_MAX_RANGES - 1), half = UB_MAX_RANGES / 2;
	struct ub_range *range;

	if (!all)
		return NULL;
	range = &all->range[base];
	if (pc >= range->start && pc < range->end)
		return range;
	base = 0;
	for (int i = 0; i < RANGE_STEPS; i++, half >>= 1)
		base += half * at_most(range_start(all, base + half), pc);
	walk->range = base & (UB_MAX_RANGES - 1);
	range = &all->range[base & (UB_MAX_RANGES - 1)];
	return pc >= range->start && pc < range->end ? range : NULL;
}

struct row_search {
	__u64 base, length;
	__u32 pc;
};

static long row_step(__u32 i, void *arg)
{
	struct row_search *search = arg;
	__u64 half = search->length >> 1;
	__u32 index = search->base + half;
	struct ub_row *row;

	if (!half)
		return 1;
	row = bpf_map_lookup_elem(&rows, &index);
	if (!row)
		return 1;
	search->base += half * at_most(row->pc, search->pc);
	search->length -= half;
	return 0;
}

static __always_inline struct ub_row *stack_row(const struct ub_range *range, __u64 pc)
{
	struct row_search search = { range->first, range->count, pc - range->bias };
	__u32 index;

	bpf_loop(ROW_STEPS, row_step, &search, 0);
	index = search.base;
	return bpf_map_lookup_elem(&rows, &index);
}

static __always_inline void stack_check(struct stack_walk *walk, __u64 at, __u64 value)
{
	__u32 n = walk->path.checks++;

	if (n < STACK_CHECKS)
		walk->path.check[n] = (struct stack_check){ at, value };
}

static __always_inline bool stack_read(__u64 at, __u64 *value)
{
	return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
}

/* The frame's base is found through %rbp: it matters from where that came. */
static __always_inline void stack_check_bp(struct stack_walk *walk)
{
	if (walk->bp_at)
		stack_check(walk, walk->bp_at, walk->bp);
	else
		walk->path.needs_bp = 1;
}

/* The frame's base; 0: not readable. */
static __always_inline __u64 stack_base(struct stack_walk *walk, __u32 rule)
{
	__u64 base = 0;

	if (UB_ROW_MODE(rule) == UB_ROW_RSP)
		return walk->sp + UB_ROW_CFA(rule);
	stack_check_bp(walk);
	if (UB_ROW_MODE(rule) == UB_ROW_RBP)
		return walk->bp + UB_ROW_CFA(rule);
	stack_read(walk->bp - UB_ROW_CFA(rule), &base);
	stack_check(walk, walk->bp - UB_ROW_CFA(rule), base);
	return base;
}

/* Goes from a frame to its caller's; sets walk->end where that is impossible. */
static __always_inline void stack_up(struct stack_walk *walk, __u32 rule)
{
	__u32 saved = UB_ROW_BP(rule);
	__u64 base;

	if (saved >= UB_ROW_STOP) {
		walk->end = saved - UB_ROW_STOP;
		return;
	}
	base = stack_base(walk, rule);
	if (base <= walk->sp) {
		walk->end = UB_STACK_LOST;
		return;
	}
	if (saved || UB_ROW_MODE(rule) == UB_ROW_REALIGNED) {
		walk->bp_at = saved ? base - saved * 8 : walk->bp;
		if (!stack_read(walk->bp_at, &walk->bp))
			walk->end = UB_STACK_UNREADABLE;
	}
	if (!stack_read(base - 8, &walk->pc))
		walk->end = UB_STACK_UNREADABLE;
	stack_check(walk, base - 8, walk->pc);
	walk->sp = base;
}

struct walking {
	struct stack_walk *walk;
	struct ub_process_ranges *ranges;
};

static long walk_step(__u32 i, void *arg)
{
	struct walking *walking = arg;
	struct stack_walk *walk = walking->walk;
	struct ub_range *range;
	struct ub_row *row;

	walk->pcs[i & (UB_MAX_DEPTH - 1)] = walk->pc;
	walk->path.id = stack_hash(walk->path.id, walk->pc);
	walk->depth = i + 1;
	/* the call instruction, not the one after it, lies in the calling function */
	range = stack_range(walk, walking->ranges, walk->pc - 1);
	row = range && range->count ? stack_row(range, walk->pc - 1) : NULL;
	if (row)
		stack_up(walk, row->rule);
	else if (walking->ranges)
		walk->end = range ? range->first : UB_STACK_NO_MODULE;
	else
		walk->end = UB_STACK_NOT_YET;
	return walk->end != 0;
}

#endif
