/* SPDX-License-Identifier: BSD-3-Clause */
/* Which programs take the two ends of a span: a session program, or one at each end. */
#ifndef UCXBPF_CAPTURE_KERNEL_SPANS_H
#define UCXBPF_CAPTURE_KERNEL_SPANS_H

#include "observe/capture/kernel.h"

/* Before the object is loaded: which of its programs are, and what they are attached with. */
void kernel_spans_choose(struct ucxbpf *skel, const struct kernel_options *options);

/* Behind it: the programs that links are made of, -1 where there is none. */
void kernel_spans_programs(const struct ucxbpf *skel, struct link_programs *programs);

#endif
