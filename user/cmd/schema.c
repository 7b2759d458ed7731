// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmds.h"
#include "show/export/export.h"

static const char doc[] =
	"Prints the JSON Schema of the lines that ucxbpf export -f ndjson writes.\v"
	"Example:\n"
	"  ucxbpf schema >events.schema.json\n\n"
	"Exit status: 0 done, 2 usage, 1 or 9 it could not be written (docs/exit-codes.md).";

int cmd_schema(int argc, char **argv)
{
	const struct argp argp = { NULL, NULL, NULL, doc, NULL, NULL, NULL };
	int err;

	if (xargp_parse(&argp, argc, argv, 0, NULL))
		return UCXBPF_EXIT_USAGE;
	err = export_schema(stdout);
	if (!err || err == -EPIPE)
		return UCXBPF_EXIT_OK;
	log_error("standard output: %s", strerror(-err));
	return exit_unwritten("schema", err);
}
