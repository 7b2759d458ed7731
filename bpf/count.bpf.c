/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * --count: programs that count calls, operations and transfers instead of recording them. They
 * share only the sites with the recording programs: no request is read, the clock is sampled, and
 * an operation's return is awaited only where its entry does not show the outcome.
 */
#include "count_cell.bpf.h"
#include "iter.bpf.h"

#define DATATYPE_CLASS_MASK 7 /* ucp_dt_type; 0 = contiguous, the size above it */
#define DATATYPE_SIZE_SHIFT 3

/* The head of the parameters, to the datatype. */
#define PARAM_BYTES offsetof(struct request_param, user_data)
#define PARAM_WORDS (PARAM_BYTES / 8)

/* Whether MPI makes the call that is entered at that stack pointer, inside one of the user's. */
static __always_inline bool call_inner(const struct count_task *task, __u64 sp, __u64 ret)
{
	return call_live(task, sp) && in_mpi(task->tgid, ret);
}

static __always_inline void call_count(struct count_task *task, __u64 sp, __u64 ret, __u32 row)
{
	struct ub_cell *cell;

	/* slots of ended operations may keep their values under frames that do not write there */
	entered_end(OPS(task), sp);
	/* nor does the call before go on, wherever this one is made */
	if (task->call_sp > sp)
		entered_end(OPS(task), task->call_sp);
	task->call_sp = sp;
	task->call_ret = ret;
	task->call = row;
	cell = cell_at(cell_number(task, UB_ROWS_CALL(row), NULL, 0));
	if (cell)
		__sync_fetch_and_add(&cell->count, 1);
}

SEC("?uprobe")
int count_call(struct pt_regs *ctx)
{
	const struct ub_site *site;
	__u32 row, number = 0;
	struct entry e;
	__u64 ret;

	own_stack(ctx);
	if (!entry_begin(&e, ctx))
		return 0;
	row = e.hit.row;
	if (derives) {
		site = bpf_map_lookup_elem(&sites, &row);
		number = site ? site->derivable : 0;
		if (unlikely(calls_away >> number & 1))
			return 0;
	}
	ret = slot_value(e.hit.sp);
	if (call_inner(e.task, e.hit.sp, ret)) {
		entered_end(OPS(e.task), e.hit.sp);
		return 0;
	}
	call_count(e.task, e.hit.sp, ret, row);
	if (!derives)
		return 0;
	e.task->call_awaits = number;
	call_checked(&e.task->callers, number);
	return 0;
}

/*
 * Whether the probe of the call did not see it, whose operation is being entered by a path (-1:
 * unknown). Not static: verified once.
 */
__weak __noinline int call_unseen(struct count_task *task, const struct op_entered *op, int at)
{
	const struct caller_path *path = NULL;
	bool same, unseen = false;
	__u64 site;

	if (!task || !op)
		return 0;
	if (at >= 0)
		path = &task->callers.path[at & (CALLER_PATHS - 1)];
	if (path && path->number && (calls_checked || call_is_derived(&task->callers, path))) {
		site = read_u64(path->call_sp);
		if (call_inner(task, path->call_sp, site))
			return 0;
		same = task->call_awaits && task->call_sp == path->call_sp &&
		       task->call_ret == site && task->call == path->row;
		unseen = call_judge(&task->callers, path, same) == CALL_UNSEEN;
		task->call_awaits = 0;
	} else if (task->call_awaits && call_live(task, op->sp)) {
		if (path)
			call_differs(&task->callers, task->call_awaits);
		task->callers.awaited = task->call_awaits = 0;
	}
	return unseen;
}

/*
 * The call of an operation that is being entered: one that its probe did not see is counted. The
 * functions that this takes call each other as little as possible: their stacks would add up.
 */
static __always_inline void count_call_of(struct count_task *task, const struct op_entered *op)
{
	int at = caller_path(&task->callers, op);
	const struct caller_path *path = &task->callers.path[at & (CALLER_PATHS - 1)];

	if (call_unseen(task, op, at))
		call_count(task, path->call_sp, read_u64(path->call_sp), path->row);
}

/* Distance upwards in the caller's stack, in words; STACK_WORDS: beyond the words that one read
 * covers.
 */
