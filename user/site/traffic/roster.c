// SPDX-License-Identifier: BSD-3-Clause
/* Which rank is the plan's which: ranks of a node are counted in the order of MPI_COMM_WORLD. */
#include <string.h>

#include "site/traffic/traffic.h"

static int *nodes_of_ranks(int node, int size)
{
	int *nodes = malloc(size * sizeof(*nodes));
	MPI_Request request;

	MPI_Iallgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD, &request);
	wait_for(&request);
	return nodes;
}

void find_place(struct rank *rank, const char *node)
{
	const struct plan *plan = rank->plan;
	size_t places = plan->nodes.len * plan->ranks;
	int *seen = calloc(plan->nodes.len, sizeof(*seen)), *nodes;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank->size);
	rank->node = -1;
	rank->world = malloc(places * sizeof(*rank->world));
	for (size_t i = 0; i < places; i++)
		rank->world[i] = -1;
	nodes = nodes_of_ranks(plan_node(plan, node), rank->size);
	for (int i = 0; i < rank->size; i++) {
		int local = nodes[i] < 0 ? plan->ranks : seen[nodes[i]]++;

		if (local >= plan->ranks)
			continue;
		rank->world[nodes[i] * plan->ranks + local] = i;
		if (i != rank->rank)
			continue;
		rank->node = nodes[i];
		rank->local = local;
	}
	free(nodes);
	free(seen);
}

int world_rank(const struct rank *rank, int node, int local)
{
	return node < 0 ? -1 : rank->world[node * rank->plan->ranks + local];
}
