// SPDX-License-Identifier: BSD-3-Clause
/* Programs with nothing in them, one that only counts, and the least that records: see floor.c. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define MAX_SITES 2048

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* By cookie, the site's place in the list; ranks on several CPUs count together. */
__u64 hits[MAX_SITES];

SEC("uprobe")
int empty_entry(void *ctx)
{
	return 0;
}

SEC("uprobe")
int empty_session(void *ctx)
{
	return 0;
}

SEC("uprobe")
int count_entry(void *ctx)
{
	__u64 site = bpf_get_attach_cookie(ctx);

	if (site < MAX_SITES)
		__sync_fetch_and_add(&hits[site], 1);
	return 0;
}

/*
 * The least that a record takes: whose it is, when, from where, and one cache line to write it to.
 * Nobody reads them.
 */
struct least_record {
	__u64 cookie, begin, duration, call_site, rest[4];
};

#define KEPT 32 /* power of two */

struct least_task {
	__u32 next;
	struct least_record records[KEPT];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct least_task);
} least_tasks SEC(".maps");

extern bool bpf_session_is_return(void) __weak __ksym;

static __always_inline struct least_record *least_last(bool is_new)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct least_task *task = bpf_task_storage_get(&least_tasks, current, NULL,
						       is_new ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);

	if (!task)
		return NULL;
	task->next += is_new;
	return &task->records[task->next & (KEPT - 1)];
}

static __always_inline void least_begin(struct pt_regs *ctx)
{
	struct least_record *record = least_last(true);

	if (!record)
		return;
	record->cookie = bpf_get_attach_cookie(ctx);
	record->begin = bpf_ktime_get_ns();
	record->duration = 0;
	bpf_probe_read_user(&record->call_site, 8, (void *)PT_REGS_SP(ctx));
}

static __always_inline void least_end(void)
{
	struct least_record *record = least_last(false);

	if (record)
		record->duration = bpf_ktime_get_ns() - record->begin;
}

SEC("uprobe")
int least_entry(struct pt_regs *ctx)
{
	least_begin(ctx);
	return 0;
}

SEC("uprobe")
int least_session(struct pt_regs *ctx)
{
	if (bpf_session_is_return())
		least_end();
	else
		least_begin(ctx);
	return 0;
}
