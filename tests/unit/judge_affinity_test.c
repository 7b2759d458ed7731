// SPDX-License-Identifier: BSD-3-Clause
/* Which NIC for which GPU: AFF-01, AFF-03, AFF-04, RAIL-04, and 'nic: nearest' of PATH-01. */
#include "judge_nodes.h"

#define MIB (1 << 20)

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

static void begin(struct bed *bed, struct snapshots *nodes, const char *policy)
{
	*nodes = (struct snapshots){ 0 };
	bed_begin(bed, policy);
	add_node(nodes, 0);
	add_node(nodes, 1);
}

static void move(struct bed *bed, int from, int to, const char *memory, const char *device)
{
	bed_move(bed,
		 &(struct moved){ from, to, "rc_mlx5", device, .src_mem = memory, .bytes = MIB });
}

static void the_nearest_nic(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	move(&bed, 0, 2, "gpu0", "mlx5_0:1");
	move(&bed, 0, 2, "gpu1", "mlx5_2:1");
	move(&bed, 2, 0, "gpu0", "mlx5_1:1");
	/* a get is the receiver's, and by its memory */
	bed_move(&bed, &(struct moved){ 0, 3, "rc_mlx5", "mlx5_1:1", "get_zcopy", .src_mem = "gpu0",
					.dst_mem = "gpu1", .bytes = MIB });
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-01", "n0", VERDICT_PASS);
	bed_expect(&bed, "AFF-01", "n1", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "AFF-01", "n1")->severity, SEVERITY_CRITICAL);
	assert_int_equal(bed_finding(&bed, "AFF-01", "n1")->bytes, MIB);
	bed_expect(&bed, "AFF-02", NULL, VERDICT_SKIP);
	snapshots_end(&nodes, &bed);
}

static void what_the_map_says(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC "classes: { a: { nodes: \"n[0-1]\", map: { gpu0: mlx5_1 } } }\n");
	move(&bed, 0, 2, "gpu0", "mlx5_1:1");
	move(&bed, 2, 0, "gpu0", "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-01", "n0", VERDICT_PASS);
	bed_expect(&bed, "AFF-01", "n1", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "AFF-01", "n1")->severity, SEVERITY_WARNING);
	snapshots_end(&nodes, &bed);
}

static void places_not_known(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	move(&bed, 0, 2, "gpu7", "mlx5_1:1");
	move(&bed, 2, 0, "gpu0", "mlx5_9:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-01", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "AFF-01", "n1", VERDICT_UNKNOWN);
	bed_expect(&bed, "AFF-03", "n1", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

static void a_line_of_the_policy(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC "expect: [ { loc: inter, mem: cuda-any, nic: nearest } ]\n");
	move(&bed, 0, 2, "gpu0", "mlx5_0:1");
	move(&bed, 2, 0, "gpu0", "mlx5_1:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "PATH-01", "n0", VERDICT_PASS);
	bed_expect(&bed, "PATH-01", "n1", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);

	/* no memory of a GPU; no inventory */
	begin(&bed, &nodes, SPEC "expect: [ { loc: inter, nic: nearest } ]\n");
	move(&bed, 0, 2, "host", "mlx5_1:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "PATH-01", "line 2", VERDICT_SKIP);
	snapshots_end(&nodes, &bed);
}

/* Two GPUs by one NIC: a fault where another NIC is idle. */
static void one_nic_for_two(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	move(&bed, 0, 2, "gpu0", "mlx5_0:1");
	move(&bed, 0, 2, "gpu1", "mlx5_0:1");
	move(&bed, 2, 0, "gpu0", "mlx5_0:1");
	move(&bed, 2, 0, "gpu1", "mlx5_1:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-03", "n0", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "AFF-03", "n0")->seen,
			    "gpu0 and gpu1 share mlx5_0:1, mlx5_1:1 is idle");
	bed_expect(&bed, "AFF-03", "n1", VERDICT_PASS);
	snapshots_end(&nodes, &bed);

	begin(&bed, &nodes, SPEC "classes: { a: { nodes: \"n[0-1]\", nics: [mlx5_0] } }\n");
	move(&bed, 0, 2, "gpu0", "mlx5_0:1");
	move(&bed, 0, 2, "gpu1", "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-03", "n0", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

static void two_ports_of_one_adapter(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	move(&bed, 0, 2, "host", "mlx5_1:1");
	move(&bed, 0, 2, "host", "mlx5_2:1");
	move(&bed, 2, 0, "host", "mlx5_0:1");
	move(&bed, 2, 0, "host", "mlx5_1:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-04", "n0", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "RAIL-04", "n0")->seen,
			    "mlx5_1:1 and mlx5_2:1 are one adapter, mlx5_0:1 is idle");
	bed_expect(&bed, "RAIL-04", "n1", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

static void rails_that_cross(void **state)
{
	static const char policy[] =
		SPEC "classes: { a: { nodes: n0, nics: [\"mlx5_0:1\", \"mlx5_1:1\"] },"
		     " b: { nodes: n1, nics: [\"mlx5_1:1\", \"mlx5_0:1\"] } }\n";
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, policy);
	/* the second rail of both, then the first here and the second there */
	move(&bed, 0, 2, "host", "mlx5_1:1");
	move(&bed, 2, 0, "host", "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-04", "n0>n1", VERDICT_PASS);
	bed_expect(&bed, "AFF-04", "n1>n0", VERDICT_PASS);
	snapshots_end(&nodes, &bed);

	begin(&bed, &nodes, policy);
	move(&bed, 0, 2, "host", "mlx5_0:1");
	move(&bed, 2, 0, "host", "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "AFF-04", "n0>n1", VERDICT_FAIL);
	bed_expect(&bed, "AFF-04", "n1>n0", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_nic),  cmocka_unit_test(what_the_map_says),
		cmocka_unit_test(places_not_known), cmocka_unit_test(a_line_of_the_policy),
		cmocka_unit_test(one_nic_for_two),  cmocka_unit_test(two_ports_of_one_adapter),
		cmocka_unit_test(rails_that_cross),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
