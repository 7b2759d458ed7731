/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures in, one export out: what `export` does, and `replay` for its formats. */
#ifndef UCXBPF_CMD_OUTPUT_EXPORT_CAPTURES_H
#define UCXBPF_CMD_OUTPUT_EXPORT_CAPTURES_H

#include "cmd/input/captures.h"
#include "show/export/export.h"

/* Says what goes wrong. command: its name, for the progress line. Returns the exit status. */
int export_captures(const char *command, const struct export_request *request,
		    struct captures *captures);

#endif
