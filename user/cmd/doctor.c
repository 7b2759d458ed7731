// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmds.h"
#include "cmd/output/output.h"
#include "observe/doctor/doctor.h"
#include "observe/process/reader.h"

struct doctor_arguments {
	pid_t pid; /* 0 = all */
	bool json;
	bool verbose;
};

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "PID", 0, "Inspect this process", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "verbose", 'v', NULL, 0, "List every site with its address", 0 },
	{ 0 },
};

static void parse_pid(struct argp_state *state, struct doctor_arguments *options, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || *end || pid <= 0 || pid > INT_MAX)
		argp_error(state, "not a process id: '%s'", text);
	options->pid = (pid_t)pid;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor_arguments *options = state->input;

	switch (key) {
	case 'p':
		parse_pid(state, options, arg);
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.doc = "Checks what a trace would see here, and what prevents it from seeing more."
	       "\vExamples:\n"
	       "  ucxbpf doctor                     this machine, and who uses UCX on it\n"
	       "  sudo ucxbpf doctor -p 4242        each library of a process, with its sites\n"
	       "  sudo ucxbpf doctor --json -p 4242 | jq '.problems[].text'\n\n"
	       "Exit status: 0 a trace would show something, else as in docs/exit-codes.md.",
};

struct diagnosis {
	const struct doctor *doctor;
	const struct doctor_arguments *options;
};

static int print(void *arg, FILE *out)
{
	const struct diagnosis *diagnosis = arg;

	if (diagnosis->options->json) {
		text_put_json(diagnosis->doctor->report, JSON_INDENT(2), out);
		fputc('\n', out);
	} else {
		doctor_print(diagnosis->doctor, diagnosis->options->verbose, out);
	}
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_arguments options = { 0 };
	struct diagnosis diagnosis;
	struct doctor doctor;
	int status, err;

	xargp_parse(&argp, argc, argv, 0, &options);
	doctor_init(&doctor);
	doctor_privileges(&doctor);
	doctor_kernel(&doctor);
	readers_start();
	if (options.pid)
		doctor_process(&doctor, options.pid);
	else
		doctor_list(&doctor);
	diagnosis = (struct diagnosis){ &doctor, &options };
	err = output_write(NULL, NEWFILE_PRIVATE, print, &diagnosis);
	if (err)
		log_error("%s: %s", output_name(NULL), newfile_why(err));
	status = doctor.status;
	doctor_release(&doctor);
	return err ? exit_unwritten("doctor", err) : status;
}
