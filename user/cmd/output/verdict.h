/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a verdict in all formats, and applies the actions it asks for. */
#ifndef UCXBPF_CMD_OUTPUT_VERDICT_H
#define UCXBPF_CMD_OUTPUT_VERDICT_H

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
 * Writes to a file, or to standard output if path is NULL. A regular file has the old content or
 * the whole new one at any time. Text for a terminal has colours and the terminal's width. Returns
 * 0 or -errno (printed).
 */
int verdict_write(const struct judge *judge, enum verdict_form form, const char *path,
		  const struct judge_output *how);

/*
 * Carries out what the judge proposes, by scontrol in PATH, without a shell; all of it, or nothing
 * where it is more than the policy allows. What is done is said. A node that has a reason in Slurm
 * already, as drained ones do, is left as it is. Returns 0 or -errno: -EDQUOT too
 * many, -EIO: scontrol or sinfo has failed, each of them said.
 */
int apply_drains(const struct judge *judge);

#endif
