/* SPDX-License-Identifier: BSD-3-Clause */
/* What the names of transports and of memory tell. */
#ifndef UCXBPF_JUDGE_EXHIBITS_TRANSPORT_H
#define UCXBPF_JUDGE_EXHIBITS_TRANSPORT_H

#include <stdbool.h>

/* tcp, rc_*, dc_*, ud_*...: what goes through a NIC. NULL, unknown: it does not. */
bool is_network(const char *transport);

/* "gpu", "gpu0"... NULL, unknown: it is not. */
bool is_gpu(const char *memory);

#endif
