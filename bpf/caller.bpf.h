/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * MPI calls without a probe: the stack of an operation leads to the call that made it.
 *
 * User space supplies the addresses of MPI code, and how its frames lead to the next return address
 * (.eh_frame). A path goes from the operation through frames of the MPI library only, to a function
 * that makes one operation per call: each operation on such a path is a call of its own. The stack
 * words of a path are compared each time, so nothing is assumed.
 */
#ifndef UCXBPF_CALLER_BPF_H
#define UCXBPF_CALLER_BPF_H

#include "frame.bpf.h"
#include "ucxbpf_rows.h"

/* Rows of all MPI libraries, one after the other; appended by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct ub_caller);
} callers SEC(".maps");

/* Read by user space, summed over CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UB_DERIVABLES);
	__type(key, __u32);
	__type(value, struct ub_derived);
} derived SEC(".maps");

/*
 * Written by user space. Masks have a bit for each function (ub_site.derivable). A probe being
 * removed still counts until calls are derived; one being placed counts before they no longer are.
 */
volatile __u32 calls_away = 0; /* their probes record nothing */
volatile __u32 calls_derived = 0; /* an operation whose call was not seen makes its record */
volatile __u32 calls_checked = 0; /* number of the check that is under way; 0: none */

/*
 * Also written by user space. A call entered before the probes were placed again may make its
 * operation at any time after: its task may have waited for a CPU in between.
 */
volatile __u32 calls_back = 0; /* how often probes were placed again */
volatile __u32 calls_back_at[UB_DERIVABLES] = {}; /* which of these was the function's last */

volatile __u32 callers_generation = 1; /* raised when ranges have changed */

/* Operations from unknown code, while their calls were looked for. */
volatile __u64 callers_unknown = 0;

/* Whether operations look for their calls at all; set before loading. */
#ifndef derives
const volatile __u32 derives = 0;
#endif

/* Whether an operation has to look for its call now. */
static __always_inline bool calls_wanted(const struct caller_paths *paths)
{
	return derives &&
	       (calls_checked | (calls_derived & ~UB_SHORTS) || paths->back != calls_back);
}

#define CALLER_STEPS 4

static __always_inline struct ub_derived *derived_of(__u32 number)
{
	__u32 key = number & (UB_DERIVABLES - 1);

	return bpf_map_lookup_elem(&derived, &key);
}

/* Not static: verified once, and not on each way here. */
__weak __noinline int derived_add(__u32 number, __u32 word)
{
	struct ub_derived *counts = derived_of(number);

	if (counts && word < sizeof(*counts) / sizeof(__u64))
		__sync_fetch_and_add((__u64 *)counts + word, 1);
	return 0;
}

#define derived_count(number, what) derived_add(number, offsetof(struct ub_derived, what) / 8)

struct caller_search {
	__u64 base, length;
	__u32 pc;
};

static long caller_search_step(__u32 i, void *arg)
{
	struct caller_search *search = arg;
	__u64 half = search->length >> 1;
	__u32 index = search->base + half;
	const struct ub_caller *caller;

	if (!half)
		return 1;
	caller = bpf_map_lookup_elem(&callers, &index);
	if (!caller)
		return 1;
	if (caller->pc <= search->pc)
		search->base += half;
	search->length -= half;
	return 0;
}

#define CALLER_SEARCH_STEPS 24

/* The code before a return address; NULL: in no MPI library. */
static __always_inline const struct ub_caller *caller_at(const struct ub_caller_ranges *ranges,
							 __u64 pc)
{
	struct caller_search search = {};
	__u32 index;

	/* the call instruction, not the one after it, lies in the calling function */
	pc--;
	for (int i = 0; i < UB_CALLER_RANGES; i++) {
		if (pc < ranges->range[i].start || pc >= ranges->range[i].end)
			continue;
		search.base = ranges->range[i].first;
		search.length = ranges->range[i].count;
		search.pc = pc - ranges->range[i].bias;
		break;
	}
	if (!search.length)
		return NULL;
	bpf_loop(CALLER_SEARCH_STEPS, caller_search_step, &search, 0);
	index = search.base;
	return bpf_map_lookup_elem(&callers, &index);
}

static __always_inline bool path_note(struct caller_path *path, __u64 at, __u64 value)
{
	__u32 n = path->checks;

	if (n >= CALLER_CHECKS)
		return false;
	path->at[n & (CALLER_CHECKS - 1)] = at;
	path->value[n & (CALLER_CHECKS - 1)] = value;
	path->checks = n + 1;
	return true;
}

struct caller_walk {
	struct caller_path *path;
	const struct ub_caller_ranges *ranges;
	__u64 pc, sp, bp;
	__u64 bp_at; /* where bp was read from; 0: it is the register */
	__u32 unknown; /* its code: another tracer awaits its return, or MPI loaded it just now */
};

/* The frame's base; 0: not found. */
static __always_inline __u64 caller_base(struct caller_walk *walk, __u32 rule)
{
	if (UB_ROW_MODE(rule) == UB_ROW_RSP)
		return walk->sp + UB_ROW_CFA(rule);
	walk->path->needs_bp |= !walk->bp_at;
	if (walk->bp_at && !path_note(walk->path, walk->bp_at, walk->bp))
		return 0;
	return walk->bp + UB_ROW_CFA(rule);
}

