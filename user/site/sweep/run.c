// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sweep on its way: nodes take their inventories, the traffic waits until every tracer records,
 * and all of it ends again.
 */
#include "site/sweep/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "site/inventory/inventory.h"
#include "site/sweep/agents.h"

#define LISTEN_MS 100

struct running_sweep {
	const struct sweep_options *options;
	const struct signals *signals;
	struct agents agents;
	struct child job;
	struct plan *plan;
	double rate; /* of sweep_link_rate() */
	bool whole; /* the traffic came to its end, whatever it found */
	int interrupted; /* by this signal; 0: not */
};

#define PATH_SIZE 4096
#define LOG_SIZE (PATH_SIZE + 256)

/* Writes a path in the sweep's folder; returns it. */
static const char *sweep_path(const struct running_sweep *sweep, char path[PATH_SIZE],
			      const char *format, ...) __attribute__((format(printf, 3, 4)));

static const char *sweep_path(const struct running_sweep *sweep, char path[PATH_SIZE],
			      const char *format, ...)
{
	va_list arguments;
	int length = snprintf(path, PATH_SIZE, "%s/", sweep->options->folder);

	va_start(arguments, format);
	vsnprintf(path + length, PATH_SIZE - length, format, arguments);
	va_end(arguments);
	return path;
}

static void progress(const struct running_sweep *sweep, const char *what, double seconds,
		     double limit)
{
	const struct agents *agents = &sweep->agents;

	if (!sweep->options->progress)
		return;
	if (!what) {
		fputs("\r\033[K", stderr);
		return;
	}
	fprintf(stderr,
		"\r%s  %.0f s of %.0f at most  nodes %zu: answered %zu, traced %zu, done %zu\033[K",
		what, seconds, limit, agents->list.len, agents_count(agents, AGENT_BEFORE),
		agents_count(agents, AGENT_READY), agents_count(agents, AGENT_AFTER));
}

/*
 * Listens to all nodes until done(); false: time is over, or the sweep was interrupted. what: for
 * the progress line.
 */
static bool sweep_wait(struct running_sweep *sweep, double seconds, const char *what,
		       bool (*done)(struct running_sweep *sweep))
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct signalfd_siginfo info;
	double passed = 0;
	bool is_done;

	while (!(is_done = done(sweep)) && passed < seconds && !sweep->interrupted) {
		progress(sweep, what, passed, seconds);
		agents_listen(&sweep->agents, LISTEN_MS, sweep->signals->fd);
		sweep->interrupted = signals_next(sweep->signals, &info);
		passed = (clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
	}
	/* a wait that is over at once has not polled for signals */
	if (!sweep->interrupted)
		sweep->interrupted = signals_next(sweep->signals, &info);
	progress(sweep, NULL, 0, 0);
	return is_done;
}

/* Writes "PATH: its first line", where there is one; returns it. */
static const char *sweep_log(const char *path, char text[LOG_SIZE])
{
	char line[256] = "";
	FILE *log = fopen(path, "re");

	while (log && fgets(line, sizeof(line), log) && !line[strspn(line, " -=\n")])
		line[0] = '\0';
	if (log)
		fclose(log);
	line[strcspn(line, "\n")] = '\0';
	snprintf(text, LOG_SIZE, "%s%s%s", path, *line ? ": " : "", line);
	return text;
}

/* ---- how fast the links are, for a time limit where the policy has no nic_rate ---- */

static bool carries(const struct inventory_nic *nic)
{
	return inventory_nic_up(nic) && strcmp(nic->name, "lo") != 0;
}

static double fastest(const struct inventory *inventory)
{
	int64_t most = 0;

	for (size_t i = 0; i < inventory->nics.len; i++) {
		const struct inventory_nic *nic = &inventory->nics.data[i];

		if (carries(nic) && nic->rate > most)
			most = nic->rate;
	}
	return (double)most;
}

/*
 * bit/s of the slowest node, from the inventories: each node counts with the fastest NIC that is
 * up, as UCX selects it. 0: unknown for some node.
 */
