/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace would see on this machine or in one process, and why not more. Facts are collected
 * as JSON (docs/ucxbpf-doctor.1.md names the fields); the text is printed from the same JSON.
 */
#ifndef UCXBPF_DOCTOR_DOCTOR_H
#define UCXBPF_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "observe/doctor/problem.h"

struct doctor {
	json_t *report;
	int status; /* of the first problem that prevents a trace, else that spoils it; 0 = none */
};

void doctor_init(struct doctor *doctor);
void doctor_release(struct doctor *doctor);

/* Adds a problem; the arguments fill the %s of its text. The first fatal one decides the status. */
void doctor_problem(struct doctor *doctor, enum problem_id id, ...);

/* Adds "privileges": each capability that tracing needs, and limits on locked memory. */
void doctor_privileges(struct doctor *doctor);

/*
 * Adds "kernel": what it can do, tried where trying leaves nothing behind; call after
 * doctor_privileges(), since nothing can be tried where a capability is missing.
 */
void doctor_kernel(struct doctor *doctor);

/* Adds "processes": every process that maps UCX or an MPI library, and how many were hidden. */
void doctor_list(struct doctor *doctor);

/* Adds "processes" with one process: each library with its sites, and why nothing would be seen. */
void doctor_process(struct doctor *doctor, pid_t pid);

/* verbose: every site with its place. */
void doctor_print(const struct doctor *doctor, bool verbose, FILE *out);

#endif
