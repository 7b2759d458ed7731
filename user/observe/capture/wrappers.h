/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCP's older API: functions that make their operation by calling the function that has the probe.
 */
#ifndef UCXBPF_CAPTURE_WRAPPERS_H
#define UCXBPF_CAPTURE_WRAPPERS_H

#include "base/vec.h"
#include "observe/process/elf.h"
#include "ucxbpf.h"

struct wrapped_function {
	const char *symbol; /* name of the function that they call; static */
	struct ub_wrappers wrappers;
};

typedef VEC(struct wrapped_function) wrapped_functions;

/* Finds those of a libucp by its .eh_frame; 0 or -errno, with an empty list. */
int wrappers_list(const struct elf *elf, wrapped_functions *list);

#endif
