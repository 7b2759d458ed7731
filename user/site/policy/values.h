/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a policy as numbers. Each returns false for a malformed word. */
#ifndef UCXBPF_POLICY_VALUES_H
#define UCXBPF_POLICY_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "site/policy/policy.h"

/* Nothing may follow the number. */
bool value_number(const char *text, double *number);
bool value_count(const char *text, int64_t *count);

/* 8, 64K, 4M, 1G (powers of 1024); inf: UINT64_MAX. */
bool value_size(const char *text, uint64_t *bytes);

/* 100Gb/s, 400Gbit/s, 25GB/s: bit/s. */
bool value_rate(const char *text, double *rate);

/* 2026-12-01: days since 1970. */
bool value_date(const char *text, int64_t *days);

/* Whether a release of UCX has a transport of that name. */
bool value_transport(const char *name);

/*
 * Adds the names that n[0-3,7],m1 expands to to nodes, and to made, which owns them. Numbers keep
 * their widths: n[08-10] is n08, n09, n10. At most 65536 names.
 */
bool value_nodes(const char *text, struct policy *policy, texts *nodes);

#endif
