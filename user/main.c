// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cmds.h"
#include "exit_codes.h"
#include "version.h"

struct command {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
#define COMMAND(name, help) { #name, cmd_##name, help },
#include "commands.inc"
#undef COMMAND
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char examples[] =
	"Examples:\n"
	"  ucxbpf doctor                           would a trace see anything here, and why not\n"
	"  sudo ucxbpf run -- mpirun -n 2 ./app    trace a job from its first instruction\n"
	"  sudo ucxbpf attach -p 4242 -d 10        trace a running process for 10 seconds\n"
	"  sudo ucxbpf attach -o a.ucxb --all      trace every UCX process here until Ctrl-C\n"
	"  ucxbpf replay a.ucxb b.ucxb             report on captures, anywhere, as any user\n"
	"  ucxbpf replay --json a.ucxb | jq .loss  the same for programs\n"
	"  ucxbpf export -f json -o a.json a.ucxb  captures in the formats of other tools\n"
	"  ucxbpf schema                           what the lines of its ndjson are\n"
	"  ucxbpf check -P site.yaml a.ucxb        does data move the way this site expects\n"
	"  ucxbpf policy check site.yaml           what a policy means, and what is wrong in it\n";

static void print_help(FILE *out)
{
	fputs("Usage: ucxbpf COMMAND [OPTION...]\n"
	      "Shows how MPI calls become UCX operations and transfers, on stock libraries.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fprintf(out,
		"\n%s\n'ucxbpf COMMAND --help' lists a command's options. Exit codes: docs/exit-codes.md.\n",
		examples);
}

/* Usage errors name the whole command, and end with our own status. */
static int run(const struct command *command, int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "ucxbpf %s", command->name);
	argv[0] = name;
	argp_err_exit_status = UCXBPF_EXIT_USAGE;
	return command->function(argc, argv);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		print_help(stdout);
		return UCXBPF_EXIT_OK;
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
		fprintf(stderr, "ucxbpf: no command '%s', see ucxbpf --help\n", name);
	return UCXBPF_EXIT_USAGE;
}
