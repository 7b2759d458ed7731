// SPDX-License-Identifier: BSD-3-Clause
/* When slow nodes are looked at again, and that both plans' files go together. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/input/gather.h"
#include "cmd/sweep/confirm.h"
#include "sweep_bed.h"

#define TWO_CLASSES SPEC "classes: { a: { nodes: 'n[0-2]' }, b: { nodes: 'm[0-1]' } }\n"

static const struct plan_options often = { .variant = "all-pairs:3", .max_size = 4096 };

static uint64_t slow_n2(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return step->src == plan_node(plan, "n2") || step->dst == plan_node(plan, "n2") ? 4000
											: 1000;
}

/* Two of its class are not slow, and of the other class, with two nodes, nothing is known. */
static void too_few(void **state)
{
	struct judge_suspects suspects;
	struct sweep_bed bed;
	int signal_number = 0;

	(void)state;
	sweep_begin(&bed, TWO_CLASSES, &often);
	bed.time_of = slow_n2;
	sweep_run(&bed, false);
	judge_suspects(bed.judge, &suspects);
	assert_int_equal(suspects.slow.len, 1);
	assert_string_equal(suspects.slow.data[0], "n2");
	assert_int_equal(suspects.sound.len, 2);
	judge_suspects_release(&suspects);
	assert_false(sweep_confirm(NULL, bed.judge, true, &signal_number));
	assert_false(sweep_confirm(NULL, bed.judge, false, &signal_number));
	assert_int_equal(signal_number, 0);
	sweep_end(&bed);
}

static void may_confirm(void **state)
{
	static const struct {
		const char *rules;
		bool may[2]; /* with three nodes, with four */
	} cases[] = {
		{ "", { false, true } },
		{ "rules: { PERF-01: { confirm: false } }\n", { false, true } },
		{ "rules: { PERF-01: { confirm: false }, PERF-02: { confirm: false } }\n",
		  { false, false } },
		{ "rules: { PERF-01: { severity: off } }\n", { false, false } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct sweep_bed bed;

		snprintf(text, sizeof(text), TWO_CLASSES "%s", cases[i].rules);
		sweep_begin(&bed, text, &often);
		assert_int_equal(sweep_may_confirm(bed.policy, 3), cases[i].may[0]);
		assert_int_equal(sweep_may_confirm(bed.policy, 4), cases[i].may[1]);
		sweep_end(&bed);
	}
}

static void write_plan(struct plan *plan, const char *path)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_int_equal(plan_write(plan, out), 0);
	assert_int_equal(fclose(out), 0);
}

/* A plan and the one that extends it, in any order, are the latter; another one is one too many. */
static void plans_together(void **state)
{
	static const enum plan_trust trust[] = { PLAN_TRUSTED, PLAN_TRUSTED, PLAN_TRUSTED,
						 PLAN_TRUSTED, PLAN_SUSPECT };
	char folder[] = "/tmp/sweep_confirm_test.XXXXXX", why[PLAN_WHY];
	const char *names[] = { "first.json", "second.json", "other.json" };
	struct plan_options other = often;
	struct sweep_bed bed;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	other.seed = 7;
	sweep_begin(&bed, TWO_CLASSES, &other);
	write_plan(bed.plan, names[2]);
	sweep_end(&bed);
	sweep_begin(&bed, TWO_CLASSES, &often);
	write_plan(bed.plan, names[0]);
	assert_int_equal(plan_confirm(bed.plan, &(struct plan_doubts){ .trust = trust }, 15, why),
			 0);
	write_plan(bed.plan, names[1]);
	for (int order = 0; order < 2; order++) {
		struct ledgers ledgers = { 0 };

		assert_true(ledgers_plan(&ledgers, names[order]));
		assert_true(ledgers_plan(&ledgers, names[!order]));
		assert_string_equal(ledgers.plan->id, bed.plan->id);
		assert_false(ledgers_plan(&ledgers, names[2]));
		ledgers_free(&ledgers);
	}
	sweep_end(&bed);
	for (int i = 0; i < 3; i++)
		unlink(names[i]);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_few),
		cmocka_unit_test(may_confirm),
		cmocka_unit_test(plans_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
