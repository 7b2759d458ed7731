/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A span's two ends as programs: NAME_session where the kernel has session links, NAME_entry and
 * NAME_return elsewhere. User space loads one form. enter() says 1 when no return is needed.
 */
#ifndef UCXBPF_SPAN_BPF_H
#define UCXBPF_SPAN_BPF_H

#include "request.bpf.h"

/* span.bpf.c: the object linker takes a kernel function from one object only. */
int span_at_return(void);

/* What a return needs of its entry; false: no entry was seen. */
struct leaving {
	struct task_state *task;
	struct frame *frame;
	const struct ub_site *site;
	const struct ub_layout *layout;
};

static __always_inline bool leave_begin(struct leaving *leaving, struct pt_regs *ctx)
{
	__u32 row, slot;

	leaving->task = task_state();
	leaving->frame = leaving->task ? frame_pop(leaving->task, ctx) : NULL;
	if (!leaving->frame)
		return false;
	row = leaving->frame->h.site;
	slot = leaving->frame->h.layout;
	leaving->site = bpf_map_lookup_elem(&sites, &row);
	leaving->layout = bpf_map_lookup_elem(&layouts, &slot);
	return leaving->site && leaving->layout;
}

#define SPAN(name, enter, leave)                                                                   \
	SEC("?uprobe.multi")                                                                       \
	int name##_session(struct pt_regs *ctx)                                                    \
	{                                                                                          \
		return span_at_return() ? leave(ctx) : enter(ctx);                                 \
	}                                                                                          \
	SEC("?uprobe")                                                                             \
	int name##_entry(struct pt_regs *ctx)                                                      \
	{                                                                                          \
		enter(ctx);                                                                        \
		return 0;                                                                          \
	}                                                                                          \
	SEC("?uprobe")                                                                             \
	int name##_return(struct pt_regs *ctx)                                                     \
	{                                                                                          \
		return leave(ctx);                                                                 \
	}

#endif
