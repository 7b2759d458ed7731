/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the kernel's half share. */
#ifndef UCXBPF_CAPTURE_KERNEL_PRIVATE_H
#define UCXBPF_CAPTURE_KERNEL_PRIVATE_H

#include "capture/kernel.h"

struct ring_buffer;

struct kernel {
	struct ucxbpf *skel;
	struct ring_buffer *rings; /* all of them */
	int *ring_fds;
	int cpus;
	struct link_programs programs;
	kernel_record_fn fn;
	void *arg;
};

#endif
