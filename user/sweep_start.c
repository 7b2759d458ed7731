// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "exit_codes.h"
#include "policy_file.h"
#include "signals.h"
#include "sweep/sweep.h"
#include "sweep_args.h"
#include "sweep_confirm.h"
#include "sweep_report.h"

/* Paths of this program and of the traffic's, and the folder's, as all nodes take them. */
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
 * Slurm's own command ends with ours, and gives the nodes back then. What it cannot give is missing
 * of the sweep, which is of all nodes.
 */
static size_t add_salloc(const struct sweep_arguments *arguments, const texts *nodes,
			 struct command *command, struct command *others)
{
	struct command usable = { 0 };
	size_t count;
	char *list;

	slurm_usable((char *const *)nodes->data, nodes->len, &usable, others);
	list = node_list(usable.words.data, usable.words.len);
	command_split(command, "salloc --job-name=ucxbpf-sweep --no-kill");
	command_add(command, "%s", arguments->shared ? "--oversubscribe" : "--exclusive");
	command_add(command, "--nodes=%zu", usable.words.len);
	command_add(command, "--nodelist=%s", list);
	count = usable.words.len;
	free(list);
	command_release(&usable);
	return count;
}

static int allocate(const struct sweep_arguments *arguments, const texts *nodes, const char *self,
		    char **argv)
{
	char *all = node_list((char *const *)nodes->data, nodes->len), *line;
	struct command command = { 0 }, others = { 0 };
	size_t usable = add_salloc(arguments, nodes, &command, &others);

	command_add(&command, "%s", self);
	command_add(&command, "sweep");
	for (char **word = argv + 1; *word; word++)
		if (strcmp(*word, "--dry-run"))
			command_add(&command, "%s", *word);
	command_add(&command, "--nodelist=%s", all);
	free(all);
	for (size_t i = 0; i < others.words.len; i++)
		log_warn("Slurm cannot give %s", others.words.data[i]);
	command_release(&others);
	if (!usable) {
		log_error("Slurm can give none of these nodes: see sinfo");
		command_release(&command);
		return -ENODEV;
	}
	if (arguments->dry_run) {
		line = command_line(&command);
		printf("%s\n", line);
		free(line);
		command_release(&command);
		return 0;
	}
	execvp(command.words.data[0], command_argv(&command));
	log_error("cannot run 'salloc': %s; without Slurm: --launcher hosts", strerror(errno));
	command_release(&command);
	return -errno;
}

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
	if (in)
		fclose(in);
	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

/* A sweep's folder is never used twice: files of two sweeps would be judged as one. */
static int make_folder(const struct sweep_arguments *arguments, const char *folder)
{
	if (mkdir(folder, 0755)) {
		log_error("%s: %s%s", folder, strerror(errno),
			  errno == EEXIST ? "; give another folder by -o" : "");
		return -errno;
	}
	return arguments->policy_path ? copy_policy(arguments->policy_path, folder) : 0;
}

/* What is there by now. Returns 0 or an exit status; then why was said. */
static int judge_all(const struct sweep_arguments *arguments, const char *folder,
		     struct sweep_verdict *verdict, bool *kept)
{
	int status = sweep_judge(verdict, folder);

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

static int sweep(const struct sweep_arguments *arguments, const struct sweep_options *options)
{
	struct signals signals;
	enum sweep_result result;
	int status, signal_number = 0;

	if (make_folder(arguments, options->folder))
		return UCXBPF_CHECK_FAILED;
	if (signals_open(&signals, true))
		return UCXBPF_CHECK_FAILED;
	result = sweep_run(options, &signals, &signal_number);
	signals_restore(&signals);
	if (result == SWEEP_FAILED)
		return UCXBPF_CHECK_FAILED;
	status = judge(arguments, options, result == SWEEP_DONE, &signal_number);
	return signal_number ? 128 + signal_number : status;
}

static int dry_run(const struct sweep_arguments *arguments, const struct sweep_options *options)
{
	if (sweep_dry_run(options, stdout))
		return UCXBPF_CHECK_USAGE;
	if (!arguments->no_confirm && sweep_may_confirm(options->policy, options->node_count))
		printf("# if nodes are slow (PERF-01): the same once more for them and their partners, "
		       "in %s/" SWEEP_CONFIRM "; not with --no-confirm\n",
		       options->folder);
	return UCXBPF_CHECK_PASS;
}

static int start(struct sweep_arguments *arguments, const struct sweep_options *options,
		 const texts *nodes, const char *self, char **argv)
{
	bool outside = options->launch.launcher == &launcher_slurm && !getenv("SLURM_JOB_ID");

	if (outside && allocate(arguments, nodes, self, argv))
		return UCXBPF_CHECK_FAILED;
	if (arguments->dry_run)
		return dry_run(arguments, options);
	if (access(options->traffic, X_OK)) {
		log_error("%s: %s; it is built where that MPI is, and named by --traffic",
			  options->traffic, strerror(errno));
		return UCXBPF_CHECK_USAGE;
	}
	return sweep(arguments, options);
}

int sweep_start(struct sweep_arguments *arguments, char **argv)
{
	struct policy *policy = policy_of(arguments->policy_path);
	struct sweep_options options;
	static struct paths paths;
	texts nodes = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	if (!policy)
		return UCXBPF_CHECK_USAGE;
	if (!sweep_nodes(arguments, policy, &nodes) && !find_paths(arguments, &paths)) {
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
