/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exit status of every subcommand; documented for users in docs/exit-codes.md. Append-only: scripts
 * test for these numbers.
 */
#ifndef UCXBPF_EXIT_CODES_H
#define UCXBPF_EXIT_CODES_H

enum ucxbpf_exit {
	UCXBPF_EXIT_OK = 0,
	UCXBPF_EXIT_FAILED = 1, /* anything without a number of its own, e.g. output not written */
	UCXBPF_EXIT_USAGE = 2, /* unknown option, malformed argument */
	UCXBPF_EXIT_INPUT = 3, /* no input could be read: missing, not a capture, too new */
	UCXBPF_EXIT_PARTIAL = 4, /* a result was given, but from damaged or incomplete input */
	UCXBPF_EXIT_PERMISSION = 5, /* a capability is missing */
	UCXBPF_EXIT_KERNEL = 6, /* the kernel lacks BTF, uprobes or another needed feature */
	UCXBPF_EXIT_NO_TARGET = 7, /* process gone, reused, or never there */
	UCXBPF_EXIT_UNSUPPORTED = 8, /* process cannot be traced: no UCX mapped, 32 bit, static */
	UCXBPF_EXIT_NO_SPACE =
		9, /* disk full: a capture ends early but is readable, an export is not there */
};

#endif
