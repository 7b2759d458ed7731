// SPDX-License-Identifier: BSD-3-Clause
/* Who meets whom by topology, by class, by a list, and to confirm; what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "site/plan/make.h"

#define SPEC "spec: ucxbpf-policy-v1\n"

static const char *write_file(const char *text)
{
	static char path[] = "/tmp/plan-variants-XXXXXX";
	int file;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	return path;
}

static int try(const char *text, const struct plan_options *options, struct plan **plan,
	       char why[PLAN_WHY])
{
	struct policy_errors errors = { 0 };
	struct policy *policy;
	int err;

	if (policy_parse(text, strlen(text), &policy, &errors))
		fail_msg("line %d: %s", errors.list.data[0].line, errors.list.data[0].text);
	err = plan_make(policy, options, plan, why);
	policy_free(policy);
	return err;
}

static struct plan *make(const char *text, const struct plan_options *options)
{
	char why[PLAN_WHY] = "";
	struct plan *plan;

	if (try(text, options, &plan, why))
		fail_msg("%s", why);
	return plan;
}

/* Two groups of two switches of four nodes each. */
#define TREE                                                                                       \
	"SwitchName=s0 Nodes=n[0-3] LinkSpeed=400Gb/s\nSwitchName=s1 Nodes=n[4-7]\n"               \
	"SwitchName=s2 Nodes=n[8-11]\nSwitchName=s3 Nodes=n[12-15] # the last one\n"               \
	"SwitchName=g0 Switches=s[0-1]\nSwitchName=g1 Switches=s[2-3]\n"                           \
	"SwitchName=top Switches=g[0-1]\n"

static struct plan *on_tree(const char *tree, const char *variant)
{
	const char *path = write_file(tree);
	char text[300];
	struct plan *plan;

	snprintf(text, sizeof(text),
		 SPEC "classes: { c: { nodes: 'n[0-15]' } }\n"
		      "topology: { file: %s, levels: [switch, group] }\n",
		 path);
	plan = make(text, &(struct plan_options){ .variant = variant });
	unlink(path);
	return plan;
}

static void distances(void **state)
{
	struct plan *plan = on_tree(TREE, NULL);
	int n0 = plan_node(plan, "n0");

	(void)state;
	assert_int_equal(plan_distance(plan, n0, n0), 0);
	assert_int_equal(plan_distance(plan, n0, plan_node(plan, "n3")), 1);
	assert_int_equal(plan_distance(plan, n0, plan_node(plan, "n4")), 2);
	assert_int_equal(plan_distance(plan, n0, plan_node(plan, "n15")), 3);
	for (size_t i = 0; i < plan->switches.len; i++)
		assert_true(plan->switches.data[i].uplink ==
			    (strcmp(plan->switches.data[i].name, "s0") ? 0 : 400e9));
	plan_free(plan);
}

/* Of each distance K rounds: every node meets K others that far away, none twice. */
static void by_topology(void **state)
{
	struct plan *plan = on_tree(TREE, "topo:2");
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);
	int met[16][4] = { { 0 } };

	(void)state;
	assert_int_equal(stage->rounds, 6);
	for (int a = 0; a < 16; a++) {
		int before[6];

		for (uint32_t round = 0; round < 6; round++) {
			int b = plan_partner(plan, stage, round, a);

			assert_int_not_equal(b, PLAN_IDLE);
			assert_int_equal(plan_partner(plan, stage, round, b), a);
			met[a][plan_distance(plan, a, b)]++;
			before[round] = b;
			for (uint32_t i = 0; i < round; i++)
				assert_int_not_equal(before[i], b);
		}
		for (int d = 1; d < 4; d++)
			assert_int_equal(met[a][d], 2);
	}
	plan_free(plan);
}

static void between_classes(void **state)
{
	struct plan *plan =
		make(SPEC "classes: { a: { nodes: 'a[0-2]' }, b: { nodes: 'b[0-4]' } }\n",
		     &(struct plan_options){ .variant = "cross-class" });
	const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);
	int met[8][8] = { { 0 } };

	(void)state;
	for (uint32_t round = 0; round < stage->rounds; round++)
		for (int a = 0; a < 8; a++)
			if (plan_partner(plan, stage, round, a) != PLAN_IDLE)
				met[a][plan_partner(plan, stage, round, a)]++;
	for (int a = 0; a < 8; a++)
		for (int b = 0; b < 8; b++)
			assert_int_equal(met[a][b], (a < 3) != (b < 3));
	plan_free(plan);
}

