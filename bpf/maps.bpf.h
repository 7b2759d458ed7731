/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Every map, with who writes and who reads it, and what happens when it is full. */
#ifndef UCXBPF_MAPS_BPF_H
#define UCXBPF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "ucxbpf.h"

/* Power of two. Over self, calls nest as deep as the program's callbacks do. */
#define FRAMES 16
#define SCRATCH 256 /* covers every field of ucp_request_t that is read, power of two */

/* A live call: its stack slot proves that an entry-only frame has not returned. */
struct frame {
	__u64 sp; /* stack pointer at the function's entry */
	__u64 ret; /* what its stack slot holds while it is live; span: 0 = not looked at yet */
	__u64 span; /* closed by a return probe */
	__u64 out; /* where the caller wants a result, read at the return */
	union {
		struct ub_hdr h;
		struct ub_call call;
		struct ub_op op;
		struct ub_xfer xfer;
		struct ub_rx rx;
		struct ub_comp comp;
		struct ub_obj obj;
	};
};

enum task_filter { FILTER_UNKNOWN, FILTER_TRACED, FILTER_IGNORED };

struct task_state {
	__u32 filter_gen; /* filter is valid while this equals filter_generation */
	__u32 filter;
	__u32 depth;
	__u32 next_seq;
	__u32 window; /* in which frames[] were entered */
	__u64 last_proto[2]; /* protocol names already emitted by this task, a cache before named */
	struct frame frames[FRAMES];
	struct frame spare; /* for a record that finds no place in frames[] */
	__u8 scratch[SCRATCH];
};

/* Per task; written and read here only. Allocation failure: the hit is counted in task_nomem. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks __weak SEC(".maps");

/* tgid -> 1: what is traced. Written by user space at attach, by task.bpf.c at fork and exit. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} processes __weak SEC(".maps");

/* Rows of probe/sites.c; written once by user space. */
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

/* One ring per CPU, made by user space. Full: the record is counted as dropped. */
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

/* Loss accounting; read by user space, summed over CPUs. */
struct cpu_stats {
	struct ub_stats s;
	__u32 cpu_seq;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_stats);
} stats __weak SEC(".maps");

/* (process, ucp_proto_t) whose name was emitted. Full: later names stay unknown. */
struct named_key {
	__u64 pointer;
	__u64 mm; /* address space: a pid or a program that comes after is another one */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
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

/* Raised with each window: what was entered before it is over, or its return cannot be known. */
volatile __u32 window __weak = 0;

#endif
