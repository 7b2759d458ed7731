// SPDX-License-Identifier: BSD-3-Clause
/* Whose jobs run on the nodes of a sweep. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "site/sweep/launcher.h"

/* This allocation's, also of a component of a heterogeneous one: SLURM_JOB_ID_HET_GROUP_1. */
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
		log_warn("squeue does not tell whether others' jobs run on these nodes");
	free(text);
	free(list);
	command_release(&command);
	return others;
}
