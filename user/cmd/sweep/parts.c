// SPDX-License-Identifier: BSD-3-Clause
/* A sweep in parts: submitted as a job array, waited for, judged; and one part as its task. */
#include "cmd/sweep/parts.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/sweep/args.h"
#include "cmd/sweep/confirm.h"
#include "cmd/sweep/report.h"
#include "site/policy/values.h"
#include "site/sweep/array.h"
#include "site/sweep/sweep.h"

#define LOOK_MS 2000
#define GRACE_S 120 /* that tasks have to end and to gather, once they are interrupted */

/* ---- submission ---- */

static int make_plan(const struct sweep_parts *parts, struct plan **plan)
{
	struct plan_options options = parts->options->plan;
	char why[PLAN_WHY];
	int err;

	options.nodes = parts->nodes->data;
	options.node_count = parts->nodes->len;
	err = plan_make(parts->options->policy, &options, plan, why);
	if (err)
		log_error("no plan: %s", why);
	return err;
}

static bool is_among(const struct command *names, const char *name)
{
	for (size_t i = 0; i < names->words.len; i++)
		if (!strcmp(names->words.data[i], name))
			return true;
	return false;
}

/* A part of which Slurm can allocate no node has no task. */
static void add_tasks(const struct plan *plan, const struct command *usable, struct array_job *job)
{
	for (uint32_t part = 0; part < plan_parts(plan); part++) {
		struct command nodes = { 0 };

		for (size_t i = 0; i < plan->nodes.len; i++)
			if (plan_has(plan, part, i) && is_among(usable, plan->nodes.data[i].name))
				command_add(&nodes, "%s", plan->nodes.data[i].name);
		if (nodes.words.len)
			vec_push(&job->tasks,
				 ((struct array_task){
					 part, node_list(nodes.words.data, nodes.words.len) }));
		command_release(&nodes);
	}
}

/* The same words, without a part's number, for the script in the folder. */
static void add_words(const struct sweep_parts *parts, enum sweep_step step, struct command *out)
{
	const char *folder = parts->options->folder;

	command_add(out, "%s", parts->self);
	command_add(out, "sweep");
	for (char **word = parts->argv + 1; *word; word++)
		if (strcmp(*word, "--dry-run") && strncmp(*word, "--step=", 7))
			command_add(out, "%s", *word);
	if (parts->arguments->policy_path)
		command_add(out, "--policy=%s/policy.yaml", folder);
	command_add(out, "--output=%s", folder);
	if (step)
		command_add(out, "--step=%s", sweep_step_names[step]);
}

static bool may_confirm(const struct sweep_parts *parts)
{
	return !parts->arguments->no_confirm &&
	       sweep_may_confirm(parts->options->policy, parts->nodes->len);
}

static void begin_job(const struct sweep_parts *parts, struct array_job *job)
{
	*job = (struct array_job){
		.folder = parts->options->folder,
		.at_once = parts->arguments->at_once,
		.shared = parts->arguments->shared,
	};
	add_words(parts, SWEEP_NO_STEP, &job->part);
	add_words(parts, SWEEP_STEP_JUDGE, &job->judge);
}

static unsigned int minutes_of(const struct sweep_parts *parts, const struct plan *plan)
{
	return (unsigned int)(sweep_seconds(parts->options, plan) / 60) + 1;
}

static int make_job(const struct sweep_parts *parts, const struct plan *plan, struct array_job *job)
{
	struct command usable = { 0 };
	int err = sweep_usable(parts->arguments, parts->nodes, &usable);

	begin_job(parts, job);
	if (may_confirm(parts))
		add_words(parts, SWEEP_STEP_CONFIRM, &job->confirm);
	job->minutes = minutes_of(parts, plan);
	if (!err)
		add_tasks(plan, &usable, job);
	command_release(&usable);
	return err;
}

static int write_folder(const struct sweep_parts *parts, struct plan *plan)
{
	static const char *const names[] = { "parts", "log" };
	const char *folder = parts->options->folder;
	char path[PATH_MAX * 2 + 16];
	int err = sweep_folder(folder, parts->arguments->policy_path);
	FILE *out;

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		err = mkdir(path, 0755) ? -errno : 0;
	}
	snprintf(path, sizeof(path), "%s/plan.json", folder);
	out = err ? NULL : fopen(path, "we");
	err = err ? err : out ? plan_write(plan, out) : -errno;
	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

