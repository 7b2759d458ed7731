/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exit statuses of all subcommands, documented for users in docs/exit-codes.md. Append-only:
 * scripts test for these numbers. Each command uses one of two sets, so that a number has one
 * meaning per command: plug-ins (check, policy, sweep) exit as monitoring systems expect, all
 * others as tools do.
 */
#ifndef UCXBPF_BASE_EXIT_CODES_H
#define UCXBPF_BASE_EXIT_CODES_H

/* X(identifier, status, name in docs/exit-codes.md) */
#define UCXBPF_EXITS(X)                                                                            \
	X(UCXBPF_EXIT_OK, 0, "ok")                                                                 \
	X(UCXBPF_EXIT_FAILED, 1, "failed") /* any other failure */                                 \
	X(UCXBPF_EXIT_USAGE, 2, "usage")                                                           \
	X(UCXBPF_EXIT_INPUT, 3, "input") /* no input could be read */                              \
	X(UCXBPF_EXIT_PARTIAL, 4, "partial") /* a result from damaged or incomplete input */       \
	X(UCXBPF_EXIT_PERMISSION, 5, "permission") /* a capability is missing */                   \
	X(UCXBPF_EXIT_KERNEL, 6, "kernel") /* no BTF, uprobes or another feature */                \
	X(UCXBPF_EXIT_NO_TARGET, 7, "no target") /* process gone, reused, or never there */        \
	X(UCXBPF_EXIT_UNSUPPORTED, 8, "unsupported") /* no UCX mapped, 32 bit, static */           \
	X(UCXBPF_EXIT_NO_SPACE, 9, "no space") /* disk, quota or file size limit */

/* If several apply, critical wins, then unknown. */
#define UCXBPF_CHECK_EXITS(X)                                                                      \
	X(UCXBPF_CHECK_PASS, 0, "pass")                                                            \
	X(UCXBPF_CHECK_WARNING, 1, "warning")                                                      \
	X(UCXBPF_CHECK_CRITICAL, 2, "critical")                                                    \
	X(UCXBPF_CHECK_UNKNOWN, 3, "unknown") /* the evidence is incomplete */                     \
	X(UCXBPF_CHECK_USAGE, 4, "usage") /* usage or policy error: nothing was judged */          \
	X(UCXBPF_CHECK_FAILED, 5, "failed") /* no capture could be read, or anything else */

#define UCXBPF_EXIT_MEMBER(identifier, status, name) identifier = status,
enum ucxbpf_exit { UCXBPF_EXITS(UCXBPF_EXIT_MEMBER) };
enum ucxbpf_check_exit { UCXBPF_CHECK_EXITS(UCXBPF_EXIT_MEMBER) };

/* A command's status for bad usage. */
int exit_usage(const char *command);

/* A command's status for a failure without one of its own, such as no memory. */
int exit_failed(const char *command);

/* A command's status for output that could not be written, err: -errno. */
int exit_unwritten(const char *command, int err);

#endif
