// SPDX-License-Identifier: BSD-3-Clause
/*
 * The commands that look at processes or nodes, in the program of the package ucxbpf-tools: they
 * say where they are. Linked before the archive, which then adds nothing that they need, no libbpf
 * above all.
 */
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmds.h"

static int is_elsewhere(const char *command)
{
	log_error("'%s' is not in ucxbpf-tools: install the package ucxbpf, which replaces it",
		  command);
	return UCXBPF_EXIT_UNSUPPORTED;
}

#define ELSEWHERE(name)                                                                            \
	int cmd_##name(int argc, char **argv)                                                      \
	{                                                                                          \
		(void)argc;                                                                        \
		(void)argv;                                                                        \
		return is_elsewhere(#name);                                                        \
	}

ELSEWHERE(run)
ELSEWHERE(attach)
ELSEWHERE(pending)
ELSEWHERE(top)
ELSEWHERE(serve)
ELSEWHERE(inventory)
ELSEWHERE(doctor)
