/* SPDX-License-Identifier: BSD-3-Clause */
/* What `run` and `attach` share: options of a capture, its end, its summary. */
#ifndef UCXBPF_CMD_TRACE_ARGS_H
#define UCXBPF_CMD_TRACE_ARGS_H

#include <argp.h>
#include <stdbool.h>

#include "observe/capture/capture.h"
#include "site/sweep/command.h"

struct report;

struct capture_arguments {
	const char *output;
	bool unnamed; /* output is the default */
	struct command given; /* options, as another attach of the same trace takes them */
	char *named; /* where output is made of a template: freed by capture_arguments_release() */
	const char *level;
	long ring_kib;
	const char *links;
	uint64_t window_ns, period_ns; /* 0: all the time */
	unsigned int thin; /* as in struct capture_options */
	bool budget_by_default; /* set by the caller before parsing: `attach` */
	const char *budget_text; /* as given; NULL: not given */
	double budget; /* a share; 0: none */
	bool quiet, debug, call_ends, no_call_ends, count, stacks, exact, record_arguments;
};

/* argp child parser; its input is a struct capture_arguments. */
extern const struct argp capture_argp;

/*
 * The share that a budget names: 3%, 3; "none": 0. What is neither is an error of the parser's.
 * from: what gave the value, for the message.
 */
double budget_parse(const char *from, const char *value, struct argp_state *state);

/* That of commands that look at other people's jobs: UCXBPF_BUDGET, else 3 %. */
double budget_default(struct argp_state *state);

/* Fills options from parsed arguments; -EINVAL: printed. mode as in struct capture_options. */
int capture_arguments_apply(const struct capture_arguments *arguments, const char *mode,
			    struct capture_options *options);

void capture_arguments_release(struct capture_arguments *arguments);

/* The exit code for an error that was already printed. */
int capture_exit_code(int err);

/* Writes a report to standard output: 0 or -errno of a failed write. */
typedef int capture_print(const struct report *report, const void *arg);

/*
 * Reads the finished file back, in a process that can do nothing else, and prints a report of it.
 * Returns an exit code.
 */
int capture_read_back(const char *path, capture_print *print, const void *arg);

/* Reads the finished file back and prints the report, as `replay` would; returns an exit code. */
int capture_summary(const char *path);

#endif
