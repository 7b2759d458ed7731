/* SPDX-License-Identifier: BSD-3-Clause */
/* The side record "budget" (docs/side-records.md). */
#ifndef UCXBPF_CAPTURE_BUDGET_SIDE_H
#define UCXBPF_CAPTURE_BUDGET_SIDE_H

struct capture;

/* Writes which step holds from now on, and the numbers that led to it. */
void budget_side(struct capture *capture);

#endif
