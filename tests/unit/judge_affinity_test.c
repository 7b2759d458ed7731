// SPDX-License-Identifier: BSD-3-Clause
/* Which NIC for which GPU: AFF-01, AFF-03, AFF-04, RAIL-04, and 'nic: nearest' of PATH-01. */
#include "judge_places.h"

static void set_pci(struct inventory_pci *pci, const char *address, const char *path, int64_t numa)
{
	pci->address = strdup(address);
	pci->path = strdup(path);
	pci->numa = numa;
}

/* gpu0 and mlx5_0 below one bridge of socket 0, gpu1 and mlx5_1 (two ports) below one of socket 1.
 */
static void add_node(struct snapshots *nodes, int node)
{
	struct inventory *inventory = snapshot(nodes, node, 1000);
	static const char *const numbers[] = { "18", "98" };
	char address[32], path[80];

	for (int i = 0; i < 2; i++) {
		struct inventory_gpu *gpu = inventory_add_gpu(inventory);

		gpu->vendor = strdup("nvidia");
		snprintf(address, sizeof(address), "0000:%s:00.0", numbers[i]);
		snprintf(path, sizeof(path), "pci0000:%d/0000:%d:01.0/%s", i, i, address);
		set_pci(&gpu->pci, address, path, i);
	}
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "mlx5_0:1", "mlx5_1:1", "mlx5_2:1" };
		int socket = i > 0;

		snprintf(address, sizeof(address), "0000:%s:01.%d", numbers[socket], i == 2);
		snprintf(path, sizeof(path), "pci0000:%d/0000:%d:01.0/%s", socket, socket, address);
		set_pci(&add_nic(inventory, names[i])->pci, address, path, socket);
	}
}

static void two_nodes(struct snapshots *nodes)
{
	add_node(nodes, 0);
	add_node(nodes, 1);
}

/* The rails of one node cross those of the other. */
#define CROSSED                                                                                    \
	"classes: { a: { nodes: n0, nics: [\"mlx5_0:1\", \"mlx5_1:1\"] },"                         \
	" b: { nodes: n1, nics: [\"mlx5_1:1\", \"mlx5_0:1\"] } }\n"

