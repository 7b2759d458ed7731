/* SPDX-License-Identifier: BSD-3-Clause */
/* A process's environment: what a job launcher left there, and what says how messages travel. */
#ifndef UCXBPF_TARGET_LAUNCH_H
#define UCXBPF_TARGET_LAUNCH_H

struct process;

/*
 * Fills rank, size, local_rank, rank_from, job, environment and environment_cut from
 * /proc/PID/environ. That is the environment at exec: what the program set for itself later does
 * not show, and what it wrote over that place does. After process.exe.
 */
void launch_facts(struct process *process);

/* The same from environment text: "NAME=value" strings, each with its NUL, size bytes in all. */
void launch_facts_from(struct process *process, const char *text, unsigned long size);

#endif
