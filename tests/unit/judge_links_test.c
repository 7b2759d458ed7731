// SPDX-License-Identifier: BSD-3-Clause
/* FAB-02 and FAB-04: how RoCE is addressed, and counters of errors. */
#include "judge_nodes.h"

static void set_counter(struct inventory_nic *nic, const char *name, int64_t value)
{
	struct inventory_counter *counter = vec_add(&nic->counters);

	counter->name = strdup(name);
	counter->value = value;
}

static void add_roce(struct snapshots *nodes, int node, int index, int64_t traffic_class)
{
	struct inventory_nic *nic = add_nic(snapshot(nodes, node, 1000), "mlx5_0:1");
	struct inventory_address *address = vec_add(&nic->addresses);

	set_text(&nic->link_layer, "Ethernet");
	nic->traffic_class = traffic_class;
	address->address = strdup("::ffff:10.0.0.1");
	address->type = strdup("RoCE v2");
	address->index = index;
}

static void roce_ports(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	add_roce(&nodes, 0, 3, 106);
	add_roce(&nodes, 1, 3, 106);
	add_roce(&nodes, 2, 5, 106);
	add_roce(&nodes, 3, 3, 0);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "FAB-02", "n0:mlx5_0:1", VERDICT_PASS);
	bed_expect(&bed, "FAB-02", "n1:mlx5_0:1", VERDICT_PASS);
	bed_expect(&bed, "FAB-02", "n2:mlx5_0:1", VERDICT_FAIL);
	bed_expect(&bed, "FAB-02", "n3:mlx5_0:1", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "FAB-02", "n3:mlx5_0:1")->seen,
			    "GID 3 RoCE v2, traffic class 0");
	snapshots_end(&nodes, &bed);
}

/* Of two that differ neither is usual. */
static void nobody_is_right(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	add_roce(&nodes, 0, 3, 106);
	add_roce(&nodes, 1, 3, 0);
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "FAB-02", "n0:mlx5_0:1", VERDICT_FAIL);
	bed_expect(&bed, "FAB-02", "n1:mlx5_0:1", VERDICT_FAIL);
	snapshots_end(&nodes, &bed);
}

static void no_roce(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	add_nic(snapshot(&nodes, 0, 1000), "mlx5_0:1");
	add_nic(snapshot(&nodes, 1, 1000), "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "FAB-02", "all captures", VERDICT_SKIP);
	bed_expect(&bed, "FAB-04", NULL, VERDICT_SKIP);
	snapshots_end(&nodes, &bed);
}

/* What a counter had before and has after, of three nodes. */
static void errors(const char *name, const int64_t values[3][2], const enum verdict verdicts[3])
{
	static const char *const subjects[] = { "n0:mlx5_0:1", "n1:mlx5_0:1", "n2:mlx5_0:1" };
	struct snapshots nodes = { 0 };
	struct bed bed;

	bed_begin(&bed, SPEC);
	for (int i = 0; i < 6; i++) {
		struct inventory_nic *nic =
			add_nic(snapshot(&nodes, i / 2, 1000 + i % 2), "mlx5_0:1");

		set_counter(nic, name, values[i / 2][i % 2]);
		set_counter(nic, "port_xmit_data", i % 2 ? 99000 : 0);
	}
	snapshots_judge(&nodes, &bed);
	for (int i = 0; i < 3; i++)
		bed_expect(&bed, "FAB-04", subjects[i], verdicts[i]);
	snapshots_end(&nodes, &bed);
}

static void error_counters(void **state)
{
	(void)state;
	errors("symbol_error", (const int64_t[3][2]){ { 7, 7 }, { 7, 8 }, { 65535, 65535 } },
	       (const enum verdict[]){ VERDICT_PASS, VERDICT_FAIL, VERDICT_UNKNOWN });
	errors("carrier_down_count", (const int64_t[3][2]){ { 0, 0 }, { 1, 2 }, { 2, 1 } },
	       (const enum verdict[]){ VERDICT_PASS, VERDICT_FAIL, VERDICT_UNKNOWN });
	/* 1000 of 100,000 is 1 % */
	errors("port_xmit_wait", (const int64_t[3][2]){ { 0, 1000 }, { 0, 1001 }, { 5, 5 } },
	       (const enum verdict[]){ VERDICT_PASS, VERDICT_FAIL, VERDICT_PASS });
	/* not an error */
	errors("rx_dropped", (const int64_t[3][2]){ { 0, 9 }, { 0, 9 }, { 0, 9 } },
	       (const enum verdict[]){ VERDICT_PASS, VERDICT_PASS, VERDICT_PASS });
}

static void one_snapshot(void **state)
{
	struct snapshots nodes = { 0 };
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	add_nic(snapshot(&nodes, 0, 1000), "mlx5_0:1");
	add_nic(snapshot(&nodes, 0, 2000), "mlx5_0:1");
	add_nic(snapshot(&nodes, 1, 1000), "mlx5_0:1");
	snapshots_judge(&nodes, &bed);
	bed_expect(&bed, "FAB-04", "n0:mlx5_0:1", VERDICT_PASS);
	bed_expect(&bed, "FAB-04", "n1", VERDICT_UNKNOWN);
	snapshots_end(&nodes, &bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roce_ports),   cmocka_unit_test(nobody_is_right),
		cmocka_unit_test(no_roce),      cmocka_unit_test(error_counters),
		cmocka_unit_test(one_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
