// SPDX-License-Identifier: BSD-3-Clause
/* The options of sweep, and the nodes that they mean. */
#include "cmd/sweep/args.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/input/hosts.h"
#include "cmd/output/verdict.h"
#include "cmd/trace/args.h"
#include "site/policy/values.h"

enum {
	KEY_LAUNCHER = 0x100,
	KEY_RSH,
	KEY_MPI,
	KEY_MPIRUN,
	KEY_JOB_OPTION,
	KEY_RANKS,
	KEY_VARIANT,
	KEY_SEED,
	KEY_MAX_SIZE,
	KEY_MAX_COUNT,
	KEY_COLLECTIVE,
	KEY_DRY_RUN,
	KEY_PROGRAM,
	KEY_TRAFFIC,
	KEY_ANSWER,
	KEY_BUDGET,
	KEY_LIMIT,
	KEY_SHARED,
	KEY_WARN_OK,
	KEY_HOSTS,
	KEY_NO_CONFIRM,
	KEY_CHUNK,
	KEY_NO_WAIT,
	KEY_PART,
	KEY_KEEP,
	KEY_BASELINE,
	KEY_STEP,
};

const char *const sweep_step_names[SWEEP_STEPS] = { NULL, "judge", "confirm" };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Policy and nodes:", 1 },
	{ "policy", 'P', "FILE", 0, "The policy: the site's expectations (docs/policy.md)", 1 },
	{ "baseline", KEY_BASELINE, "FOLDER|FILE", 0,
	  "An earlier sweep, or its evidence: compare times and paths with it", 1 },
	{ "nodelist", 'w', "NODES", 0, "These nodes, as in n[0-3,7],m1 (default: the policy's)",
	  1 },
	{ "hosts", KEY_HOSTS, "FILE", 0, "The nodes listed in FILE, one a line", 1 },
	{ NULL, 0, NULL, 0, "Traffic:", 2 },
	{ "variant", KEY_VARIANT, "NAME", 0,
	  "Pairs of nodes: all-pairs[:K], sample:K (default sample:15), topo:K, custom:FILE, cross-class",
	  2 },
	{ "ranks", KEY_RANKS, "N", 0, "Ranks per node (default: one per GPU; without GPUs 2)", 2 },
	{ "seed", KEY_SEED, "N", 0, "Seed for the order of pairs (default 1)", 2 },
	{ "max-size", KEY_MAX_SIZE, "SIZE", 0, "Largest message, as in 4M (default 32M)", 2 },
	{ "max-count", KEY_MAX_COUNT, "N", 0, "Most messages in a row (default 200)", 2 },
	{ "collective", KEY_COLLECTIVE, NULL, 0, "Also run alltoall and allreduce of all ranks",
	  2 },
	{ "no-confirm", KEY_NO_CONFIRM, NULL, 0,
	  "Do not measure slow nodes (PERF-01) again with other partners", 2 },
	{ NULL, 0, NULL, 0, "Start:", 3 },
	{ "launcher", KEY_LAUNCHER, "slurm|hosts", 0,
	  "slurm (the default), or a plain list of hosts", 3 },
	{ "rsh", KEY_RSH, "COMMAND", 0,
	  "How to reach hosts: called as COMMAND NODE LINE (default ssh)", 3 },
	{ "mpi", KEY_MPI, "openmpi|mpich", 0, "Which MPI the traffic uses (default openmpi)", 3 },
	{ "mpirun", KEY_MPIRUN, "COMMAND", 0, "That MPI's mpirun, with --launcher hosts", 3 },
	{ "job-option", KEY_JOB_OPTION, "WORD", 0,
	  "Pass WORD to the traffic's srun or mpirun; may be repeated", 3 },
	{ "ucxbpf", KEY_PROGRAM, "COMMAND", 0,
	  "How to call this program on nodes (default: its path), as in 'sudo -n ucxbpf'", 3 },
	{ "traffic", KEY_TRAFFIC, "FILE", 0,
	  "The traffic program (default: ucxbpf-traffic-openmpi or -mpich beside this one)", 3 },
	{ "shared", KEY_SHARED, NULL, 0, "Also use nodes where somebody else's job runs (Slurm)",
	  3 },
	{ "chunk", KEY_CHUNK, "N[%M]", 0,
	  "Run parts of at most N nodes, as a job array (Slurm), M parts at a time", 3 },
	{ "no-wait", KEY_NO_WAIT, NULL, 0,
	  "Only submit that array, and print where the report will be", 3 },
	{ "part", KEY_PART, "N", OPTION_HIDDEN, "", 3 },
	{ "step", KEY_STEP, "judge|confirm", OPTION_HIDDEN, "", 3 },
	{ "budget", KEY_BUDGET, "PERCENT|none", 0,
	  "Limit the cost of recording to this share of any rank's time (default none)", 3 },
	{ "answer", KEY_ANSWER, "TIME", 0, "How long to wait for a node's answer (default 30s)",
	  3 },
	{ "limit", KEY_LIMIT, "TIME", 0,
	  "Stop the traffic after this time (default: three times its estimate, and a minute)", 3 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Print every command line; start and write nothing", 3 },
	{ NULL, 0, NULL, 0, "Output:", 4 },
	{ "output", 'o', "PATH", 0, "Folder of the sweep, or file of 'plan' and 'merge'", 4 },
	{ "format", 'f', "text|json|junit|openmetrics|textfile", 0,
	  "Format of the report (default text)", 4 },
	{ "keep", KEY_KEEP, NULL, 0, "'report' writes its files into the folder, too", 4 },
	{ "warn-ok", KEY_WARN_OK, NULL, 0, "Warnings alone exit with 0", 4 },
	{ "quiet", 'q', NULL, 0, "No progress", 4 },
	{ 0 },
};

