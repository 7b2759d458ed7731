// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_report.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "exit_codes.h"
#include "policy/policy.h"
#include "policy_file.h"
#include "verdict_files.h"

/*
 * What a sweep's folder has in it that is judged. The part that confirms is there with its plan
 * alone: what did not come to its end has none.
 */
static const char *const patterns[] = {
	"plan.json",          "nodes/*/before.json", "nodes/*/*.ucxb",
	"nodes/*/after.json", "ledger/*.ndjson",
};
static const char *const parts[] = { "", SWEEP_CONFIRM "/" };

static const struct {
	enum verdict_form form;
	const char *file;
} files[] = {
	{ VERDICT_TEXT, "report.txt" },  { VERDICT_JSON, "report.json" },
	{ VERDICT_JUNIT, "report.xml" }, { VERDICT_TEXTFILE, "report.prom" },
	{ VERDICT_HTML, "report.html" },
};

static void find_in(struct command *found, const char *folder, const char *part)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char path[4096];
		glob_t names;

		snprintf(path, sizeof(path), "%s/%s%s", folder, part, patterns[i]);
		if (glob(path, 0, NULL, &names))
			continue;
		for (size_t k = 0; k < names.gl_pathc; k++)
			command_add(found, "%s", names.gl_pathv[k]);
		globfree(&names);
	}
}

static void find_files(struct command *found, const char *folder)
{
	char plan[4096];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(plan, sizeof(plan), "%s/%splan.json", folder, parts[i]);
		if (!*parts[i] || !access(plan, F_OK))
			find_in(found, folder, parts[i]);
	}
}

/* Without a policy, that of the catalogue. NULL: it is wrong, and said. */
static struct policy *policy_in(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	return policy_of(access(path, F_OK) ? NULL : path);
}

int sweep_judge(struct sweep_verdict *verdict, const char *folder)
{
	int err;

	*verdict = (struct sweep_verdict){ .policy = policy_in(folder) };
	if (!verdict->policy)
		return UCXBPF_CHECK_USAGE;
	find_files(&verdict->paths, folder);
	if (!verdict->paths.words.len) {
		log_error("%s: has nothing of a sweep in it", folder);
		return UCXBPF_CHECK_FAILED;
	}
	err = gather(&verdict->gathered, verdict->policy,
		     (const char *const *)verdict->paths.words.data, verdict->paths.words.len,
		     "sweep", false);
	if (err)
		return UCXBPF_CHECK_FAILED;
	judge_finish(verdict->gathered.judge, verdict->gathered.totals, time(NULL) / 86400);
	return UCXBPF_CHECK_PASS;
}

int sweep_verdict_keep(const struct sweep_verdict *verdict, const char *folder, bool warn_ok)
{
	const struct judge_output how = { .warn_ok = warn_ok };
	char path[4096];
	int err = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i].file);
		if (verdict_write(verdict->gathered.judge, files[i].form, path, &how))
			err = -EIO;
	}
	return err;
}

int sweep_verdict_print(const struct sweep_verdict *verdict, const char *format, bool warn_ok)
{
	const struct judge_output how = { .warn_ok = warn_ok };
	enum verdict_form form = verdict_form_of(format ? format : "text");

	if (verdict_write(verdict->gathered.judge, form, NULL, &how))
		return UCXBPF_CHECK_FAILED;
	return judge_status(verdict->gathered.judge, warn_ok);
}

void sweep_verdict_release(struct sweep_verdict *verdict)
{
	gathered_release(&verdict->gathered);
	policy_free(verdict->policy);
	command_release(&verdict->paths);
}

int sweep_report(const char *folder, const char *format, bool warn_ok)
{
	struct sweep_verdict verdict;
	int status = sweep_judge(&verdict, folder);

	if (!status)
		status = sweep_verdict_print(&verdict, format, warn_ok);
	sweep_verdict_release(&verdict);
	return status;
}
