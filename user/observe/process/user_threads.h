/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runtimes of user-level threads. They switch stacks inside a call, and the kernel takes a return
 * probe's frame on another stack for one that was left: the return on the first stack then ends the
 * program with SIGILL (seen on 6.18). MPICH is built over Argobots or Qthreads
 * (--with-thread-package), Open MPI 5 as well (--with-threads), AMPI over Charm++'s threads.
 */
#ifndef UCXBPF_TARGET_USER_THREADS_H
#define UCXBPF_TARGET_USER_THREADS_H

#include <stdbool.h>

#include "observe/process/library.h"

/* Whether a function of this name belongs to such a runtime; it is asked for every symbol. */
bool user_threads_symbol(const char *name);

/*
 * The runtime that a library contains or needs ("Argobots"), also through the libraries that lie
 * beside it; NULL = none. Reads files, no process.
 */
const char *user_threads_of(const struct library *library);

/* The runtime among the mapped libraries, NULL = none. */
const char *user_threads_mapped(const mapped_libraries *mapped);

#endif
