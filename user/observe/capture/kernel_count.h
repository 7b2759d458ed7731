/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs in the kernel's half with --count. Private to capture/. */
#ifndef UCXBPF_CAPTURE_KERNEL_COUNT_H
#define UCXBPF_CAPTURE_KERNEL_COUNT_H

#include <stdbool.h>

#include "observe/probe/links.h"

struct ucxbpf;

/* Before loading, after the recording programs were chosen: which programs and maps are made. */
void kernel_count_choose(struct ucxbpf *skel, enum link_mechanism mechanism, bool count);

/* Once loaded: counting programs take the place of recording ones. */
void kernel_count_programs(struct ucxbpf *skel, struct link_programs *programs);

#endif