/* ---- waiting ---- */

static void progress(const struct sweep_parts *parts, const struct array_job *job,
		     const struct array_state *state)
{
	size_t left = state->waiting + state->running;

	if (parts->options->progress)
		fprintf(stderr, "\rjob %s  %zu parts: %zu waiting, %zu running, %zu ended%s\033[K",
			job->id, job->tasks.len, state->waiting, state->running,
			left < job->tasks.len ? job->tasks.len - left : 0, left ? "" : "; judging");
}

/* Waits for the array. Returns the signal that ended this wait; 0: the array has ended. */
static int wait_for_all(const struct sweep_parts *parts, struct array_job *job,
			const struct signals *signals)
{
	struct array_state state = { .waiting = job->tasks.len };
	struct signalfd_siginfo info;
	int number = 0;

	while (!number && (state.waiting || state.running || !state.judged ||
			   (!*job->confirm_id && array_confirms(job)))) {
		struct pollfd wait = { .fd = signals->fd, .events = POLLIN };

		progress(parts, job, &state);
		poll(&wait, 1, LOOK_MS);
		number = signals_next(signals, &info);
		array_look(job, &state);
	}
	if (parts->options->progress)
		fputs("\r\033[K", stderr);
	return number;
}

/* Running parts gather their results. */
static void interrupt(struct array_job *job)
{
	struct array_state state = { .running = 1 };

	array_interrupt(job);
	for (int i = 0; state.running && i < GRACE_S * 1000 / LOOK_MS; i++) {
		poll(NULL, 0, LOOK_MS);
		array_look(job, &state);
	}
	array_cancel(job);
}

static void say_missing(const struct array_job *job)
{
	for (size_t i = 0; i < job->tasks.len; i++) {
		char path[PATH_MAX * 2 + 64];

		snprintf(path, sizeof(path), "%s/parts/%u.evidence", job->folder,
			 job->tasks.data[i].part);
		if (access(path, F_OK))
			log_warn("part %u (%s) left no evidence, see %s/log/part.%u",
				 job->tasks.data[i].part, job->tasks.data[i].nodes, job->folder,
				 job->tasks.data[i].part);
	}
}

/* Judges here as well: the node of the judging job may have died. */
static int judge(const struct sweep_parts *parts, const struct array_job *job)
{
	say_missing(job);
	return sweep_report(job->folder, parts->arguments, true);
}

static int wait_and_judge(const struct sweep_parts *parts, struct array_job *job)
{
	struct signals signals;
	int number, status;

	if (signals_open(&signals, true))
		return UCXBPF_CHECK_FAILED;
	number = wait_for_all(parts, job, &signals);
	if (number)
		interrupt(job);
	status = judge(parts, job);
	return signals_close(&signals, number, status);
}

static int carry_out(const struct sweep_parts *parts, struct plan *plan, struct array_job *job)
{
	if (parts->arguments->dry_run) {
		array_print(job, stdout);
		return UCXBPF_CHECK_PASS;
	}
	if (write_folder(parts, plan) || array_submit(job))
		return UCXBPF_CHECK_FAILED;
	if (!parts->arguments->no_wait)
		return wait_and_judge(parts, job);
	printf("parts %s\njudge %s\nreport %s/report.txt\n", job->id, job->judge_id, job->folder);
	return UCXBPF_CHECK_PASS;
}

/* ---- in the job that judges ---- */

static void submit_confirmation(const struct sweep_parts *parts, const struct judge *judge)
{
	struct array_job job;
	struct plan *plan = sweep_confirming(parts->options, judge, true);
	char count[32], minutes[32], *list;
	struct command nodes = { 0 };

	if (!plan)
		return;
	sweep_confirming_nodes(plan, &nodes);
	list = node_list(nodes.words.data, nodes.words.len);
	snprintf(count, sizeof(count), "%zu", nodes.words.len);
	snprintf(minutes, sizeof(minutes), "%u", minutes_of(parts, plan));
	begin_job(parts, &job);
	add_words(parts, SWEEP_STEP_CONFIRM, &job.confirm);
	if (array_confirm(&job, &(struct array_confirmation){ count, list, minutes }))
		log_warn("slow nodes are not confirmed");
	array_release(&job);
	command_release(&nodes);
	free(list);
	plan_free(plan);
}