static __always_inline __u32 words_up(__u64 sp, __u64 address, __u32 words)
{
	__u64 up = (address - sp) / 8;

	return address < sp || address & 7 || up > STACK_WORDS - words ? STACK_WORDS : up;
}

/*
 * One read takes all words at an operation's entry that are needed: its own slot, the parameters,
 * which are usually the caller's, and the slot of the MPI call. A read is expensive whatever its
 * length.
 */
struct around {
	__u32 call, param; /* where in task->stack; STACK_WORDS: elsewhere */
};

static __always_inline void read_around(const struct entry *e, struct around *around, __u64 param)
{
	__u32 words = 1;

	around->call = words_up(e->hit.sp, e->task->call_sp, 1);
	around->param = words_up(e->hit.sp, param, PARAM_WORDS);
	if (around->call < STACK_WORDS)
		words = around->call + 1;
	if (around->param < STACK_WORDS && around->param + PARAM_WORDS > words)
		words = around->param + PARAM_WORDS;
	if (words > STACK_WORDS)
		words = STACK_WORDS;
	bpf_probe_read_user(e->task->stack, words * 8, (void *)e->hit.sp);
}

static __always_inline __u64 stack_word(const struct count_task *task, __u32 i)
{
	asm volatile("" : "+r"(i)); /* as in entered_at() */
	return task->stack[i & (STACK_WORDS - 1)];
}

static __always_inline bool call_around(const struct entry *e, const struct around *around)
{
	const struct count_task *task = e->task;

	if (!SLOT_HAS_RETURN || around->call >= STACK_WORDS)
		return call_live(task, e->hit.sp);
	return e->hit.sp < task->call_sp && call_holds(task, stack_word(task, around->call));
}

/* Whether the entry shows an operation's payload. */
static __always_inline bool is_sized(__u8 what)
{
	return what != UB_OP_TAG_RECV && what != UB_OP_SIZE_OUT && what != UB_OP_DATA_OUT;
}

static __always_inline bool read_param(const struct entry *e, const struct around *around,
				       struct request_param *param)
{
	__u64 at = entry_arg(e, e->hit.site->arg_param);

	if (around->param < STACK_WORDS) {
		const __u64 *words = &e->task->stack[around->param & (STACK_WORDS - 1)];

		if (around->param > STACK_WORDS - PARAM_WORDS)
			return false;
		__builtin_memcpy(param, words, PARAM_BYTES);
		return true;
	}
	return !bpf_probe_read_user(param, PARAM_BYTES, (void *)at);
}

/* Payload of an operation; false if its entry does not show it. */
static __always_inline bool op_bytes(const struct entry *e, const struct around *around,
				     __u64 *bytes)
{
	const struct ub_site *site = e->hit.site;
	struct request_param param;

	*bytes = entry_arg(e, site->arg_count);
	if (!is_sized(site->what))
		return false;
	if (!site->arg_count || !site->arg_param)
		return true;
	if (!read_param(e, around, &param))
		return false;
	if (!(param.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE))
		return true;
	if (!param.datatype || param.datatype & DATATYPE_CLASS_MASK)
		return false;
	*bytes *= param.datatype >> DATATYPE_SIZE_SHIFT;
	return true;
}

static __always_inline void op_add(struct count_op *op, struct count_task *task, __u64 bytes)
{
	struct ub_cell *cell;

	op->cell = cell_number(task, op->rows, NULL, op->obj);
	cell = cell_at(op->cell);
	if (!cell)
		return;
	__sync_fetch_and_add(&cell->count, 1);
	if (bytes)
		__sync_fetch_and_add(&cell->bytes, bytes);
}

/* Entries that may have found nothing, which only the return shows; they do not count then. */
static __always_inline bool counts_at_return(__u8 what)
{
	return what == UB_OP_PROBE || what == UB_OP_DATA_OUT;
}

/* A place for an operation entered at that stack pointer. */
static __always_inline struct count_op *op_push(struct count_task *task, __u64 sp)
{
	entered_end(OPS(task), sp);
	if (task->ops >= COUNT_FRAMES) {
		count_deep();
		task->ops = 0;
	}
	return entered_at(OPS(task), task->ops++);
}

