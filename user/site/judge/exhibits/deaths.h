/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_JUDGE_EXHIBITS_DEATHS_H
#define UCXBPF_JUDGE_EXHIBITS_DEATHS_H

#include "site/judge/exhibits/exhibits.h"

/* Sets outlived_ns of members that a signal ended. All lifetimes are in. */
void deaths_compare(struct exhibits *exhibits);

#endif
