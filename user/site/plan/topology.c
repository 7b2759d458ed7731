// SPDX-License-Identifier: BSD-3-Clause
/* Switches above nodes, from a topology.conf of Slurm (topology.conf(5)), and how far nodes are by
 * them. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/readable.h"
#include "site/plan/internal.h"
#include "site/policy/values.h"

/*
 * Switches name their children, in any order of lines; a switch whose parent is not known yet has
 * none.
 */
struct topology {
	struct plan *plan;
	struct policy *names; /* owns what lists expand to */
	struct declared {
		char *name, *nodes, *switches, *speed;
		int parent;
	} * list;
	size_t len, room;
};

static char *value_of(const char *line, const char *key)
{
	size_t length = strlen(key);
	const char *at = line;

	while (at) {
		at += strspn(at, " \t");
		if (!strncasecmp(at, key, length) && at[length] == '=')
			return xstrndup(at + length + 1, strcspn(at + length + 1, " \t\r\n"));
		at = strpbrk(at, " \t");
	}
	return NULL;
}

static void add_switch(struct topology *topology, const char *line)
{
	struct declared *declared;

	topology->list = vec_grow(topology->list, &topology->room, topology->len + 1,
				  sizeof(*topology->list));
	declared = &topology->list[topology->len++];
	*declared = (struct declared){
		.name = value_of(line, "SwitchName"),
		.nodes = value_of(line, "Nodes"),
		.switches = value_of(line, "Switches"),
		.speed = value_of(line, "LinkSpeed"),
		.parent = -1,
	};
}

static int read_lines(struct topology *topology, FILE *file, const char *path, char why[PLAN_WHY])
{
	char *line = NULL;
	size_t room = 0, number = 0;
	int err = 0;

	while (!err && xgetline(&line, &room, file) >= 0) {
		number++;
		line[strcspn(line, "#\r\n")] = '\0';
		if (!line[strspn(line, " \t")])
			continue;
		add_switch(topology, line);
		if (!topology->list[topology->len - 1].name)
			err = plan_refuse(why, "%.180s:%zu: no SwitchName", path, number);
	}
	free(line);
	return err;
}

static int declared_at(const struct topology *topology, const char *name)
{
	for (size_t i = 0; i < topology->len; i++)
		if (!strcmp(topology->list[i].name, name))
			return i;
	return -1;
}

static int find_parents(struct topology *topology, char why[PLAN_WHY])
{
	for (size_t i = 0; i < topology->len; i++) {
		texts below = { 0 };
		bool right = !topology->list[i].switches ||
			     value_nodes(topology->list[i].switches, topology->names, &below);

		for (size_t k = 0; right && k < below.len; k++) {
			int child = declared_at(topology, below.data[k]);

			if (child >= 0)
				topology->list[child].parent = i;
		}
		vec_release(&below);
		if (!right)
			return plan_refuse(why, "switch '%.60s': Switches is no list",
					   topology->list[i].name);
	}
	return 0;
}

/* In bit/s with a unit; Slurm itself makes no use of it, and lets it have any. */
static double uplink_of(const struct declared *declared)
{
	double rate = 0;

	return declared->speed && value_rate(declared->speed, &rate) ? rate : 0;
}

/* Parents first, so that a plan lists a switch before its children. */
static int place_switch(struct topology *topology, int *at, int index, size_t depth)
{
	const struct declared *declared = &topology->list[index];
	int parent = -1;

	if (depth > topology->len)
		return -1;
	if (at[index] >= 0)
		return at[index];
	if (declared->parent >= 0) {
		parent = place_switch(topology, at, declared->parent, depth + 1);
		if (parent < 0)
			return -1;
	}
	vec_push(&topology->plan->switches,
		 ((struct plan_switch){ xstrdup(declared->name), parent, uplink_of(declared) }));
	at[index] = topology->plan->switches.len - 1;
	return at[index];
}

static int place_nodes(struct topology *topology, const struct declared *declared, int leaf,
		       char why[PLAN_WHY])
{
	texts nodes = { 0 };
	bool right = value_nodes(declared->nodes, topology->names, &nodes);

	for (size_t i = 0; right && i < nodes.len; i++) {
		int node = plan_node(topology->plan, nodes.data[i]);

		if (node >= 0)
			topology->plan->nodes.data[node].leaf = leaf;
	}
	vec_release(&nodes);
	return right ? 0 : plan_refuse(why, "switch '%.60s': Nodes is no list", declared->name);
}

static int place_all(struct topology *topology, char why[PLAN_WHY])
{
	int *at = xmalloc((topology->len + 1) * sizeof(*at)), err = 0;

	for (size_t i = 0; i < topology->len; i++)
		at[i] = -1;
	for (size_t i = 0; !err && i < topology->len; i++) {
		int leaf = place_switch(topology, at, i, 0);

		if (leaf < 0)
			err = plan_refuse(why, "switch '%.60s' is below itself",
					  topology->list[i].name);
		else if (topology->list[i].nodes)
			err = place_nodes(topology, &topology->list[i], leaf, why);
	}
	free(at);
	return err;
}

static void release(struct topology *topology)
{
	for (size_t i = 0; i < topology->len; i++) {
		free(topology->list[i].name);
		free(topology->list[i].nodes);
		free(topology->list[i].switches);
		free(topology->list[i].speed);
	}
	free(topology->list);
	policy_free(topology->names);
}

int plan_topology(struct plan *plan, const struct policy *policy, char why[PLAN_WHY])
{
	struct topology topology = { .plan = plan };
	FILE *file;
	int err;

	if (!policy->topology.file)
		return 0;
	file = readable_open(policy->topology.file);
	if (!file)
		return plan_refuse(why, "the policy's topology %.150s: %s", policy->topology.file,
				   readable_why(-errno));
	topology.names = policy_default();
	err = read_lines(&topology, file, policy->topology.file, why);
	fclose(file);
	err = err ? err : find_parents(&topology, why);
	err = err ? err : place_all(&topology, why);
	release(&topology);
	return err;
}

/* ---- distances ---- */

/* How far nodes are from each other, by the switches above them. */

static int levels_above(const struct plan *plan, int at)
{
	int levels = 0;

	for (; at >= 0; at = plan->switches.data[at].parent)
		levels++;
	return levels;
}

int plan_levels(const struct plan *plan)
{
	int most = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		int levels = levels_above(plan, plan->nodes.data[i].leaf);

		most = levels > most ? levels : most;
	}
	return most;
}

int plan_above(const struct plan *plan, int node, int level)
{
	int at = plan->nodes.data[node].leaf;

	while (at >= 0 && --level > 0)
		at = plan->switches.data[at].parent;
	return at;
}

int plan_distance(const struct plan *plan, int a, int b)
{
	if (a == b)
		return 0;
	for (int level = 1;; level++) {
		int above = plan_above(plan, a, level);

		if (above < 0)
			return -1;
		if (above == plan_above(plan, b, level))
			return level;
	}
}
