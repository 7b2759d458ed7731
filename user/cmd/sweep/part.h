/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of a sweep, as a task of its job array. */
#ifndef UCXBPF_CMD_SWEEP_PART_H
#define UCXBPF_CMD_SWEEP_PART_H

struct sweep_arguments;
struct sweep_options;

/*
 * Carries it out in parts/N of options' folder, by the plan that is there, on those nodes of it
 * that the allocation has; then gathers what there is into parts/N.evidence. Returns the exit
 * status, which tells nothing about the verdict.
 */
int sweep_part(const struct sweep_arguments *arguments, const struct sweep_options *options);

#endif
