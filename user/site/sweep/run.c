// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "site/sweep/internal.h"

#define LISTEN_MS 100

const char *sweep_path(const struct sweep *sweep, const char *format, ...)
{
	static char paths[4][4096];
	static unsigned int next;
	char *path = paths[next++ % 4];
	va_list arguments;
	int length = snprintf(path, sizeof(paths[0]), "%s/", sweep->options->folder);

	va_start(arguments, format);
	vsnprintf(path + length, sizeof(paths[0]) - length, format, arguments);
	va_end(arguments);
	return path;
}

static void progress(const struct sweep *sweep, const char *what, double seconds, double limit)
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

bool sweep_wait(struct sweep *sweep, double seconds, const char *what,
		bool (*done)(struct sweep *sweep))
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
	/* what is done at once did not look */
	if (!sweep->interrupted)
		sweep->interrupted = signals_next(sweep->signals, &info);
	progress(sweep, NULL, 0, 0);
	return is_done;
}

static bool all_before(struct sweep *sweep)
{
	return agents_all(&sweep->agents, AGENT_BEFORE);
}

static bool all_after(struct sweep *sweep)
{
	return agents_all(&sweep->agents, AGENT_AFTER);
}

/* Once nobody can interrupt any more: what is asked of the nodes is bounded. */
static void finish(struct sweep *sweep)
{
	int interrupted = sweep->interrupted;

	for (size_t i = 0; i < sweep->agents.list.len; i++)
		agent_tell(&sweep->agents.list.data[i], "end");
	sweep->interrupted = 0;
	sweep_wait(sweep, sweep->options->answer_s, "inventory after", all_after);
	if (interrupted)
		sweep->interrupted = interrupted;
}

const char *sweep_log(const char *path)
{
	static char text[512];
	char line[256] = "";
	FILE *log = fopen(path, "re");

	while (log && fgets(line, sizeof(line), log) && !line[strspn(line, " -=\n")])
		line[0] = '\0';
	if (log)
		fclose(log);
	line[strcspn(line, "\n")] = '\0';
	snprintf(text, sizeof(text), "%s%s%s", path, *line ? ": " : "", line);
	return text;
}

static void say_missing(const struct sweep *sweep, enum agent_step step, const char *what)
{
	for (size_t i = 0; i < sweep->agents.list.len; i++) {
		const struct agent *agent = &sweep->agents.list.data[i];

		if (!agent_did(agent, step) &&
		    (step == AGENT_BEFORE || agent_did(agent, AGENT_BEFORE)))
			log_warn("%s: %s; %s", agent->node, what,
				 sweep_log(sweep_path(sweep, "log/%s", agent->node)));
	}
}

/* Of all nodes: whom a node should have met that does not answer is known then, too. */
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

static int write_plan(const struct sweep *sweep)
{
	const char *path = sweep_path(sweep, "plan.json");
	FILE *out = fopen(path, "we");
	int err = out ? plan_write(sweep->plan, out) : -errno;

	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

static int make_folders(const struct sweep *sweep)
{
	static const char *const names[] = { "nodes", "ledger", "log", "pids" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mkdir(sweep_path(sweep, "%s", names[i]), 0755)) {
			log_error("%s: %s", sweep_path(sweep, "%s", names[i]), strerror(errno));
			return -errno;
		}
	return 0;
}

/* Returns whether anything was traced. */
static bool carry_out(struct sweep *sweep)
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
	struct sweep sweep = { .options = options, .signals = signals, .job = CHILD_NONE };
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
	struct sweep sweep = { .options = options, .job = CHILD_NONE };
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
