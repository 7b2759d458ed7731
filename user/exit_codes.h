/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exit statuses of every subcommand, documented in docs/ucxbpf.1.md. Append-only: scripts test them.
 * `run` passes on its command's own status when the trace itself went well.
 */
#ifndef UCXBPF_EXIT_CODES_H
#define UCXBPF_EXIT_CODES_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,	/* anything not below */
	EXIT_USAGE = 2,		/* bad option or argument; nothing was done */
	EXIT_PERMISSION = 3,	/* a capability is missing, and named */
	EXIT_KERNEL = 4,	/* no BTF, no uprobes, no BPF: this kernel cannot trace */
	EXIT_NO_UCX = 5,	/* nothing to see: no UCX mapped, static or 32-bit program */
	EXIT_NO_PROCESS = 6,	/* the process is gone, or its pid is another's by now */
	EXIT_LIBRARY = 7,	/* a library could not be read or has no usable sites */
	EXIT_OUTPUT = 8,	/* the capture or the report could not be written; what was, is kept */
	EXIT_CAPTURE = 9,	/* not a capture, of a newer version, or nothing in it is intact */
};

#endif
