// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/nodes/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/input/hosts.h"
#include "cmd/trace/job.h"

#define ANSWER_S 30

enum { KEY_ALL = 2048, KEY_LAUNCHER, KEY_RSH, KEY_HOSTS, KEY_PROGRAM, KEY_ANSWER };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "All nodes of a job:", 2 },
	{ "all-nodes", KEY_ALL, NULL, 0, "On every node of the job; the results are gathered here",
	  2 },
	{ "launcher", KEY_LAUNCHER, "slurm|hosts", 0,
	  "How to reach nodes: by srun, or each by --rsh (default: as the job was started)", 2 },
	{ "rsh", KEY_RSH, "COMMAND", 0,
	  "How to reach hosts: called as COMMAND NODE LINE (default ssh)", 2 },
	{ "nodelist", 'w', "NODES", 0, "These nodes, as in n[0-3,7],m1 (default: the job's)", 2 },
	{ "hosts", KEY_HOSTS, "FILE", 0, "The nodes listed in FILE, one a line", 2 },
	{ "ucxbpf", KEY_PROGRAM, "COMMAND", 0,
	  "How to call this program on nodes (default: its path), as in 'sudo -n ucxbpf'", 2 },
	{ "answer", KEY_ANSWER, "TIME", 0, "How long to wait for a node's answer (default 30s)",
	  2 },
	{ 0 },
};

#define refuse(state, ...) argp_failure(state, argp_err_exit_status, 0, __VA_ARGS__)

static void set_launcher(struct nodes_arguments *arguments, const char *name,
			 struct argp_state *state)
{
	arguments->launcher = launcher_of(name);
	if (!arguments->launcher)
		refuse(state, "unknown launcher '%s', use slurm or hosts", name);
}

static void set_answer(struct nodes_arguments *arguments, const char *text,
		       struct argp_state *state)
{
	if (seconds_parse(text, &arguments->answer_s) || !(arguments->answer_s > 0))
		refuse(state, "'%s' is not a duration such as 30s, 500ms or 2m", text);
}

static const char *name_of(int key)
{
	for (const struct argp_option *option = options; option->name || option->doc; option++)
		if (option->name && option->key == key)
			return option->name;
	return NULL;
}

static void check(const struct nodes_arguments *arguments, struct argp_state *state)
{
	if (arguments->given && !arguments->all)
		refuse(state, "--%s goes with --all-nodes", arguments->given);
	if (arguments->hosts && arguments->list)
		refuse(state, "give one of --nodelist and --hosts");
	if (arguments->rsh && !arguments->rsh[strspn(arguments->rsh, " \t")])
		refuse(state, "--rsh names no command");
	if (arguments->program && !arguments->program[strspn(arguments->program, " \t")])
		refuse(state, "--ucxbpf names no command");
}

void nodes_check_pids(const struct nodes_arguments *arguments, size_t pids,
		      struct argp_state *state)
{
	if (arguments->all && pids)
		refuse(state, "--all-nodes goes with --job ID, or with --all and --hosts");
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct nodes_arguments *arguments = state->input;

