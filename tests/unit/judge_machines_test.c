// SPDX-License-Identifier: BSD-3-Clause
/* Nodes of a sweep that are one machine: their times tell nothing of a network. */
#include "site/inventory/internal.h"
#include "sweep_bed.h"

#define FOUR SPEC "classes: { c: { nodes: 'n[0-3]', nic_rate: 100Gb/s } }\n"
#define LARGE (4 << 20)
#define MAX_NODES 4

static const struct plan_options often = {
	.variant = "all-pairs:3", .max_size = LARGE, .max_count = 100, .collective = true
};

/* Rules of times, and of whom they say that they cannot tell where it is not all nodes alike. */
static const char *const rules[] = { "PROTO-01", "FAB-03",  "PERF-01", "PERF-02",
				     "PERF-03",  "PERF-04", "PERF-05" };

/* n3 is slow, a size is, and there is a tail. */
static uint64_t all_wrong(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			  const struct plan_step *step)
{
	(void)plan;
	(void)stage;
	(void)round;
	return (2000 + step->work->size) * (step->src == 3 || step->dst == 3 ? 2 : 1) *
	       (step->work->size == 8192 ? 50 : 1);
}

static bool long_tail(struct ledger_entry *entry)
{
	if (entry->kind == LEDGER_TRANSFER && entry->msg_size == 8)
		entry->ns.p99 = 4 * entry->ns.p50;
	return false;
}

struct nodes {
	struct inventory *list[MAX_NODES];
	size_t count;
};

/* kernel: boot id of its kernel, NULL: not told; then the other one tells. */
static void add_node(struct nodes *nodes, struct sweep_bed *bed, const char *name,
		     const char *boot_id, const char *kernel, int64_t cores)
{
	struct inventory *inventory = inventory_new();

	inventory->host = strdup(name);
	inventory->boot_id = strdup(boot_id);
	inventory->kernel_boot_id = kernel ? strdup(kernel) : NULL;
	inventory->mono_ns = inventory->real_ns = 1;
	inventory->cpus.count = cores;
	nodes->list[nodes->count++] = inventory;
	judge_inventory(bed->judge, inventory);
}

static void begin(struct sweep_bed *bed, const char *policy)
{
	sweep_begin(bed, policy, &often);
	bed->time_of = all_wrong;
	bed->leave_out = long_tail;
}

static void end(struct sweep_bed *bed, struct nodes *nodes)
{
	sweep_end(bed);
	while (nodes->count)
		inventory_free(nodes->list[--nodes->count]);
}

static size_t failed(const struct sweep_bed *bed)
{
	return judge_summary(bed->judge).verdicts[VERDICT_FAIL];
}

static void one_machine(void **state)
{
	struct nodes nodes = { 0 };
	struct sweep_bed bed;

	(void)state;
	begin(&bed, FOUR);
	for (int i = 0; i < 4; i++)
		add_node(&nodes, &bed, (const char *[]){ "n0", "n1", "n2", "n3" }[i],
			 (const char *[]){ "b0", "b1", "b2", "b3" }[i], "kernel", 64);
	sweep_run(&bed, false);
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		sweep_expect(&bed, rules[i], NULL, VERDICT_SKIP, "n[0-3] are one machine");
	assert_int_equal(failed(&bed), 0);
	end(&bed, &nodes);
}

/* As above, but each has a kernel of its own; n3 is slow, and has no inventory at all. */
static void four_machines(void **state)
{
	struct nodes nodes = { 0 };
	struct sweep_bed bed;

	(void)state;
	begin(&bed, FOUR);
	add_node(&nodes, &bed, "n0", "b", "k0", 64);
	add_node(&nodes, &bed, "n1", "b", "k1", 64);
	add_node(&nodes, &bed, "n2", "b2", NULL, 64);
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, "not confirmed yet");
	sweep_expect(&bed, "PERF-01", "n0", VERDICT_PASS, NULL);
	sweep_expect(&bed, "PROTO-01", "inter.host-host", VERDICT_FAIL, NULL);
	sweep_expect(&bed, "FAB-03", "inter.host-host", VERDICT_FAIL, NULL);
	end(&bed, &nodes);
}

/* The boot id is all that older inventories tell. */
static void wanted_all_the_same(void **state)
{
	struct nodes nodes = { 0 };
	struct sweep_bed bed;

	(void)state;
	begin(&bed, FOUR "rules: { PERF-01: { one_machine: true } }\n");
	for (int i = 0; i < 4; i++)
		add_node(&nodes, &bed, (const char *[]){ "n0", "n1", "n2", "n3" }[i], "b", NULL, 1);
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, "not confirmed yet");
	sweep_expect(&bed, "PERF-01", "n0", VERDICT_PASS, NULL);
	sweep_expect(&bed, "PERF-03", NULL, VERDICT_SKIP, "n[0-3] are one machine");
	end(&bed, &nodes);
}

/* Of four, two are one machine: the others' pair is all that tells something. */
static void two_of_four(void **state)
{
	struct nodes nodes = { 0 };
	struct sweep_bed bed;

	(void)state;
	begin(&bed, FOUR);
	add_node(&nodes, &bed, "n2", "b", "k", 64);
	add_node(&nodes, &bed, "n3", "c", "k", 64);
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-03", "n2", VERDICT_SKIP, "n[2-3] are one machine");
	sweep_expect(&bed, "PERF-03", "n3", VERDICT_SKIP, "n[2-3] are one machine");
	sweep_expect(&bed, "PERF-03", "n0", VERDICT_FAIL, NULL);
	sweep_expect(&bed, "PERF-04", NULL, VERDICT_SKIP, "n[2-3] are one machine");
	assert_int_equal(sweep_finding(&bed, "FAB-03", "inter.host-host")->count, 2 * 2 * 3);
	end(&bed, &nodes);
}

/* n1 has as many cores as ranks, n2 fewer. */
static void more_ranks_than_cores(void **state)
{
	struct nodes nodes = { 0 };
	struct sweep_bed bed;

	(void)state;
	begin(&bed, FOUR);
	add_node(&nodes, &bed, "n1", "b", "k1", bed.plan->ranks);
	add_node(&nodes, &bed, "n2", "b", "k2", bed.plan->ranks - 1);
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-03", "n1", VERDICT_FAIL, NULL);
	sweep_expect(&bed, "PERF-03", "n2", VERDICT_SKIP, "n2 has 2 ranks on 1 cores");
	end(&bed, &nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_machine),           cmocka_unit_test(four_machines),
		cmocka_unit_test(wanted_all_the_same),   cmocka_unit_test(two_of_four),
		cmocka_unit_test(more_ranks_than_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
