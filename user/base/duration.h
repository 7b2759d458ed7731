/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of time as people write them: 300ms, 1s, 1.5min, 2h. */
#ifndef UCXBPF_BASE_DURATION_H
#define UCXBPF_BASE_DURATION_H

#include <stdint.h>

/* Reads a number and its unit, up to the first other byte: *end. -EINVAL: no such; -ERANGE. */
int duration_parse(const char *text, const char **end, uint64_t *ns);

#endif
