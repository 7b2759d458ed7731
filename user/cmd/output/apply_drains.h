/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_CMD_OUTPUT_APPLY_DRAINS_H
#define UCXBPF_CMD_OUTPUT_APPLY_DRAINS_H

struct judge;

/*
 * Carries out what the judge proposes, by scontrol in PATH, without a shell; all of it, or nothing
 * where it is more than the policy allows. What is done is said. A node that has
 * a reason in Slurm already, as drained ones do, is left as it is. Returns 0 or -errno: -EDQUOT too
 * many, -EIO: scontrol or sinfo has failed, each of them said.
 */
int apply_drains(const struct judge *judge);

#endif
