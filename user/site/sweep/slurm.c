// SPDX-License-Identifier: BSD-3-Clause
/*
 * Steps of an allocation that is there already. A step per node: one whose slurmd is gone fails
 * alone.
 */
#include "site/sweep/launcher.h"

/* Which of Slurm's plug-ins each MPI's library speaks to: Debian's Open MPI knows no PMI-2. */
static const char *const plugins[SWEEP_MPIS] = { "pmix", "pmi2" };

static void on_node(const struct launch *launch, const char *node, const struct command *what,
		    struct command *out)
{
	int group = slurm_group_of(node);

	(void)launch;
	command_split(out, "srun --overlap --nodes=1 --ntasks=1 --mpi=none "
			   "--unbuffered");
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
