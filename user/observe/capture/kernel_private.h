/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the kernel's half, for the kernel*.c files. */
#ifndef UCXBPF_CAPTURE_KERNEL_PRIVATE_H
#define UCXBPF_CAPTURE_KERNEL_PRIVATE_H

#include "observe/capture/kernel.h"

struct kernel {
	struct ucxbpf *skel;
	int cpus; /* possible ones */
	int made_up; /* beside them, for tests */
	struct link_programs programs;
};

#endif