static long number(struct argp_state *state, const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < least || value > most)
		argp_error(state, "'%s' is not a number from %ld to %ld", text, least, most);
	return value;
}

static double seconds(struct argp_state *state, const char *text)
{
	double value = 0;

	if (seconds_parse(text, &value) || !(value > 0) || value > 1e6)
		argp_error(state, "'%s' is not a duration such as 30s, 500ms or 2m", text);
	return value;
}

static uint64_t size(struct argp_state *state, const char *text)
{
	uint64_t bytes;

	if (!value_size(text, &bytes) || !bytes || bytes > 1ull << 40)
		argp_error(state, "'%s' is not a size, as in 64K or 4M", text);
	return bytes;
}

/* "256", "256%4": as Slurm writes how many tasks of an array run at a time. */
static void set_chunk(struct argp_state *state, char *text)
{
	struct sweep_arguments *arguments = state->input;
	char *at_once = strchr(text, '%');

	if (at_once) {
		*at_once++ = '\0';
		arguments->at_once = number(state, at_once, 1, PLAN_MAX_NODES);
	}
	arguments->plan.chunk = number(state, text, 2, PLAN_MAX_NODES);
	if (at_once)
		at_once[-1] = '%';
}

static void set_launcher(struct argp_state *state, const char *name)
{
	struct sweep_arguments *arguments = state->input;

	arguments->launch.launcher = launcher_of(name);
	if (!arguments->launch.launcher)
		argp_error(state, "--launcher=%s: not slurm or hosts", name);
}

static void set_mpi(struct argp_state *state, const char *name)
{
	struct sweep_arguments *arguments = state->input;

	for (int i = 0; i < SWEEP_MPIS; i++)
		if (!strcmp(name, sweep_mpi_names[i])) {
			arguments->launch.mpi = i;
			return;
		}
	argp_error(state, "--mpi=%s: not openmpi or mpich", name);
}

static void set_format(struct argp_state *state, const char *name)
{
	struct sweep_arguments *arguments = state->input;

	arguments->format = name;
	if (verdict_form_of(name) == VERDICT_FORMS)
		argp_error(state, "--format=%s: not text, json, junit, openmetrics or textfile",
			   name);
}

static bool sweep_step_set(struct sweep_arguments *arguments, const char *name)
{
	for (int i = 0; i < SWEEP_STEPS; i++)
		if (sweep_step_names[i] && !strcmp(sweep_step_names[i], name))
			arguments->step = i;
	return arguments->step;
}

/* ---- options that are kept as they are given: words, and flags ---- */

#define AT(member) offsetof(struct sweep_arguments, member)

struct kept {
	int key;
	size_t at;
};

static const struct kept words[] = {
	{ 'P', AT(policy_path) },
	{ KEY_BASELINE, AT(baseline) },
	{ 'w', AT(nodes) },
	{ KEY_HOSTS, AT(hosts) },
	{ KEY_VARIANT, AT(plan.variant) },
	{ KEY_RSH, AT(launch.rsh) },
	{ KEY_MPIRUN, AT(launch.mpirun) },
	{ KEY_PROGRAM, AT(program) },
	{ KEY_TRAFFIC, AT(traffic) },
	{ 'o', AT(output) },
	{ 0 },
};

static const struct kept flags[] = {
	{ KEY_COLLECTIVE, AT(plan.collective) },
	{ KEY_NO_CONFIRM, AT(no_confirm) },
	{ KEY_SHARED, AT(shared) },
	{ KEY_NO_WAIT, AT(no_wait) },
	{ KEY_DRY_RUN, AT(dry_run) },
	{ KEY_KEEP, AT(keep) },
	{ KEY_WARN_OK, AT(warn_ok) },
	{ 'q', AT(quiet) },
	{ 0 },
};

/* The member for the option's value; NULL: not an option of this list. */
static void *kept_at(const struct kept *list, int key, struct sweep_arguments *arguments)
{
	for (; list->key; list++)
		if (list->key == key)
			return (char *)arguments + list->at;
	return NULL;
}