#define FIVE SPEC "classes: { c: { nodes: 'n[0-4]' } }\n"

static struct plan *by_list(const char *list, char why[PLAN_WHY])
{
	const char *path = write_file(list);
	struct plan *plan;
	char variant[80];

	snprintf(variant, sizeof(variant), "custom:%s", path);
	try(FIVE, &(struct plan_options){ .variant = variant }, &plan, why);
	unlink(path);
	return plan;
}

static void listed(void **state)
{
	static const struct {
		const char *list, *why;
	} wrong[] = {
		{ "1 n0 n9\n", ":1: node 'n9' is not of this sweep" },
		{ "1 n0 n1\n1 n1 n2\n", ":2: a node may meet one other node" },
		{ "2 n0 n1\n\n1 n1 n2\n", ":3: round 1 comes behind round 2" },
		{ "1 n0\n", ":1: not 'ROUND NODE NODE'" },
		{ "1 n2 n2\n", ":1: a node may meet one other node" },
		{ "# none\n", "no round in it" },
	};
	char why[PLAN_WHY] = "";
	struct plan *plan = by_list("# round, nodes\n1 n0 n1\n1 n2 n3\n4 n4 n0 # again\n", why);
	const struct plan_stage *stage;

	(void)state;
	assert_non_null(plan);
	stage = plan_stage(plan, STAGE_TIME);
	assert_int_equal(stage->rounds, 2);
	assert_int_equal(plan_partner(plan, stage, 0, 3), 2);
	assert_int_equal(plan_partner(plan, stage, 0, 4), PLAN_IDLE);
	assert_int_equal(plan_partner(plan, stage, 1, 0), 4);
	plan_free(plan);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_null(by_list(wrong[i].list, why));
		if (!strstr(why, wrong[i].why))
			fail_msg("%s", why);
	}
}

/* Of pairs 0-1 and 1-2 each meets three times again; between, their nodes meet others. */
static void pairs_confirmed(void **state)
{
	struct plan *plan =
		make(SPEC "classes: { c: { nodes: 'n[0-4]' } }\n", &(struct plan_options){ 0 });
	const struct plan_pair pairs[] = { { 0, 1 }, { 1, 2 } };
	enum plan_trust trust[5];
	const struct plan_doubts doubts = { trust, pairs, 2 };
	int met[5][5] = { { 0 } };
	const struct plan_stage *stage;
	char why[PLAN_WHY];

	(void)state;
	for (int i = 0; i < 5; i++)
		trust[i] = PLAN_TRUSTED;
	assert_int_equal(plan_confirm(plan, &doubts, 15, why), 0);
	stage = plan_stage(plan, STAGE_CONFIRM);
	assert_in_range(stage->rounds, 6, 12);
	for (uint32_t round = 0; round < stage->rounds; round++)
		for (int i = 0; i < 5; i++) {
			int partner = plan_partner(plan, stage, round, i);

			if (partner == PLAN_IDLE)
				continue;
			assert_int_equal(plan_partner(plan, stage, round, partner), i);
			met[i][partner]++;
		}
	assert_int_equal(met[0][1], 3);
	assert_int_equal(met[1][2], 3);
	/* once each, with those in no suspected pair with it; 0 and 2 each for itself */
	assert_int_equal(met[0][3] + met[0][4], 2);
	assert_int_equal(met[1][3] + met[1][4], 2);
	assert_int_equal(met[0][2], 2);
	assert_int_equal(met[3][4], 0);
	plan_free(plan);
}

