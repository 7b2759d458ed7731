/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Reading a ucp_request_t: one read of its first bytes into the task's scratch area, then fields by
 * the layout row. A layout row has UB_OFF_UNKNOWN for unknown fields.
 */
#ifndef UCXBPF_REQUEST_BPF_H
#define UCXBPF_REQUEST_BPF_H

#include "frame.bpf.h"
#include "ucx_abi.bpf.h"

/*
 * 8-byte words of UCP's header at the start of each active message, by UCP_AM_ID_*: what lies
 * behind is the user's and never read. (src/ucp/tag/eager.h, rndv/rndv.h, rma/rma.h, core/ucp_am.h,
 * the same since UCX 1.13; ids 24 to 26 end in a footer, which is behind the user's data.)
 */
#define AM_WORDS(id, words) ((__u64)(words) << ((id)&15) * 4)
#define AM_WORDS_LOW                                                                               \
	(AM_WORDS(2, 1) | AM_WORDS(3, 3) | AM_WORDS(4, 2) | AM_WORDS(6, 3) | AM_WORDS(7, 5) |      \
	 AM_WORDS(8, 1) | AM_WORDS(9, 5) | AM_WORDS(10, 1) | AM_WORDS(11, 5) | AM_WORDS(12, 2) |   \
	 AM_WORDS(14, 1) | AM_WORDS(15, 1))
#define AM_WORDS_HIGH                                                                              \
	(AM_WORDS(16, 1) | AM_WORDS(17, 2) | AM_WORDS(18, 4) | AM_WORDS(19, 1) | AM_WORDS(20, 3) | \
	 AM_WORDS(21, 1) | AM_WORDS(22, 1) | AM_WORDS(23, 1) | AM_WORDS(24, 1) | AM_WORDS(25, 1) | \
	 AM_WORDS(26, 1) | AM_WORDS(27, 1) | AM_WORDS(28, 1))

static __always_inline __u32 am_header_words(__u8 id)
{
	return ((id & 16) ? AM_WORDS_HIGH : AM_WORDS_LOW) >> (id & 15) * 4 & 15;
}

#define REQUEST_BYTES 240 /* the fields in use end before this in every known layout */
#define UCP_REQUEST_FLAG_COMPLETED 1
#define UCP_REQUEST_FLAG_PROTO_SEND 4

static __always_inline bool request_load(struct task_state *task, __u64 req)
{
	return !bpf_probe_read_user(task->scratch, REQUEST_BYTES, (void *)req);
}

static __always_inline __u64 request_u64(const struct task_state *task, __u16 offset)
{
	if (offset > SCRATCH - 8)
		return 0;
	return *(const __u64 *)&task->scratch[offset & (SCRATCH - 8)];
}

static __always_inline __u32 request_u32(const struct task_state *task, __u16 offset)
{
	if (offset > SCRATCH - 8)
		return 0;
	return *(const __u32 *)&task->scratch[offset & (SCRATCH - 4)];
}

static __always_inline __u8 request_u8(const struct task_state *task, __u16 offset)
{
	return task->scratch[offset & (SCRATCH - 1)];
}

/* What UCP's operations return: 0, a status, or the user's handle of a request. */
static __always_inline bool is_handle(__s64 ret)
{
	return ret > 0 || ret < -4096;
}

/* Total length of the request's data, by the protocol generation that filled it. */
static __always_inline __u64 request_length(const struct task_state *task,
					    const struct ub_layout *layout)
{
	if (request_u32(task, layout->req_flags) & UCP_REQUEST_FLAG_PROTO_SEND)
		return request_u64(task, layout->req_dt_length);
	return request_u64(task, layout->req_length);
}

#endif
