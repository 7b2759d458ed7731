/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Every map, with who writes and who reads it, and what happens when it is full. */
#ifndef UCXBPF_MAPS_BPF_H
#define UCXBPF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "ucxbpf.h"

/*
 * Each hit finds the CPU's caches and its memory of branches cold, after the trap: the usual way
 * through a program must be short, and run straight on.
 */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Power of two. Over self, calls nest as deep as the program's callbacks do. */
#define FRAMES 16
#define SCRATCH 256 /* covers every field of ucp_request_t that is read, power of two */
#define ARGS 16 /* power of two; index 0 reads as 0 */

/* Innermost live frame of each sort, 0 = none. */
struct parents {
	__u32 call, op, rx;
	__u32 rows; /* cells, as in fold.bpf.h */
};

/* Fields of a transfer's request, as far as its layout is known. */
struct owner {
	__u64 req; /* 0: none was found, the rest is nothing */
	__u64 super_req, ucp_ep, proto, length;
	__u64 w[3]; /* tag or AM id, length, message id */
	__u32 req_flags;
	__u16 found_by; /* UB_F_REQ_BY_COMP or UB_F_REQ_BY_ARG */
	__u16 pad;
};

/* A live call: its stack slot proves that an entry-only frame has not returned. */
struct frame {
	__u64 sp; /* stack pointer at the function's entry */
	__u64 ret; /* value of its stack slot while it is live; span: 0 = not known yet */
	__u32 seq;
	struct parents up;
	__u8 kind;
	__u8 span; /* closed by a return probe: the fields below are as they were at its entry */
	__u16 row;
	__u8 slot; /* of the layout map */
	__u8 looked; /* span: its slot was seen to hold ret */
	__u8 awaits; /* call: ub_site.derivable until its operation comes; 0 */
	__u8 derived; /* UB_XFER: it was not seen */
	__u16 comp_count;
	__u8 derivable; /* with_op: ub_site.derivable */
	__u8 moved; /* UB_OP: a transfer that may carry its message was seen inside of it */
	__u8 pad[4];
	__u64 comp_func;
	__u64 position; /* see position_before(); UINT64_MAX: not looked at */
	__u64 caller; /* UB_OP: where it returns to; 0 */
	__u64 ts;
	__u64 args[ARGS];
	struct owner owner; /* UB_XFER_SELF, and with_op, only */
};

/*
 * Records wait with their task until there is a batch of them or one is BATCH_NS old: a ring's lock
 * and head are paid for once, and a short message leaves before its records do.
 */
#define OUTBOX UB_MAX_BATCH
/* A program makes no more than four records at once, and two loss records follow them. */
#define OUTBOX_ENOUGH (OUTBOX - 4 * UB_MAX_RECORD - 2 * sizeof(struct ub_loss))
#define BATCH_NS 1000000

struct outbox {
	__u32 bytes; /* without the batch's head */
	__u32 hits;
	__u32 taken; /* see outbox_take() */
	__u32 closed; /* its records began in slices without detail: they will be added up */
	__u64 space; /* address of the mm_struct of the task */
	__u64 id; /* tgid and tid, as bpf_get_current_pid_tgid() has them */
	__u64 oldest; /* ts of the record that began first */
	__u64 sent; /* when the batch before this one left, ns */
	__u64 lost; /* records that found no room, not reported yet, */
	__u64 lost_from, lost_until; /* ns */
	__u64 thinned; /* records left out on purpose, not reported yet, */
	__u64 thinned_from; /* ns */
	__u8 kinds[UB_KINDS]; /* records by kind */
	struct ub_batch head;
	__u8 records[OUTBOX + UB_MAX_RECORD];
};

struct home {
	__u64 uct_ep, iface, worker;
	__u64 ucp_ep; /* seen to be on that worker; 0 = none yet */
	__u32 generation; /* ep_generation as it was before they were read */
	__u32 pad;
};

#define HOMES 8 /* power of two */

