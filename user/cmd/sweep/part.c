// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/sweep/part.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/exit_codes.h"
#include "site/policy/values.h"
#include "base/signals.h"
#include "site/sweep/sweep.h"
#include "cmd/sweep/args.h"
#include "cmd/sweep/merge.h"

#define PATH_ROOM (PATH_MAX * 2 + 64)

/* Those of the part that Slurm gave; all others are missing of it. */
static int find_nodes(const struct plan *plan, uint32_t part, struct policy *policy,
		      struct command *nodes)
{
	const char *list = getenv("SLURM_JOB_NODELIST");
	texts given = { 0 };

	if (!list || !value_nodes(list, policy, &given)) {
		log_error(
			"a part is a task of a job array: SLURM_JOB_NODELIST is no list of nodes");
		return -EINVAL;
	}
	for (size_t i = 0; i < given.len; i++) {
		int node = plan_node(plan, given.data[i]);

		if (node >= 0 && plan_has(plan, part, node))
			command_add(nodes, "%s", given.data[i]);
	}
	vec_release(&given);
	if (!nodes->words.len)
		log_error("part %u has none of the nodes %s", part, list);
	return nodes->words.len ? 0 : -EINVAL;
}

/* As the command does it, so that there is one way to gather. */
static int gather_part(const char *folder)
{
	struct command merge = { 0 };
	char policy[PATH_ROOM + 32];
	int status;

	snprintf(policy, sizeof(policy), "%s/../../policy.yaml", folder);
	command_add(&merge, "ucxbpf sweep merge");
	command_add(&merge, "--output=%s.evidence", folder);
	if (!access(policy, F_OK))
		command_add(&merge, "--policy=%s", policy);
	command_add(&merge, "%s", folder);
	status = sweep_merge(merge.words.len, command_argv(&merge));
	command_release(&merge);
	return status;
}

static int carry_out(const struct sweep_options *options)
{
	struct signals signals;
	enum sweep_result result;
	int signal_number = 0, status;

	if (mkdir(options->folder, 0755) || signals_open(&signals, true)) {
		log_error("%s: %s", options->folder, strerror(errno));
		return UCXBPF_CHECK_FAILED;
	}
	result = sweep_run(options, &signals, &signal_number);
	/* Slurm's signal may come now, too: there is time left to gather */
	status = result == SWEEP_FAILED ? UCXBPF_CHECK_FAILED : gather_part(options->folder);
	signals_close(&signals, 0, 0);
	return status;
}

int sweep_part(const struct sweep_arguments *arguments, const struct sweep_options *whole)
{
	struct sweep_options options = *whole;
	char path[PATH_ROOM], folder[PATH_ROOM], why[PLAN_WHY];
	struct command nodes = { 0 };
	int status = UCXBPF_CHECK_USAGE;

	options.part = arguments->part;
	snprintf(path, sizeof(path), "%s/plan.json", whole->folder);
	snprintf(folder, sizeof(folder), "%s/parts/%u", whole->folder, options.part);
	if (plan_read(path, &options.given, why)) {
		log_error("%s: %s", path, why);
		return UCXBPF_CHECK_USAGE;
	}
	if (!find_nodes(options.given, options.part, (struct policy *)whole->policy, &nodes)) {
		options.folder = folder;
		options.nodes = nodes.words.data;
		options.node_count = nodes.words.len;
		status = carry_out(&options);
	}
	command_release(&nodes);
	plan_free(options.given);
	return status;
}
