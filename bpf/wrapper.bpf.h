/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * UCP's older API (ucp_tag_send_nb() and the like) calls the functions that have the probes. Its
 * caller is the operation's caller.
 */
#ifndef UCXBPF_WRAPPER_BPF_H
#define UCXBPF_WRAPPER_BPF_H

#include "context.bpf.h"

/* Written by user space before the probes that have the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB_MAX_WRAPPERS);
	__type(key, __u32);
	__type(value, struct ub_wrappers);
} wrappers SEC(".maps");

/* sp, ret: at the function's entry. Not static: verified once. */
__weak __noinline __u64 wrapper_caller(__u32 number, __u64 function, __u64 sp, __u64 ret)
{
	const struct ub_wrappers *known = bpf_map_lookup_elem(&wrappers, &number);

	for (int i = 0; known && i < UB_WRAPPER_ROWS; i++) {
		const struct ub_wrapper *row = &known->row[i];
		/* the call instruction, not always the next one, lies in the function */
		__s64 at = ret - 1 - function;

		if (at < known->from || at >= known->to)
			break;
		if (at < row->from || at >= row->to)
			continue;
		sp += row->up;
		ret = read_u64(sp);
	}
	return ret;
}

#endif
