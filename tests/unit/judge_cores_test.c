// SPDX-License-Identifier: BSD-3-Clause
/* Whether ranks may run only near their GPUs and NICs: AFF-02; 'nic: nearest' of host memory. */
#include "judge_nodes.h"

#define MIB (1 << 20)
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

static void begin(struct bed *bed, struct snapshots *nodes, const char *policy)
{
	*nodes = (struct snapshots){ 0 };
	bed_begin(bed, policy);
	add_node(nodes, 0, 2);
	add_node(nodes, 1, 2);
}

static void move(struct bed *bed, int from, int to, const char *memory, const char *device,
		 uint64_t bytes)
{
	bed_move(bed,
		 &(struct moved){ from, to, "rc_mlx5", device, .src_mem = memory, .bytes = bytes });
}

/* By the NIC, where no memory is a GPU's; a rank that only receives uses none. */
static void near_the_nic(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	bed_cpus(&bed, 0, FIRST);
	bed_cpus(&bed, 1, "12-13");
	bed_cpus(&bed, 2, "2,5");
	bed_cpus(&bed, 3, "4-7");
	move(&bed, 0, 2, "host", "mlx5_0:1", MIB);
	move(&bed, 1, 2, "host", "mlx5_1:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_1:1", MIB);
	move(&bed, 3, 0, "host", "mlx5_0:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_PASS);
	bed_expect(&bed, "AFF-02", "n1", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "AFF-02", "n1")->count, 2);
	assert_string_equal(bed_finding(&bed, "AFF-02", "n1")->seen,
			    "rank 2 may run on cores of NUMA 0, 1: mlx5_1:1 is on NUMA 1");
	snapshots_end(&nodes, &bed);
}

/* A GPU counts, not the NIC that its messages leave by; at either end of a message. */
static void near_the_gpu(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	bed_cpus(&bed, 0, "4");
	bed_cpus(&bed, 2, "12");
	bed_cpus(&bed, 3, "0");
	move(&bed, 0, 2, "gpu1", "mlx5_0:1", MIB);
	bed_move(&bed, &(struct moved){ 0, 3, "rc_mlx5", "mlx5_0:1", .src_mem = "gpu1",
					.dst_mem = "gpu1", .bytes = MIB });
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_PASS);
	bed_expect(&bed, "AFF-02", "n1", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "AFF-02", "n1")->seen,
			    "rank 3 may run on cores of NUMA 0: gpu1 is on NUMA 1");
	snapshots_end(&nodes, &bed);
}

/* Rails of both sockets are near every core; one of little use is not counted. */
static void several_devices(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	bed_cpus(&bed, 0, "0-15,128-255"); /* as many as the kernel could have: not all are there */
	bed_cpus(&bed, 2, "0-15");
	move(&bed, 0, 2, "host", "mlx5_0:1", MIB);
	move(&bed, 0, 2, "host", "mlx5_1:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_0:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_1:1", MIB / 100);
	move(&bed, 2, 0, "host", "veth0", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_PASS);
	bed_expect(&bed, "AFF-02", "n1", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);
}

/* Where the inventory does not tell of the GPU, the NIC that the policy's map gives it. */
static void by_the_map(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC "classes: { a: { nodes: \"n[0-1]\", map: { gpu0: mlx5_1 } } }\n");
	nodes.list[0]->gpus.data[0].pci.numa = nodes.list[1]->gpus.data[0].pci.numa = -1;
	bed_cpus(&bed, 0, SECOND);
	bed_cpus(&bed, 2, FIRST);
	move(&bed, 0, 2, "gpu0", "mlx5_1:1", MIB);
	move(&bed, 2, 0, "gpu0", "mlx5_1:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_PASS);
	bed_expect(&bed, "AFF-02", "n1", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);
}

