/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_BASE_CLOCK_H
#define UCXBPF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Reads a clock that cannot fail, ns. */
uint64_t clock_ns(clockid_t id);

#endif
