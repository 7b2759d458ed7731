// SPDX-License-Identifier: BSD-3-Clause
/* RAIL-05: NICs that are not what the class says, or not what the other nodes have. */
#include "judge_nodes.h"

#define CLASS "classes: { node: { nodes: \"n[0-4]\", nics: [\"mlx5_0:1\", \"mlx5_1\"]"

/* Of three nodes, two NICs each. */
static void begin(struct bed *bed, struct snapshots *nodes, const char *policy)
{
	*nodes = (struct snapshots){ 0 };
	bed_begin(bed, policy);
	for (int i = 0; i < 3; i++) {
		struct inventory *inventory = snapshot(nodes, i, 1000);

		add_nic(inventory, "mlx5_0:1");
		add_nic(inventory, "mlx5_1:1");
	}
}

static struct inventory_nic *nic_of(struct snapshots *nodes, int node, int nic)
{
	return &nodes->list[node]->nics.data[nic];
}

static void nodes_in_order(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC CLASS ", nic_rate: 100Gb/s, pcie: {gen: 4, width: 16} } }\n");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_0:1", VERDICT_PASS);
	bed_expect(&bed, "RAIL-05", "n2:mlx5_1", VERDICT_PASS);
	assert_int_equal(judge_summary(bed.judge).nodes, 3);
	snapshots_end(&nodes, &bed);
}

static void state_rate_and_width(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC CLASS ", nic_rate: 100Gb/s, pcie: {gen: 4, width: 16} } }\n");
	set_text(&nic_of(&nodes, 0, 0)->state, "down");
	set_text(&nic_of(&nodes, 0, 0)->physical, "Polling");
	nic_of(&nodes, 0, 1)->rate = 25000000000;
	nic_of(&nodes, 1, 0)->pci.width = 8;
	nic_of(&nodes, 1, 1)->pci.speed = 8000;
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_0:1", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "RAIL-05", "n0:mlx5_0:1")->seen,
			    "down (Polling), 100 Gb/s, PCIe x16 gen4");
	bed_expect(&bed, "RAIL-05", "n0:mlx5_1", VERDICT_FAIL);
	bed_expect(&bed, "RAIL-05", "n1:mlx5_0:1", VERDICT_FAIL);
	bed_expect(&bed, "RAIL-05", "n1:mlx5_1", VERDICT_FAIL);
	bed_expect(&bed, "RAIL-05", "n2:mlx5_0:1", VERDICT_PASS);
	assert_int_equal(judge_summary(bed.judge).critical, 4);
	snapshots_end(&nodes, &bed);
}

/* No class: what most nodes have. */
static void the_median(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC);
	nic_of(&nodes, 1, 0)->pci.width = 4;
	set_text(&nic_of(&nodes, 2, 1)->state, "down");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_0:1", VERDICT_PASS);
	bed_expect(&bed, "RAIL-05", "n1:mlx5_0:1", VERDICT_FAIL);
	bed_expect(&bed, "RAIL-05", "n2:mlx5_1:1", VERDICT_FAIL);
	assert_int_equal(judge_summary(bed.judge).critical, 2);
	snapshots_end(&nodes, &bed);
}

static void nobody_uses_it(void **state)
{
	const struct finding *findings;
	struct snapshots nodes;
	struct bed bed;
	size_t count;

	(void)state;
	begin(&bed, &nodes, SPEC);
	for (int i = 0; i < 3; i++)
		set_text(&nic_of(&nodes, i, 1)->state, "down");
	snapshots_judge(&nodes, &bed);
	assert_int_equal(judge_summary(bed.judge).critical, 0);
	count = judge_findings(bed.judge, &findings);
	for (size_t i = 0; i < count; i++)
		assert_null(strstr(findings[i].subject.text, "mlx5_1"));
	snapshots_end(&nodes, &bed);
}

static void what_is_not_known(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC CLASS ", nic_rate: 100Gb/s } }\n");
	nic_of(&nodes, 0, 0)->rate = INVENTORY_UNKNOWN;
	set_text(&nic_of(&nodes, 1, 0)->state, NULL);
	nic_of(&nodes, 2, 0)->pci.width = INVENTORY_UNKNOWN;
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_0:1", VERDICT_UNKNOWN);
	bed_expect(&bed, "RAIL-05", "n1:mlx5_0:1", VERDICT_UNKNOWN);
	bed_expect(&bed, "RAIL-05", "n2:mlx5_0:1", VERDICT_UNKNOWN);
	bed_expect(&bed, "RAIL-05", "n2:mlx5_1", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

static void a_nic_is_missing(void **state)
{
	struct snapshots nodes;
	struct bed bed;

	(void)state;
	begin(&bed, &nodes, SPEC CLASS " } }\n");
	set_text(&nic_of(&nodes, 1, 1)->name, "mlx5_7:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n1:mlx5_1", VERDICT_FAIL);
	bed_expect(&bed, "RAIL-05", "n1:mlx5_0:1", VERDICT_PASS);
	snapshots_end(&nodes, &bed);
}

/* As of a node whose /sys is another one's. */
static void nics_not_known(void **state)
{
	struct inventory_reason *reason;
	struct snapshots nodes = { 0 };
	struct inventory *inventory;
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC CLASS " } }\n");
	inventory = snapshot(&nodes, 0, 1000);
	reason = vec_add(&inventory->unknown);
	reason->what = strdup("nics");
	reason->why = strdup("not allowed");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_1", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

/* Captures of both nodes, an inventory of one; and what captures lack does not matter here. */
static void a_node_without_inventory(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 0, 1, .bytes = 8 });
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 3 };
	add_nic(snapshot(&nodes, 0, 1000), "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_0:1", VERDICT_PASS);
	bed_expect(&bed, "RAIL-05", "n1", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

static void no_inventory_at_all(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	bed_judge(&bed);
	bed_expect(&bed, "RAIL-05", NULL, VERDICT_SKIP);
	bed_end(&bed);
}

/* The later one counts, in whatever order they come. */
static void the_last_snapshot(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC CLASS " } }\n");
	set_text(&add_nic(snapshot(&nodes, 0, 2000), "mlx5_0:1")->state, "down");
	add_nic(snapshot(&nodes, 0, 1000), "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "RAIL-05", "n0:mlx5_0:1", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_in_order),      cmocka_unit_test(state_rate_and_width),
		cmocka_unit_test(the_median),          cmocka_unit_test(nobody_uses_it),
		cmocka_unit_test(what_is_not_known),   cmocka_unit_test(a_nic_is_missing),
		cmocka_unit_test(nics_not_known),      cmocka_unit_test(a_node_without_inventory),
		cmocka_unit_test(no_inventory_at_all), cmocka_unit_test(the_last_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
