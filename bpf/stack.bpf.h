/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The user's stack at an MPI call, without frame pointers: user space turns each mapped file's
 * .eh_frame into sorted rows (ucxbpf_rows.h), and the stack is walked over them here.
 *
 * A walk is done once per path. It notes which words of the stack it went by: return addresses, and
 * saved %rbp where a frame is found through it. As long as a later call from the same place with
 * the same %rsp (and %rbp, where that was used) finds the same values in those words, the same walk
 * would read them again and come to the same frames: nothing is assumed.
 */
#ifndef UCXBPF_STACK_BPF_H
#define UCXBPF_STACK_BPF_H

#include "context.bpf.h"
#include "ucxbpf_rows.h"

#if defined(__TARGET_ARCH_x86)

#define STACK_CHECKS                                                                               \
	96 /* words that may tell one path from another; more: it is walked each time */
#define STACK_WINDOW 64 /* words that are read in one go: hardly dearer than one, power of two */
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

/* Set before loading. */
const volatile __u32 stacks_on = 0;

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
		base += half * at_most(all->range[(base + half) & (UB_MAX_RANGES - 1)].start, pc);
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

/* From a frame to its caller's; sets walk->end where there is none to go to. */
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
	/* the call, not what is behind it, tells which function it is in */
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

struct noting {
	const struct stack_walk *walk;
	struct outbox *box;
};

static long note_step(__u32 i, void *arg)
{
	struct noting *noting = arg;
	const struct stack_walk *walk = noting->walk;
	__u32 from = i * UB_STACK_PART;
	struct ub_stack *part;

	if (from > UB_MAX_DEPTH - UB_STACK_PART)
		return 1;
	part = place(noting->box, ub_stack, UB_STACK, walk->h.ts);
	part->h = walk->h;
	part->h.kind = UB_STACK;
	part->id = walk->path.id;
	part->depth = walk->depth;
	part->from = from;
	part->end = walk->end;
	__builtin_memcpy(part->pc, &walk->pcs[from], sizeof(part->pc));
	return 0;
}

/* Says whether all of it found room in the ring. An empty outbox has room for the largest stack. */
static __always_inline bool stack_note(const struct stack_walk *walk, struct outbox *box)
{
	struct noting noting = { walk, box };

	outbox_flush(box, walk->h.ts);
	bpf_loop((walk->depth + UB_STACK_PART - 1) / UB_STACK_PART, note_step, &noting, 0);
	outbox_flush(box, walk->h.ts);
	return !box->lost;
}

/* Writes a stack's frames the first time; one that was lost on the way is written again. */
static __always_inline void stack_introduce(const struct stack_walk *walk, struct outbox *box)
{
	struct stack_name name = { walk->path.id, walk->h.tgid };
	__u8 one = 1;

	if (!bpf_map_lookup_elem(&stacks, &name) && stack_note(walk, box))
		bpf_map_update_elem(&stacks, &name, &one, BPF_ANY);
}

/* What is not prepared yet may be so soon: such a path is walked again. */
static __always_inline bool stack_final(const struct stack_walk *walk)
{
	return walk->path.checks <= STACK_CHECKS && walk->end != UB_STACK_NO_MODULE &&
	       walk->end != UB_STACK_NOT_YET && walk->end != UB_STACK_UNREADABLE;
}

static __always_inline void stack_walk(struct stack_walk *walk, const struct stack_key *key,
				       __u64 bp)
{
	__u32 tgid = walk->h.tgid;
	struct walking walking = { walk, bpf_map_lookup_elem(&ranges, &tgid) };

	walk->path.id = 0;
	walk->path.bp = bp;
	walk->path.needs_bp = 0;
	walk->path.checks = 0;
	walk->pc = key->ret;
	walk->sp = key->sp + 8;
	walk->bp = bp;
	walk->bp_at = 0;
	walk->end = 0;
	walk->range = 0;
	bpf_loop(UB_MAX_DEPTH, walk_step, &walking, 0);
	if (!walk->end)
		walk->end = UB_STACK_DEEP;
	walk->path.id = stack_hash(walk->path.id, walk->end);
	if (stack_final(walk))
		bpf_map_update_elem(&paths, key, &walk->path, BPF_ANY);
}

struct comparing {
	struct stack_walk *walk;
	const struct stack_path *path;
};

/* The word at that address becomes the window's first; its last, where the stack ends before. */
static __always_inline __u64 window_move(struct stack_walk *walk, __u64 at)
{
	walk->window_at = at;
	if (!bpf_probe_read_user(walk->window, sizeof(walk->window), (void *)at))
		return walk->window[0];
	walk->window_at = at - (STACK_WINDOW - 1) * 8;
	stack_read(at, &walk->window[STACK_WINDOW - 1]);
	return walk->window[STACK_WINDOW - 1];
}

static long compare_step(__u32 i, void *arg)
{
	struct comparing *comparing = arg;
	const struct stack_check *check;
	struct stack_walk *walk = comparing->walk;
	__u64 value, word;

	if (i >= STACK_CHECKS)
		return 1;
	check = &comparing->path->check[i];
	word = (check->at - walk->window_at) >> 3;
	value = word < STACK_WINDOW ? walk->window[word] : window_move(walk, check->at);
	if (value != check->value)
		return 1;
	walk->same++;
	return 0;
}

static __always_inline bool stack_same(struct stack_walk *walk, const struct stack_path *path,
				       __u64 bp)
{
	struct comparing comparing = { walk, path };

	if (path->needs_bp && path->bp != bp)
		return false;
	walk->window_at = 0;
	walk->same = 0;
	bpf_loop(path->checks, compare_step, &comparing, 0);
	return walk->same == path->checks;
}

static __always_inline __u64 stack_id(struct stack_walk *walk, struct outbox *box,
				      const struct stack_key *key, __u64 bp)
{
	const struct stack_path *path = bpf_map_lookup_elem(&paths, key);

	if (path && stack_same(walk, path, bp))
		return path->id;
	stack_walk(walk, key, bp);
	stack_introduce(walk, box);
	return walk->path.id;
}

/* The record that names a call's stack; the stack itself goes before it if it is new. */
static __always_inline void stack_take(struct pt_regs *ctx, const struct hit *hit,
				       const struct ub_call *call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack_key key = { call->ret_addr, hit->sp, address_space() };
	struct stack_walk *walk =
		bpf_task_storage_get(&walks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct outbox *box = &hit->task->outbox;
	struct ub_call_stack *record;
	__u64 id;

	/* without memory, the call's stack stays unknown */
	if (!walk)
		return;
	walk->h = call->h;
	walk->h.call = walk->h.seq;
	walk->h.seq = 0;
	id = stack_id(walk, box, &key, PT_REGS_FP(ctx));
	record = place(box, ub_call_stack, UB_CALL_STACK, hit->ts);
	record->h = walk->h;
	record->h.kind = UB_CALL_STACK;
	/* it may leave by another CPU than its call did, and comes after it all the same */
	record->h.ts++;
	record->stack = id;
}

#else

const volatile __u32 stacks_on = 0;

/* The rows are made for x86-64 only, and user space refuses --stacks elsewhere. */
static __always_inline void stack_take(struct pt_regs *ctx, const struct hit *hit,
				       const struct ub_call *call)
{
}

#endif

#endif
