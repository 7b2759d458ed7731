// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_report.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "cmds.h"
#include "exit_codes.h"
#include "sweep/command.h"

/* What a sweep's folder has in it that `check` reads. */
static const char *const patterns[] = {
	"nodes/*/before.json",
	"nodes/*/*.ucxb",
	"nodes/*/after.json",
};

static const struct {
	const char *format, *file;
} forms[] = {
	{ "text", "report.txt" },
	{ "json", "report.json" },
	{ "junit", "report.xml" },
	{ "openmetrics", "report.prom" },
};

/* Returns how many there are. */
static size_t add_files(struct command *command, const char *folder)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char path[4096];
		glob_t found;

		snprintf(path, sizeof(path), "%s/%s", folder, patterns[i]);
		if (glob(path, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			command_add(command, "%s", found.gl_pathv[k]);
		count += found.gl_pathc;
		globfree(&found);
	}
	return count;
}

static bool has(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, R_OK);
}

/* `check` in a process of its own: what it takes of memory ends with it. */
static int check(struct command *command, bool quiet)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = quiet ? open("/dev/null", O_WRONLY) : -1;

		if (null >= 0)
			dup2(null, STDERR_FILENO);
		exit(cmd_check(command->words.len, command_argv(command)));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		log_error("the report could not be made");
		return UCXBPF_CHECK_FAILED;
	}
	return WEXITSTATUS(status);
}

/* path: NULL is standard output. */
static int judge(const char *folder, const char *format, const char *path, bool warn_ok)
{
	struct command command = { 0 };
	int status;

	command_split(&command, warn_ok ? "check --warn-ok" : "check");
	command_add(&command, "--format=%s", format);
	if (path)
		command_add(&command, "--output=%s/%s", folder, path);
	if (has(folder, "policy.yaml"))
		command_add(&command, "--policy=%s/policy.yaml", folder);
	if (add_files(&command, folder)) {
		status = check(&command, path);
	} else {
		log_error("%s: has nothing of a sweep in it", folder);
		status = UCXBPF_CHECK_FAILED;
	}
	command_release(&command);
	return status;
}

int sweep_report(const char *folder, const char *format, bool warn_ok, bool files)
{
	fflush(stdout);
	for (size_t i = 0; files && i < sizeof(forms) / sizeof(forms[0]); i++)
		judge(folder, forms[i].format, forms[i].file, warn_ok);
	return judge(folder, format ? format : "text", NULL, warn_ok);
}
