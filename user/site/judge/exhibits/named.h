/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes subjects are of, found by their names: sites have thousands of both. */
#ifndef UCXBPF_JUDGE_EXHIBITS_NAMED_H
#define UCXBPF_JUDGE_EXHIBITS_NAMED_H

#include "site/judge/exhibits/words.h"

/*
 * n0 is in n0, n0:rank3, n0>n1, n1<>n0. Writes those of the names that a subject is of, as kept;
 * returns how many.
 */
#define NAMED_MOST 8
size_t named_in(const struct words *names, const char *subject, const char *found[NAMED_MOST]);

#endif
