// SPDX-License-Identifier: BSD-3-Clause
/* Which nodes Slurm can give: an allocation with another one in it would not begin. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "site/sweep/launcher.h"

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

/* What sinfo says, words in pairs; false: why it says nothing. */
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