static double sweep_link_rate(const struct running_sweep *sweep)
{
	double least = 0;

	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		const struct agent *agent = &sweep->agents.list.data[i];
		struct inventory *inventory;
		char path[PATH_SIZE], why[INVENTORY_WHY];
		double rate;

		if (!agent_did(agent, AGENT_BEFORE))
			continue;
		if (inventory_read(sweep_path(sweep, path, "nodes/%s/before.json", agent->node),
				   &inventory, why))
			return 0;
		rate = fastest(inventory);
		inventory_free(inventory);
		if (!(rate > 0))
			return 0;
		least = least > 0 && least < rate ? least : rate;
	}
	return least;
}

/* ---- the traffic ---- */

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
static size_t ranks_there(const struct running_sweep *sweep)
{
	char path[PATH_SIZE];
	DIR *folder = opendir(sweep_path(sweep, path, "pids"));
	struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder)))
		count += pid_of(entry->d_name) != NULL;
	if (folder)
		closedir(folder);
	return count;
}

static size_t nodes_there(const struct running_sweep *sweep)
{
	return agents_count(&sweep->agents, AGENT_BEFORE);
}

static bool job_over(struct running_sweep *sweep)
{
	return child_ended(&sweep->job);
}

static bool all_there(struct running_sweep *sweep)
{
	return job_over(sweep) || ranks_there(sweep) >= nodes_there(sweep) * sweep->plan->ranks;
}

static bool all_ready(struct running_sweep *sweep)
{
	return job_over(sweep) || agents_all(&sweep->agents, AGENT_READY);
}

static bool all_traced(struct running_sweep *sweep)
{
	return agents_all(&sweep->agents, AGENT_TRACED);
}

/* Finds a node's process by the host name without domain, as ranks report it. */
static const char *pid_on(const char *file, const char *node)
{
	const char *pid = pid_of(file);
	size_t length = strcspn(node, ".");

	return pid && pid == file + length + 1 && !strncmp(file, node, length) ? pid : NULL;
}

/* "17,18"; the caller's. Empty: no rank came up there. */
static char *pids_of(const struct running_sweep *sweep, const char *node)
{
	char path[PATH_SIZE];
	DIR *folder = opendir(sweep_path(sweep, path, "pids"));
	struct dirent *entry;
	const char *join = "";
	char *text = NULL;
	size_t length;
	FILE *out = xmemstream(&text, &length);

	while (folder && (entry = readdir(folder))) {
		const char *pid = pid_on(entry->d_name, node);

		if (!pid)
			continue;
		fprintf(out, "%s%s", join, pid);
		join = ",";
	}
	if (folder)
		closedir(folder);
	fclose(out);
	return text;
}

static void ask_to_trace(struct running_sweep *sweep)
{
	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		struct agent *agent = &sweep->agents.list.data[i];
		char *pids = pids_of(sweep, agent->node);
		char path[PATH_SIZE], log[LOG_SIZE];

		if (*pids && agent_did(agent, AGENT_BEFORE)) {
			if (sweep->options->budget)
				agent_send(agent, "budget %s", sweep->options->budget);
			agent_send(agent, "trace trace %s", pids);
			agent->asked = true;
		} else if (agent_did(agent, AGENT_BEFORE)) {
			log_warn("%s: no rank of the traffic started there; %s", agent->node,
				 sweep_log(sweep_path(sweep, path, "log/traffic"), log));
		}
		free(pids);
	}
}

static void say_untraced(const struct running_sweep *sweep)
{
	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		const struct agent *agent = &sweep->agents.list.data[i];
		char path[PATH_SIZE], log[LOG_SIZE];

		if (agent->asked && !agent->said[AGENT_READY])
			log_warn("%s: is not traced; %s", agent->node,
				 sweep_log(sweep_path(sweep, path, "nodes/%s/log", agent->node),
					   log));
	}
}

/* Ranks wait for that file; where they are ended, it says why. */
static void write_go(const struct running_sweep *sweep, const char *text)
{
	char path[PATH_SIZE];
	FILE *file = fopen(sweep_path(sweep, path, "go"), "we");
	bool written = file && fputs(text, file) >= 0;

	/* closed whether it was written or not */
	if ((file && fclose(file)) || !written)
		log_error("%s: %s", path, strerror(errno));
}

