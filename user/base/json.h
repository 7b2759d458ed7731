/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of JSON that records and reports write alike. */
#ifndef UCXBPF_BASE_JSON_H
#define UCXBPF_BASE_JSON_H

#include <jansson.h>
#include <stdint.h>

/* "0x7f00": pointers and 64-bit ids are text, for JSON numbers do not hold them. The caller's. */
json_t *json_hex(uint64_t value);

#endif
