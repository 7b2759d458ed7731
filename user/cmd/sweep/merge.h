/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucxbpf sweep merge: what belongs together is gathered together, and becomes one file of evidence
 * with the rest (docs/evidence.md).
 */
#ifndef UCXBPF_CMD_SWEEP_MERGE_H
#define UCXBPF_CMD_SWEEP_MERGE_H

/* Returns the exit status. */
int sweep_merge(int argc, char **argv);

#endif
