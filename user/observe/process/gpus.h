/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs of this host, as NVIDIA's driver lists them in /proc/driver/nvidia/gpus, and those on
 * which a process has a context, from NVIDIA's management library.
 */
#ifndef UCXBPF_PROCESS_GPUS_H
#define UCXBPF_PROCESS_GPUS_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A side record "gpu" for each, in order of PCI address; an empty array without GPUs. root:
 * "" for this machine, else a directory with proc/ and sys/ in it. The caller's.
 */
json_t *gpus_side_records(const char *root, uint64_t ts);

/*
 * libnvidia-ml.so.1, looked for at run time (nvml.h of CUDA 11 to 13). A process's memory from
 * cuMemAlloc and the like is on a GPU on which it has a context.
 */
struct nvml;

/* NULL: not installed, or it knows no GPU. */
struct nvml *nvml_open(void);
void nvml_close(struct nvml *nvml);

/* PCI addresses (0000:18:00.0), the caller's; NULL: a GPU did not answer, or there is no GPU. */
json_t *nvml_gpus_of(const struct nvml *nvml, pid_t pid);

#endif