/* may_return: the kernel asks whether we want the return. Returns 1 if not. */
static __always_inline int op_count(struct pt_regs *ctx, bool may_return)
{
	struct around around;
	struct count_op *op;
	struct entry e;
	__u64 bytes = 0;
	bool sized, at_return;

	if (!entry_begin(&e, ctx) || !entry_args(&e, ctx))
		return 1;
	if (calls_wanted(&e.task->callers)) {
		struct op_entered entered = { e.hit.sp, PT_REGS_FP(ctx), slot_value(e.hit.sp) };

		count_call_of(e.task, &entered);
	} else {
		e.task->call_awaits = 0; /* see frame_around_op() */
	}
	at_return = counts_at_return(e.hit.site->what);
	op = op_push(e.task, e.hit.sp);
	op->sp = e.hit.sp;
	op->what = e.hit.site->what;
	op->obj = entry_arg(&e, e.hit.site->arg_obj);
	op->header = entry_arg(&e, e.hit.site->arg_aux);
	op->moved = 0;
	op->error = 0;
	op->start = may_return && count_timed(e.task) ? bpf_ktime_get_ns() : 0;
	op->span = at_return || op->start || (may_return && process_failed(e.task->tgid));
	read_around(&e, &around, is_sized(op->what) ? entry_arg(&e, e.hit.site->arg_param) : 0);
	op->ret = e.task->stack[0];
	sized = op_bytes(&e, &around, &bytes);
	op->buffer =
		data_at(entry_arg(&e, e.hit.site->arg_buffer), bytes, is_sized(op->what) && !sized);
	op->rows = UB_ROWS_OP(e.hit.row) | UB_ROWS_CLASS(sized ? size_class(bytes) : 0) |
		   UB_ROWS_FLAGS(sized ? 0 : UB_CELL_UNSIZED);
	if (call_around(&e, &around))
		op->rows |= UB_ROWS_CALL(e.task->call);
	if (!at_return)
		op_add(op, e.task, sized ? bytes : 0);
	if (op->what == UB_OP_CLOSE)
		ep_mark_over(e.task->tgid, op->obj);
	return !op->span;
}

static __always_inline int count_op_enter(struct pt_regs *ctx)
{
	return op_count(ctx, true);
}

static __always_inline struct count_op *op_pop(struct count_task *task, __u64 sp)
{
	struct count_op *op;

	entered_end(OPS(task), sp - 1);
	op = entered_pop(OPS(task), sp);
	return op && op->span ? op : NULL;
}

static __always_inline int count_op_leave(struct pt_regs *ctx)
{
	struct count_task *task = count_return();
	struct count_op *op = task ? op_pop(task, PT_REGS_SP(ctx) - SP_AFTER_RETURN) : NULL;
	bool found = PT_REGS_RC(ctx), at_return;
	__u32 status = error_of(PT_REGS_RC(ctx));
	struct ub_cell *cell;

	if (!op)
		return 0;
	if (unlikely(status && status != op->error && op->what != UB_OP_CANCEL))
		count_failure(task, op->rows & ROWS_OF(0, 2 * UB_ROW_BITS), status, NULL, op->obj);
	at_return = counts_at_return(op->what);
	if (at_return && !found)
		return 0;
	if (at_return)
		op_add(op, task, 0);
	/* one that returns a request goes on: its time is not known */
	cell = op->start && (at_return || !found) ? cell_at(op->cell) : NULL;
	if (cell)
		cell_time(cell, op->start);
	return 0;
}

SPAN(count_op, count_op_enter, count_op_leave)

SEC("?uprobe")
int count_op_only(struct pt_regs *ctx)
{
	own_stack(ctx);
	op_count(ctx, false);
	return 0;
}

/* Cost of --count per task: task_hits (task.bpf.c) of the programs that count. */
SEC("iter/task")
int count_hits(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct count_task *task = p ? bpf_task_storage_get(&count_tasks, p, NULL, 0) : NULL;
	struct ub_task_hits hits = {};

	if (!task)
		return 0;
	hits.tgid = p->tgid;
	hits.tid = p->pid;
	hits.hits[UB_GROUP_UCP] = task->hits;
	hits.returns[UB_GROUP_UCP] = task->returns;
	bpf_seq_write(ctx->meta->seq, &hits, sizeof(hits));
	return 0;
}
