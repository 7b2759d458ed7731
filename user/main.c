// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
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
	"  sudo ucxbpf attach 4242 -d 10s          trace a running process for 10 seconds\n"
	"  sudo ucxbpf attach -o a.ucxb --all      trace every UCX process here until Ctrl-C\n"
	"  sudo ucxbpf top -p 4242                 what a job sends now, and where it waits\n"
	"  sudo ucxbpf serve                       the same as metrics, for Prometheus\n"
	"  sudo ucxbpf pending 4242                a job hangs: which rank is behind\n"
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

/* ---- the command that somebody meant ---- */

/* Words of other tools for what a command here does. */
static const struct {
	const char *word, *command;
} synonyms[] = {
	{ "record", "run" },
	{ "report", "replay" },
	{ "trace", "attach" },
};

#define LONGEST_NAME 16
#define MOST_EDITS 2

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, replace or swap with the next one; of longer words, too many. */
static size_t edits(const char *from, const char *to)
{
	const size_t m = strlen(from), n = strlen(to);
	size_t table[LONGEST_NAME + 1][LONGEST_NAME + 1];

	if (m > LONGEST_NAME || n > LONGEST_NAME)
		return MOST_EDITS + 1;
	for (size_t i = 0; i <= m; i++) {
		for (size_t j = 0; j <= n; j++) {
			if (!i || !j) {
				table[i][j] = i + j;
				continue;
			}
			table[i][j] = table[i - 1][j - 1] + (from[i - 1] != to[j - 1]);
			table[i][j] = least(table[i][j], table[i - 1][j] + 1);
			table[i][j] = least(table[i][j], table[i][j - 1] + 1);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				table[i][j] = least(table[i][j], table[i - 2][j - 2] + 1);
		}
	}
	return table[m][n];
}

/* NULL: no command is like it. */
static const char *suggestion(const char *word)
{
	size_t best = MOST_EDITS + 1, distance;
	const char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++)
		if (!strcmp(word, synonyms[i].word))
			return synonyms[i].command;
	for (size_t i = 0; i < COMMANDS; i++) {
		distance = edits(word, commands[i].name);
		/* half of a word is no misspelling of it */
		if (distance < best && distance * 2 < strlen(commands[i].name)) {
			best = distance;
			found = commands[i].name;
		}
	}
	return found;
}

static void say_unknown(const char *name)
{
	const char *meant = suggestion(name);

	if (meant)
		log_error("no command '%s', did you mean '%s'?", name, meant);
	else
		log_error("no command '%s', see ucxbpf --help", name);
}

/*
 * Opens /dev/null for each standard descriptor that is closed. Otherwise the next file, such as a
 * capture, would get its number, and a report would be written into it. It is opened read-only, so
 * that writes still fail.
 */
static void occupy_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	static char help[] = "--help";
	const char *name = argc > 1 ? argv[1] : "";

	occupy_closed();
	on_exit(check_output, NULL);
	if (asks_for_help(name) || (!strcmp(name, "help") && argc < 3)) {
		print_help(stdout);
		return UCXBPF_EXIT_OK;
	}
	if (!strcmp(name, "help")) {
		name = argv[1] = argv[2];
		argv[2] = help;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
		puts("ucxbpf " UCXBPF_VERSION);
		return UCXBPF_EXIT_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	if (argc < 2)
		print_help(stderr);
	else
		say_unknown(name);
	return UCXBPF_EXIT_USAGE;
}
