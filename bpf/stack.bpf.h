/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The user's stack at a call, or at an operation outside of calls, without frame pointers: user
 * space turns each mapped file's .eh_frame into sorted rows (ucxbpf_rows.h), and the stack is
 * walked over them here.
 *
 * A walk is done once per path. It notes which words of the stack it went by: return addresses, and
 * saved %rbp where a frame is found through it. As long as a later call from the same place with
 * the same %rsp (and %rbp, where that was used) finds the same values in those words, the same walk
 * would read them again and come to the same frames: nothing is assumed.
 */
#ifndef UCXBPF_STACK_BPF_H
#define UCXBPF_STACK_BPF_H

#include "context.bpf.h"

/* Set before loading. */
const volatile __u32 stacks_on = 0;

#if defined(__TARGET_ARCH_x86)

#include "stack_walk.bpf.h"

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

/* Writes a stack's frames the first time. False: they were lost, and have to be written again. */
static __always_inline bool stack_introduce(const struct stack_walk *walk, struct outbox *box)
{
	struct stack_name name = { walk->path.id, walk->h.tgid };
	__u8 one = 1;

	if (bpf_map_lookup_elem(&stacks, &name))
		return true;
	if (!stack_note(walk, box))
		return false;
	bpf_map_update_elem(&stacks, &name, &one, BPF_ANY);
	return true;
}

/* A module or rows that are missing may be there soon: such a path is walked again. */
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
	walk->path.tgid = tgid;
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
}

struct comparing {
	struct stack_walk *walk;
	const struct stack_path *path;
};

/* The word at that address becomes the window's first; its last, if the stack ends before. */
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

	if (path && path->tgid == walk->h.tgid && stack_same(walk, path, bp))
		return path->id;
	stack_walk(walk, key, bp);
	/* a path is kept once its frames are written */
	if (stack_introduce(walk, box) && stack_final(walk))
		bpf_map_update_elem(&paths, key, &walk->path, BPF_ANY);
	return walk->path.id;
}

/* Where the walk's record begins; NULL: without memory, the stack stays unknown. */
static __always_inline struct stack_walk *stack_begin(void)
{
	return bpf_task_storage_get(&walks, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/*
 * The record that names a stack, behind that of a call or an operation, which began at walk->h.ts;
 * the stack itself goes before it if it is new.
 */
static __always_inline void stack_name(struct stack_walk *walk, struct outbox *box,
				       const struct stack_key *key, __u64 bp)
{
	__u64 id = stack_id(walk, box, key, bp);
	struct ub_call_stack *record = place(box, ub_call_stack, UB_CALL_STACK, walk->h.ts);

	record->h = walk->h;
	record->h.kind = UB_CALL_STACK;
	/* it may leave by another CPU than its call did, and comes after it all the same */
	record->h.ts++;
	record->stack = id;
}

/* The call was just entered. */
static __always_inline void stack_take(struct pt_regs *ctx, const struct hit *hit,
				       const struct ub_call *call)
{
	struct stack_key key = { call->ret_addr, hit->sp, address_space() };
	struct stack_walk *walk = stack_begin();

	if (!walk)
		return;
	walk->h = call->h;
	walk->h.call = walk->h.seq;
	walk->h.seq = 0;
	stack_name(walk, &hit->task->outbox, &key, PT_REGS_FP(ctx));
}

#else

/* The rows are made for x86-64 only, and user space refuses --stacks elsewhere. */
static __always_inline void stack_take(struct pt_regs *ctx, const struct hit *hit,
				       const struct ub_call *call)
{
}

#endif

#endif
