/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The wire contract: every record that a BPF program hands to user space, and every table that user
 * space hands to a BPF program. Read by both sides and by nobody right of decode/.
 *
 * Enum values and record fields are append-only: captures in tests/data/ must stay readable.
 * A new record kind must also reach: ub_kind_size() here, decode/ and docs/format.md.
 */
#ifndef UCXBPF_H
#define UCXBPF_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define UB_WIRE_VERSION 1

/* A record's kind decides its size and which of the structs below it is. */
enum ub_kind {
	UB_CALL = 1, /* MPI function entered (no return probe: its end is a lower bound) */
	UB_OP = 2, /* UCP API operation, entry and return joined */
	UB_XFER = 3, /* UCT endpoint operation, entry and return joined */
	UB_RX = 4, /* UCP active-message handler entered: an arrival */
	UB_COMP = 5, /* completion: UCT completion function, UCP user callback, scopy progress */
	UB_MATCH = 6, /* ucp_tag_rndv_matched: an RTS met its receive request */
	UB_OBJ = 7, /* life of an iface, an endpoint, a worker */
	UB_NAME = 8, /* a string seen for the first time behind a pointer */
	UB_TASK = 9, /* fork, exec, exit of a traced process */
	UB_CALL_END = 10, /* MPI function returned (only with --call-ends); h.ts is that time */
	UB_LOSS = 11, /* records of this task that found no room in its ring */
	UB_FRAGS = 12, /* fragments behind a message's first one, folded */
	UB_CALL_STACK = 13, /* the stack of a call, or of an operation outside (only with --stacks)
			     */
	UB_STACK = 14, /* a part of a stack, once per process */
	UB_MEM = 15, /* a GPU library's call that makes, ends or places memory */
	UB_POLLS = 16, /* calls of an MPI function that polls, folded */
	UB_KIND_MAX
};

/*
 * Counters by kind; power of two, for they are indexed by a mask. Captures hold them: the last kind
 * has that of number 0, which is no kind.
 */
#define UB_KINDS 16
#define UB_COUNTER(kind) ((kind) & (UB_KINDS - 1))
_Static_assert(UB_KIND_MAX <= UB_KINDS + 1, "each kind has a counter of its own");

/*
 * Content of a ring: records that one task made one after the other, behind this head. Sequence
 * numbers of a CPU are handed out by batch; user space writes them into the records.
 */
struct ub_batch {
	__u32 first_seq; /* ub_hdr.cpu_seq of the first record, the others follow */
	__u16 cpu;
	__u16 records;
};

#define UB_MAX_BATCH 4096 /* bytes of records at most; power of two */

/*
 * Common header. Frames: every MPI call, op, transfer and arrival handler that is entered takes the
 * task's next sequence number; (tid, seq) names it. call/op/rx name the innermost live frame of
 * that sort around this record on the same task, 0 = none. An MPI call that seems to be inside
 * another one (h.call != 0 in a UB_CALL) is so only if its call site lies in the MPI library: the
 * outer one has no return probe and may be over, its stack slot untouched by chance. cpu_seq counts
 * every record produced on that CPU, before room for it is looked for: a gap is a loss.
 */
struct ub_hdr {
	__u64 ts; /* CLOCK_MONOTONIC at entry, ns */
	__u32 tgid; /* as seen from the initial pid namespace */
	__u32 tid;
	__u32 cpu_seq;
	__u16 cpu;
	__u16 site; /* row of the site table (user/observe/probe/sites.c) that fired */
	__u32 seq; /* own frame number, 0 where the record opens no frame */
	__u32 call;
	__u32 op;
	__u32 rx;
	__u32 dur; /* entry to return, ns, saturated; 0 for entry-only records */
	__u8 kind; /* enum ub_kind */
	__u8 layout; /* slot of the layout map used, 0 = none: no private field was read */
	__u16 flags; /* enum ub_flags */
};

enum ub_flags {
	UB_F_WIRE = 1 << 0, /* xfer.w[] was read from the outgoing header, in wire order */
	UB_F_REQ =
		1 << 1, /* xfer.w[] was read from the request: tag or AM id, length, message id */
	UB_F_REQ_BY_COMP = 1 << 2, /* xfer.req was derived from the completion argument */
	UB_F_REQ_BY_ARG = 1 << 3, /* ... from the bcopy pack argument */
	UB_F_READ_FAULT =
		1 << 4, /* some user memory could not be read: the field is 0 and unknown */
	UB_F_PROTO_V2 = 1 << 5, /* the request carries UCX's PROTO_SEND flag */
	UB_F_INFO = 1 << 6, /* op.info_tag/info_len are valid */
	UB_F_NO_RETURN = 1 << 7, /* the return was not seen: dur, ret, length are unknown */
	UB_F_DEEP = 1 << 8, /* frame stack was full: parents may be too far out */
	UB_F_FIFO = 1 << 9, /* xfer.raddr, rx.data: position in the receiver's FIFO, counted from
			       its start */
	UB_F_POSTED = 1 << 10, /* op.info_tag: the receive's number in the order UCX queued them */
	UB_F_WITH_OP = 1 << 11, /* xfer: its end is its operation's, or the next one's begin in
				   that; its own was not later */
	UB_F_SOCKET = 1 << 12, /* xfer.raddr, rx.data: position in a TCP connection. Upper half:
				  hash of addresses and ports in the direction of travel, lower
				  half: sequence number of the first byte of uct_tcp_am_hdr_t */
	UB_F_DERIVED = 1 << 13, /* call: not seen by a probe but found on its operation's stack;
				   its time is 1 ns before the operation's. xfer: follows from its
				   operation's result; its times are the operation's */
};

