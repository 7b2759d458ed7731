// SPDX-License-Identifier: BSD-3-Clause
/*
 * Prints what every command takes, from the tables of the program itself: the link replaces
 * argp_parse() by __wrap_argp_parse(), which prints the table that it is given and does not return
 * to the command. Lines of fields between tabs, a command's with its verb (policy check) if that
 * has options of its own:
 *
 *   command NAME HELP
 *   usage   NAME[ VERB] LINE
 *   option  NAME[ VERB] LONG SHORT ARGUMENT HELP    missing ones are empty
 *   format  NAME                                    of ucxbpf export
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cmd/cmds.h"
#include "show/export/export.h"

static const struct {
	const char *name;
	int (*function)(int argc, char **argv);
	const char *help;
} commands[] = {
#define COMMAND(name, help) { #name, cmd_##name, help },
#include "commands.inc"
#undef COMMAND
};

#define VERB_SIZE 32

static jmp_buf printed;
static const char *command, *verb; /* verb: NULL, or a word that may have options of its own */
static const char *plain_usage; /* of the command without a verb */

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *arg_index, void *input);

static void print_name(const char *kind)
{
	printf("%s\t%s%s%s\t", kind, command, verb ? " " : "", verb ? verb : "");
}

static void print_option(const struct argp_option *option)
{
	if (option->flags & (OPTION_HIDDEN | OPTION_DOC) || !option->key)
		return;
	print_name("option");
	printf("%s\t%.1s\t%s\t%s\n", option->name ? option->name : "",
	       option->key < 256 && isprint(option->key) ? (char[]){ (char)option->key, 0 } : "",
	       option->arg ? option->arg : "", option->doc ? option->doc : "");
}

static void print_options(const struct argp *argp)
{
	const struct argp_option *option = argp->options;
	const struct argp_child *child = argp->children;

	for (; option && (option->name || option->key || option->doc); option++)
		print_option(option);
	for (; child && child->argp; child++)
		print_options(child->argp);
}

static void print_usage(const char *lines)
{
	char *copy = xstrdup(lines), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		print_name("usage");
		printf("%s\n", line);
	}
	free(copy);
}

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *arg_index, void *input)
{
	(void)argc;
	(void)argv;
	(void)flags;
	(void)arg_index;
	(void)input;
	if (!verb)
		plain_usage = argp->args_doc;
	else if (argp->args_doc == plain_usage)
		longjmp(printed, 1);
	if (argp->args_doc)
		print_usage(argp->args_doc);
	print_options(argp);
	longjmp(printed, 1);
}

static void print_command(int (*function)(int argc, char **argv))
{
	char name[VERB_SIZE], word[VERB_SIZE];
	char *argv[] = { name, word, NULL };
	FILE *terminal = stderr;

	snprintf(name, sizeof(name), "%s", command);
	snprintf(word, sizeof(word), "%s", verb ? verb : "");
	if (!setjmp(printed))
		function(verb ? 2 : 1, argv);
	stderr = terminal; /* xargp_parse() has one of its own */
}

/* The verbs of a command are the lower-case words that its lines of usage begin with. */
static void print_verbs(int (*function)(int argc, char **argv))
{
	char word[VERB_SIZE];
	const char *line = plain_usage;
	size_t length;

	for (; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		length = strspn(line, "abcdefghijklmnopqrstuvwxyz");
		if (!length || length >= sizeof(word) || !strchr(" \n", line[length]))
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)length, line);
		verb = word;
		print_command(function);
	}
	verb = NULL;
}

int main(void)
{
	const struct export_format *format;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		command = commands[i].name;
		plain_usage = NULL;
		printf("command\t%s\t%s\n", command, commands[i].help);
		print_command(commands[i].function);
		print_verbs(commands[i].function);
	}
	for (size_t i = 0; (format = export_format_at(i)); i++)
		printf("format\t%s\n", format->name);
	return fflush(stdout) || ferror(stdout);
}
