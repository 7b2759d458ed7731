/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The batch job of a process, from facts that its user cannot change: the cgroup that Slurm put it
 * in, or an ancestor that is a step daemon of Slurm's. By its environment a process may claim any
 * job.
 */
#ifndef UCXBPF_PROCESS_BATCH_H
#define UCXBPF_PROCESS_BATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct batch_id {
	char job[64];
	char step[24]; /* number, "batch", "extern", "interactive"; "" = unknown */
};

/* Finds the job that Slurm shows the process to be in. */
bool batch_of(pid_t pid, struct batch_id *id);

/*
 * Whether Slurm would show it if a process was in that job: its cgroups are on this node, or a step
 * daemon of the job runs here. Then a claim that batch_of() does not confirm is wrong.
 */
bool batch_would_show(const char *job);

/* The parts of these functions, for tests: /proc/PID/cgroup, and a step daemon's title. */
bool batch_from_cgroups(const char *text, struct batch_id *id);
bool batch_from_title(const char *title, struct batch_id *id);

#endif