/* Suspects meet nodes above suspicion, new ones first, none twice. */
static void confirmation(void **state)
{
	struct plan *plan = make(SPEC "classes: { c: { nodes: 'n[0-39]' } }\n",
				 &(struct plan_options){ .variant = "sample:5" });
	const int suspects[] = { 3, 17 };
	const struct plan_stage *time, *stage;
	enum plan_trust trust[40];
	char id[17], why[PLAN_WHY];

	(void)state;
	strcpy(id, plan->id);
	for (int i = 0; i < 40; i++)
		trust[i] = i == 11 ? PLAN_UNKNOWN : PLAN_TRUSTED;
	trust[3] = trust[17] = PLAN_SUSPECT;
	assert_int_equal(plan_confirm(plan, &(struct plan_doubts){ .trust = trust }, 15, why), 0);
	assert_string_equal(plan->base, id);
	assert_string_not_equal(plan->id, id);
	time = plan_stage(plan, STAGE_TIME);
	stage = plan_stage(plan, STAGE_CONFIRM);
	assert_int_equal(stage->rounds, 15);
	for (int s = 0; s < 2; s++) {
		bool met[40] = { false };

		for (uint32_t round = 0; round < 5; round++)
			met[plan_partner(plan, time, round, suspects[s])] = true;
		for (uint32_t round = 0; round < 15; round++) {
			int partner = plan_partner(plan, stage, round, suspects[s]);

			assert_true(partner >= 0 && partner != 3 && partner != 17 && partner != 11);
			assert_false(met[partner]);
			met[partner] = true;
		}
	}
	for (uint32_t round = 0; round < 15; round++) {
		int busy = 0;

		for (int n = 0; n < 40; n++)
			busy += plan_partner(plan, stage, round, n) != PLAN_IDLE;
		assert_int_equal(busy, 4);
	}
	plan_free(plan);
}

#define TWO_HALVES SPEC "classes: { a: { nodes: 'a[0-9999]' }, b: { nodes: 'b[0-9999]' } }\n"

static void refused(void **state)
{
	static const struct {
		const char *variant, *why;
	} cases[] = {
		{ "pairs", "not all-pairs" },       { "sample:0", "no number" },
		{ "sample:x", "no number" },        { "topo:", "wants a number" },
		{ "topo:2", "no two nodes below" }, { "cross-class", "all nodes are of one class" },
		{ "all-pairs:0", "no number" },     { "custom:/nowhere", "no such file" }
	};
	char why[PLAN_WHY];
	struct plan *plan;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_not_equal(try(FIVE,
					 &(struct plan_options){ .variant = cases[i].variant },
					 &plan, why),
				     0);
		if (!strstr(why, cases[i].why))
			fail_msg("%s: %s", cases[i].variant, why);
	}
	assert_int_not_equal(try(SPEC, &(struct plan_options){ 0 }, &plan, why), 0);
	assert_non_null(strstr(why, "no node"));
	assert_int_not_equal(
		try(TWO_HALVES, &(struct plan_options){ .variant = "cross-class" }, &plan, why), 0);
	assert_non_null(strstr(why, "fewer nodes"));
}

/* A plan that ranks would read differently than it was meant is none. */
static void damaged(void **state)
{
	static const struct {
		const char *was, *is, *why;
	} cases[] = {
		{ "plan/1", "plan/2", "schema" },
		{ "\"seed\":\"1\"", "\"seed\":1", "seed" },
		{ "\"count\":2}", "\"count\":0}", "count" },
		{ "\"op\":\"p2p\"", "\"op\":\"p3p\"", "op" },
		{ "\"circle\":[0", "\"circle\":[9", "circle" },
		{ "[\"n1\",0,-1]", "[\"n1\",1,-1]", "class" },
		{ "[\"n1\",0,-1]", "[\"n9\",0,-1]", "order of nodes" },
		{ "\"stage\":\"path\"", "\"stage\":\"time\"", "one stage of each name" },
	};
	struct plan *plan = make(FIVE, &(struct plan_options){ .variant = "all-pairs" }), *again;
	char *text = plan_text(plan), why[PLAN_WHY];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *copy = strdup(text), *at = strstr(copy, cases[i].was);

		assert_non_null(at);
		assert_int_equal(strlen(cases[i].was) >= strlen(cases[i].is), 1);
		memset(at, ' ', strlen(cases[i].was));
		memcpy(at, cases[i].is, strlen(cases[i].is));
		if (!plan_parse(copy, strlen(copy), &again, why))
			fail_msg("%s is taken", cases[i].is);
		if (!strstr(why, cases[i].why))
			fail_msg("%s: %s", cases[i].is, why);
		free(copy);
	}
	free(text);
	plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),       cmocka_unit_test(by_topology),
		cmocka_unit_test(between_classes), cmocka_unit_test(listed),
		cmocka_unit_test(confirmation),    cmocka_unit_test(pairs_confirmed),
		cmocka_unit_test(refused),         cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
