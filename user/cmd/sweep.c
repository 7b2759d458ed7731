// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/vec.h"
#include "cmd/cmds.h"
#include "cmd/input/gather.h"
#include "cmd/output/output.h"
#include "cmd/sweep/args.h"
#include "cmd/sweep/report.h"
#include "site/sweep/sweep.h"

static int plan(struct sweep_arguments *arguments, char **argv);
static int report(struct sweep_arguments *arguments, char **argv);
static int node(struct sweep_arguments *arguments, char **argv);

static const struct verb {
	const char *name;
	size_t files;
	const char *wanted;
	int (*run)(struct sweep_arguments *arguments, char **argv);
} verbs[] = {
	{ "plan", 0, "'plan' takes no file", plan },
	{ "run", 0, "'run' takes no file", sweep_start },
	{ "report", 1, "which sweep? Give its folder", report },
	{ "node", 1, "'run' starts 'node' on nodes, with a folder", node },
};

static const char doc[] =
	"'run' takes the inventory of all nodes, makes traffic between them while each is traced, and "
	"judges the traffic by the site's policy. 'plan' prints the planned traffic, 'report' judges "
	"the folder of a sweep again. 'merge' makes one file of evidence of many captures; it has "
	"options of its own: ucxbpf sweep merge --help."
	"\v"
	"Examples:\n"
	"  ucxbpf sweep run -P site.yaml -o sweep            all nodes of the policy, under Slurm\n"
	"  ucxbpf sweep run -P site.yaml -w 'n[01-16]' --dry-run\n"
	"                                                    what would be started\n"
	"  ucxbpf sweep run -P site.yaml --launcher hosts --hosts nodes.txt -o sweep\n"
	"                                                    by ssh, without Slurm\n"
	"  ucxbpf sweep run -P site.yaml --chunk 256%4 -o sweep\n"
	"                                                    a job array: 4 parts of 256 nodes at a time\n"
	"  ucxbpf sweep report sweep -f json | jq .summary   the verdict again\n\n"
	"Exit status: 0 pass, 1 warnings only, 2 a critical rule failed, 3 the evidence is "
	"incomplete, 4 usage or policy error, 5 anything else, 130 interrupted.";

static int put_plan(void *arg, FILE *out)
{
	return plan_write(arg, out);
}

static int by_plan(const struct sweep_arguments *arguments, struct policy *policy)
{
	struct plan_options options = arguments->plan;
	struct plan *made = NULL;
	char why[PLAN_WHY];
	texts nodes = { 0 };
	int err = sweep_nodes(arguments, policy, &nodes);

	options.nodes = nodes.data;
	options.node_count = nodes.len;
	if (!err && (err = plan_make(policy, &options, &made, why)))
		log_error("no plan: %s", why);
	vec_release(&nodes);
	if (err)
		return UCXBPF_CHECK_USAGE;
	err = output_write(arguments->output, NEWFILE_PRIVATE, put_plan, made);
	if (err)
		log_error("%s: %s", output_name(arguments->output), newfile_why(err));
	plan_free(made);
	return err ? UCXBPF_CHECK_FAILED : UCXBPF_CHECK_PASS;
}

static int plan(struct sweep_arguments *arguments, char **argv)
{
	struct policy *policy = policy_of(arguments->policy_path);
	int status = policy ? by_plan(arguments, policy) : UCXBPF_CHECK_USAGE;

	(void)argv;
	policy_free(policy);
	return status;
}

static int report(struct sweep_arguments *arguments, char **argv)
{
	(void)argv;
	return sweep_report(arguments->files.data[0], arguments, arguments->keep);
}

static int node(struct sweep_arguments *arguments, char **argv)
{
	(void)argv;
	return sweep_node(arguments->files.data[0]);
}

static void check_arguments(struct argp_state *state, struct sweep_arguments *arguments,
			    const struct verb **verb)
{
	for (size_t i = 0; arguments->verb && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, arguments->verb))
			*verb = &verbs[i];
	if (!*verb)
		argp_error(state,
			   "what to do? 'plan', 'run', 'report FOLDER' or 'merge FOLDER...'");
	else if (arguments->files.len != (*verb)->files)
		argp_error(state, "%s", (*verb)->wanted);
	if (*verb && (*verb)->run == sweep_start && !arguments->output && !arguments->dry_run)
		argp_error(state, "where to? Give the sweep's folder by -o");
}

struct parsed {
	struct sweep_arguments arguments;
	const struct verb *verb;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct parsed *parsed = state->input;

	(void)value;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &parsed->arguments;
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, &parsed->arguments, &parsed->verb);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd_sweep(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sweep_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "plan\nrun -o FOLDER\nreport FOLDER\nmerge -o FILE FOLDER|FILE...",
		.doc = doc,
		.children = children,
	};
	static char merge[] = "ucxbpf sweep merge"; /* in messages about its usage */
	struct parsed parsed = { 0 };
	VEC(char *) words = { 0 }; /* as they were: argp_parse() puts options first */
	int status = UCXBPF_CHECK_USAGE;

	for (int i = 0; i <= argc; i++)
		vec_push(&words, argv[i]);
	if (argc > 1 && !strcmp(argv[1], "merge")) {
		argv[1] = merge;
		return sweep_merge(argc - 1, argv + 1);
	}
	if (!xargp_parse(&argp, argc, argv, 0, &parsed))
		status = parsed.verb->run(&parsed.arguments, words.data);
	vec_release(&words);
	command_release(&parsed.arguments.job_options);
	vec_release(&parsed.arguments.files);
	return status;
}
