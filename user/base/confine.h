/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drops privileges that a command does not need. Anybody may have made the captures, policies and
 * evidence that root reads, and the processes that a tracer inspects.
 */
#ifndef UCXBPF_BASE_CONFINE_H
#define UCXBPF_BASE_CONFINE_H

#include <stdbool.h>

/*
 * For this process from now on, to be called while it has one thread: no new privileges, no
 * capabilities but those to read and write files of others and to give files away, and no system
 * call that runs a program, opens a socket, looks into another process, makes a namespace, types
 * into a terminal, loads code into the kernel or changes the system: they fail with EPERM. Where a
 * kernel lacks one of these, the others hold; where it refuses one that it has, a warning is
 * printed.
 */
void confine_to_files(void);

/*
 * The same for a process that answers strangers: no capabilities at all, and where it is root, it
 * becomes nobody.
 */
void confine_to_answers(void);

/*
 * The same for a tracer, which keeps eight more capabilities and the calls that load programs,
 * place probes, read memory of processes, enter their namespaces and talk to its own children.
 * Landlock is not used: it forbids reading processes outside its domain.
 */
void confine_to_tracing(void);

/*
 * The same for a process that only starts and ends processes like itself, which parse foreign
 * files: no capabilities at all.
 */
void confine_to_starting(void);

/*
 * No capabilities, no new privileges, and only the calls by which a process uses its own memory,
 * reads and maps descriptors that it has, answers through them, and ends: any other fails with
 * EPERM. Where a kernel lacks one of these, the others hold. False: the kernel refuses one that it
 * has, and no foreign file should be parsed.
 */
bool confine_to_parsing(void);

/* Whether the kernel can refuse system calls. */
bool confine_has_filters(void);

#endif
