/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Endpoints (ucp_ep_h) that are over: they have failed, or their program has closed them. If one
 * fails now, it is no error, or none that is new. And processes that have met an error.
 */
#ifndef UCXBPF_OVER_BPF_H
#define UCXBPF_OVER_BPF_H

#include "cell.bpf.h"

#define EEXIST 17

/*
 * ep 0: an endpoint of the process has failed, or a receive was truncated. Programs remove
 * destroyed endpoints, user space those of ended processes. A process may hold as many as are free:
 * one alone gets a half, n greedy ones an (n + 1)th each. Beyond, failures of its endpoints that
 * are being closed count, and no more returns are awaited.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UB_MAX_EPS_OVER);
	__type(key, struct ub_over_key);
	__type(value, __u8);
} eps_over __weak SEC(".maps");

volatile __u32 eps_over_used __weak = 0;
volatile __u32 any_failed __weak = 0;

/*
 * Marks the endpoint as over. False: it was already. Not static: verified once, and no part of its
 * callers' stacks.
 */
__weak __noinline bool ep_mark_over(__u32 tgid, __u64 ep)
{
	struct ub_over_key key = { .tgid = tgid, .ep = ep };
	__u8 value = 1;
	__u32 *held;
	long err;

	if (bpf_map_lookup_elem(&eps_over, &key))
		return false;
	held = share_find(tgid, UB_SHARE_OVER);
	if (!held || *held >= UB_MAX_EPS_OVER - eps_over_used)
		return true;
	err = bpf_map_update_elem(&eps_over, &key, &value, BPF_NOEXIST);
	if (!err) {
		__sync_fetch_and_add(held, 1);
		__sync_fetch_and_add(&eps_over_used, 1);
	}
	return err != -EEXIST;
}

static __always_inline void ep_forget_over(__u32 tgid, __u64 ep)
{
	struct ub_over_key key = { .tgid = tgid, .ep = ep };
	struct ub_share_key share = { tgid, UB_SHARE_OVER };
	__u32 *held;

	if (bpf_map_delete_elem(&eps_over, &key))
		return;
	__sync_fetch_and_sub(&eps_over_used, 1);
	held = bpf_map_lookup_elem(&cell_shares, &share);
	if (held)
		__sync_fetch_and_sub(held, 1);
}

static __always_inline void process_mark_failed(__u32 tgid)
{
	ep_mark_over(tgid, 0);
	any_failed = 1;
}

/*
 * Whether an endpoint of that process has failed, or a receive was truncated: then the returns of
 * its operations are awaited, as the next ones may end so at once. A receive that is cancelled is
 * none of these: healthy programs do that.
 */
static __always_inline bool process_failed(__u32 tgid)
{
	struct ub_over_key key = { .tgid = tgid };

	return unlikely(any_failed) && bpf_map_lookup_elem(&eps_over, &key);
}

#endif