struct ub_call {
	struct ub_hdr h;
	__u64 ret_addr; /* call site */
	__u64 comm; /* communicator argument as passed, 0 where the function has none */
};

struct ub_op {
	struct ub_hdr h;
	__u64 obj; /* ucp_ep_h or ucp_worker_h: the first argument */
	__u64 buffer;
	__u64 count; /* as passed; bytes = count * element size of a contiguous datatype */
	__u64 tag; /* tag; AM id; remote address of put/get/atomic */
	__u64 aux; /* tag mask; AM header length; rkey; message handle of msg_recv */
	__u64 datatype; /* ucp_datatype_t; UCX's default 8 = contiguous, 1 byte */
	__u64 req; /* ucp_request_t (not the user's handle), 0 = none */
	__s64 ret; /* as returned: 0 done, <0 and >-100 error, else the user's request handle;
		      probe: message */
	__u64 cb; /* user's completion callback, 0 = none */
	__u64 req_len; /* total length as the request has it at return, 0 = unknown */
	__u64 info_tag; /* receives that completed at once: sender's tag */
	__u64 info_len;
	__u32 attr_mask; /* ucp_request_param_t.op_attr_mask; for probe: remove */
	__u32 req_flags;
	/* 0 in older captures: the buffer's memory type in the request, and ub_op_caller() */
	__u8 mem_type; /* ucs_memory_type_t + 1, 0 = not known */
	__u8 caller_47_40;
	__u8 mem_device; /* UCX's number of the device + 1, 0 = not known */
	__u8 caller_39_32;
	__u32 caller_31_0;
};

/* Where an operation returns to; 0: not known, as inside of MPI calls in older captures. */
static inline __u64 ub_op_caller(const struct ub_op *op)
{
	return (__u64)op->caller_47_40 << 40 | (__u64)op->caller_39_32 << 32 | op->caller_31_0;
}

static inline void ub_op_set_caller(struct ub_op *op, __u64 address)
{
	op->caller_47_40 = address >> 40;
	op->caller_39_32 = address >> 32;
	op->caller_31_0 = address;
}

struct ub_xfer {
	struct ub_hdr h;
	__u64 uct_ep;
	__u64 iface;
	__u64 req; /* validated ucp_request_t that owns this op, 0 = unknown */
	__u64 super_req; /* *(req + 16), meaningful for rendezvous internal requests only */
	__u64 ucp_ep; /* req->send.ep */
	__u64 proto; /* ucp_proto_t of a protocol-v2 request, 0 = none */
	__u64 req_len; /* total length of the request's data */
	__u64 w[3]; /* see UB_F_WIRE, UB_F_REQ */
	__u64 laddr; /* local buffer (first iov), 0 = not visible */
	__u64 raddr; /* remote address of put/get/atomic; see UB_F_FIFO, UB_F_SOCKET */
	__u64 comp_func; /* comp->func at entry, 0 = no completion */
	__s64 length; /* UCT bytes incl. UCP header: from arguments, or the return value of *_bcopy
		       */
	__s8 status; /* ucs_status_t: 0 done, 1 in progress, -2 no resource (nothing was sent) */
	__u8 am_id; /* UCP_AM_ID_*, 0 for put/get/atomic */
	__u16 comp_count; /* comp->count at entry */
	__u32 req_flags;
};

struct ub_rx {
	struct ub_hdr h;
	__u64 worker;
	__u32 length; /* of header + payload */
	__u32 am_flags; /* UCT_CB_PARAM_FLAG_*; with UB_F_FIFO the upper half has bits 4 to 19 of
			   the interface's address */
	__u64 w[5]; /* first bytes of the wire header; beyond length: 0 */
	__u64 data; /* where the message lies: names the FIFO element of a short one (mm
		       transports); see UB_F_FIFO, UB_F_SOCKET */
};

