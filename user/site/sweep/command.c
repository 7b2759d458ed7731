// SPDX-License-Identifier: BSD-3-Clause
#include "site/sweep/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

void command_add(struct command *command, const char *format, ...)
{
	va_list arguments;
	char *word;

	va_start(arguments, format);
	word = xvasprintf(format, arguments);
	va_end(arguments);
	vec_push(&command->words, word);
}

void command_add_file(struct command *command, const char *option, const char *folder,
		      const char *name)
{
	char *text = NULL;
	size_t length;
	FILE *word = xmemstream(&text, &length);

	fputs(option, word);
	for (const char *at = folder; *at; at++)
		fprintf(word, *at == '%' ? "%%%%" : "%c", *at);
	fputs(name, word);
	fclose(word);
	vec_push(&command->words, text);
}

void command_split(struct command *command, const char *text)
{
	while (*(text += strspn(text, " \t"))) {
		size_t length = strcspn(text, " \t");

		command_add(command, "%.*s", (int)length, text);
		text += length;
	}
}

void command_append(struct command *command, const struct command *more)
{
	for (size_t i = 0; i < more->words.len; i++)
		command_add(command, "%s", more->words.data[i]);
}

char **command_argv(struct command *command)
{
	vec_push(&command->words, NULL);
	command->words.len--;
	return command->words.data;
}

static void quote(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@%";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

char *command_line(const struct command *command)
{
	char *text = NULL;
	size_t length;
	FILE *out = xmemstream(&text, &length);

	for (size_t i = 0; i < command->words.len; i++) {
		if (i)
			fputc(' ', out);
		quote(out, command->words.data[i]);
	}
	fclose(out);
	return text;
}

void command_release(struct command *command)
{
	for (size_t i = 0; i < command->words.len; i++)
		free(command->words.data[i]);
	vec_release(&command->words);
}
