/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#include "span.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* kernel 6.13, commit d920179b3d48 ("bpf: Add support for uprobe multi session attach") */
extern bool bpf_session_is_return(void) __ksym __weak;

__noinline int span_at_return(void)
{
	return bpf_session_is_return();
}
