/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Which endpoint an address stands for: a number that is never given twice, so that an address that
 * is handed out again never adds to its former endpoint's cells.
 */
#ifndef UCXBPF_COUNT_EP_BPF_H
#define UCXBPF_COUNT_EP_BPF_H

#include "context.bpf.h"

/*
 * Made at an endpoint's first transfer, removed as it is destroyed, or by user space once the
 * process is gone. Full: transfers go to the cell UB_OTHER_XFERS. Without --count: one entry,
 * empty.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct ub_ep_key);
	__type(value, __u32);
} ep_numbers __weak SEC(".maps");

/* Raised when an address or a cell changes its meaning: what tasks remember no longer holds. */
volatile __u32 cache_epoch __weak = 1;

static __always_inline void ep_gone(__u64 uct_ep)
{
	struct ub_ep_key key = { uct_ep, address_space() };

	if (!bpf_map_delete_elem(&ep_numbers, &key))
		__sync_fetch_and_add(&cache_epoch, 1);
}

#endif
