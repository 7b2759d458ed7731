/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* How many bytes a transfer carries, by its site's rule, from its arguments and its result. */
#ifndef UCXBPF_LENGTH_BPF_H
#define UCXBPF_LENGTH_BPF_H

#include "maps.bpf.h"
#include "ucx_abi.bpf.h"

/*
 * Without the bytes of an iov, which iov_sum() adds up where the site has arg_iov; 0 with
 * UB_LEN_RETURN, see length_result().
 */
static __always_inline __u64 length_direct(const struct ub_site *site, const __u64 *args)
{
	switch (site->length_rule) {
	case UB_LEN_ARG32:
		return (__u32)args[site->arg_count & (ARGS - 1)];
	case UB_LEN_ARG64:
		return args[site->arg_count & (ARGS - 1)];
	case UB_LEN_SHORT_AM:
		return 8 + (__u32)args[site->arg_count & (ARGS - 1)];
	case UB_LEN_ZCOPY_AM:
		return (__u32)args[site->arg_header_len & (ARGS - 1)];
	case UB_LEN_FIXED4:
		return 4;
	case UB_LEN_FIXED8:
		return 8;
	}
	return 0;
}

struct iov_sum {
	__u64 bytes;
	__u64 first; /* buffer of the first element */
	__u64 unknown; /* 1: elements could not be read, or were too many, and are not in bytes */
};

/* Not static: verified once, and not for each path to it. */
__weak __noinline int iov_sum(struct iov_sum *sum, __u64 base, __u64 n)
{
	if (!sum)
		return 0;
	sum->unknown = n > MAX_IOV;
	for (__u32 i = 0; i < MAX_IOV; i++) {
		struct uct_iov iov;

		if (i >= n)
			break;
		if (bpf_probe_read_user(&iov, sizeof(iov), (void *)(base + i * sizeof(iov)))) {
			sum->unknown = 1;
			break;
		}
		if (i == 0)
			sum->first = iov.buffer;
		sum->bytes += iov.length * iov.count;
	}
	return 0;
}

/* The status of a transfer that returned ret; *_bcopy returns its length in place of one. */
static __always_inline __s8 length_result(__u64 *bytes, __u8 rule, __s64 ret)
{
	if (rule == UB_LEN_RETURN) {
		*bytes = ret < 0 ? 0 : ret;
		ret = ret < 0 ? ret : 0;
	}
	return ret;
}

#endif
