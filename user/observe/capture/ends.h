/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact ends of MPI calls (--call-ends) are refused where the stacks of user-level threads are
 * switched: a return probe would end the program (observe/process/library.h).
 */
#ifndef UCXBPF_CAPTURE_ENDS_H
#define UCXBPF_CAPTURE_ENDS_H

#include "observe/capture/track.h"

/* Whether an MPI library's calls may have their returns; says and notes why not, once. */
void ends_library(struct track *track, const struct probed *probed);

/* A process whose mapped libraries are known now: told before anything new of it is probed. */
void ends_process(struct track *track, struct tracked *tracked, const mapped_libraries *mapped);

/* The process has ended or has a new program. */
void ends_forget(struct track *track, const struct tracked *tracked);

#endif
