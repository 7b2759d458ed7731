/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Reading a ucp_request_t: one read of its first bytes into the task's scratch area, then fields by
 * the layout row. A layout row has UB_OFF_UNKNOWN for unknown fields.
 */
#ifndef UCXBPF_REQUEST_BPF_H
#define UCXBPF_REQUEST_BPF_H

#include "frame.bpf.h"
#include "ucx_abi.bpf.h"
#include "ucxbpf_am.h"

/*
 * 8-byte words of UCP's header at the start of each active message, by UCP_AM_ID_*: what lies
 * behind is the user's and never read. (src/ucp/tag/eager.h, rndv/rndv.h, rma/rma.h, core/ucp_am.h,
 * the same since UCX 1.13; ids 24 to 26 end in a footer, which is behind the user's data.)
 */
#define AM_WORDS(id, words) ((__u64)(words) << ((id)&15) * 4)
#define AM_WORDS_LOW                                                                               \
	(AM_WORDS(AM_EAGER_ONLY, 1) | AM_WORDS(AM_EAGER_FIRST, 3) | AM_WORDS(AM_EAGER_MIDDLE, 2) | \
	 AM_WORDS(AM_SYNC_ONLY, 3) | AM_WORDS(AM_SYNC_FIRST, 5) | AM_WORDS(AM_SYNC_ACK, 1) |       \
	 AM_WORDS(AM_RTS, 5) | AM_WORDS(AM_ATS, 1) | AM_WORDS(AM_RTR, 5) |                         \
	 AM_WORDS(AM_RNDV_DATA, 2) | AM_WORDS(AM_OFFLOAD_SYNC_ACK, 1) | AM_WORDS(AM_STREAM, 1))
#define AM_WORDS_HIGH                                                                              \
	(AM_WORDS(AM_ATP, 1) | AM_WORDS(AM_PUT, 2) | AM_WORDS(AM_GET_REQ, 4) |                     \
	 AM_WORDS(AM_GET_REP, 1) | AM_WORDS(AM_ATOMIC_REQ, 3) | AM_WORDS(AM_ATOMIC_REP, 1) |       \
	 AM_WORDS(AM_CMPL, 1) | AM_WORDS(AM_SINGLE, 1) | AM_WORDS(AM_FIRST, 1) |                   \
	 AM_WORDS(AM_MIDDLE, 1) | AM_WORDS(AM_SINGLE_REPLY, 1) | AM_WORDS(AM_FIRST_PSN, 1) |       \
	 AM_WORDS(AM_MIDDLE_PSN, 1))

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

/* Return values of UCP's operations: 0, a status, or the user's handle of a request. */
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
