// SPDX-License-Identifier: BSD-3-Clause
/* The traffic: it waits for its go until every node's tracer records. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "site/sweep/internal.h"

#define JOB_GRACE_MS 5000
#define CONTENT_DIFFERS 1 /* exit status of the traffic: all was sent, not all came as it was */
#define ESTIMATE_FACTOR 3 /* real machines against the plan's estimate */
#define ROUND_LIMIT 120 /* s, of the traffic itself */
#define STEPS 6 /* that nodes have time to answer for, and to gather */
#define ESTIMATE_MORE 60 /* s, to start and to end */

/* The number behind the last dot of HOST.PID; NULL: no such file. */
static const char *pid_of(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (!dot || dot == file || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
		return NULL;
	return dot + 1;
}

/* A rank is there when it has written pids/HOST.PID. */
static size_t ranks_there(const struct sweep *sweep)
{
	DIR *folder = opendir(sweep_path(sweep, "pids"));
	struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder)))
		count += pid_of(entry->d_name) != NULL;
	if (folder)
		closedir(folder);
	return count;
}

static size_t nodes_there(const struct sweep *sweep)
{
	return agents_count(&sweep->agents, AGENT_BEFORE);
}

static bool job_over(struct sweep *sweep)
{
	return child_ended(&sweep->job);
}

static bool all_there(struct sweep *sweep)
{
	return job_over(sweep) || ranks_there(sweep) >= nodes_there(sweep) * sweep->plan->ranks;
}

static bool all_ready(struct sweep *sweep)
{
	return job_over(sweep) || agents_all(&sweep->agents, AGENT_READY);
}

static bool all_traced(struct sweep *sweep)
{
	return agents_all(&sweep->agents, AGENT_TRACED);
}

/* Of a node by its name without the domain, which is how ranks call themselves. */
static const char *pid_on(const char *file, const char *node)
{
	const char *pid = pid_of(file);
	size_t length = strcspn(node, ".");

	return pid && pid == file + length + 1 && !strncmp(file, node, length) ? pid : NULL;
}

/* "17,18"; the caller's. Empty: no rank came up there. */
static char *pids_of(const struct sweep *sweep, const char *node)
{
	DIR *folder = opendir(sweep_path(sweep, "pids"));
	struct dirent *entry;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	while (folder && (entry = readdir(folder))) {
		const char *pid = pid_on(entry->d_name, node);

		if (pid)
			fprintf(out, "%s%s", ftell(out) ? "," : "", pid);
	}
	if (folder)
		closedir(folder);
	if (fclose(out))
		abort();
	return text;
}

static void ask_to_trace(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		struct agent *agent = &sweep->agents.list.data[i];
		char *pids = pids_of(sweep, agent->node);

		if (*pids && agent_did(agent, AGENT_BEFORE)) {
			if (sweep->options->budget)
				agent_tell(agent, "budget %s", sweep->options->budget);
			agent_tell(agent, "trace trace %s", pids);
			agent->asked = true;
		} else if (agent_did(agent, AGENT_BEFORE)) {
			log_warn("%s: no rank of the traffic came up there; %s", agent->node,
				 sweep_log(sweep_path(sweep, "log/traffic")));
		}
		free(pids);
	}
}

static void say_untraced(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		const struct agent *agent = &sweep->agents.list.data[i];

		if (agent->asked && !agent->said[AGENT_READY])
			log_warn("%s: is not traced; %s", agent->node,
				 sweep_log(sweep_path(sweep, "nodes/%s/log", agent->node)));
	}
}

/* Ranks wait for that file; where they are ended, it says why. */
static void write_go(const struct sweep *sweep, const char *text)
{
	FILE *file = fopen(sweep_path(sweep, "go"), "we");

	if (!file || fputs(text, file) < 0 || fclose(file))
		log_error("%s: %s", sweep_path(sweep, "go"), strerror(errno));
}

static double traffic_seconds(const struct sweep_options *options, const struct plan *plan,
			      double rate)
{
	if (options->traffic_s > 0)
		return options->traffic_s;
	return plan_estimate(plan, rate).seconds * ESTIMATE_FACTOR + ESTIMATE_MORE;
}

