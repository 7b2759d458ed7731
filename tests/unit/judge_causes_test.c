// SPDX-License-Identifier: BSD-3-Clause
/* What is known of the cause of a failure by other findings and by inventories. */
#include "judge_nodes.h"
#include "sweep_bed.h"

#define SIX SPEC "classes: { c: { nodes: 'n[0-5]', nics: ['mlx5_0:1'], nic_rate: 100Gb/s } }\n"
#define LARGE (4 << 20)

static const struct plan_options often = { .variant = "all-pairs:3", .max_size = LARGE };

/* n3 is slow, and from n1 to n4 it takes long. */
static uint64_t slow(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		     const struct plan_step *step)
{
	(void)plan;
	(void)stage;
	(void)round;
	return (2000 + step->work->size * 8 / 90) * (step->src == 3 || step->dst == 3   ? 1.3
						     : step->src == 1 && step->dst == 4 ? 3
											: 1);
}

/* Two inventories of each node. symbols: errors of n3's port in between; width: its lanes. */
static void run_slow(struct sweep_bed *bed, struct snapshots *snapshots, int64_t symbols,
		     int64_t width)
{
	sweep_begin(bed, SIX, &often);
	bed->time_of = slow;
	for (int node = 0; node < 6; node++)
		for (int after = 0; after < 2; after++) {
			struct inventory *inventory = snapshot(snapshots, node, 1 + after);
			struct inventory_nic *nic = add_nic(inventory, "mlx5_0:1");

			nic->pci.width = node == 3 ? width : 16;
			vec_push(&nic->counters,
				 ((struct inventory_counter){ strdup("symbol_error"),
							      node == 3 && after ? symbols : 0 }));
			judge_inventory(bed->judge, inventory);
		}
	sweep_run(bed, false);
}

static void end_slow(struct sweep_bed *bed, struct snapshots *snapshots)
{
	sweep_end(bed);
	for (size_t i = 0; i < snapshots->count; i++)
		inventory_free(snapshots->list[i]);
	snapshots->count = 0;
}

static void expect_cause(const struct finding *finding, const char *cause)
{
	if (!finding->cause || strcmp(finding->cause, cause) != 0)
		fail_msg("%s of %s: '%s', not '%s'", finding->rule->id, finding->subject.text,
			 finding->cause ? finding->cause : "", cause);
}

static void errors_make_slow(void **state)
{
	struct snapshots snapshots = { 0 };
	struct sweep_bed bed;

	(void)state;
	run_slow(&bed, &snapshots, 1204, 16);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, NULL);
	expect_cause(sweep_finding(&bed, "PERF-01", "n3"),
		     "FAB-04 of n3:mlx5_0:1: symbol_error +1204");
	expect_cause(sweep_finding(&bed, "PERF-03", "n3"),
		     "FAB-04 of n3:mlx5_0:1: symbol_error +1204");
	end_slow(&bed, &snapshots);

	run_slow(&bed, &snapshots, 0, 16);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, NULL);
	assert_null(sweep_finding(&bed, "PERF-01", "n3")->cause);
	assert_null(sweep_finding(&bed, "PERF-03", "n3")->cause);
	end_slow(&bed, &snapshots);
}

/* By the class, the port has too few lanes; and by what it could have, too. */
static void few_lanes_make_slow(void **state)
{
	struct snapshots snapshots = { 0 };
	struct sweep_bed bed;
	const char *cause;

	(void)state;
	run_slow(&bed, &snapshots, 0, 8);
	cause = sweep_finding(&bed, "PERF-01", "n3")->cause;
	assert_non_null(cause);
	assert_non_null(strstr(cause, "RAIL-05 of n3:mlx5_0:1: "));
	end_slow(&bed, &snapshots);

	sweep_begin(&bed, SIX "rules: { RAIL-05: { severity: off } }\n", &often);
	bed.time_of = slow;
	add_nic(snapshot(&snapshots, 3, 1), "mlx5_0:1")->pci.width = 8;
	judge_inventory(bed.judge, snapshots.list[0]);
	sweep_run(&bed, false);
	expect_cause(sweep_finding(&bed, "PERF-03", "n3"), "n3:mlx5_0:1 has 8 of 16 PCIe lanes");
	end_slow(&bed, &snapshots);
}

static void one_way_is_slow(void **state)
{
	struct snapshots snapshots = { 0 };
	struct sweep_bed bed;

	(void)state;
	run_slow(&bed, &snapshots, 0, 16);
	sweep_expect(&bed, "PERF-02", "n1<>n4", VERDICT_FAIL, NULL);
	expect_cause(sweep_finding(&bed, "PERF-02", "n1<>n4"),
		     "n1>n4 takes 3.0 times as long as n4>n1");
	end_slow(&bed, &snapshots);
}

/* Ranks of n1 talk over TCP; name: what is set there alone. */
static void over_tcp(struct bed *bed, const char *name)
{
	bed_begin(bed, SPEC);
	for (int rank = 0; rank < RANKS; rank++)
		bed_variable(bed, rank, rank < 2 ? NULL : name, "tcp,self");
	bed_move(bed, &(struct moved){ 2, 3, "tcp", "eth0", "am_zcopy", NULL, NULL, NULL,
				       .bytes = 1 << 22, .count = 1 });
	bed_judge(bed);
	bed_expect(bed, "PATH-03", "n1", VERDICT_FAIL);
}

static void settings_make_paths(void **state)
{
	const char *cause;
	struct bed bed;

	(void)state;
	over_tcp(&bed, "UCX_TLS");
	cause = bed_finding(&bed, "PATH-03", "n1")->cause;
	assert_non_null(cause);
	assert_non_null(strstr(cause, "CFG-01 of n1: UCX_TLS"));
	bed_end(&bed);
	/* what has nothing to do with it, and what is but a name like it */
	over_tcp(&bed, "UCX_RNDV_THRESH");
	assert_null(bed_finding(&bed, "PATH-03", "n1")->cause);
	bed_end(&bed);
	over_tcp(&bed, "UCX_TLSS");
	assert_null(bed_finding(&bed, "PATH-03", "n1")->cause);
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_make_slow),
		cmocka_unit_test(few_lanes_make_slow),
		cmocka_unit_test(one_way_is_slow),
		cmocka_unit_test(settings_make_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
