// SPDX-License-Identifier: BSD-3-Clause
#include "base/level.h"

#include <string.h>

const char *const level_names[LEVELS] = { "mpi", "ucp", "uct" };
const char *const level_titles[LEVELS] = { "MPI", "UCP", "UCT" };

int level_by_name(const char *name)
{
	for (int level = 0; name && level < LEVELS; level++)
		if (!strcmp(name, level_names[level]))
			return level;
	return -1;
}

int level_by_step(const char *step)
{
	return step && !strcmp(step, "windows") ? LEVEL_UCT : level_by_name(step);
}
