// SPDX-License-Identifier: BSD-3-Clause
#include "site/sweep/launcher.h"

#include <stdio.h>
#include <string.h>

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
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", nodes[i]);
	if (fclose(out))
		abort();
	return text;
}