struct ub_comp {
	struct ub_hdr h;
	__u64 req; /* ucp_request_t */
	__u64 func; /* address of the function that was entered */
	__u64 tag; /* receives: sender's tag */
	__u64 length; /* receives: length */
	__s64 status; /* ucs_status_t; for scopy progress: 0 = operation done, else more to come */
};

struct ub_match {
	struct ub_hdr h;
	__u64 worker;
	__u64 req; /* receive request */
	__u64 tag;
	__u64 ep_id; /* RTS header: receiver's id of the endpoint to the sender */
	__u64 req_id; /* RTS header: sender's request id */
	__u64 size;
};

struct ub_obj {
	struct ub_hdr h;
	__u64 obj; /* the iface, uct_ep, ucp_ep or worker */
	__u64 parent; /* worker of an iface or ucp_ep, iface of a uct_ep */
	__u64 uuid; /* worker: own uuid; ucp_ep: peer worker's uuid; 0 = unknown */
	__s64 status;
	char tl_name[16];
	char dev_name[32];
};

struct ub_name {
	struct ub_hdr h;
	__u64 key; /* the pointer (ucp_proto_t) */
	char name[64];
};

enum ub_task_what {
	UB_FORK = 1,
	UB_EXEC = 2,
	UB_EXIT = 3, /* of the whole process */
	UB_THREAD_EXIT = 4, /* of a thread that has called a GPU library: h.tid */
};

/* Flag of an exit whose lower half holds the status as in wait(2); else the status is unknown. */
#define UB_EXIT_TOLD (1u << 31)

struct ub_task {
	struct ub_hdr h;
	__u32 what; /* enum ub_task_what */
	__u32 other; /* fork: child's tgid; exit: UB_EXIT_TOLD and how */
	__u64 start_time; /* of the process, ns since boot */
	char comm[16];
};

struct ub_call_end {
	struct ub_hdr h; /* h.call names the call that ended; dur: of the call, saturated */
};

/*
 * Written as soon as there is room again, and when a thread's detail begins again. The thread may
 * be inside a call whose record is missing: it is named here.
 */
struct ub_loss {
	struct ub_hdr h; /* ts: when the first of them began */
	__u64 until; /* when the last of them was written; 0 where records and unseen are */
	__u64 records; /* that found no room */
	__u64 thinned; /* records that were left out on purpose (UB_SLICE_SHIFT) */
	__u32 call; /* frame number of the call around the next record, 0 = none */
	__u16 call_site; /* its row of the site table; 0 = not known */
	__u16 unseen; /* operations at h.ts whose transfers had no probe; nothing is missing then */
};

/*
 * Fragments behind a message's first one, sent through the same endpoint with nothing else of their
 * thread in between: all as long as the first of them, but for the last.
 */
struct ub_frags {
	struct ub_xfer xfer; /* of the first, but: dur until the last was over, length of all */
	__u32 count;
	__u32 each; /* length of the first */
	__u64 time; /* sum of entry to return, ns; with UB_F_WITH_OP at most so much */
};

/*
 * Calls of an MPI function that looks at operations and goes on (MPI_Test, MPI_Iprobe), made one
 * after the other from one place with nothing else of their thread in between: all but the last
 * have found nothing that makes a record. Records inside of the last one may follow.
 */
struct ub_polls {
	struct ub_call call; /* the first, but: dur until the last was over or, unseen, began */
	__u32 count;
	__u32 last; /* frame number of the last */
	__u32 began; /* the last, ns after the first */
	__u32 ended; /* calls whose return was seen: all, all but the last, or none */
	__u64 time; /* sum of entry to return of those, ns */
};

struct ub_call_stack {
	struct ub_hdr h; /* h.call names the call; 0: h.op names the operation */
	__u64 stack; /* ub_stack.id */
};

/* Why a stack has no more frames. */
enum ub_stack_end {
	UB_STACK_WHOLE = 1, /* the outermost frame */
	UB_STACK_NO_MODULE = 2, /* code of no file, or mapped just now */
	UB_STACK_NO_ROWS = 3, /* the file, or that part of it, has no unwind information */
	UB_STACK_RULE = 4, /* a frame that is found by other means than %rsp or %rbp */
	UB_STACK_UNREADABLE = 5, /* unreadable memory */
	UB_STACK_DEEP = 6, /* UB_MAX_DEPTH frames, and more */
	UB_STACK_LOST = 7, /* the next frame would be below this one */
	UB_STACK_NOT_YET = 8, /* the file is known, its rows are still to be read */
	UB_STACK_NO_ROOM = 9, /* no room for the rows of its file, or for more mappings */
};

#define UB_MAX_DEPTH 64
#define UB_STACK_PART 8

