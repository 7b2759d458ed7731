// SPDX-License-Identifier: BSD-3-Clause
/*
 * A site's captures from those of one pair of nodes: mksite PLAN A B FOLDER ROUNDS [FROM TO]. In
 * each of the first rounds of the plan's circle, each pair of nodes gets a folder of its two
 * captures: new nodes, new processes, each round 10 s later. FROM and TO choose some of the pairs,
 * numbered through over all rounds.
 */
#include <errno.h>
#include <sys/stat.h>

#include "bench/recast.h"
#include "site/plan/plan.h"

#define ROUND_NS 10000000000

static int write_end(const struct recorded *recorded, const char *folder, const struct plan *plan,
		     int node, uint32_t round, uint64_t pair)
{
	const char *name = plan->nodes.data[node].name;
	char path[8192], id[64];
	const struct recast cast = {
		.host_id = id,
		.host_name = name,
		.tgid = round * 1000,
		.uuid = pair << 16,
		.offset = round * (int64_t)ROUND_NS,
	};

	snprintf(id, sizeof(id), "%08x-0000-4000-8000-000000000000", node);
	snprintf(path, sizeof(path), "%s/%s.ucxb", folder, name);
	return recorded_write(recorded, &cast, path);
}

static int write_pair(const struct recorded recorded[2], const char *folder,
		      const struct plan *plan, const int nodes[2], uint32_t round, uint64_t pair)
{
	char path[4096];
	int error = 0;

	snprintf(path, sizeof(path), "%s/%06" PRIu64, folder, pair);
	if (mkdir(path, 0777) && errno != EEXIST)
		return -errno;
	for (int i = 0; i < 2 && !error; i++)
		error = write_end(&recorded[i], path, plan, nodes[i], round, pair);
	return error;
}

struct range {
	uint64_t from, to;
};

static int write_site(const struct recorded recorded[2], const char *folder,
		      const struct plan *plan, uint32_t rounds, struct range range)
{
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);
	uint64_t pair = 0;
	int error = 0;

	for (uint32_t round = 0; round < rounds && round < stage->rounds; round++) {
		for (int node = 0; (size_t)node < plan->nodes.len && !error; node++) {
			const int nodes[] = { node, plan_partner(plan, stage, round, node) };

			if (nodes[1] < node)
				continue;
			if (pair >= range.from && pair < range.to)
				error = write_pair(recorded, folder, plan, nodes, round, pair);
			pair++;
		}
	}
	return error;
}

int main(int argc, char **argv)
{
	struct recorded recorded[2] = { 0 };
	struct range range = { 0, UINT64_MAX };
	struct plan *plan = NULL;
	char why[PLAN_WHY];
	int error;

	if (argc < 6) {
		fprintf(stderr, "usage: mksite PLAN A B FOLDER ROUNDS [FROM TO]\n");
		return 2;
	}
	if (argc > 7)
		range = (struct range){ strtoull(argv[6], NULL, 10), strtoull(argv[7], NULL, 10) };
	error = plan_read(argv[1], &plan, why);
	if (error)
		fprintf(stderr, "%s: %s\n", argv[1], why);
	for (int i = 0; i < 2 && !error; i++)
		error = recorded_read(&recorded[i], argv[2 + i]);
	if (!error)
		error = write_site(recorded, argv[4], plan, (uint32_t)strtoul(argv[5], NULL, 10),
				   range);
	recorded_release(&recorded[0]);
	recorded_release(&recorded[1]);
	plan_free(plan);
	if (error)
		fprintf(stderr, "mksite: %s\n", strerror(-error));
	return error ? 1 : 0;
}
