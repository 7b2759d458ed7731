// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <fnmatch.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmds.h"
#include "cmd/input/gather.h"
#include "cmd/output/verdict.h"
#include "cmd/sweep/report.h"
#include "site/judge/judge.h"
#include "show/page/page.h"

enum { KEY_WARN_OK = 0x100, KEY_APPLY, KEY_PLAN, KEY_BASELINE, KEY_BESIDE };

struct check {
	VEC(const char *) paths; /* also the plans */
	VEC(const char *) plans;
	const char *baseline_path; /* a sweep's folder, or evidence; NULL: none */
	const char *policy_path; /* NULL: the catalogue's defaults */
	const char *output; /* NULL: standard output */
	enum verdict_form form;
	struct judge_output how;
	bool apply;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check *check = state->input;

	switch (key) {
	case 'P':
		check->policy_path = arg;
		return 0;
	case 'f':
		check->form = verdict_form_of(arg);
		if (check->form == VERDICT_FORMS)
			argp_error(
				state,
				"--format=%s: not text, json, junit, openmetrics, textfile or html",
				arg);
		return 0;
	case 'o':
		check->output = arg;
		return 0;
	case 'v':
		check->how.verbose = true;
		return 0;
	case KEY_APPLY:
		check->apply = true;
		return 0;
	case KEY_WARN_OK:
		check->how.warn_ok = true;
		return 0;
	case KEY_BESIDE:
		if (!page_beside(arg))
			argp_error(state,
				   "--beside=%s: say where it is from here, as in report.html",
				   arg);
		check->how.beside = arg;
		return 0;
	case KEY_BASELINE:
		check->baseline_path = arg;
		return 0;
	case KEY_PLAN:
		vec_push(&check->plans, arg);
		vec_push(&check->paths, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!fnmatch("*.y*ml", arg, 0))
			argp_error(state, "%s: is this a policy? Give it with -P", arg);
		vec_push(&check->paths, arg);
		return 0;
	case ARGP_KEY_END:
		if (!check->paths.len)
			argp_error(state, "which files? Give captures, inventories, ledgers");
		if (check->how.beside && check->form != VERDICT_HTML)
			argp_error(state, "--beside is for --format=html");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "policy", 'P', "FILE", 0, "The policy: the site's expectations (docs/policy.md)", 1 },
	{ "plan", KEY_PLAN, "FILE", 0, "The sweep's plan; its ledgers are among FILE...", 1 },
	{ "baseline", KEY_BASELINE, "FOLDER|FILE", 0,
	  "An earlier sweep, or its evidence: compare times and paths with it", 1 },
	{ "format", 'f', "text|json|junit|openmetrics|textfile|html", 0,
	  "Form of the verdict (default text)", 1 },
	{ "output", 'o', "FILE", 0, "Write the verdict to FILE", 1 },
	{ "beside", KEY_BESIDE, "FILE", 0,
	  "With html: link to the page of the same captures (ucxbpf export), by its path relative to this one",
	  1 },
	{ "verbose", 'v', NULL, 0, "Also show what passed or was skipped, causes and examples", 1 },
	{ "apply", KEY_APPLY, NULL, 0,
	  "Drain the nodes that the report proposes, by scontrol; all or, if they are too many, none",
	  1 },
	{ "warn-ok", KEY_WARN_OK, NULL, 0, "Warnings alone exit with 0", 1 },
	{ 0 },
};

static const char doc[] =
	"Judges captures, inventories and a sweep's ledgers by the rules of site validation: does "
	"data move the way it should, on every node. Give the files of all nodes together, in any "
	"order: the content of each tells its kind."
	"\v"
	"Examples:\n"
	"  ucxbpf check n0.ucxb n1.ucxb           the catalogue's rules, no policy\n"
	"  ucxbpf check -P site.yaml *.ucxb       what this site expects\n"
	"  ucxbpf check -v -P site.yaml job.ucxb  causes, remedies and examples\n"
	"  ucxbpf check -P site.yaml n*.json      inventories: are the NICs in order\n"
	"  ucxbpf check -P site.yaml before/*.json job.*.ucxb after/*.json\n"
	"                                         and does their traffic add up\n"
	"  ucxbpf check -P site.yaml --plan plan.json *.ucxb ledger/*.ndjson\n"
	"                                         a sweep: as planned, and as fast\n"
	"  ucxbpf check -f junit -o r.xml *.ucxb  for a CI server\n\n"
	"Exit status: 0 pass, 1 warnings only, 2 a critical rule failed, 3 the evidence is "
	"incomplete, 4 usage or policy error, 5 anything else.";

static int conclude(const struct check *check, const struct gathered *gathered)
{
	judge_finish(gathered->judge, gathered->totals, time(NULL) / 86400);
	if (verdict_write(gathered->judge, check->form, check->output, &check->how) ||
	    (check->apply && apply_drains(gathered->judge)))
		return UCXBPF_CHECK_FAILED;
	return judge_status(gathered->judge, check->how.warn_ok);
}

static int check_files(struct check *check)
{
	struct policy *policy = policy_of(check->policy_path);
	struct gathered gathered = { 0 }, earlier = { 0 };
	int status, err = 0;

	if (!policy)
		return UCXBPF_CHECK_USAGE;
	if (check->baseline_path &&
	    sweep_earlier(&earlier, policy, check->baseline_path, "check")) {
		status = UCXBPF_CHECK_USAGE;
	} else {
		err = gather(&gathered, policy, check->paths.data, check->paths.len, "check",
			     false);
		if (!err && check->baseline_path)
			judge_baseline(gathered.judge, earlier.judge);
		status = !err             ? conclude(check, &gathered)
			 : err == -EINVAL ? UCXBPF_CHECK_USAGE
					  : UCXBPF_CHECK_FAILED;
		gathered_release(&gathered);
	}
	if (check->baseline_path)
		gathered_release(&earlier);
	policy_free(policy);
	return status;
}

static bool are_plans(const struct check *check)
{
	for (size_t i = 0; i < check->plans.len; i++)
		if (!gather_is_plan(check->plans.data[i]))
			return false;
	return true;
}

int cmd_check(int argc, char **argv)
{
	const struct argp argp = { options, parse, "FILE...", doc, NULL, NULL, NULL };
	struct check check = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	if (!xargp_parse(&argp, argc, argv, 0, &check)) {
		if (!check.apply)
			confine_to_files();
		if (check.output && gather_has(check.output))
			log_error("%s: is evidence, not overwritten", check.output);
		else if (are_plans(&check))
			status = check_files(&check);
	}
	vec_release(&check.plans);
	vec_release(&check.paths);
	return status;
}