static double traffic_seconds(const struct sweep_options *options, const struct plan *plan,
			      double rate)
{
	if (options->traffic_s > 0)
		return options->traffic_s;
	return plan_seconds(plan, rate) * ESTIMATE_FACTOR + ESTIMATE_MORE;
}

static double time_limit(const struct running_sweep *sweep)
{
	return traffic_seconds(sweep->options, sweep->plan, sweep->rate);
}

double sweep_seconds(const struct sweep_options *options, const struct plan *plan)
{
	return traffic_seconds(options, plan, 0) + STEPS * options->answer_s;
}

/*
 * The ranks' own limit is shorter, so that they notice a stuck rank and log where they wait before
 * they are stopped.
 */
static int round_limit(const struct running_sweep *sweep)
{
	double seconds = time_limit(sweep) / 2;

	return seconds < 1 ? 1 : seconds > ROUND_LIMIT ? ROUND_LIMIT : (int)seconds;
}

/* How the traffic is started on these nodes. */
static void sweep_job_command(const struct running_sweep *sweep, char *const *nodes, size_t count,
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

static int start(struct running_sweep *sweep)
{
	struct command command = { 0 };
	VEC(char *) nodes = { 0 };
	char path[PATH_SIZE];
	int err;

	for (size_t i = 0; i < sweep->agents.list.len; i++)
		if (agent_did(&sweep->agents.list.data[i], AGENT_BEFORE))
			vec_push(&nodes, (char *)sweep->agents.list.data[i].node);
	sweep_job_command(sweep, nodes.data, nodes.len, &command);
	err = child_start(&sweep->job, &command, sweep_path(sweep, path, "log/traffic"), false);
	if (err)
		log_error("the traffic cannot be started: %s", strerror(-err));
	command_release(&command);
	vec_release(&nodes);
	return err;
}

static void end(struct running_sweep *sweep)
{
	char path[PATH_SIZE], log[LOG_SIZE];
	bool hangs = !child_ended(&sweep->job);
	bool begun = !access(sweep_path(sweep, path, "go"), F_OK);

	if (hangs && begun && !sweep->interrupted)
		log_warn(
			"the traffic did not end within %.0f s and is stopped: allow more time with "
			"--limit, or send less with --max-size or --ranks",
			time_limit(sweep));
	if (hangs && begun)
		write_go(sweep,
			 plan_ender_names[sweep->interrupted ? PLAN_BY_INTERRUPT : PLAN_BY_LIMIT]);
	child_end(&sweep->job, JOB_GRACE_MS);
	if (!hangs && sweep->job.status)
		log_warn("the traffic ended with status %d; %s", sweep->job.status,
			 sweep_log(sweep_path(sweep, path, "log/traffic"), log));
}

/* The traffic with its tracers, from its start to its end. */
static void sweep_job(struct running_sweep *sweep)
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

/* ---- all of it ---- */

static bool all_before(struct running_sweep *sweep)
{
	return agents_all(&sweep->agents, AGENT_BEFORE);
}

static bool all_after(struct running_sweep *sweep)
{
	return agents_all(&sweep->agents, AGENT_AFTER);
}

/* Not interruptible: every request to the nodes has a time limit. */
static void finish(struct running_sweep *sweep)
{
	int interrupted = sweep->interrupted;

	for (size_t i = 0; i < sweep->agents.list.len; i++)
		agent_send(&sweep->agents.list.data[i], "end");
	sweep->interrupted = 0;
	sweep_wait(sweep, sweep->options->answer_s, "inventory after", all_after);
	if (interrupted)
		sweep->interrupted = interrupted;
}

static void say_missing(const struct running_sweep *sweep, enum agent_step step, const char *what)
{
	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		const struct agent *agent = &sweep->agents.list.data[i];
		char path[PATH_SIZE], log[LOG_SIZE];

		if (!agent_did(agent, step) &&
		    (step == AGENT_BEFORE || agent_did(agent, AGENT_BEFORE)))
			log_warn("%s: %s; %s", agent->node, what,
				 sweep_log(sweep_path(sweep, path, "log/%s", agent->node), log));
	}
}