/* The arrival handler that was entered last, at which stack pointer, from where. */
struct handler {
	__u64 sp, call_site;
	__u32 row, flags; /* UCT_CB_PARAM_FLAG_* of the arrival */
};

#define HANDLERS 2 /* by the lowest flag, "in a descriptor"; power of two */

/* A record that others may join: where it ends in the outbox, and since when that one is filled. */
struct joinable {
	__u64 sent;
	__u32 end, pad;
};

#define RECEIVER_IFACES 16

/* When positions were read, see fifo_due(). */
struct turn {
	__u64 burst; /* the last burst of its own began, ns */
	__u64 last; /* it was asked, ns */
	__u64 saved; /* time since that no position has cost, ns */
};

/* The worker that something arrived for, and its interface that has a FIFO in shared memory. */
struct receiver {
	__u64 worker, iface; /* 0: none was found */
	struct turn turn;
	__u64 searched; /* when, ns */
	__u64 ifaces[RECEIVER_IFACES];
};

/* The last read from a socket, if it was its turn. */
struct reading {
	__u64 sk; /* struct sock; 0: it was not, or the socket is no TCP connection */
	__u64 data; /* where it put the first byte, */
	__u32 seq; /* and that one's sequence number */
	__u32 pad;
	struct turn turn;
};

#define CALLER_CHECKS 4
#define CALLER_PATHS 8 /* power of two */

/* How an operation's stack leads to its call, see caller.bpf.h. */
struct caller_path {
	__u64 ret, sp, bp; /* at the operation's entry */
	__u64 at[CALLER_CHECKS], value[CALLER_CHECKS]; /* words of the stack it goes by */
	__u64 call_sp;
	__u32 generation; /* of the answers; 0: no path */
	__u16 row, number; /* of the call; 0: the path leads to none that is derived */
	__u8 checks;
	__u8 needs_bp;
	__u8 pad[6];
};

struct caller_paths {
	struct caller_path path[CALLER_PATHS];
	__u32 check, awaited; /* see call_checked() */
	__u32 back; /* calls_back when a probe last saw a call of the task */
	__u32 pad;
};

/* A send that returned, see short.bpf.h. */
struct sent_op {
	__u64 ep, length, tag;
	__u64 ts, now;
	__u64 position; /* see position_before(), as the operation was entered */
	__s64 status; /* 0: done */
	struct parents up; /* inside of it */
	__u32 seq;
	__u16 row;
	__u8 slot;
	__u8 tagged : 1; /* whether its transfer can be derived; contiguous */
	__u8 moved : 1; /* a transfer was seen inside of it */
};

/* A process has one lane in each place, so that it cannot evict those of many others. */
struct lane_key {
	__u32 tgid; /* a child has its parent's workers */
	__u32 place; /* by worker and configuration */
};

/*
 * The one that short messages take. Endpoints of one configuration have the same lanes
 * (ucp_worker_t.ep_config).
 */
struct lane {
	__u64 uuid; /* of the worker, as ucs_generate_uuid() made it */
	__u64 iface;
	__u32 config;
	__u16 row; /* of the transfer; 0: nothing was learnt */
	__u16 at; /* of the uct_ep in ucp_ep_t */
	__u32 tid; /* the thread that sends: which of two was first is known by their transfers
		      alone */
	__u64 others; /* ns, when another thread was seen to send, once a second; 0: never */
};

struct lane_found {
	struct lane_key key;
	__u64 uuid; /* this and the key's tgid hold for: */
	__u64 worker;
	__u32 generation; /* ep_generation: a new worker has new endpoints */
	__u32 config;
	__u32 known; /* whether key, uuid and config are */
	struct lane lane;
	__u64 uct_ep; /* of that lane */
};

enum filter_verdict { FILTER_UNKNOWN, FILTER_TRACED, FILTER_IGNORED };

/* Whether a task's process is traced: valid while generation equals filter_generation. */
struct task_filter {
	__u32 generation;
	__u32 verdict;
};

