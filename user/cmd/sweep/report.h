/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep's folder: how it begins, and its verdict. */
#ifndef UCXBPF_CMD_SWEEP_REPORT_H
#define UCXBPF_CMD_SWEEP_REPORT_H

#include <stdbool.h>

#include "cmd/input/gather.h"
#include "site/sweep/command.h"

/* Within the folder: the part that confirms, which looks like a sweep's folder itself. */
#define SWEEP_CONFIRM "confirm"

struct sweep_arguments;

struct sweep_verdict {
	struct policy *policy;
	struct command paths;
	struct gathered gathered; /* its judge is finished */
	struct gathered earlier; /* the baseline; empty if there is none */
};

/*
 * An earlier sweep's folder, or evidence of it, judged as far as it is needed to compare with it.
 * 0, or as gather(); to be released either way.
 */
int sweep_earlier(struct gathered *earlier, const struct policy *policy, const char *path,
		  const char *command);

/*
 * Judges the folder, with the arguments' baseline if any. Returns UCXBPF_CHECK_PASS if there is a
 * verdict, good or bad; else another enum ucxbpf_check_exit (printed). To be released either way.
 */
int sweep_judge(struct sweep_verdict *verdict, const char *folder,
		const struct sweep_arguments *arguments);
void sweep_verdict_release(struct sweep_verdict *verdict);

/* Writes report.txt, .json, .xml, .prom and .html into the folder. 0, or -EIO (printed). */
int sweep_verdict_keep(const struct sweep_verdict *verdict, const char *folder, bool warn_ok);

/* As format says, one of verdict_form_of(); NULL: text. Returns the exit status. */
int sweep_verdict_print(const struct sweep_verdict *verdict, const char *format, bool warn_ok);

/* Judges and prints; keep: and keeps. Returns the exit status. */
int sweep_report(const char *folder, const struct sweep_arguments *arguments, bool keep);

/*
 * Makes a folder, with a copy of the policy in it (NULL: none). An existing folder is refused:
 * files of two sweeps would be judged as one. 0 or -errno (printed).
 */
int sweep_folder(const char *folder, const char *policy_path);

#endif
