/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A record that stands for many: kept up to date in the outbox for as long as it is the last one
 * there.
 */
#ifndef UCXBPF_JOINABLE_BPF_H
#define UCXBPF_JOINABLE_BPF_H

#include "context.bpf.h"

/* The record placed last may be joined. */
static __always_inline void joinable_from_now(struct task_state *task)
{
	task->joinable.end = task->outbox.bytes;
	task->joinable.sent = task->outbox.sent;
}

static __always_inline void *joinable_find(struct task_state *task, __u32 size, __u8 kind)
{
	struct outbox *box = &task->outbox;
	__u32 at = task->joinable.end - size;
	struct ub_hdr *h;

	if (box->bytes < size || box->bytes != task->joinable.end ||
	    box->sent != task->joinable.sent)
		return NULL;
	h = (struct ub_hdr *)(box->records + (at & (OUTBOX - 1)));
	return h->kind == kind ? h : NULL;
}

/* The record of that type; NULL: it has left, or another record follows it. */
#define joinable(task, type, kind) ((struct type *)joinable_find(task, sizeof(struct type), kind))

#endif