/* Frames from .. from + UB_STACK_PART - 1; the first frame is what called MPI, or UCP. */
struct ub_stack {
	struct ub_hdr h; /* h.call, h.op: the call or the operation at which it was first seen */
	__u64 id; /* hash of all frames and the end: within its process */
	__u32 depth; /* frames in all */
	__u16 from;
	__u16 end; /* enum ub_stack_end */
	__u64 pc[UB_STACK_PART]; /* return addresses; beyond depth: anything */
};

#include "ucxbpf_memory.h"

static inline unsigned int ub_kind_size(unsigned int kind)
{
	switch (kind) {
	case UB_CALL:
		return sizeof(struct ub_call);
	case UB_OP:
		return sizeof(struct ub_op);
	case UB_XFER:
		return sizeof(struct ub_xfer);
	case UB_RX:
		return sizeof(struct ub_rx);
	case UB_COMP:
		return sizeof(struct ub_comp);
	case UB_MATCH:
		return sizeof(struct ub_match);
	case UB_OBJ:
		return sizeof(struct ub_obj);
	case UB_NAME:
		return sizeof(struct ub_name);
	case UB_TASK:
		return sizeof(struct ub_task);
	case UB_CALL_END:
		return sizeof(struct ub_call_end);
	case UB_LOSS:
		return sizeof(struct ub_loss);
	case UB_FRAGS:
		return sizeof(struct ub_frags);
	case UB_CALL_STACK:
		return sizeof(struct ub_call_stack);
	case UB_STACK:
		return sizeof(struct ub_stack);
	case UB_MEM:
		return sizeof(struct ub_mem);
	case UB_POLLS:
		return sizeof(struct ub_polls);
	}
	return 0;
}

#define UB_MAX_RECORD 184
#define UB_MAX_CPUS 8192 /* CONFIG_NR_CPUS of x86-64 at most */

_Static_assert(sizeof(struct ub_hdr) == 48, "wire header size");
_Static_assert(sizeof(struct ub_call) == 64, "wire call size");
_Static_assert(sizeof(struct ub_op) == 160, "wire op size");
_Static_assert(sizeof(struct ub_xfer) == 168, "wire xfer size");
_Static_assert(sizeof(struct ub_rx) == 112, "wire rx size");
_Static_assert(sizeof(struct ub_comp) == 88, "wire comp size");
_Static_assert(sizeof(struct ub_match) == 96, "wire match size");
_Static_assert(sizeof(struct ub_obj) == 128, "wire obj size");
_Static_assert(sizeof(struct ub_name) == 120, "wire name size");
_Static_assert(sizeof(struct ub_task) == 80, "wire task size");
_Static_assert(sizeof(struct ub_loss) == 80, "wire loss size");
_Static_assert(sizeof(struct ub_frags) == 184, "wire frags size");
_Static_assert(sizeof(struct ub_batch) == 8, "batch head size");
_Static_assert(sizeof(struct ub_call_stack) == 56, "wire call stack size");
_Static_assert(sizeof(struct ub_stack) == 128, "wire stack size");
_Static_assert(sizeof(struct ub_polls) == 88, "wire polls size");

#include "ucxbpf_sites.h"

/* Mode of all programs, in all tasks. */
enum ub_pause {
	UB_RUN = 0,
	UB_BETWEEN_WINDOWS = 1, /* only records that name things: lives of objects, processes */
	UB_STOP = 2, /* nothing */
};

/*
 * Time slices of detail, the same for all CPUs and processes of a node: slice n has the times with
 * ts >> UB_SLICE_SHIFT == n, CLOCK_MONOTONIC. Bit n % 64 of a mask says whether calls, operations,
 * transfers, arrivals and completions that begin in it are recorded, or only added up.
 */
#define UB_SLICE_SHIFT 24
#define UB_SLICES 64

/* Per-CPU counters, read by user space: produced = stored + dropped, exact. */
struct ub_stats {
	__u64 produced[UB_KINDS]; /* by kind, counted before space is reserved */
	__u64 dropped[UB_KINDS]; /* by kind: not stored, for whatever reason */
	__u64 hits; /* probe hits in traced processes */
	__u64 lost_returns; /* spans whose return was never seen */
	__u64 deep; /* entries with no free frame slot */
	__u64 task_nomem; /* hits skipped because task storage could not be had */
	__u64 folded[UB_KINDS]; /* of dropped, by kind: added to cells */
	__u64 thinned[UB_KINDS]; /* of dropped, by kind: left out on purpose, not for want of room
				  */
};

/* Value of the per-CPU map "stats"; user space sums it over CPUs. */
struct ub_cpu_stats {
	struct ub_stats s;
	__u32 cpu_seq; /* the next record's, see ub_hdr.cpu_seq */
	__u32 pad;
};

_Static_assert(sizeof(struct ub_cpu_stats) == 552, "per-CPU counters size");

#include "ucxbpf_budget.h"
#include "ucxbpf_callers.h"
#include "ucxbpf_cells.h"

#endif
