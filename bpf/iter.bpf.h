/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Programs that iterate over all tasks, on the time of the process that reads their file. */
#ifndef UCXBPF_ITER_BPF_H
#define UCXBPF_ITER_BPF_H

#include "vmlinux.h"

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

/* Context of the kernel's task iterator, kernel/bpf/task_iter.c. */
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

#endif
