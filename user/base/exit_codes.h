/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exit status of every subcommand; documented for users in docs/exit-codes.md. Append-only: scripts
 * test for these numbers.
 */
#ifndef UCXBPF_BASE_EXIT_CODES_H
#define UCXBPF_BASE_EXIT_CODES_H

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

/*
 * `check` and `policy` judge a site, and end as monitoring systems expect it: 0 to 3 are those of
 * their plug-ins. If several apply, critical wins.
 */
enum ucxbpf_check_exit {
	UCXBPF_CHECK_PASS = 0,
	UCXBPF_CHECK_WARNING = 1,
	UCXBPF_CHECK_CRITICAL = 2,
	UCXBPF_CHECK_UNKNOWN = 3, /* the evidence is incomplete */
	UCXBPF_CHECK_USAGE = 4, /* usage or policy error: nothing was judged */
	UCXBPF_CHECK_FAILED = 5, /* no capture could be read, or anything else */
};

#endif