struct task_state {
	struct task_filter filter;
	__u32 depth;
	__u32 next_seq;
	__u32 window; /* in which frames[] were entered */
	__u32 pad;
	struct turn sends;
	__u64 trampoline; /* what the kernel puts into the slots of spans; 0 = not seen yet */
	__u64 last_proto[2]; /* protocol names already emitted by this task, a cache before named */
	__u32 with_op_open; /* with_op waits for its operation's return, or the next one in it */
	struct frame with_op; /* see with_op.bpf.h */
	__u64 sent; /* of its message, before it */
	struct frame frames[FRAMES];
	struct outbox outbox;
	struct home homes[HOMES];
	struct handler handlers[HANDLERS];
	struct joinable joinable;
	struct receiver receiver;
	struct reading reading;
	struct caller_paths callers;
	struct sent_op sent_op; /* the last one */
	struct lane_found found; /* where its message goes */
	__u64 hits[UB_GROUPS], returns[UB_GROUPS]; /* see struct ub_task_hits */
	__u8 scratch[SCRATCH];
};

/* Per task; written and read here only. Allocation failure: the hit is counted in task_nomem. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks __weak SEC(".maps");

/* tgid -> 1 for traced processes. Written by user space at attach, by task.bpf.c at fork and exit.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} processes __weak SEC(".maps");

/*
 * By tgid, for caller.bpf.h; written by user space, removed by task.bpf.c with the program. Full:
 * that process's calls are not derived.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct ub_caller_ranges);
} caller_ranges __weak SEC(".maps");

/* Rows of user/observe/probe/sites.c; written once by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB_MAX_SITES);
	__type(key, __u32);
	__type(value, struct ub_site);
} sites __weak SEC(".maps");

/* One row per UCX build in use, row 0 = unknown build; written by user space before its probes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB_MAX_LAYOUTS);
	__type(key, __u32);
	__type(value, struct ub_layout);
} layouts __weak SEC(".maps");

/*
 * One ring per CPU on which traced tasks run, made by user space, which also puts larger ones in
 * their place. Full, or none: the record is counted as dropped.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, 4096);
		});
} rings __weak SEC(".maps");

/* A bit per CPU that had a batch and no ring; set here, cleared by user space. */
volatile __u64 rings_missing[UB_MAX_CPUS / 64] __weak = {};

/* Loss accounting; read by user space, summed over CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ub_cpu_stats);
} stats __weak SEC(".maps");

static __always_inline struct ub_cpu_stats *cpu_stats(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&stats, &zero);
}

/*
 * (process, ucp_proto_t) whose name was emitted. One that is evicted is emitted again. mm
 * distinguishes programs that a process runs one after the other, tgid processes whose mm_struct
 * has the same address.
 */
struct named_key {
	__u64 pointer;
	__u64 mm;
	__u32 tgid, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct named_key);
	__type(value, __u8);
} named __weak SEC(".maps");

/* Raised by user space whenever it adds a process: every task asks the process map again. */
volatile __u32 filter_generation __weak = 1;

/*
 * enum ub_pause. Raised by user space before it detaches and lowered after it has attached: all
 * sites begin and end at one instant, although links come and go one by one.
 */
volatile __u32 stopped __weak = UB_RUN;

/* Groups (enum ub_group, one bit each) whose probes are on their way out: they record nothing. */
volatile __u32 quiet_groups __weak = 0;

/* The slices with detail (UB_SLICES), written by user space. */
volatile __u64 detail_slices __weak = ~0ull;

/* Incremented with each window: frames entered before it have ended, or their return is unknown. */
volatile __u32 window __weak = 0;

/*
 * Positions in FIFOs are read until then, ns: records were lost. Written where they are, and by
 * user space when recording begins.
 */
volatile __u64 fifo_until __weak = 0;

/* Raised whenever a UCT endpoint comes or goes, in any process. */
volatile __u32 ep_generation __weak = 1;

#endif
