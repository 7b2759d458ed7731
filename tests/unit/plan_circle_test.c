// SPDX-License-Identifier: BSD-3-Clause
/* Who meets whom: all pairs once, partners of partners, the same from the same seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "site/plan/make.h"

static struct plan *make(const char *text, const struct plan_options *options)
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	char why[PLAN_WHY] = "";
	struct plan *plan;

	if (policy_parse(text, strlen(text), &policy, &errors))
		fail_msg("line %d: %s", errors.list.data[0].line, errors.list.data[0].text);
	if (plan_make(policy, options, &plan, why))
		fail_msg("%s", why);
	policy_free(policy);
	return plan;
}

static struct plan *nodes(int count, const char *variant)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "spec: ucxbpf-policy-v1\nclasses: { c: { nodes: 'n[0-%d]' } }\n", count - 1);
	return make(text, &(struct plan_options){ .variant = variant });
}

/* A round of 0.5 s; a rank sends and gets 1000 messages, 10 us each and its bytes at that rate. */
static void time_by_the_links_rate(void **state)
{
	static const struct {
		const char *policy;
		double rate, used;
	} cases[] = {
		{ "", 0, 10e9 }, /* nothing tells it */
		{ "", 100e9, 100e9 },
		{ ", nic_rate: 400Gb/s", 100e9, 400e9 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct plan *plan;
		char text[160];

		snprintf(text, sizeof(text),
			 "spec: ucxbpf-policy-v1\nclasses: { c: { nodes: 'n[0-1]'%s } }\n",
			 cases[i].policy);
		plan = make(text, &(struct plan_options){ 0 });
		for (size_t stage = 1; stage < plan->stages.len; stage++)
			plan->stages.data[stage].rounds = 0;
		plan->stages.data[0].works.len = 1;
		plan->stages.data[0].works.data[0].count = 1000;
		plan->stages.data[0].works.data[0].size = 32000000;
		assert_int_equal(plan->stages.data[0].rounds, 1);
		assert_float_equal(plan_seconds(plan, cases[i].rate),
				   0.5 + 2 * 1000 * (10e-6 + 8 * 32e6 / cases[i].used), 1e-9);
		plan_free(plan);
	}
}

/* In a time that does not grow with the number of pairs: two thousand million here. */
static void time_of_all_pairs(void **state)
{
	struct plan *plan = nodes(65536, "all-pairs");

	(void)state;
	for (size_t i = 0; i < plan->stages.len; i++) {
		struct plan_stage *stage = &plan->stages.data[i];

		stage->rounds = stage->kind == STAGE_TIME ? stage->rounds : 0;
		stage->works.len = 1;
		stage->works.data[0].count = 1000;
		stage->works.data[0].size = 32000000;
	}
	assert_float_equal(plan_seconds(plan, 100e9),
			   65535 * (0.5 + 2 * 1000 * (10e-6 + 8 * 32e6 / 100e9)), 1e-3);
	plan_free(plan);
}

static void all_pairs_once(void **state)
{
	(void)state;
	for (int n = 2; n <= 64; n++) {
		struct plan *plan = nodes(n, "all-pairs");
		const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);
		unsigned char met[64][64] = { { 0 } };

		assert_int_equal(stage->rounds, n % 2 ? n : n - 1);
		for (uint32_t round = 0; round < stage->rounds; round++) {
			int idle = 0;

			for (int a = 0; a < n; a++) {
				int b = plan_partner(plan, stage, round, a);

				idle += b == PLAN_IDLE;
				if (b == PLAN_IDLE)
					continue;
				assert_int_not_equal(a, b);
				assert_int_equal(plan_partner(plan, stage, round, b), a);
				met[a][b]++;
			}
			assert_int_equal(idle, n % 2);
		}
		for (int a = 0; a < n; a++)
			for (int b = 0; b < n; b++)
				assert_int_equal(met[a][b], a != b);
		plan_free(plan);
	}
}

/* A sample has so many different rounds; another seed has others. */
static void samples(void **state)
{
	struct plan *plan = nodes(64, NULL);
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);

	(void)state;
	assert_int_equal(stage->rounds, 15);
	for (uint32_t i = 1; i < stage->rounds; i++)
		assert_true(stage->circle.data[i - 1] < stage->circle.data[i]);
	assert_true(stage->circle.data[14] < 63);
	assert_int_equal(plan_stage(plan, STAGE_PATH)->rounds, 1);
	plan_free(plan);
	plan = nodes(4, "sample:7");
	assert_int_equal(plan_stage(plan, STAGE_TIME)->rounds, 3);
	plan_free(plan);
}

