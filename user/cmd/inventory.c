// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmds.h"
#include "cmd/output/output.h"
#include "observe/process/reader.h"
#include "site/inventory/inventory.h"

struct inventory_arguments {
	const char *output; /* NULL: standard output */
	const char *format; /* NULL: text to a terminal, else JSON */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct inventory_arguments *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case 'f':
		if (strcmp(arg, "json") && strcmp(arg, "text"))
			argp_error(state, "--format=%s: not json or text", arg);
		options->format = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "Write the inventory to FILE", 0 },
	{ "format", 'f', "json|text", 0, "Default: text on a terminal, else json", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.doc = "Describes this node: GPUs, NICs with their counters, copies of UCX and MPI, "
	       "settings and limits. Makes no traffic."
	       "\vExamples:\n"
	       "  ucxbpf inventory                          this machine, for people\n"
	       "  ucxbpf inventory -o $(hostname).json      for 'ucxbpf check', as any user\n"
	       "  ucxbpf check -P site.yaml n*.json         are all NICs as they should be\n"
	       "  ucxbpf inventory -f json | jq '.nics[].name'\n\n"
	       "Exit status: 0, 2 usage, 1 where it could not be written.",
};

static bool wants_text(const struct inventory_arguments *options)
{
	if (options->format)
		return !strcmp(options->format, "text");
	return !options->output && isatty(STDOUT_FILENO);
}

struct inventory_output {
	const struct inventory *inventory;
	bool text;
};

static int put(void *arg, FILE *out)
{
	const struct inventory_output *snapshot = arg;

	return (snapshot->text ? inventory_text : inventory_write)(snapshot->inventory, out);
}

int cmd_inventory(int argc, char **argv)
{
	struct inventory_arguments options = { 0 };
	struct inventory *inventory;
	struct inventory_output snapshot;
	int err;

	xargp_parse(&argp, argc, argv, 0, &options);
	readers_start();
	inventory = inventory_collect("");
	snapshot = (struct inventory_output){ inventory, wants_text(&options) };
	err = output_write(options.output, NEWFILE_PRIVATE, put, &snapshot);
	inventory_free(inventory);
	if (err)
		log_error("%s: %s", output_name(options.output), newfile_why(err));
	return err ? exit_unwritten("inventory", err) : UCXBPF_EXIT_OK;
}
