// SPDX-License-Identifier: BSD-3-Clause
/* Programs with nothing in them, and one that only counts: see floor.c. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

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
