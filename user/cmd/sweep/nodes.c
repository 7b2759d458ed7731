// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/sweep/nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/sweep/args.h"
#include "site/policy/values.h"

/* A node a line; # begins a comment. */
static int read_hosts(const char *path, struct policy *policy, texts *nodes)
{
	FILE *in = fopen(path, "re");
	char line[512];
	int err = in ? 0 : -errno;

	while (in && !err && fgets(line, sizeof(line), in)) {
		char *word = line + strspn(line, " \t");

		word[strcspn(word, " \t\r\n#")] = '\0';
		if (*word && !value_nodes(word, policy, nodes)) {
			log_error("%s: '%s' is no node", path, word);
			err = -EINVAL;
		}
	}
	if (in)
		fclose(in);
	else
		log_error("%s: %s", path, strerror(-err));
	return err;
}

static int add_nodes(const char *list, struct policy *policy, texts *nodes)
{
	if (value_nodes(list, policy, nodes))
		return 0;
	log_error("'%s' is no list of nodes such as n[0-3],m7", list);
	return -EINVAL;
}

/* Of all components, where it is a heterogeneous one. */
static int add_allocation(struct policy *policy, texts *nodes)
{
	const char *list = getenv("SLURM_JOB_NODELIST");
	int err = 0;

	if (!slurm_group(0))
		return add_nodes(list, policy, nodes);
	for (int group = 0; (list = slurm_group(group)) && !err; group++)
		err = add_nodes(list, policy, nodes);
	return err;
}

int sweep_nodes(const struct sweep_arguments *arguments, struct policy *policy, texts *nodes)
{
	bool allocation = getenv("SLURM_JOB_NODELIST") || slurm_group(0);
	int err = 0;

	if (arguments->nodes)
		err = add_nodes(arguments->nodes, policy, nodes);
	else if (arguments->hosts)
		err = read_hosts(arguments->hosts, policy, nodes);
	else if (allocation && arguments->launch.launcher == &launcher_slurm)
		err = add_allocation(policy, nodes);
	else
		for (size_t i = 0; i < policy->nodes.len; i++)
			vec_push(nodes, policy->nodes.data[i].name);
	if (!err && !nodes->len) {
		log_error("on which nodes? Name them by -w, --hosts or in the policy's classes");
		err = -EINVAL;
	}
	return err;
}
