// SPDX-License-Identifier: BSD-3-Clause
/*
 * Slurm: steps of an allocation that is there already, one per node, since one whose slurmd is gone
 * fails alone; which nodes it can give, and whose jobs run on them.
 */
#include "site/sweep/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "site/policy/values.h"

/* ---- heterogeneous allocations: which component has which node ---- */

const char *slurm_group(int group)
{
	char name[64];

	snprintf(name, sizeof(name), "SLURM_JOB_NODELIST_HET_GROUP_%d", group);
	return getenv(name);
}

static bool is_among(const char *list, const char *node)
{
	struct policy *names = policy_default();
	texts nodes = { 0 };
	bool found = false;

	value_nodes(list, names, &nodes);
	for (size_t i = 0; i < nodes.len; i++)
		found = found || !strcmp(nodes.data[i], node);
	vec_release(&nodes);
	policy_free(names);
	return found;
}

/* Which component a node is in; -1: the allocation has none. */
static int slurm_group_of(const char *node)
{
	const char *list;

	for (int group = 0; (list = slurm_group(group)); group++)
		if (is_among(list, node))
			return group;
	return -1;
}

/* ---- the launcher ---- */

/* Which of Slurm's plug-ins each MPI's library speaks to: Debian's Open MPI knows no PMI-2. */
static const char *const plugins[SWEEP_MPIS] = { "pmix", "pmi2" };

static void on_node(const struct launch *launch, const char *node, const struct command *what,
		    struct command *out)
{
	int group = launch->inside ? -1 : slurm_group_of(node);

	command_split(out, "srun --overlap --nodes=1 --ntasks=1 --mpi=none "
			   "--unbuffered");
	if (launch->inside)
		command_add(out, "--jobid=%s", launch->inside);
	if (group >= 0)
		command_add(out, "--het-group=%d", group);
	command_add(out, "--nodelist=%s", node);
	command_append(out, what);
}

/* A rank that fails alone must not take the others' evidence away at once. */
static void add_component(const struct launch *launch, const struct job_size *size, int group,
			  const struct command *what, struct command *out)
{
	char *list = node_list(size->nodes, size->count);

	command_split(out, "--kill-on-bad-exit=0 --wait=10");
	if (group >= 0)
		command_add(out, "--het-group=%d", group);
	command_add(out, "--mpi=%s", plugins[launch->mpi]);
	command_add(out, "--nodes=%zu", size->count);
	command_add(out, "--ntasks-per-node=%d", size->ranks);
	command_add(out, "--nodelist=%s", list);
	command_append(out, launch->job_options);
	command_append(out, what);
	free(list);
}

/* One job over all components of the allocation that have a node of it. */
static void job(const struct launch *launch, const struct job_size *size,
		const struct command *what, struct command *out)
{
	size_t parts = 0;

	command_add(out, "srun");
	for (int group = slurm_group(0) ? 0 : -1; group < 0 || slurm_group(group); group++) {
		VEC(char *) nodes = { 0 };

		for (size_t i = 0; i < size->count; i++)
			if (slurm_group_of(size->nodes[i]) == group)
				vec_push(&nodes, size->nodes[i]);
		if (nodes.len && parts++)
			command_add(out, ":");
		if (nodes.len)
			add_component(launch,
				      &(struct job_size){ nodes.data, nodes.len, size->ranks },
				      group, what, out);
		vec_release(&nodes);
		if (group < 0)
			break;
	}
}

const struct launcher launcher_slurm = {
	.name = "slurm",
	.on_node = on_node,
	.job = job,
};

/* ---- whose jobs run on the nodes of a sweep ---- */

/*
 * Whether the job is this allocation, or a component of a heterogeneous one
 * (SLURM_JOB_ID_HET_GROUP_1).
 */
static bool is_own(const char *id)
{
	for (char **word = environ; *word; word++)
		if (!strncmp(*word, "SLURM_JOB_ID", 12) && strchr(*word, '=') &&
		    !strcmp(strchr(*word, '=') + 1, id))
			return true;
	return false;
}

