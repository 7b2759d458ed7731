// SPDX-License-Identifier: BSD-3-Clause
/* `sweep run`: from its arguments to the verdict. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/readable.h"
#include "base/signals.h"
#include "cmd/input/gather.h"
#include "cmd/sweep/args.h"
#include "cmd/sweep/confirm.h"
#include "cmd/sweep/parts.h"
#include "cmd/sweep/report.h"
#include "site/sweep/sweep.h"

/*
 * The paths of this program, of the traffic program and of the folder, which must hold on all
 * nodes.
 */
struct paths {
	char self[PATH_MAX], traffic[PATH_MAX + 32], folder[PATH_MAX * 2];
};

static int find_paths(const struct sweep_arguments *arguments, struct paths *paths)
{
	ssize_t length = readlink("/proc/self/exe", paths->self, sizeof(paths->self) - 1);
	const char *output = arguments->output ? arguments->output : "ucxbpf-sweep";
	char here[PATH_MAX];

	if (length < 0 || !getcwd(here, sizeof(here))) {
		log_error("%s", strerror(errno));
		return -errno;
	}
	paths->self[length] = '\0';
	snprintf(paths->traffic, sizeof(paths->traffic), "%.*s/ucxbpf-traffic-%s",
		 (int)(strrchr(paths->self, '/') - paths->self), paths->self,
		 sweep_mpi_names[arguments->launch.mpi]);
	if (*output == '/')
		snprintf(paths->folder, sizeof(paths->folder), "%s", output);
	else
		snprintf(paths->folder, sizeof(paths->folder), "%s/%s", here, output);
	return 0;
}

/*
 * salloc ends with our command and returns the nodes. Nodes that it cannot allocate are reported as
 * missing.
 */
static void add_salloc(const struct sweep_arguments *arguments, const struct command *usable,
		       struct command *command)
{
	char *list = node_list(usable->words.data, usable->words.len);

	command_split(command, "salloc --job-name=ucxbpf-sweep --no-kill");
	command_add(command, "%s", arguments->shared ? "--oversubscribe" : "--exclusive");
	command_add(command, "--nodes=%zu", usable->words.len);
	command_add(command, "--nodelist=%s", list);
	free(list);
}

static void add_same(const texts *nodes, const char *self, char **argv, struct command *command)
{
	char *all = node_list((char *const *)nodes->data, nodes->len);

	command_add(command, "%s", self);
	command_add(command, "sweep");
	for (char **word = argv + 1; *word; word++)
		if (strcmp(*word, "--dry-run"))
			command_add(command, "%s", *word);
	command_add(command, "--nodelist=%s", all);
	free(all);
}

static int allocate(const struct sweep_arguments *arguments, const texts *nodes, const char *self,
		    char **argv)
{
	struct command command = { 0 }, usable = { 0 };
	int err = sweep_usable(arguments, nodes, &usable);
	char *line;

	if (!err) {
		add_salloc(arguments, &usable, &command);
		add_same(nodes, self, argv, &command);
	}
	command_release(&usable);
	if (!err && arguments->dry_run) {
		line = command_line(&command);
		printf("%s\n", line);
		free(line);
	} else if (!err) {
		execvp(command.words.data[0], command_argv(&command));
		err = -errno;
		log_error("cannot run 'salloc': %s; without Slurm: --launcher hosts",
			  strerror(errno));
	}
	command_release(&command);
	return err;
}

/* Judges the files that exist by now. Returns 0 or an exit status; its reason was printed. */
static int judge_all(const struct sweep_arguments *arguments, const char *folder,
		     struct sweep_verdict *verdict, bool *kept)
{
	int status = sweep_judge(verdict, folder, arguments);

	*kept = !status && !sweep_verdict_keep(verdict, folder, arguments->warn_ok);
	return status;
}

static int judge(const struct sweep_arguments *arguments, const struct sweep_options *options,
		 bool whole, int *signal_number)
{
	struct sweep_verdict verdict;
	bool kept;
	int status = judge_all(arguments, options->folder, &verdict, &kept);

	if (!status && !arguments->no_confirm &&
	    sweep_confirm(options, verdict.gathered.judge, whole, signal_number)) {
		sweep_verdict_release(&verdict);
		status = judge_all(arguments, options->folder, &verdict, &kept);
	}
	if (!status)
		status = sweep_verdict_print(&verdict, arguments->format, arguments->warn_ok);
	sweep_verdict_release(&verdict);
	return kept || status == UCXBPF_CHECK_USAGE ? status : UCXBPF_CHECK_FAILED;
}

/*
 * A signal stops the traffic, but this process ends by it only after the verdict: salloc ends with
 * 0 if its command dies of a signal.
 */
