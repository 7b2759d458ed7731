/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_APPLY_DRAINS_H
#define UCXBPF_APPLY_DRAINS_H

struct judge;

/*
 * Carries out what the judge proposes, by scontrol in PATH, without a shell; all of it, or nothing
 * where it is more than the policy allows. What is done is said. Returns 0 or -errno: -EDQUOT too
 * many, -EIO: scontrol has failed, each of them said.
 */
int apply_drains(const struct judge *judge);

#endif
