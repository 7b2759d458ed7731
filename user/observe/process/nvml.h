/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which GPUs a process has a context, as NVIDIA's management library tells, where it is
 * installed: libnvidia-ml.so.1, looked for at run time (nvml.h of CUDA 11 to 13). Memory that a
 * process has made with cuMemAlloc and the like lies on one of these.
 */
#ifndef UCXBPF_TARGET_NVML_H
#define UCXBPF_TARGET_NVML_H

#include <jansson.h>
#include <sys/types.h>

struct nvml;

/* NULL: not installed, or no GPU that it knows. */
struct nvml *nvml_open(void);
void nvml_close(struct nvml *nvml);

/* PCI addresses (0000:18:00.0), the caller's; NULL: some GPU did not tell, or there are none. */
json_t *nvml_gpus_of(const struct nvml *nvml, pid_t pid);

#endif
