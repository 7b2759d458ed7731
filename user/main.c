// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/vec.h"
#include "cmd/cmds.h"
#include "version.h"

struct subcommand {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *help;
};

static const char *running = ""; /* name of the command */

static const struct subcommand commands[] = {
#define COMMAND(name, help) { #name, cmd_##name, help },
#include "commands.inc"
#undef COMMAND
};

#define COMMANDS ARRAY_SIZE(commands)

static const char examples[] =
	"Examples:\n"
	"  ucxbpf doctor                           would a trace see anything here, and why not\n"
	"  sudo ucxbpf run -- mpirun -n 2 ./app    trace a job from its first instruction\n"
	"  sudo ucxbpf attach -p 4242 -d 10        trace a running process for 10 seconds\n"
	"  sudo ucxbpf attach -o a.ucxb --all      trace every UCX process here until Ctrl-C\n"
	"  sudo ucxbpf top -p 4242                 what a job sends now, and where it waits\n"
	"  sudo ucxbpf pending -p 4242             a job hangs: which rank is behind\n"
	"  ucxbpf replay a.ucxb b.ucxb             report on captures, anywhere, as any user\n"
	"  ucxbpf replay --json a.ucxb | jq .loss  the same for programs\n"
	"  ucxbpf diff before.ucxb after.ucxb      what differs between two runs\n"
	"  ucxbpf export -f json -o a.json a.ucxb  captures in the formats of other tools\n"
	"  ucxbpf schema                           what the lines of its ndjson are\n"
	"  ucxbpf inventory                        this node's NICs, GPUs, UCX and MPI, as JSON\n"
	"  ucxbpf check -P site.yaml a.ucxb        does data move the way this site expects\n"
	"  ucxbpf policy check site.yaml           what a policy means, and what is wrong in it\n"
	"  sudo ucxbpf sweep run -P site.yaml -o s makes traffic between all nodes, and judges it\n";

static void print_help(FILE *out)
{
	fputs("Usage: ucxbpf COMMAND [OPTION...]\n"
	      "Shows how MPI calls become UCX operations and transfers, on stock libraries.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	fprintf(out,
		"\n%s\n'ucxbpf help COMMAND' lists a command's options. Exit codes: docs/exit-codes.md.\n",
		examples);
}

/*
 * Output of --help and --version must be complete. Checked here for all commands, since argp ends
 * the program itself. A status other than 0 already reports an error.
 */
static void check_output(int status, void *arg)
{
	bool failed;

	(void)arg;
	errno = 0;
	failed = fflush(stdout) || ferror(stdout);
	/* a reader that stops early is no failure */
	if (status || !failed || errno == EPIPE)
		return;
	log_error("standard output: %s", errno ? strerror(errno) : "could not be written");
	_exit(exit_unwritten(running, -errno));
}

/* Usage errors name the whole command and end with its own status. */
static int run(const struct subcommand *command, int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "ucxbpf %s", command->name);
	argv[0] = name;
	argp_err_exit_status = exit_usage(command->name);
	alloc_set_status(exit_failed(command->name));
	running = command->name;
	if (command->function != cmd_run && command->function != cmd_attach)
		alloc_json();
	return command->function(argc, argv);
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
	static char help[] = "--help";
	const char *name = argc > 1 ? argv[1] : "";

	on_exit(check_output, NULL);
	if (asks_for_help(name) || (!strcmp(name, "help") && argc < 3)) {
		print_help(stdout);
		return UCXBPF_EXIT_OK;
	}
	/* "help COMMAND" and "COMMAND -h": argp knows neither */
	if (!strcmp(name, "help")) {
		name = argv[1] = argv[2];
		argv[2] = help;
	} else if (argc > 2 && asks_for_help(argv[2])) {
		argv[2] = help;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("ucxbpf " UCXBPF_VERSION);
		return UCXBPF_EXIT_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	if (argc < 2)
		print_help(stderr);
	else
		log_error("no command '%s', see ucxbpf --help", name);
	return UCXBPF_EXIT_USAGE;
}
