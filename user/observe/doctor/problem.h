/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_DOCTOR_PROBLEM_H
#define UCXBPF_DOCTOR_PROBLEM_H

enum problem_id {
	PROBLEM_NO_BTF,
	PROBLEM_NO_UPROBES,
	PROBLEM_NO_BPF,
	PROBLEM_NO_MAP,
	PROBLEM_NO_LINKS,
	PROBLEM_LOCKDOWN,
	PROBLEM_CAPABILITY,
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

/* Severities: fatal = a trace would show nothing, so the exit status is not 0. */
struct problem {
	const char *id;
	int status; /* enum ucxbpf_exit; 0 = a warning only */
	const char *text; /* with %s for what differs */
	const char *fix; /* what to do, NULL = nothing to advise */
};

/* Static. */
const struct problem *problem_row(enum problem_id id);

#endif
