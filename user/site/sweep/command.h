/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: built word by word, run without a shell, or quoted for one. */
#ifndef UCXBPF_SWEEP_COMMAND_H
#define UCXBPF_SWEEP_COMMAND_H

#include "base/vec.h"

/* It owns its words. */
struct command {
	VEC(char *) words;
};

/* One more word. */
void command_add(struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* option, folder and name as one word, for a program to which a % begins a placeholder: those of
 * folder are doubled. */
void command_add_file(struct command *command, const char *option, const char *folder,
		      const char *name);

/* The words of a text, which blanks separate. */
void command_split(struct command *command, const char *text);

/* Copies of all of its words. */
void command_append(struct command *command, const struct command *more);

/* For exec, valid until the next change. */
char **command_argv(struct command *command);

/* Quoted for a shell; the caller's. */
char *command_line(const struct command *command);

void command_release(struct command *command);

#endif
