// SPDX-License-Identifier: BSD-3-Clause
/* Launchers by name, and the one for a plain list of hosts, reached by ssh or whatever is called
 * like it. */
#include "site/sweep/launcher.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

/* ---- a plain list of hosts ---- */

/* As with ssh, a shell of the other host reads the command line. */
static void on_node(const struct launch *launch, const char *node, const struct command *what,
		    struct command *out)
{
	char *line = command_line(what);

	command_split(out, launch->rsh);
	command_add(out, "%s", node);
	command_add(out, "%s", line);
	free(line);
}

/* Open MPI hands on its own variables alone. */
static void exported(struct command *out)
{
	for (char **word = environ; *word; word++)
		if (!strncmp(*word, "UCX_", 4) || !strncmp(*word, "LD_LIBRARY_PATH=", 16)) {
			command_add(out, "-x");
			command_add(out, "%.*s", (int)strcspn(*word, "="), *word);
		}
}

static void openmpi(const struct launch *launch, const struct job_size *size, struct command *out)
{
	command_split(out, "--mca plm rsh --mca plm_rsh_no_tree_spawn 1 --mca plm_rsh_agent");
	command_add(out, "%s", launch->rsh);
	exported(out);
	command_add(out, "-n");
	command_add(out, "%zu", size->count * size->ranks);
	command_add(out, "-H");
	command_add(out, "%s:%d", size->nodes[0], size->ranks);
	for (size_t i = 1; i < size->count; i++) {
		char **last = &out->words.data[out->words.len - 1], *longer;

		longer = xasprintf("%s,%s:%d", *last, size->nodes[i], size->ranks);
		free(*last);
		*last = longer;
	}
}

/* Its launcher's name is that of one program, whose options it knows by "ssh" or "rsh". */
static void mpich(const struct launch *launch, const struct job_size *size, struct command *out)
{
	char *list = node_list(size->nodes, size->count);

	if (strncmp(launch->rsh, "ssh ", 4)) {
		command_split(out, "-launcher rsh -launcher-exec");
		command_add(out, "%s", launch->rsh);
	}
	command_add(out, "-n");
	command_add(out, "%zu", size->count * size->ranks);
	command_add(out, "-ppn");
	command_add(out, "%d", size->ranks);
	command_add(out, "-hosts");
	command_add(out, "%s", list);
	free(list);
}

static const struct {
	const char *commands[2]; /* Debian's name where both MPIs are there, and the usual one */
	void (*add)(const struct launch *launch, const struct job_size *size, struct command *out);
} mpis[SWEEP_MPIS] = {
	[SWEEP_OPENMPI] = { { "mpirun.openmpi", "mpirun" }, openmpi },
	[SWEEP_MPICH] = { { "mpiexec.hydra", "mpiexec" }, mpich },
};

static bool on_path(const char *name)
{
	const char *folder = getenv("PATH");
	char path[4096];

	while (folder && *folder) {
		size_t length = strcspn(folder, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, name);
		if (!access(path, X_OK))
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

static void job(const struct launch *launch, const struct job_size *size,
		const struct command *what, struct command *out)
{
	const char *const *names = mpis[launch->mpi].commands;

	command_split(out, launch->mpirun ? launch->mpirun : names[!on_path(names[0])]);
	mpis[launch->mpi].add(launch, size, out);
	command_append(out, launch->job_options);
	command_append(out, what);
}

static const struct launcher launcher_hosts = {
	.name = "hosts",
	.on_node = on_node,
	.job = job,
};

/* ---- all launchers ---- */

const char *const sweep_mpi_names[SWEEP_MPIS] = { "openmpi", "mpich" };

static const struct launcher *const launchers[] = { &launcher_slurm, &launcher_hosts };

const struct launcher *launcher_of(const char *name)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(launchers[i]->name, name))
			return launchers[i];
	return NULL;
}

char *node_list(char *const *nodes, size_t count)
{
	char *text = NULL;
	size_t length;
	FILE *out = xmemstream(&text, &length);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", nodes[i]);
	fclose(out);
	return text;
}
