// SPDX-License-Identifier: BSD-3-Clause
/* Heterogeneous allocations: which component has which node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/policy/values.h"
#include "site/sweep/launcher.h"

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

int slurm_group_of(const char *node)
{
	const char *list;

	for (int group = 0; (list = slurm_group(group)); group++)
		if (is_among(list, node))
			return group;
	return -1;
}