static error_t parse_kept(int key, const char *value, struct sweep_arguments *arguments)
{
	const char **word = kept_at(words, key, arguments);
	bool *flag = kept_at(flags, key, arguments);

	if (word)
		*word = value;
	if (flag)
		*flag = true;
	return word || flag ? 0 : ARGP_ERR_UNKNOWN;
}

/* ---- the others ---- */

static error_t parse_value(int key, char *value, struct argp_state *state)
{
	struct sweep_arguments *arguments = state->input;

	switch (key) {
	case KEY_LAUNCHER:
		set_launcher(state, value);
		return 0;
	case KEY_MPI:
		set_mpi(state, value);
		return 0;
	case KEY_JOB_OPTION:
		command_add(&arguments->job_options, "%s", value);
		return 0;
	case KEY_CHUNK:
		set_chunk(state, value);
		return 0;
	case KEY_PART:
		arguments->part = number(state, value, 0, PLAN_WAVES * PLAN_MAX_NODES);
		return 0;
	case KEY_STEP:
		if (!sweep_step_set(arguments, value))
			argp_error(state, "--step=%s: not judge or confirm", value);
		return 0;
	case KEY_BUDGET:
		budget_parse("--budget", value, state);
		arguments->budget = value;
		return 0;
	case KEY_ANSWER:
		arguments->answer_s = seconds(state, value);
		return 0;
	case KEY_LIMIT:
		arguments->traffic_s = seconds(state, value);
		return 0;
	case KEY_RANKS:
		arguments->plan.ranks = number(state, value, 1, PLAN_MAX_RANKS);
		return 0;
	case KEY_SEED:
		arguments->plan.seed = number(state, value, 1, INT32_MAX);
		return 0;
	case KEY_MAX_SIZE:
		arguments->plan.max_size = size(state, value);
		return 0;
	case KEY_MAX_COUNT:
		arguments->plan.max_count = number(state, value, 1, 1000000);
		return 0;
	case 'f':
		set_format(state, value);
		return 0;
	}
	return parse_kept(key, value, arguments);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct sweep_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->launch.launcher = &launcher_slurm;
		arguments->launch.rsh = LAUNCH_RSH;
		arguments->answer_s = 30;
		arguments->part = -1;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->verb)
			vec_push(&arguments->files, value);
		else
			arguments->verb = value;
		return 0;
	}
	return parse_value(key, value, state);
}

const struct argp sweep_argp = { .options = options, .parser = parse };

/* ---- which nodes take part ---- */

/* Adds the nodes of all components of a heterogeneous job. */
static int add_allocation(struct policy *policy, texts *nodes)
{
	const char *list = getenv("SLURM_JOB_NODELIST");
	int err = 0;

	if (!slurm_group(0))
		return hosts_from_list(list, policy, nodes);
	for (int group = 0; (list = slurm_group(group)) && !err; group++)
		err = hosts_from_list(list, policy, nodes);
	return err;
}

int sweep_nodes(const struct sweep_arguments *arguments, struct policy *policy, texts *nodes)
{
	bool allocation = getenv("SLURM_JOB_NODELIST") || slurm_group(0);
	int err = 0;

	if (arguments->nodes)
		err = hosts_from_list(arguments->nodes, policy, nodes);
	else if (arguments->hosts)
		err = hosts_from_file(arguments->hosts, policy, nodes);
	else if (allocation && arguments->launch.launcher == &launcher_slurm)
		err = add_allocation(policy, nodes);
	else
		for (size_t i = 0; i < policy->nodes.len; i++)
			vec_push(nodes, policy->nodes.data[i].name);
	if (!err && !nodes->len) {
		log_error("on which nodes? Name them by -w, --hosts or in the policy's classes");
		err = -EINVAL;
	}
	return err;
}

/* ---- which of them Slurm can give ---- */

#define INSTEAD "without Slurm: --launcher hosts"

int sweep_usable(const struct sweep_arguments *arguments, const texts *nodes,
		 struct command *usable)
{
	struct command others = { 0 };
	char why[SLURM_WHY];
	int err = 0;

	if (!slurm_usable((char *const *)nodes->data, nodes->len, usable, &others, why)) {
		if (arguments->dry_run)
			log_warn("Slurm does not answer here (%s): whether it can give these nodes "
				 "is not known; " INSTEAD,
				 why);
		else
			log_error("Slurm does not answer here (%s); " INSTEAD, why);
		err = arguments->dry_run ? 0 : -EIO;
	}
	for (size_t i = 0; i < others.words.len; i++)
		log_warn("Slurm cannot give %s", others.words.data[i]);
	if (!err && !usable->words.len) {
		log_error("Slurm can give none of these nodes: see sinfo");
		err = -ENODEV;
	}
	command_release(&others);
	return err;
}