size_t slurm_others(char *const *nodes, size_t count)
{
	char *list = node_list(nodes, count), line[1024], id[64], user[64], where[512];
	struct command command = { 0 };
	size_t others = 0;
	char *text;
	FILE *in;

	command_split(&command, "squeue --noheader --states=RUNNING,SUSPENDED --format");
	command_add(&command, "%%A %%u %%N");
	command_add(&command, "--nodelist=%s", list);
	text = command_line(&command);
	in = popen(text, "re");
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%63s %63s %511s", id, user, where) != 3 || is_own(id))
			continue;
		log_warn("job %s of %s runs on %s as well", id, user, where);
		others++;
	}
	if (!in || pclose(in))
		log_warn("squeue failed: other jobs may run on these nodes");
	free(text);
	free(list);
	command_release(&command);
	return others;
}

/* ---- nodes that Slurm can give: an allocation with another one in it would not begin ---- */

/* Beginnings of states, as sinfo writes them; a * at the end is of a node that does not respond. */
static const char *const unusable[] = {
	"down", "drain", "fail", "error", "power", "reboot", "inval"
};

static bool is_usable(const char *state)
{
	for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++)
		if (!strncmp(state, unusable[i], strlen(unusable[i])))
			return false;
	return !strchr(state, '*');
}

static const char *state_of(char *const *words, size_t count, const char *node)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		if (!strcmp(words[i], node))
			return words[i + 1];
	return NULL;
}

/* Output of sinfo as pairs of words; false: failed, with the reason why. */
static bool ask(struct command *states, char why[SLURM_WHY])
{
	FILE *in = popen("sinfo --noheader --Node --format='%N %T' 2>&1", "re");
	char line[512], node[256], state[256], more[2];

	*why = '\0';
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*why)
			snprintf(why, SLURM_WHY, "%.*s", SLURM_WHY - 1, line);
		/* it may warn of something, too */
		if (sscanf(line, "%255s %255s %1s", node, state, more) == 2) {
			command_add(states, "%s", node);
			command_add(states, "%s", state);
		}
	}
	if (in && !pclose(in))
		return true;
	command_release(states);
	return false;
}

/* squeue prints warnings as well: these lines do not begin with an id. */
bool slurm_job(const char *id, struct command *parts, char why[SLURM_WHY])
{
	struct command ask_for = { 0 };
	char *command, *line = NULL, *running;
	size_t room = 0;
	FILE *in;

	command_split(&ask_for, "squeue --noheader --format");
	command_add(&ask_for, "%%A %%T %%N");
	command_add(&ask_for, "--jobs=%s", id);
	command = command_line(&ask_for);
	running = xasprintf("%s 2>&1", command);
	in = popen(running, "re");
	*why = '\0';
	while (in && xgetline(&line, &room, in) > 0) {
		struct command words = { 0 };

		line[strcspn(line, "\n")] = '\0';
		if (!*why)
			snprintf(why, SLURM_WHY, "%.*s", SLURM_WHY - 1, line);
		command_split(&words, line);
		if (words.words.len >= 2 && words.words.data[0][0] >= '0' &&
		    words.words.data[0][0] <= '9') {
			command_add(parts, "%s", words.words.data[0]);
			command_add(parts, "%s", words.words.data[1]);
			command_add(parts, "%s", words.words.len > 2 ? words.words.data[2] : "");
		}
		command_release(&words);
	}
	free(line);
	free(running);
	free(command);
	command_release(&ask_for);
	return in && !pclose(in);
}

bool slurm_usable(char *const *nodes, size_t count, struct command *usable, struct command *others,
		  char why[SLURM_WHY])
{
	struct command states = { 0 };
	bool answered = ask(&states, why);

	for (size_t i = 0; i < count; i++) {
		const char *state = state_of(states.words.data, states.words.len, nodes[i]);

		if (!answered || (state && is_usable(state)))
			command_add(usable, "%s", nodes[i]);
		else
			command_add(others, "%s: %s", nodes[i],
				    state ? state : "not known to Slurm");
	}
	command_release(&states);
	return answered;
}