static void not_known(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	nodes.list[0]->nics.data[0].pci.numa = -1;
	bed_cpus(&bed, 0, FIRST);
	move(&bed, 0, 2, "host", "mlx5_0:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_0:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_UNKNOWN);
	assert_string_equal(bed_finding(&bed, "AFF-02", "n0")->why,
			    "its inventory does not tell the NUMA node of mlx5_0:1");
	bed_expect(&bed, "AFF-02", "n1", VERDICT_UNKNOWN);
	assert_string_equal(bed_finding(&bed, "AFF-02", "n1")->why,
			    "the cores that some of its ranks may run on are not known");
	snapshots_end(&nodes, &bed);

	/* none of the cores is there; no inventory */
	bed_begin(&bed, SPEC);
	nodes = (struct snapshots){ 0 };
	add_node(&nodes, 0, 2);
	bed_cpus(&bed, 0, "64");
	bed_cpus(&bed, 2, "0");
	move(&bed, 0, 2, "host", "mlx5_0:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_0:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "AFF-02", "n1", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

static void nothing_is_far(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	add_node(&nodes, 0, 0);
	add_node(&nodes, 1, 1);
	bed_cpus(&bed, 0, "0");
	bed_cpus(&bed, 2, "0");
	move(&bed, 0, 2, "host", "mlx5_0:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_0:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_SKIP);
	bed_expect(&bed, "AFF-02", "n1", VERDICT_SKIP);
	snapshots_end(&nodes, &bed);

	/* a NIC without a place; no NIC at all */
	begin(&bed, &nodes, SPEC);
	bed_cpus(&bed, 0, "0");
	bed_cpus(&bed, 2, "0");
	move(&bed, 0, 2, "host", "veth0", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", "n0", VERDICT_SKIP);
	assert_string_equal(bed_finding(&bed, "AFF-02", "n0")->why, "veth0 is no device on PCI");
	snapshots_end(&nodes, &bed);

	/* captures of before */
	begin(&bed, &nodes, SPEC);
	move(&bed, 0, 2, "host", "mlx5_0:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-02", NULL, VERDICT_SKIP);
	snapshots_end(&nodes, &bed);
}

/* The one NIC of the cores' NUMA node, or the nearest; a NIC of elsewhere if there is no other. */
static void nearest_to_host_memory(void **state)
{
	static const char policy[] = SPEC "expect: [ { loc: inter, nic: nearest } ]\n";
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, policy);
	set_text(&nodes.list[0]->numa.data[0].distances, "10 21");
	set_text(&nodes.list[0]->nics.data[0].state, "down");
	set_text(&nodes.list[0]->nics.data[0].pci.path, "pci0/0000:19:00.0");
	set_text(&nodes.list[0]->nics.data[1].pci.path, "pci1/0000:99:00.0");
	set_text(&nodes.list[1]->nics.data[0].pci.path, "pci0/0000:19:00.0");
	set_text(&nodes.list[1]->nics.data[1].pci.path, "pci1/0000:99:00.0");
	set_text(&nodes.list[1]->numa.data[0].distances, "10 21");
	bed_cpus(&bed, 0, FIRST);
	bed_cpus(&bed, 2, "1-2");
	move(&bed, 0, 2, "host", "mlx5_1:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_1:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "PATH-01", "n0", VERDICT_PASS);
	bed_expect(&bed, "PATH-01", "n1", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);

	/* on both NUMA nodes; one that does not tell the distances */
	begin(&bed, &nodes, policy);
	bed_cpus(&bed, 0, "0-7");
	bed_cpus(&bed, 2, FIRST);
	move(&bed, 0, 2, "host", "mlx5_1:1", MIB);
	move(&bed, 2, 0, "host", "mlx5_1:1", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "PATH-01", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-01", "n1", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);

	/* a device without a place */
	begin(&bed, &nodes, policy);
	bed_cpus(&bed, 0, FIRST);
	move(&bed, 0, 2, "host", "veth0", MIB);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "PATH-01", "line 2", VERDICT_SKIP);
	snapshots_end(&nodes, &bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_the_nic),
		cmocka_unit_test(near_the_gpu),
		cmocka_unit_test(several_devices),
		cmocka_unit_test(by_the_map),
		cmocka_unit_test(not_known),
		cmocka_unit_test(nothing_is_far),
		cmocka_unit_test(nearest_to_host_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
