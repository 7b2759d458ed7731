// SPDX-License-Identifier: BSD-3-Clause
/* Whether ranks may run only near their GPUs and NICs: AFF-02; 'nic: nearest' of host memory. */
#include "judge_places.h"

#define FIRST "0-3,8-11" /* the cores of NUMA node 0 */
#define SECOND "4-7,12-15"

static void add_numa(struct inventory *inventory, int64_t node, const char *cpus)
{
	struct inventory_numa *numa = vec_add(&inventory->numa);

	*numa = (struct inventory_numa){ .node = node, .memory = -1 };
	set_text(&numa->cpus, cpus);
}

static void place(struct inventory_pci *pci, const char *address, int64_t numa)
{
	set_text(&pci->address, address);
	pci->numa = numa;
}

/* gpu0 and mlx5_0 are on NUMA node 0, gpu1 and mlx5_1 on node 1; veth0 is nowhere. */
static struct inventory *add_node(struct snapshots *nodes, int node, int numa_nodes)
{
	struct inventory *inventory = snapshot(nodes, node, 1000);

	for (int i = 0; i < numa_nodes; i++)
		add_numa(inventory, i, i ? SECOND : FIRST);
	place(&inventory_add_gpu(inventory)->pci, "0000:18:00.0", 0);
	place(&inventory_add_gpu(inventory)->pci, "0000:98:00.0", 1);
	place(&add_nic(inventory, "mlx5_0:1")->pci, "0000:19:00.0", 0);
	place(&add_nic(inventory, "mlx5_1:1")->pci, "0000:99:00.0", 1);
	add_nic(inventory, "veth0");
	return inventory;
}

static void two_nodes(struct snapshots *nodes)
{
	add_node(nodes, 0, 2);
	add_node(nodes, 1, 2);
}

static void gpu0_not_placed(struct snapshots *nodes)
{
	two_nodes(nodes);
	for (int i = 0; i < 2; i++)
		nodes->list[i]->gpus.data[0].pci.numa = -1;
}

static void nic_of_n0_not_placed(struct snapshots *nodes)
{
	two_nodes(nodes);
	nodes->list[0]->nics.data[0].pci.numa = -1;
}

static void n0_alone(struct snapshots *nodes)
{
	add_node(nodes, 0, 2);
}

static void none_and_one_numa(struct snapshots *nodes)
{
	add_node(nodes, 0, 0);
	add_node(nodes, 1, 1);
}

/* The near NIC of n0 is down. */
static void with_distances(struct snapshots *nodes)
{
	two_nodes(nodes);
	set_text(&nodes->list[0]->nics.data[0].state, "down");
	for (int i = 0; i < 2; i++) {
		set_text(&nodes->list[i]->numa.data[0].distances, "10 21");
		set_text(&nodes->list[i]->nics.data[0].pci.path, "pci0/0000:19:00.0");
		set_text(&nodes->list[i]->nics.data[1].pci.path, "pci1/0000:99:00.0");
	}
}

#define NEAREST "expect: [ { loc: inter, nic: nearest } ]\n"

