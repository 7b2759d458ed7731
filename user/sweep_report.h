/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on a sweep's folder. */
#ifndef UCXBPF_SWEEP_REPORT_H
#define UCXBPF_SWEEP_REPORT_H

#include <stdbool.h>

#include "gather.h"
#include "sweep/command.h"

/* Within the folder: the part that confirms, which looks like a sweep's folder itself. */
#define SWEEP_CONFIRM "confirm"

struct sweep_verdict {
	struct policy *policy;
	struct command paths;
	struct gathered gathered; /* its judge is finished */
};

/*
 * Judges what is in the folder. Returns UCXBPF_CHECK_PASS: there is a verdict, whatever it says;
 * else another enum ucxbpf_check_exit, and why has been said. To be released either way.
 */
int sweep_judge(struct sweep_verdict *verdict, const char *folder);
void sweep_verdict_release(struct sweep_verdict *verdict);

/* As report.txt, .json, .xml, .prom and .html in the folder. 0, or -EIO, which is said. */
int sweep_verdict_keep(const struct sweep_verdict *verdict, const char *folder, bool warn_ok);

/* As format says, one of verdict_form_of(); NULL: text. Returns the exit status. */
int sweep_verdict_print(const struct sweep_verdict *verdict, const char *format, bool warn_ok);

/* Judges and prints. Returns the exit status. */
int sweep_report(const char *folder, const char *format, bool warn_ok);

#endif