int sweep_parts_judge(const struct sweep_parts *parts)
{
	const struct sweep_arguments *arguments = parts->arguments;
	const char *folder = parts->options->folder;
	struct sweep_verdict verdict;
	int status = sweep_judge(&verdict, folder, arguments);

	if (!status && sweep_verdict_keep(&verdict, folder, arguments->warn_ok))
		status = UCXBPF_CHECK_FAILED;
	if (!status && !arguments->no_confirm)
		submit_confirmation(parts, verdict.gathered.judge);
	if (!status)
		status = sweep_verdict_print(&verdict, arguments->format, arguments->warn_ok);
	sweep_verdict_release(&verdict);
	return status;
}

int sweep_parts(const struct sweep_parts *parts)
{
	struct array_job job = { 0 };
	struct plan *plan = NULL;
	int status = UCXBPF_CHECK_USAGE;

	if (parts->options->launch.launcher != &launcher_slurm) {
		log_error("--chunk requires Slurm");
		return status;
	}
	if (!make_plan(parts, &plan))
		status = make_job(parts, plan, &job) ? UCXBPF_CHECK_FAILED
						     : carry_out(parts, plan, &job);
	array_release(&job);
	plan_free(plan);
	return status;
}

/* ---- one part, as a task of the job array ---- */

#define PATH_ROOM (PATH_MAX * 2 + 64)

/* The nodes of the part that Slurm allocated; all others count as missing. */
static int part_nodes(const struct plan *plan, uint32_t part, struct policy *policy,
		      struct command *nodes)
{
	const char *list = getenv("SLURM_JOB_NODELIST");
	texts given = { 0 };

	if (!list || !value_nodes(list, policy, &given)) {
		log_error(
			"a part is a task of a job array: SLURM_JOB_NODELIST is no list of nodes");
		return -EINVAL;
	}
	for (size_t i = 0; i < given.len; i++) {
		int node = plan_node(plan, given.data[i]);

		if (node >= 0 && plan_has(plan, part, node))
			command_add(nodes, "%s", given.data[i]);
	}
	vec_release(&given);
	if (!nodes->words.len)
		log_error("part %u has none of the nodes %s", part, list);
	return nodes->words.len ? 0 : -EINVAL;
}

/* Gathers as the command `sweep merge` does. */
static int gather_part(const char *folder)
{
	struct command merge = { 0 };
	char policy[PATH_ROOM + 32];
	int status;

	snprintf(policy, sizeof(policy), "%s/../../policy.yaml", folder);
	command_add(&merge, "ucxbpf sweep merge");
	command_add(&merge, "--output=%s.evidence", folder);
	if (!access(policy, F_OK))
		command_add(&merge, "--policy=%s", policy);
	command_add(&merge, "%s", folder);
	status = sweep_merge(merge.words.len, command_argv(&merge));
	command_release(&merge);
	return status;
}

static int part_carry_out(const struct sweep_options *options)
{
	struct signals signals;
	enum sweep_result result;
	int signal_number = 0, status;

	if (mkdir(options->folder, 0755) || signals_open(&signals, true)) {
		log_error("%s: %s", options->folder, strerror(errno));
		return UCXBPF_CHECK_FAILED;
	}
	result = sweep_run(options, &signals, &signal_number);
	/* Slurm's signal may come now, too: there is time left to gather */
	status = result == SWEEP_FAILED ? UCXBPF_CHECK_FAILED : gather_part(options->folder);
	signals_close(&signals, 0, 0);
	return status;
}

int sweep_part(const struct sweep_arguments *arguments, const struct sweep_options *whole)
{
	struct sweep_options options = *whole;
	char path[PATH_ROOM], folder[PATH_ROOM], why[PLAN_WHY];
	struct command nodes = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	options.part = arguments->part;
	snprintf(path, sizeof(path), "%s/plan.json", whole->folder);
	snprintf(folder, sizeof(folder), "%s/parts/%u", whole->folder, options.part);
	if (plan_read(path, &options.given, why)) {
		log_error("%s: %s", path, why);
		return UCXBPF_CHECK_USAGE;
	}
	if (!part_nodes(options.given, options.part, (struct policy *)whole->policy, &nodes)) {
		options.folder = folder;
		options.nodes = nodes.words.data;
		options.node_count = nodes.words.len;
		status = part_carry_out(&options);
	}
	command_release(&nodes);
	plan_free(options.given);
	return status;
}