/* The plan of all nodes, silent ones included, so that their peers are known. */
static struct plan *plan_of(const struct sweep_options *options)
{
	struct plan_options plan = options->plan;
	struct plan *made = NULL;
	char why[PLAN_WHY];

	if (options->given)
		return options->given;
	plan.nodes = (const char *const *)options->nodes;
	plan.node_count = options->node_count;
	if (plan_make(options->policy, &plan, &made, why))
		log_error("no plan: %s", why);
	return made;
}

static int write_plan(const struct running_sweep *sweep)
{
	char path[PATH_SIZE];
	FILE *out = fopen(sweep_path(sweep, path, "plan.json"), "we");
	int err = out ? plan_write(sweep->plan, out) : -errno;

	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

static int make_folders(const struct running_sweep *sweep)
{
	static const char *const names[] = { "nodes", "ledger", "log", "pids" };
	char path[PATH_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mkdir(sweep_path(sweep, path, "%s", names[i]), 0755)) {
			log_error("%s: %s", path, strerror(errno));
			return -errno;
		}
	return 0;
}

/* Returns whether anything was traced. */
static bool carry_out(struct running_sweep *sweep)
{
	const struct sweep_options *options = sweep->options;
	bool traced;

	agents_start(&sweep->agents, &options->launch, options->nodes, options->node_count,
		     options->program, options->folder);
	sweep_wait(sweep, options->answer_s, "inventory before", all_before);
	if (!sweep->interrupted) {
		say_missing(sweep, AGENT_BEFORE, "no inventory");
		sweep->rate = sweep_link_rate(sweep);
		if (agents_count(&sweep->agents, AGENT_BEFORE))
			sweep_job(sweep);
	}
	finish(sweep);
	if (!sweep->interrupted)
		say_missing(sweep, AGENT_AFTER, "no inventory after the traffic");
	traced = agents_count(&sweep->agents, AGENT_READY);
	agents_end(&sweep->agents);
	return traced;
}

enum sweep_result sweep_run(const struct sweep_options *options, const struct signals *signals,
			    int *signal_number)
{
	struct running_sweep sweep = { .options = options, .signals = signals, .job = CHILD_NONE };
	enum sweep_result result = SWEEP_FAILED;

	signal(SIGPIPE, SIG_IGN);
	sweep.plan = plan_of(options);
	if (sweep.plan && !make_folders(&sweep) && !write_plan(&sweep)) {
		bool traced = carry_out(&sweep);

		*signal_number = sweep.interrupted;
		result = sweep.interrupted ? SWEEP_INTERRUPTED
			 : !traced         ? SWEEP_FAILED
			 : sweep.whole     ? SWEEP_DONE
					   : SWEEP_CUT;
		if (result == SWEEP_FAILED)
			log_error("nothing was traced on any node: there is nothing to judge");
	}
	if (!options->given)
		plan_free(sweep.plan);
	return result;
}

static void print(const struct command *command, FILE *out)
{
	char *line = command_line(command);

	fprintf(out, "%s\n", line);
	free(line);
}

int sweep_dry_run(const struct sweep_options *options, FILE *out)
{
	struct running_sweep sweep = { .options = options, .job = CHILD_NONE };
	struct command command = { 0 };

	sweep.plan = plan_of(options);
	if (!sweep.plan)
		return -EINVAL;
	for (size_t i = 0; i < options->node_count; i++) {
		struct command what = { 0 };

		agent_command(&what, options->program, options->folder, options->nodes[i]);
		options->launch.launcher->on_node(&options->launch, options->nodes[i], &what,
						  &command);
		print(&command, out);
		command_release(&what);
		command_release(&command);
	}
	sweep_job_command(&sweep, options->nodes, options->node_count, &command);
	print(&command, out);
	command_release(&command);
	plan_free(sweep.plan);
	return 0;
}