/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_DOCTOR_LIBRARY_H
#define UCXBPF_DOCTOR_LIBRARY_H

#include "observe/doctor/doctor.h"
#include "observe/process/library.h"

/* One library of a process as JSON, with its sites if plan is true; adds problems of that library.
 */
json_t *doctor_library(struct doctor *doctor, const struct mapped_library *mapped, bool plan);

/* A process as JSON without its libraries: pid, comm, exe; NULL where it is gone. */
json_t *doctor_process_facts(pid_t pid);

/* Says why a process with these libraries shows nothing, if so. */
void doctor_explain(struct doctor *doctor, pid_t pid, const mapped_libraries *libraries);

#endif