static const struct place_case cases[] = {
	/* by the NIC, where no memory is a GPU's; a rank that only receives uses none */
	{ .name = "near the NIC",
	  .make = two_nodes,
	  .cores = { { 0, FIRST }, { 1, "12-13" }, { 2, "2,5" }, { 3, "4-7" } },
	  .moves = { { 0, 2, "host", "mlx5_0:1" },
		     { 1, 2, "host", "mlx5_1:1" },
		     { 2, 0, "host", "mlx5_1:1" },
		     { 3, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-02", "n0", VERDICT_PASS },
			{ "AFF-02", "n1", VERDICT_FAIL, .count = 2,
			  .seen = "rank 2 may run on cores of NUMA 0, 1: mlx5_1:1 is on NUMA 1" } } },
	/* a GPU counts, not the NIC that its messages leave by; at either end of a message */
	{ .name = "near the GPU",
	  .make = two_nodes,
	  .cores = { { 0, "4" }, { 2, "12" }, { 3, "0" } },
	  .moves = { { 0, 2, "gpu1", "mlx5_0:1" },
		     { 0, 3, "gpu1", "mlx5_0:1", .dst_mem = "gpu1" } },
	  .expected = { { "AFF-02", "n0", VERDICT_PASS },
			{ "AFF-02", "n1", VERDICT_FAIL,
			  .seen = "rank 3 may run on cores of NUMA 0: gpu1 is on NUMA 1" } } },
	/*
	 * Rails of both sockets are near every core; one of little use is not counted. Cores: as
	 * many as the kernel could have, not all are there.
	 */
	{ .name = "several devices",
	  .make = two_nodes,
	  .cores = { { 0, "0-15,128-255" }, { 2, "0-15" } },
	  .moves = { { 0, 2, "host", "mlx5_0:1" },
		     { 0, 2, "host", "mlx5_1:1" },
		     { 2, 0, "host", "mlx5_0:1" },
		     { 2, 0, "host", "mlx5_1:1", .bytes = MIB / 100 },
		     { 2, 0, "host", "veth0" } },
	  .expected = { { "AFF-02", "n0", VERDICT_PASS }, { "AFF-02", "n1", VERDICT_FAIL } } },
	/* where the inventory does not tell of the GPU, the NIC that the policy's map gives it */
	{ .name = "by the map",
	  .policy = "classes: { a: { nodes: \"n[0-1]\", map: { gpu0: mlx5_1 } } }\n",
	  .make = gpu0_not_placed,
	  .cores = { { 0, SECOND }, { 2, FIRST } },
	  .moves = { { 0, 2, "gpu0", "mlx5_1:1" }, { 2, 0, "gpu0", "mlx5_1:1" } },
	  .expected = { { "AFF-02", "n0", VERDICT_PASS }, { "AFF-02", "n1", VERDICT_FAIL } } },

	{ .name = "a NIC's place, or a rank's cores, are not known",
	  .make = nic_of_n0_not_placed,
	  .cores = { { 0, FIRST } },
	  .moves = { { 0, 2, "host", "mlx5_0:1" }, { 2, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-02", "n0", VERDICT_UNKNOWN,
			  .why = "its inventory does not have the NUMA node of mlx5_0:1" },
			{ "AFF-02", "n1", VERDICT_UNKNOWN,
			  .why = "the cores that some of its ranks may run on are not known" } } },
	{ .name = "none of the cores is there, or no inventory",
	  .make = n0_alone,
	  .cores = { { 0, "64" }, { 2, "0" } },
	  .moves = { { 0, 2, "host", "mlx5_0:1" }, { 2, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-02", "n0", VERDICT_UNKNOWN },
			{ "AFF-02", "n1", VERDICT_UNKNOWN } } },

	{ .name = "nothing is far",
	  .make = none_and_one_numa,
	  .cores = { { 0, "0" }, { 2, "0" } },
	  .moves = { { 0, 2, "host", "mlx5_0:1" }, { 2, 0, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-02", "n0", VERDICT_SKIP }, { "AFF-02", "n1", VERDICT_SKIP } } },
	{ .name = "a NIC that is no device",
	  .make = two_nodes,
	  .cores = { { 0, "0" }, { 2, "0" } },
	  .moves = { { 0, 2, "host", "veth0" } },
	  .expected = { { "AFF-02", "n0", VERDICT_SKIP, .why = "veth0 is no device on PCI" } } },
	{ .name = "captures of before",
	  .make = two_nodes,
	  .moves = { { 0, 2, "host", "mlx5_0:1" } },
	  .expected = { { "AFF-02", NULL, VERDICT_SKIP } } },

	/* the one NIC of the cores' NUMA node, or the nearest; another if there is no other */
	{ .name = "nearest to host memory",
	  .policy = NEAREST,
	  .make = with_distances,
	  .cores = { { 0, FIRST }, { 2, "1-2" } },
	  .moves = { { 0, 2, "host", "mlx5_1:1" }, { 2, 0, "host", "mlx5_1:1" } },
	  .expected = { { "PATH-01", "n0", VERDICT_PASS }, { "PATH-01", "n1", VERDICT_FAIL } } },
	{ .name = "nearest, of cores of both NUMA nodes, or without distances",
	  .policy = NEAREST,
	  .make = two_nodes,
	  .cores = { { 0, "0-7" }, { 2, FIRST } },
	  .moves = { { 0, 2, "host", "mlx5_1:1" }, { 2, 0, "host", "mlx5_1:1" } },
	  .expected = { { "PATH-01", "n0", VERDICT_UNKNOWN },
			{ "PATH-01", "n1", VERDICT_UNKNOWN } } },
	{ .name = "nearest, of a device without a place",
	  .policy = NEAREST,
	  .make = two_nodes,
	  .cores = { { 0, FIRST } },
	  .moves = { { 0, 2, "host", "veth0" } },
	  .expected = { { "PATH-01", "line 2", VERDICT_SKIP } } },
};

int main(void)
{
	return place_run_all(cases, sizeof(cases) / sizeof(*cases));
}
