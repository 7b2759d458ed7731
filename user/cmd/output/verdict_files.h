/* SPDX-License-Identifier: BSD-3-Clause */
/* A verdict in the forms that people and programs read, each in a file of its own. */
#ifndef UCXBPF_CMD_OUTPUT_VERDICT_FILES_H
#define UCXBPF_CMD_OUTPUT_VERDICT_FILES_H

#include "site/judge/judge.h"

enum verdict_form {
	VERDICT_TEXT,
	VERDICT_JSON,
	VERDICT_JUNIT,
	VERDICT_OPENMETRICS,
	VERDICT_TEXTFILE,
	VERDICT_HTML,
	VERDICT_FORMS
};

/* VERDICT_FORMS: there is no form of that name. */
enum verdict_form verdict_form_of(const char *name);

/*
 * Writes to a file, or to standard output where path is NULL. A regular file has the old content or
 * the whole new one at any time. Text has colours and a width where a terminal reads it. Returns 0
 * or -errno, which is said.
 */
int verdict_write(const struct judge *judge, enum verdict_form form, const char *path,
		  const struct judge_output *how);

#endif
