/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Parameter blocks of UCX's public ABI, unchanged since UCX 1.10. */
#ifndef UCXBPF_UCX_ABI_BPF_H
#define UCXBPF_UCX_ABI_BPF_H

#include "vmlinux.h"

#define UCS_ERR_NO_RESOURCE (-2)
#define UCS_ERR_MESSAGE_TRUNCATED (-9)
#define UCS_ERR_CANCELED (-16)

#define UCP_OP_ATTR_FIELD_REQUEST 1
#define UCP_OP_ATTR_FIELD_CALLBACK 2
#define UCP_OP_ATTR_FIELD_DATATYPE 8
#define UCP_OP_ATTR_FIELD_RECV_INFO 128
#define UCP_OP_ATTR_FLAG_NO_IMM_CMPL (1u << 16)

#define UCP_DATATYPE_CLASS 7 /* 0 = contiguous */

/* ucp_request_param_t (ucp.h) */
struct request_param {
	__u32 op_attr_mask;
	__u32 flags;
	__u64 request;
	__u64 cb;
	__u64 datatype;
	__u64 user_data;
	__u64 reply_buffer;
	__u32 memory_type;
	__u32 pad;
	__u64 recv_info;
};

/* uct_iov_t (uct.h) */
struct uct_iov {
	__u64 buffer;
	__u64 length;
	__u64 memh;
	__u64 stride;
	__u32 count;
	__u32 pad;
};

#define MAX_IOV 8 /* entries that are read per operation */

/* uct_completion_t (uct.h) */
struct uct_completion {
	__u64 func;
	__s32 count;
	__u8 status;
	__u8 pad[3];
};

#endif
