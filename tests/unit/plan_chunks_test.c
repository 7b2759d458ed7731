// SPDX-License-Identifier: BSD-3-Clause
/* A plan in parts: who is in which, and that each round stays within its parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "site/plan/make.h"

static int try(const char *nodes, const struct plan_options *options, struct plan **plan,
	       char why[PLAN_WHY])
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	char text[200];
	int err;

	snprintf(text, sizeof(text), "spec: ucxbpf-policy-v1\nclasses: { c: { nodes: '%s' } }\n",
		 nodes);
	assert_int_equal(policy_parse(text, strlen(text), &policy, &errors), 0);
	err = plan_make(policy, options, plan, why);
	policy_free(policy);
	return err;
}

static struct plan *make(const char *nodes, uint32_t chunk, const char *variant)
{
	const struct plan_options options = { .chunk = chunk, .variant = variant };
	char why[PLAN_WHY] = "";
	struct plan *plan;

	if (try(nodes, &options, &plan, why))
		fail_msg("%s", why);
	return plan;
}

static size_t size_of(const struct plan *plan, uint32_t part)
{
	size_t size = 0;

	for (size_t i = 0; i < plan->nodes.len; i++)
		size += plan_has(plan, part, i);
	return size;
}

/* Pairs of a stage, which are within their parts, and across chunks where that is what it is for.
 */
static size_t check_pairs(const struct plan *plan, const struct plan_stage *stage)
{
	size_t pairs = 0;

	for (uint32_t round = 0; round < stage->rounds; round++)
		for (size_t i = 0; i < plan->nodes.len; i++) {
			int other = plan_partner(plan, stage, round, i);
			uint32_t part = plan_part(plan, stage, round, i);

			if (other == PLAN_IDLE)
				continue;
			pairs += other > (int)i;
			assert_int_equal(part, plan_part(plan, stage, round, other));
			assert_true(plan_round_of(plan, stage, round, part));
			if (round >= stage->own)
				assert_int_not_equal(plan_part_in(plan, 0, i),
						     plan_part_in(plan, 0, other));
		}
	return pairs;
}

static void four_in_two(void **state)
{
	struct plan *plan = make("n[0-3]", 2, "sample:2");
	const struct plan_stage *time = plan_stage(plan, STAGE_TIME);
	const struct plan_stage *path = plan_stage(plan, STAGE_PATH);
	const struct plan_stage *intra = plan_stage(plan, STAGE_INTRA);

	(void)state;
	assert_int_equal(plan_parts(plan), 4);
	for (int node = 0; node < 4; node++)
		assert_int_equal(plan_part_in(plan, 0, node), node / 2);
	for (uint32_t part = 0; part < 4; part++)
		assert_int_equal(size_of(plan, part), 2);
	assert_int_equal(path->rounds, 2);
	assert_int_equal(time->rounds, 2);
	assert_int_equal(time->own, 1);
	assert_int_equal(check_pairs(plan, path), 4);
	assert_int_equal(check_pairs(plan, time), 4);
	/* within nodes: once, by the chunks */
	assert_true(plan_round_of(plan, intra, 0, 1));
	assert_false(plan_round_of(plan, intra, 0, 2));
	plan_free(plan);
}

static void many(void **state)
{
	static const struct {
		const char *nodes;
		uint32_t chunk, chunks;
		size_t least, most;
	} rows[] = { { "n[000-999]", 256, 4, 250, 250 },
		     { "n[0-6]", 3, 3, 2, 3 },
		     { "n[0-2]", 2, 2, 1, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan *plan = make(rows[i].nodes, rows[i].chunk, NULL);

		assert_int_equal(plan_parts(plan), 2 * rows[i].chunks);
		for (uint32_t part = 0; part < plan_parts(plan); part++)
			assert_in_range(size_of(plan, part), rows[i].least, rows[i].most);
		assert_true(check_pairs(plan, plan_stage(plan, STAGE_TIME)) > 0);
		plan_free(plan);
	}
}

/* 15 rounds of the usual sample are 8 within and 7 across. */
static void rounds(void **state)
{
	struct plan *plan = make("n[00-63]", 32, NULL), *same;
	char why[PLAN_WHY], *text = plan_json(plan);
	const struct plan_stage *time = plan_stage(plan, STAGE_TIME);

	(void)state;
	assert_int_equal(time->rounds, 15);
	assert_int_equal(time->own, 8);
	assert_int_equal(check_pairs(plan, time), 15 * 32);
	assert_int_equal(plan_parse(text, strlen(text), &same, why), 0);
	assert_string_equal(same->id, plan->id);
	assert_int_equal(plan_parts(same), 4);
	assert_int_equal(plan_stage(same, STAGE_TIME)->own, 8);
	free(text);
	plan_free(same);
	plan_free(plan);
}

static void not_divided(void **state)
{
	struct plan *plan = make("n[0-3]", 4, NULL);

	(void)state;
	assert_int_equal(plan_parts(plan), 1);
	assert_int_equal(plan->parts.len, 0);
	assert_int_equal(plan_part(plan, plan_stage(plan, STAGE_TIME), 2, 3), 0);
	assert_true(plan_has(plan, 0, 3));
	assert_true(plan_round_of(plan, plan_stage(plan, STAGE_TIME), 2, 0));
	plan_free(plan);
}

static void refused(void **state)
{
	static const struct plan_options bad[] = {
		{ .chunk = 2, .variant = "topo:3" },
		{ .chunk = 2, .variant = "cross-class" },
		{ .chunk = 2, .collective = true },
	};
	char why[PLAN_WHY];
	struct plan *plan;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_not_equal(try("n[0-3]", &bad[i], &plan, why), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_in_two), cmocka_unit_test(many),    cmocka_unit_test(rounds),
		cmocka_unit_test(not_divided), cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
