// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_report.h"

#include <glob.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "exit_codes.h"
#include "gather.h"
#include "policy/policy.h"
#include "policy_file.h"
#include "sweep/command.h"
#include "verdict_files.h"

/* What a sweep's folder has in it that is judged. */
static const char *const patterns[] = {
	"plan.json",          "nodes/*/before.json", "nodes/*/*.ucxb",
	"nodes/*/after.json", "ledger/*.ndjson",
};

static const struct {
	enum verdict_form form;
	const char *file;
} files[] = {
	{ VERDICT_TEXT, "report.txt" },  { VERDICT_JSON, "report.json" },
	{ VERDICT_JUNIT, "report.xml" }, { VERDICT_TEXTFILE, "report.prom" },
	{ VERDICT_HTML, "report.html" },
};

static void find_files(struct command *found, const char *folder)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char path[4096];
		glob_t names;

		snprintf(path, sizeof(path), "%s/%s", folder, patterns[i]);
		if (glob(path, 0, NULL, &names))
			continue;
		for (size_t k = 0; k < names.gl_pathc; k++)
			command_add(found, "%s", names.gl_pathv[k]);
		globfree(&names);
	}
}

/* Without a policy, that of the catalogue. NULL: it is wrong, and said. */
static struct policy *policy_in(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	return policy_of(access(path, F_OK) ? NULL : path);
}

static int write_files(const struct judge *judge, const char *folder, bool warn_ok)
{
	const struct judge_output how = { .warn_ok = warn_ok };
	char path[4096];
	int err = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i].file);
		if (verdict_write(judge, files[i].form, path, &how))
			err = -1;
	}
	return err;
}

static int judge_files(const struct command *paths, const struct policy *policy, const char *folder,
		       enum verdict_form form, bool warn_ok, bool keep)
{
	const struct judge_output how = { .warn_ok = warn_ok };
	int status = UCXBPF_CHECK_FAILED;
	struct gathered gathered;
	int err = gather(&gathered, policy, (const char *const *)paths->words.data,
			 paths->words.len, "sweep", false);

	if (!err) {
		judge_finish(gathered.judge, gathered.totals, time(NULL) / 86400);
		err = keep ? write_files(gathered.judge, folder, warn_ok) : 0;
		if (!verdict_write(gathered.judge, form, NULL, &how) && !err)
			status = judge_status(gathered.judge, warn_ok);
	}
	gathered_release(&gathered);
	return status;
}

int sweep_report(const char *folder, const char *format, bool warn_ok, bool keep)
{
	enum verdict_form form = verdict_form_of(format ? format : "text");
	struct policy *policy = policy_in(folder);
	struct command paths = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	find_files(&paths, folder);
	if (policy && paths.words.len) {
		status = judge_files(&paths, policy, folder, form, warn_ok, keep);
	} else if (policy) {
		log_error("%s: has nothing of a sweep in it", folder);
		status = UCXBPF_CHECK_FAILED;
	}
	policy_free(policy);
	command_release(&paths);
	return status;
}