	if (key != KEY_ALL && name_of(key) && !arguments->given)
		arguments->given = name_of(key);
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->answer_s = ANSWER_S;
		return 0;
	case KEY_ALL:
		arguments->all = true;
		return 0;
	case KEY_LAUNCHER:
		set_launcher(arguments, value, state);
		return 0;
	case KEY_RSH:
		arguments->rsh = value;
		return 0;
	case 'w':
		arguments->list = value;
		return 0;
	case KEY_HOSTS:
		arguments->hosts = value;
		return 0;
	case KEY_PROGRAM:
		arguments->program = value;
		return 0;
	case KEY_ANSWER:
		set_answer(arguments, value, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp nodes_argp = { .options = options, .parser = parse };

/* ---- which nodes ---- */

static void add(struct nodes_of_job *nodes, const texts *names, const char *job)
{
	for (size_t i = 0; i < names->len; i++) {
		const struct node_of_job *old = NULL;

		for (size_t k = 0; k < nodes->list.len && !old; k++)
			if (!strcmp(nodes->list.data[k].name, names->data[i]))
				old = &nodes->list.data[k];
		if (!old)
			vec_push(&nodes->list, ((struct node_of_job){ names->data[i], job }));
		else if (job && old->job && strcmp(old->job, job) != 0)
			log_warn("%s has two parts of the job, %s and %s: the first is traced",
				 old->name, old->job, job);
	}
}

/*
 * Whether the batch system's variable with a job's hosts, in this environment, belongs to this job.
 */
static const char *hosts_here(const char *id_variable, const char *hosts_variable, const char *job)
{
	const char *id = getenv(id_variable), *hosts = getenv(hosts_variable);

	return job && id && hosts && job_is(id, job) ? hosts : NULL;
}

/* Finds nodes without a batch system; 1: no list, file or variable names any. */
static int find_hosts(const struct nodes_arguments *arguments, const char *job,
		      struct nodes_of_job *nodes, texts *names)
{
	const char *pbs = hosts_here("PBS_JOBID", "PBS_NODEFILE", job);
	const char *lsf = hosts_here("LSB_JOBID", "LSB_MCPU_HOSTS", job);

	if (arguments->list)
		return hosts_from_list(arguments->list, nodes->names, names);
	if (arguments->hosts)
		return hosts_from_file(arguments->hosts, nodes->names, names);
	if (pbs)
		return hosts_from_file(pbs, nodes->names, names);
	if (lsf)
		return hosts_from_slots(lsf, nodes->names, names);
	return 1;
}

/* Whether the job has all nodes that the user listed; prints the missing ones. */
static int has_all(const char *job, const texts *only, const struct nodes_of_job *nodes)
{
	int err = 0;

	for (size_t i = 0; i < only->len; i++) {
		bool found = false;

		for (size_t k = 0; k < nodes->list.len && !found; k++)
			found = !strcmp(nodes->list.data[k].name, only->data[i]);
		if (found)
			continue;
		log_error("%s is no node of job %s", only->data[i], job);
		err = -EINVAL;
	}
	return err;
}

/* Each component of a heterogeneous job has an id of its own. */
static int add_part(char *const *part, const texts *only, struct nodes_of_job *nodes)
{
	texts names = { 0 }, chosen = { 0 };
	int err = *part[2] ? hosts_from_list(part[2], nodes->names, &names) : 0;

	for (size_t i = 0; i < names.len; i++) {
		bool wanted = !only->len;

		for (size_t k = 0; k < only->len && !wanted; k++)
			wanted = !strcmp(only->data[k], names.data[i]);
		if (wanted)
			vec_push(&chosen, names.data[i]);
	}
	add(nodes, &chosen, part[0]);
	vec_release(&names);
	vec_release(&chosen);
	return err;
}

/* only: of these nodes; empty: of all. */
static int find_by_slurm(const char *job, const texts *only, struct nodes_of_job *nodes)
{
	struct command *parts = &nodes->parts;
	char why[SLURM_WHY];
	int err = 0;

	if (!slurm_job(job, parts, why)) {
		log_error("Slurm does not know job %s (%s); without Slurm: --launcher hosts", job,
			  why);
		return -ESRCH;
	}
	for (size_t i = 0; i + 2 < parts->words.len && !err; i += 3)
		err = add_part(&parts->words.data[i], only, nodes);
	if (!err && !nodes->list.len) {
		log_error("job %s has none of these nodes: its state is %s", job,
			  parts->words.len ? parts->words.data[1] : "not known to squeue");
		err = -ESRCH;
	}
	return err ? err : has_all(job, only, nodes);
}

int nodes_find(const struct nodes_arguments *arguments, const char *job, struct nodes_of_job *nodes)
{
	texts names = { 0 };
	int err;

	nodes->names = policy_default();
	err = find_hosts(arguments, job, nodes, &names);
	nodes->launch.rsh = arguments->rsh ? arguments->rsh : LAUNCH_RSH;
	nodes->launch.launcher = arguments->launcher;
	/* a list of hosts may or may not be Slurm's, and so may a list of nodes */
	if (!nodes->launch.launcher)
		nodes->launch.launcher =
			!job || arguments->hosts || arguments->rsh || (err <= 0 && !arguments->list)
				? launcher_of("hosts")
				: &launcher_slurm;
	if (err >= 0 && nodes->launch.launcher == &launcher_slurm) {
		if (job) {
			err = find_by_slurm(job, &names, nodes);
		} else {
			log_error("--launcher slurm goes with --job, whose nodes it reaches");
			err = -EINVAL;
		}
	} else if (!err) {
		add(nodes, &names, job);
	}
	if (err > 0 || (!err && !nodes->list.len)) {
		log_error("on which nodes? Name them by -w or --hosts, or type this in the job");
		err = -EINVAL;
	}
	vec_release(&names);
	return err;
}

void nodes_release(struct nodes_of_job *nodes)
{
	vec_release(&nodes->list);
	command_release(&nodes->parts);
	policy_free(nodes->names);
}
