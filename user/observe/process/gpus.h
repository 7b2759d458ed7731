/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs of this host, as NVIDIA's driver lists them in /proc/driver/nvidia/gpus.
 */
#ifndef UCXBPF_TARGET_GPUS_H
#define UCXBPF_TARGET_GPUS_H

#include <jansson.h>
#include <stdint.h>

/*
 * A side record "gpu" for each, in order of PCI address; an empty array where there are none. root:
 * "" for this machine, else a directory with proc/ and sys/ in it. The caller's.
 */
json_t *gpus_side_records(const char *root, uint64_t ts);

#endif
