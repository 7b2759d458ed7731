/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which libucp drives a libuct or a transport module, where a process has several copies of UCX.
 */
#ifndef UCXBPF_TARGET_LIBRARY_OWNER_H
#define UCXBPF_TARGET_LIBRARY_OWNER_H

#include "observe/process/library.h"

/*
 * The libucp whose layout holds for requests met below this library: itself, or the one in the same
 * directory, or in the directory above (modules live in LIBDIR/ucx), or the only one that the
 * process maps. NULL: there is none, or several and none is near.
 */
const struct library *library_owner_ucp(const mapped_libraries *mapped,
					const struct library *library);

#endif