static const struct place_case cases[] = {
	/* a get is the receiver's, and by its memory */
	{ .name = "the nearest NIC",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" },
		     { 0, 2, "gpu1", "mlx5_2:1" },
		     { 2, 0, "gpu0", "mlx5_1:1" },
		     { 0, 3, "gpu0", "mlx5_1:1", .op = "get_zcopy", .dst_mem = "gpu1" } },
	  .expected = { { "AFF-01", "n0", VERDICT_PASS },
			{ "AFF-01", "n1", VERDICT_FAIL, .severity = "critical", .bytes = MIB },
			{ "AFF-02", NULL, VERDICT_SKIP } } },
	{ .name = "what the map says",
	  .policy = "classes: { a: { nodes: \"n[0-1]\", map: { gpu0: mlx5_1 } } }\n",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu0", "mlx5_1:1" }, { 2, 0, "gpu0", "mlx5_0:1" } },
	  .expected = { { "AFF-01", "n0", VERDICT_PASS },
			{ "AFF-01", "n1", VERDICT_FAIL, .severity = "warning" } } },
	{ .name = "places are not known",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu7", "mlx5_1:1" }, { 2, 0, "gpu0", "mlx5_9:1" } },
	  .expected = { { "AFF-01", "n0", VERDICT_UNKNOWN },
			{ "AFF-01", "n1", VERDICT_UNKNOWN },
			{ "AFF-03", "n1", VERDICT_UNKNOWN } } },

	{ .name = "a line of the policy",
	  .policy = "expect: [ { loc: inter, mem: cuda-any, nic: nearest } ]\n",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" }, { 2, 0, "gpu0", "mlx5_1:1" } },
	  .expected = { { "PATH-01", "n0", VERDICT_PASS }, { "PATH-01", "n1", VERDICT_FAIL } } },
	{ .name = "a line of the policy for large messages, sizes are not known",
	  .policy = "expect: [ { loc: inter, mem: cuda-any, size: [64K, inf], nic: nearest } ]\n",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" },
		     { 0, 2, "gpu0", "mlx5_1:1", .sums = true },
		     { 2, 0, "gpu0", "mlx5_0:1" },
		     { 2, 0, "gpu0", "mlx5_0:1", .sums = true } },
	  .expected = { { "PATH-01", "n0", VERDICT_UNKNOWN }, { "PATH-01", "n1", VERDICT_PASS } } },
	{ .name = "a line of the policy, no memory of a GPU",
	  .policy = "expect: [ { loc: inter, nic: nearest } ]\n",
	  .make = two_nodes,
	  .moves = { { 0, 2, "host", "mlx5_1:1" } },
	  .expected = { { "PATH-01", "line 2", VERDICT_SKIP } } },

	/* a fault where another NIC is idle */
	{ .name = "two GPUs by one NIC",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" },
		     { 0, 2, "gpu1", "mlx5_0:1" },
		     { 2, 0, "gpu0", "mlx5_0:1" },
		     { 2, 0, "gpu1", "mlx5_1:1" } },
	  .expected = { { "AFF-03", "n0", VERDICT_FAIL,
			  .seen = "gpu0 and gpu1 share mlx5_0:1, mlx5_1:1 is idle" },
			{ "AFF-03", "n1", VERDICT_PASS } } },
	{ .name = "two GPUs by the one NIC of their class",
	  .policy = "classes: { a: { nodes: \"n[0-1]\", nics: [mlx5_0] } }\n",
	  .make = two_nodes,
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" }, { 0, 2, "gpu1", "mlx5_0:1" } },
	  .expected = { { "AFF-03", "n0", VERDICT_PASS } } },

	/* what is idle may be busy in what is missing, but a NIC that is not the nearest was seen
	 */
	{ .name = "two GPUs by one NIC, as far as windows saw",
	  .make = two_nodes,
	  .loss = { .node = "n0", .spans = 4 },
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" }, { 0, 2, "gpu1", "mlx5_0:1" } },
	  .expected = { { "AFF-01", "n0", VERDICT_FAIL }, { "AFF-03", "n0", VERDICT_UNKNOWN } } },
	{ .name = "two GPUs by one NIC, as far as windows saw, and a record is lost",
	  .make = two_nodes,
	  .loss = { .node = "n0", .spans = 4, .records = 1 },
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" }, { 0, 2, "gpu1", "mlx5_0:1" } },
	  .expected = { { "AFF-01", "n0", VERDICT_FAIL },
			{ "AFF-03", "n0", VERDICT_UNKNOWN,
			  .why = "something of n0 is missing (COV-01)" } } },
	{ .name = "two GPUs by one NIC, a file cannot be read",
	  .make = two_nodes,
	  .loss = { .files = 1 },
	  .moves = { { 0, 2, "gpu0", "mlx5_0:1" }, { 0, 2, "gpu1", "mlx5_0:1" } },
	  .expected = { { "AFF-01", "n0", VERDICT_FAIL }, { "AFF-03", "n0", VERDICT_UNKNOWN } } },

	{ .name = "two ports of one adapter",
	  .make = two_nodes,
	  .moves = { { 0, 2, "host", "mlx5_1:1" },
		     { 0, 2, "host", "mlx5_2:1" },
		     { 2, 0, "host", "mlx5_0:1" },
		     { 2, 0, "host", "mlx5_1:1" } },
	  .expected = { { "RAIL-04", "n0", VERDICT_FAIL,
			  .seen = "mlx5_1:1 and mlx5_2:1 are one adapter, mlx5_0:1 is idle" },
			{ "RAIL-04", "n1", VERDICT_PASS } } },

	/* the second rail of both, then the first here and the second there */
	{ .name = "rails alike",
	  .policy = CROSSED,
	  .make = two_nodes,
	  .moves = { { 0, 2, "host", "mlx5_1:1" }, { 2, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-04", "n0>n1", VERDICT_PASS },
			{ "AFF-04", "n1>n0", VERDICT_PASS } } },
	{ .name = "rails that cross",
	  .policy = CROSSED,
	  .make = two_nodes,
	  .moves = { { 0, 2, "host", "mlx5_0:1" }, { 2, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-04", "n0>n1", VERDICT_FAIL },
			{ "AFF-04", "n1>n0", VERDICT_FAIL } } },
	/* the ones that seem idle may be busy between the windows */
	{ .name = "rails that cross, as far as windows saw",
	  .policy = CROSSED,
	  .make = two_nodes,
	  .loss = { .node = "n1", .spans = 4 },
	  .moves = { { 0, 2, "host", "mlx5_0:1" }, { 2, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-04", "n0>n1", VERDICT_UNKNOWN } } },
	{ .name = "two ports of one adapter, as far as windows saw",
	  .make = two_nodes,
	  .loss = { .node = "n0", .spans = 4 },
	  .moves = { { 0, 2, "host", "mlx5_1:1" }, { 0, 2, "host", "mlx5_2:1" } },
	  .expected = { { "RAIL-04", "n0", VERDICT_UNKNOWN } } },
	{ .name = "one rail of two, as far as windows saw",
	  .policy = "classes: { a: { nodes: n0, rails: 2 } }\n",
	  .make = two_nodes,
	  .loss = { .node = "n0", .spans = 4 },
	  .moves = { { 0, 2, "host", "mlx5_1:1" } },
	  .expected = { { "RAIL-01", "n0", VERDICT_UNKNOWN } } },
	/* where the others end is not told */
	{ .name = "rails that cross, and one comes back by fewer",
	  .policy = CROSSED,
	  .make = two_nodes,
	  .moves = { { 0, 2, "host", "mlx5_0:1" },
		     { 0, 2, "host", "mlx5_1:1" },
		     { 2, 0, "host", "mlx5_1:1" } },
	  .expected = { { "AFF-04", "all captures", VERDICT_SKIP } } },
};

#define MANY_GPUS 8
#define MANY_NICS 9

static uint64_t mib_of(int gpu, int nic)
{
	if (nic == MANY_NICS - 1)
		return 250;
	return gpu == nic || (gpu == 1 && nic == 0) ? 2000 : 1;
}

/*
 * 72 pairs of a GPU and a NIC: each GPU has a NIC of its own, two share one, and the ninth carries
 * 2,000 MiB, of which no GPU has much.
 */
static void every_gpu_by_every_nic(void **state)
{
	static char words[MANY_NICS][MANY_GPUS][32];
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	for (int node = 0; node < 2; node++) {
		struct inventory *inventory = snapshot(&nodes, node, 1000);

		for (int i = 0; i < MANY_NICS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "mlx5_%d:1", i);
			set_pci(&add_nic(inventory, name)->pci, "0000:18:01.0", "pci0000:0", 0);
		}
	}
	for (int nic = 0; nic < MANY_NICS; nic++)
		for (int gpu = 0; gpu < MANY_GPUS; gpu++) {
			char *memory = words[nic][gpu], *device = memory + 16;

			snprintf(memory, 16, "gpu%d", gpu);
			snprintf(device, 16, "mlx5_%d:1", nic);
			bed_move(&bed, &(struct moved){
					       .from = 0,
					       .to = 2,
					       .transport = "rc_mlx5",
					       .device = device,
					       .src_mem = memory,
					       .bytes = MIB * mib_of(gpu, nic),
					       .sums = true,
				       });
		}
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-03", "n0", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_gpu_by_every_nic) };

	return place_run_all(cases, sizeof(cases) / sizeof(*cases)) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
