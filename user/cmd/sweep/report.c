// SPDX-License-Identifier: BSD-3-Clause
/* The folder of a sweep: begun, and judged. */
#include "cmd/sweep/report.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/newfile.h"
#include "cmd/input/gather.h"
#include "cmd/output/verdict.h"
#include "cmd/sweep/args.h"
#include "site/policy/policy.h"

/* ---- a new folder ---- */

static int copy_policy(const char *from, const char *folder)
{
	char path[PATH_MAX * 2 + 16], block[4096];
	FILE *in = fopen(from, "re"), *out;
	size_t got;
	int err = in ? 0 : -errno;

	snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	out = in ? fopen(path, "wxe") : NULL;
	if (in && !out)
		err = -errno;
	while (!err && (got = fread(block, 1, sizeof(block), in)))
		if (fwrite(block, 1, got, out) != got)
			err = -errno;
	if (in && !err && ferror(in))
		err = -EIO;
	if (in)
		fclose(in);
	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

int sweep_folder(const char *folder, const char *policy_path)
{
	if (mkdir(folder, 0755)) {
		log_error("%s: %s", folder,
			  errno == EEXIST ? "exists, give another folder by -o"
					  : newfile_why(-errno));
		return -errno;
	}
	return policy_path ? copy_policy(policy_path, folder) : 0;
}

/* ---- input files of the verdict ---- */

/*
 * What a sweep's folder has in it that is judged. The part that confirms is there with its plan
 * alone: what did not come to its end has none.
 */
static const char *const patterns[] = {
	"plan.json",          "nodes/*/before.json", "nodes/*/*.ucxb",
	"nodes/*/after.json", "ledger/*.ndjson",     "parts/*.evidence",
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

/* As glob() takes each letter for itself; the caller's. */
static char *literal(const char *folder)
{
	char *text = xmalloc(2 * strlen(folder) + 1), *to = text;

	for (; *folder; *to++ = *folder++)
		if (strchr("*?[\\", *folder))
			*to++ = '\\';
	*to = '\0';
	return text;
}

static void find_in(struct command *found, const char *folder, const char *part)
{
	char *place = literal(folder);

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char path[4096];
		glob_t names;

		snprintf(path, sizeof(path), "%s/%s%s", place, part, patterns[i]);
		if (glob(path, 0, NULL, &names))
			continue;
		for (size_t k = 0; k < names.gl_pathc; k++)
			command_add(found, "%s", names.gl_pathv[k]);
		globfree(&names);
	}
	free(place);
}

/* Lists the input files of a sweep's folder. */
static void sweep_files(struct command *found, const char *folder)
{
	char plan[4096];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(plan, sizeof(plan), "%s/%splan.json", folder, parts[i]);
		if (!*parts[i] || !access(plan, F_OK))
			find_in(found, folder, parts[i]);
	}
}

/* Reads the policy; without one, the defaults of the catalogue. NULL: it is wrong (printed). */
static struct policy *policy_in(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	return policy_of(access(path, F_OK) ? NULL : path);
}

int sweep_earlier(struct gathered *earlier, const struct policy *policy, const char *path,
		  const char *command)
{
	struct command paths = { 0 };
	int err;

	sweep_files(&paths, path);
	if (!paths.words.len)
		command_add(&paths, "%s", path);
	err = gather(earlier, policy, (const char *const *)paths.words.data, paths.words.len,
		     command, false);
	if (!err)
		judge_finish(earlier->judge, earlier->totals, time(NULL) / 86400);
	command_release(&paths);
	return err;
}

/* A baseline that cannot be read is a wrong argument. */
static int compare(struct sweep_verdict *verdict, const char *baseline)
{
	if (!baseline)
		return UCXBPF_CHECK_PASS;
	if (sweep_earlier(&verdict->earlier, verdict->policy, baseline, "sweep"))
		return UCXBPF_CHECK_USAGE;
	judge_baseline(verdict->gathered.judge, verdict->earlier.judge);
	return UCXBPF_CHECK_PASS;
}

int sweep_judge(struct sweep_verdict *verdict, const char *folder,
		const struct sweep_arguments *arguments)
{
	int err;

	*verdict = (struct sweep_verdict){ .policy = policy_in(folder) };
	if (!verdict->policy)
		return UCXBPF_CHECK_USAGE;
	sweep_files(&verdict->paths, folder);
	if (!verdict->paths.words.len) {
		log_error("%s: is not the folder of a sweep", folder);
		return UCXBPF_CHECK_FAILED;
	}
	err = gather(&verdict->gathered, verdict->policy,
		     (const char *const *)verdict->paths.words.data, verdict->paths.words.len,
		     "sweep", false);
	if (err)
		return UCXBPF_CHECK_FAILED;
	err = compare(verdict, arguments->baseline);
	if (!err)
		judge_finish(verdict->gathered.judge, verdict->gathered.totals, time(NULL) / 86400);
	return err;
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
	gathered_release(&verdict->earlier);
	policy_free(verdict->policy);
	command_release(&verdict->paths);
}

int sweep_report(const char *folder, const struct sweep_arguments *arguments, bool keep)
{
	struct sweep_verdict verdict;
	int status = sweep_judge(&verdict, folder, arguments);

	if (!status && keep && sweep_verdict_keep(&verdict, folder, arguments->warn_ok))
		status = UCXBPF_CHECK_FAILED;
	if (!status)
		status = sweep_verdict_print(&verdict, arguments->format, arguments->warn_ok);
	sweep_verdict_release(&verdict);
	return status;
}