static double time_limit(const struct sweep *sweep)
{
	return traffic_seconds(sweep->options, sweep->plan, sweep->rate);
}

double sweep_seconds(const struct sweep_options *options, const struct plan *plan)
{
	return traffic_seconds(options, plan, 0) + STEPS * options->answer_s;
}

/* So that the ranks notice a stuck one, and write down where they wait, before they are stopped. */
static int round_limit(const struct sweep *sweep)
{
	double seconds = time_limit(sweep) / 2;

	return seconds < 1 ? 1 : seconds > ROUND_LIMIT ? ROUND_LIMIT : (int)seconds;
}

void sweep_job_command(const struct sweep *sweep, char *const *nodes, size_t count,
		       struct command *out)
{
	const struct sweep_options *options = sweep->options;
	const struct job_size size = { nodes, count, sweep->plan->ranks };
	struct command what = { 0 };

	command_add(&what, "%s", options->traffic);
	command_add(&what, "--plan=%s/plan.json", options->folder);
	command_add(&what, "--ledger=%s/ledger", options->folder);
	command_add(&what, "--go=%s/go", options->folder);
	command_add(&what, "--limit=%d", round_limit(sweep));
	if (options->confirms)
		command_add(&what, "--stage=%s", plan_stage_names[STAGE_CONFIRM]);
	if (sweep->plan->parts.len && !options->confirms)
		command_add(&what, "--part=%u", options->part);
	options->launch.launcher->job(&options->launch, &size, &what, out);
	command_release(&what);
}

static int start(struct sweep *sweep)
{
	struct command command = { 0 };
	VEC(char *) nodes = { 0 };
	int err;

	for (size_t i = 0; i < sweep->agents.list.len; i++)
		if (agent_did(&sweep->agents.list.data[i], AGENT_BEFORE))
			vec_push(&nodes, (char *)sweep->agents.list.data[i].node);
	sweep_job_command(sweep, nodes.data, nodes.len, &command);
	err = child_start(&sweep->job, &command, sweep_path(sweep, "log/traffic"), false);
	if (err)
		log_error("the traffic cannot be started: %s", strerror(-err));
	command_release(&command);
	vec_release(&nodes);
	return err;
}

static void end(struct sweep *sweep)
{
	bool hangs = !child_ended(&sweep->job), begun = !access(sweep_path(sweep, "go"), F_OK);

	if (hangs && begun && !sweep->interrupted)
		log_warn("the traffic did not end within %.0f s and is stopped: more time by "
			 "--limit, less to send by --max-size or --ranks",
			 time_limit(sweep));
	if (hangs && begun)
		write_go(sweep,
			 plan_ender_names[sweep->interrupted ? PLAN_BY_INTERRUPT : PLAN_BY_LIMIT]);
	child_end(&sweep->job, JOB_GRACE_MS);
	if (!hangs && sweep->job.status)
		log_warn("the traffic ended with status %d; %s", sweep->job.status,
			 sweep_log(sweep_path(sweep, "log/traffic")));
}

void sweep_job(struct sweep *sweep)
{
	double answer_s = sweep->options->answer_s;

	if (start(sweep))
		return;
	sweep_wait(sweep, answer_s, "starting ranks", all_there);
	if (!sweep->interrupted && !child_ended(&sweep->job)) {
		ask_to_trace(sweep);
		sweep_wait(sweep, answer_s, "attaching tracers", all_ready);
		say_untraced(sweep);
	}
	/* traffic that nobody traces tells nothing */
	if (!sweep->interrupted && !child_ended(&sweep->job) &&
	    agents_count(&sweep->agents, AGENT_READY)) {
		write_go(sweep, "");
		sweep_wait(sweep, time_limit(sweep), "traffic", job_over);
		sweep->whole = child_ended(&sweep->job) && sweep->job.status <= CONTENT_DIFFERS;
	}
	end(sweep);
	sweep_wait(sweep, answer_s, "ending tracers", all_traced);
}
