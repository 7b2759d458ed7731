/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about one process that are gone once it exits.
 */
#ifndef UCXBPF_TARGET_PROCESS_H
#define UCXBPF_TARGET_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/library.h"

/* 1: its program is a 32-bit one, 0: not; -ESRCH, -EACCES. A kernel thread is -ESRCH. */
int process_is_32bit(pid_t pid);

#endif