/* What is written is read again as the same, and 4,096 nodes take little. */
static void written_and_read(void **state)
{
	struct plan *plan = nodes(4096, NULL), *again;
	char why[PLAN_WHY], *text = plan_text(plan), *second;
	int partners[4096];

	(void)state;
	assert_true(strlen(text) < 100000);
	if (plan_parse(text, strlen(text), &again, why))
		fail_msg("%s", why);
	second = plan_text(again);
	assert_string_equal(text, second);
	assert_string_equal(plan->id, again->id);
	for (int i = 0; i < 4096; i++)
		partners[i] = plan_partner(plan, plan_stage(plan, STAGE_TIME), 14, i);
	for (int i = 0; i < 4096; i++)
		assert_int_equal(plan_partner(again, plan_stage(again, STAGE_TIME), 14, i),
				 partners[i]);
	free(text);
	free(second);
	plan_free(plan);
	plan_free(again);
}

#define GPUS "spec: ucxbpf-policy-v1\nclasses: { g: { nodes: 'n[0-3]', gpus: 4 } }\n"

static bool mirrored(const struct plan_step *a, const struct plan_step *b)
{
	if (a->work != b->work || a->sub != b->sub)
		return false;
	if (a->work->op == PLAN_BIDIRECTIONAL)
		return a->sends && b->sends && a->src == b->dst && a->src_local == b->dst_local &&
		       a->dst == b->src && a->dst_local == b->src_local;
	return a->sends != b->sends && a->src == b->src && a->src_local == b->src_local &&
	       a->dst == b->dst && a->dst_local == b->dst_local;
}

/* Each end has the same steps in the same order as the other end of each: no rank waits for ever.
 */
static void both_ends_agree(void **state)
{
	struct plan *plan = make(GPUS, &(struct plan_options){ .variant = "all-pairs" });

	(void)state;
	assert_int_equal(plan->ranks, 4);
	for (size_t s = 0; s < plan->stages.len; s++) {
		const struct plan_stage *stage = &plan->stages.data[s];

		for (uint32_t round = 0; round < stage->rounds; round++)
			for (int rank = 0; rank < 16; rank++) {
				plan_steps_t own = { 0 }, other = { 0 };

				plan_steps(plan, stage, round, rank / 4, rank % 4, &own);
				for (size_t i = 0; i < own.len; i++) {
					const struct plan_step *step = &own.data[i];
					bool is_src = step->src == rank / 4 &&
						      step->src_local == rank % 4;
					size_t found = 0;

					assert_int_equal(is_src, step->sends);
					plan_steps(
						plan, stage, round, is_src ? step->dst : step->src,
						is_src ? step->dst_local : step->src_local, &other);
					for (size_t k = 0; k < other.len; k++)
						found += mirrored(step, &other.data[k]);
					assert_int_equal(found, 1);
				}
				vec_release(&own);
				vec_release(&other);
			}
	}
	plan_free(plan);
}

/* One below, at and above each size at which the policy expects a change; none beyond the most. */
static void sizes(void **state)
{
	static const uint64_t wanted[] = { 8,     1024,  8191,   8192,   8193,
					   65536, 99999, 100000, 100001, 524288 };
	struct plan *plan = make("spec: ucxbpf-policy-v1\nclasses: { c: { nodes: 'n[0-1]' } }\n"
				 "expect: [ { size: [8K, 100000], tl: [tcp] } ]\n",
				 &(struct plan_options){ .max_size = 524288 });
	const struct plan_stage *stage = plan_stage(plan, STAGE_PATH);

	(void)state;
	assert_int_equal(stage->works.len, 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(stage->works.data[i].size, wanted[i]);
	plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_by_the_links_rate),
		cmocka_unit_test(time_of_all_pairs),
		cmocka_unit_test(all_pairs_once),
		cmocka_unit_test(samples),
		cmocka_unit_test(written_and_read),
		cmocka_unit_test(both_ends_agree),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
