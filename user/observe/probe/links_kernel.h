/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls behind links. Each returns a file descriptor or -errno. Private to probe/. */
#ifndef UCXBPF_PROBE_LINKS_KERNEL_H
#define UCXBPF_PROBE_LINKS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* enum bpf_attach_type of kernels newer than the build machine's headers */
#define ATTACH_PERF_EVENT 41
#define ATTACH_UPROBE_MULTI 48 /* Linux 6.6 */
#define ATTACH_UPROBE_SESSION 57 /* Linux 6.13 */

struct link_target {
	const char *path;
	const uint64_t *offsets, *cookies;
	size_t count;
	pid_t pid; /* multi: hits of this process only; 0: of all */
};

/* One link for all of the target; attach_type as the program was loaded with. */
int link_multi(int prog_fd, int attach_type, bool at_return, const struct link_target *target);

/*
 * Whether such links can be limited to a process. Before Linux 6.10, unless the fix was backported,
 * the kernel limits them to a thread.
 */
bool link_multi_knows_processes(int prog_fd, int attach_type);

/* One perf event with one probe; -E2BIG for a target of more. */
int link_perf(int prog_fd, bool at_return, const struct link_target *target);

#endif
