/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPUs of all hosts, in words. */
#ifndef UCXBPF_EXPORT_GPUS_H
#define UCXBPF_EXPORT_GPUS_H

#include "explain/match/facts.h"

struct gpu_text {
	char *name; /* "gpu0" */
	char *users; /* "process 3 as 0, process 4 as 1": ids, and the processes' own numbers of it
		      */
};

/* The caller frees both. */
struct gpu_text gpu_text(const struct fact_device *device);

#endif
