/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes ahead of time: uprobes belong to files, so a library that is probed before anybody maps it
 * has no gap. File names are only a hint where to look; what counts is what the files export.
 */
#ifndef UCXBPF_CAPTURE_PREPARE_H
#define UCXBPF_CAPTURE_PREPARE_H

#include "observe/capture/probes.h"

/*
 * environment: the command's, for LD_LIBRARY_PATH. directories: more places, separated by colons,
 * NULL = none.
 */
void prepare_libraries(struct library_set *set, struct probes *probes, char *const *environment,
		       const char *directories);

#endif
