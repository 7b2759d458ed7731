/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks what a trace would show on this machine or of one process, and why it would miss the rest.
 * Facts are collected as JSON (docs/ucxbpf-doctor.1.md names the fields); the text is printed from
 * the same JSON.
 */
#ifndef UCXBPF_DOCTOR_DOCTOR_H
#define UCXBPF_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum problem_id {
	PROBLEM_NO_BTF,
	PROBLEM_NO_UPROBES,
	PROBLEM_NO_BPF,
	PROBLEM_NO_MAP,
	PROBLEM_NO_LINKS,
	PROBLEM_LOCKDOWN,
	PROBLEM_CAPABILITY,
	PROBLEM_LESS,
	PROBLEM_USER_NAMESPACE,
	PROBLEM_HIDDEN,
	PROBLEM_NOT_READABLE,
	PROBLEM_NO_PROCESS,
	PROBLEM_NOT_64BIT,
	PROBLEM_STATIC,
	PROBLEM_NOTHING_MAPPED,
	PROBLEM_OB1_CONFIGURED,
	PROBLEM_OTHER_PML,
	PROBLEM_MPI_WITHOUT_UCX,
	PROBLEM_MPI_NOT_STARTED,
	PROBLEM_UCX_UNUSED,
	PROBLEM_UNKNOWN_BUILD,
	PROBLEM_NO_SITES,
	PROBLEM_LEFT_OUT,
	PROBLEM_NO_MODULES,
	PROBLEM_NOBODY,
	PROBLEM_AVOIDS_UCX,
};

struct doctor {
	json_t *report;
	int status; /* of the first problem that prevents a trace, else that limits it; 0: none */
};

void doctor_init(struct doctor *doctor);
void doctor_release(struct doctor *doctor);

/* Adds a problem; the arguments fill the %s of its text. The first fatal one decides the status. */
void doctor_problem(struct doctor *doctor, enum problem_id id, ...);

/* Adds "privileges": each capability that tracing needs, and limits on locked memory. */
void doctor_privileges(struct doctor *doctor);

/*
 * Adds "kernel": its features, probed by use where that has no side effect. Call after
 * doctor_privileges(), since a trial needs the capabilities.
 */
void doctor_kernel(struct doctor *doctor);

/* Adds "processes": every process that maps UCX or an MPI library, and how many were hidden. */
void doctor_list(struct doctor *doctor);

/* Adds "processes" with one process: each library with its sites, or why it would not be traced. */
void doctor_process(struct doctor *doctor, pid_t pid);

/* verbose: every site with its place. */
void doctor_print(const struct doctor *doctor, bool verbose, FILE *out);

#endif