static int sweep(const struct sweep_arguments *arguments, const struct sweep_options *options)
{
	struct signals signals;
	enum sweep_result result;
	int status = UCXBPF_CHECK_FAILED, signal_number = 0;

	if (sweep_folder(options->folder, arguments->policy_path))
		return UCXBPF_CHECK_FAILED;
	if (signals_open(&signals, true))
		return UCXBPF_CHECK_FAILED;
	result = sweep_run(options, &signals, &signal_number);
	if (result != SWEEP_FAILED)
		status = judge(arguments, options, result == SWEEP_DONE, &signal_number);
	return signals_close(&signals, signal_number, status);
}

static int dry_run(const struct sweep_arguments *arguments, const struct sweep_options *options)
{
	if (sweep_dry_run(options, stdout))
		return UCXBPF_CHECK_USAGE;
	if (!arguments->no_confirm && sweep_may_confirm(options->policy, options->node_count))
		printf("# if nodes or pairs are slow (PERF-01, PERF-02): the same once more for them and their partners, "
		       "in %s/" SWEEP_CONFIRM "; not with --no-confirm\n",
		       options->folder);
	return UCXBPF_CHECK_PASS;
}

/*
 * Checks the baseline before the traffic runs, not after it. A part does not compare, and its node
 * may not see the baseline.
 */
static int has_baseline(const struct sweep_arguments *arguments)
{
	if (!arguments->baseline || arguments->part >= 0 || !access(arguments->baseline, R_OK))
		return 0;
	log_error("--baseline=%s: %s", arguments->baseline, readable_why(-errno));
	return -errno;
}

static int has_traffic(const struct sweep_options *options)
{
	if (!access(options->traffic, X_OK))
		return 0;
	log_error("%s: %s; it is built where that MPI is, and named by --traffic", options->traffic,
		  strerror(errno));
	return -errno;
}

/* Whether no other job runs on the nodes: the traffic would disturb it, and it the traffic. */
static bool is_alone(const struct sweep_arguments *arguments, const texts *nodes)
{
	if (arguments->launch.launcher != &launcher_slurm ||
	    !slurm_others((char *const *)nodes->data, nodes->len) || arguments->shared)
		return true;
	log_error(
		"take whole nodes (--exclusive), or say --shared; to look at that job itself without "
		"traffic: ucxbpf attach --job");
	return false;
}

/* The job that confirms what parts found, on the nodes that it was given. */
static int confirm_parts(const struct sweep_arguments *arguments,
			 const struct sweep_options *options)
{
	struct signals signals;
	int signal_number = 0, status;

	if (has_traffic(options))
		return UCXBPF_CHECK_USAGE;
	if (signals_open(&signals, true))
		return UCXBPF_CHECK_FAILED;
	status = judge(arguments, options, true, &signal_number);
	return signals_close(&signals, signal_number, status);
}

static int start(struct sweep_arguments *arguments, const struct sweep_options *options,
		 const texts *nodes, const char *self, char **argv)
{
	const struct sweep_parts parts = { arguments, options, nodes, self, argv };
	bool outside = options->launch.launcher == &launcher_slurm && !getenv("SLURM_JOB_ID");

	if (arguments->step == SWEEP_STEP_JUDGE)
		return sweep_parts_judge(&parts);
	if (arguments->step == SWEEP_STEP_CONFIRM)
		return confirm_parts(arguments, options);
	if (arguments->part >= 0)
		return has_traffic(options) ? UCXBPF_CHECK_USAGE : sweep_part(arguments, options);
	if (arguments->plan.chunk)
		return sweep_parts(&parts);
	if (outside && allocate(arguments, nodes, self, argv))
		return UCXBPF_CHECK_FAILED;
	if (arguments->dry_run)
		return dry_run(arguments, options);
	if (has_traffic(options) || !is_alone(arguments, nodes))
		return UCXBPF_CHECK_USAGE;
	return sweep(arguments, options);
}

int sweep_start(struct sweep_arguments *arguments, char **argv)
{
	struct policy *policy = policy_of(arguments->policy_path);
	struct sweep_options options;
	struct paths paths;
	texts nodes = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	if (!policy)
		return UCXBPF_CHECK_USAGE;
	if (!has_baseline(arguments) && !sweep_nodes(arguments, policy, &nodes) &&
	    !find_paths(arguments, &paths)) {
		arguments->launch.job_options = &arguments->job_options;
		options = (struct sweep_options){
			.launch = arguments->launch,
			.plan = arguments->plan,
			.policy = policy,
			.folder = paths.folder,
			.nodes = (char *const *)nodes.data,
			.node_count = nodes.len,
			.program = arguments->program ? arguments->program : paths.self,
			.traffic = arguments->traffic ? arguments->traffic : paths.traffic,
			.budget = arguments->budget,
			.answer_s = arguments->answer_s,
			.traffic_s = arguments->traffic_s,
			.progress = !arguments->quiet && isatty(STDERR_FILENO),
		};
		status = start(arguments, &options, &nodes, paths.self, argv);
	}
	vec_release(&nodes);
	policy_free(policy);
	return status;
}
