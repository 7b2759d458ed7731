/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that places and removes the tracer's probes, so that the tracer can be killed at any
 * moment.
 *
 * Where SIGKILL is pending for the task that places or removes a breakpoint, the kernel cannot get
 * the page and leaves the breakpoints in the traced program for good ("failed to unregister,
 * leaking uprobe"; seen with Linux 6.18, kernel/events/uprobes.c). They do nothing, but each hit
 * costs a trap. The keeper ends with its tracer, after its last orders. Links still belong to the
 * tracer's file descriptors: the kernel closes them as it exits, when SIGKILL is no longer pending.
 */
#ifndef UCXBPF_PROBE_KEEPER_H
#define UCXBPF_PROBE_KEEPER_H

#include "observe/probe/links_kernel.h"

/* Starts it, once per process; without it the caller's own thread does the work. */
void keeper_start(void);

/* As link_perf() or link_multi(). */
int keeper_place(bool perf, int prog_fd, int attach_type, bool at_return,
		 const struct link_target *target);

/*
 * Closes links side by side: the kernel waits about 45 ms per link until no task runs its program
 * any more, and these waits overlap. (Those of perf events do not: the kernel holds a lock
 * meanwhile.)
 */
struct link_closing *keeper_close_begin(const int *fds, size_t count);

/* Waits until all are closed; frees. Returns how long that took, ns. NULL is ignored. */
uint64_t keeper_close_wait(struct link_closing *closing);

#endif