static long caller_step(__u32 i, void *arg)
{
	struct caller_walk *walk = arg;
	struct caller_path *path = walk->path;
	const struct ub_caller *caller = caller_at(walk->ranges, walk->pc);
	__u32 saved;
	__u64 base;

	if (!caller)
		return 1;
	walk->unknown = 0;
	if (caller->what == UB_CALLER_OTHER)
		return 1;
	base = caller_base(walk, caller->rule);
	if (base <= walk->sp)
		return 1;
	if (caller->what == UB_CALLER_CALL) {
		path->call_sp = base - 8;
		path->row = caller->row;
		path->number = caller->number;
		return 1;
	}
	saved = UB_ROW_BP(caller->rule);
	if (saved) {
		walk->bp_at = base - saved * 8;
		walk->bp = read_u64(walk->bp_at);
	}
	walk->pc = read_u64(base - 8);
	walk->sp = base;
	walk->unknown = is_trampoline(walk->pc);
	return walk->unknown || !path_note(path, base - 8, walk->pc);
}

/* Walks the stack from an operation's entry. False: it is unknown where that leads. */
static __always_inline bool caller_find(struct caller_path *path)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct caller_walk walk = {
		.path = path, .pc = path->ret, .sp = path->sp + 8, .bp = path->bp, .unknown = 1
	};

	path->generation = 0;
	path->row = path->number = 0;
	path->checks = 0;
	path->needs_bp = 0;
	walk.ranges = bpf_map_lookup_elem(&caller_ranges, &tgid);
	if (!walk.ranges)
		return false;
	bpf_loop(CALLER_STEPS, caller_step, &walk, 0);
	if (walk.unknown)
		return false;
	path->generation = callers_generation;
	return true;
}

static __always_inline bool path_holds(const struct caller_path *path, __u64 ret, __u64 sp,
				       __u64 bp)
{
	if (path->ret != ret || path->sp != sp || path->generation != callers_generation ||
	    (path->needs_bp && path->bp != bp))
		return false;
	for (int i = 0; i < CALLER_CHECKS; i++) {
		if (i >= path->checks)
			break;
		if (read_u64(path->at[i]) != path->value[i])
			return false;
	}
	return true;
}

struct op_entered {
	__u64 sp, bp, ret;
};

/*
 * Finds the path of an operation: its index in *paths, -1 if it is not known. Not static: verified
 * once.
 */
__weak __noinline int caller_path(struct caller_paths *paths, const struct op_entered *op)
{
	struct caller_path *path;
	__u64 ret;
	__u32 at;

	if (!paths || !op)
		return -1;
	ret = op->ret;
	at = (ret ^ ret >> 7 ^ op->sp >> 4) & (CALLER_PATHS - 1);
	path = &paths->path[at];
	if (likely(path_holds(path, ret, op->sp, op->bp)))
		return at;
	path->ret = ret;
	path->sp = op->sp;
	path->bp = op->bp;
	if (caller_find(path))
		return at;
	__sync_fetch_and_add(&callers_unknown, 1);
	return -1;
}

/*
 * A call was entered, whose operation is awaited if it has a number. While a check is under way:
 * the task's call before it made none if that is awaited still.
 */
static __always_inline void call_checked(struct caller_paths *paths, __u32 number)
{
	__u32 check = calls_checked;

	paths->back = calls_back;
	if (number)
		derived_count(number, seen);
	if (!check)
		return;
	if (paths->check == check && paths->awaited)
		derived_count(paths->awaited, without);
	paths->check = check;
	paths->awaited = number;
}

/* A task is checked from its first call on: it may have been inside one as the check began. */
static __always_inline void call_differs(const struct caller_paths *paths, __u32 number)
{
	if (calls_checked && paths->check == calls_checked)
		derived_count(number, differing);
}

/*
 * Whether an operation of this task may be in that function without its probe having seen it: the
 * probe is away, or no probe has seen a call of the task since it came back, be it long ago.
 */
static __always_inline bool call_is_derived(const struct caller_paths *paths,
					    const struct caller_path *path)
{
	const __u32 number = path->number & (UB_DERIVABLES - 1);

	return number && (calls_derived >> number & 1 || paths->back < calls_back_at[number]);
}

enum call_verdict {
	CALL_NONE, /* its call is unknown */
	CALL_SEEN, /* its call was seen by a probe */
	CALL_UNSEEN, /* its call must be recorded */
};

/* same: a probe has seen a call by that path, whose operation was awaited. */
static __always_inline enum call_verdict call_judge(struct caller_paths *paths,
						    const struct caller_path *path, bool same)
{
	if (same) {
		paths->awaited = 0;
		if (calls_checked)
			derived_count(path->number, checked);
		return CALL_SEEN;
	}
	if (call_is_derived(paths, path)) {
		derived_count(path->number, derived);
		return CALL_UNSEEN;
	}
	call_differs(paths, path->number);
	return CALL_NONE;
}

#endif
