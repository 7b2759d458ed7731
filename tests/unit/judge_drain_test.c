// SPDX-License-Identifier: BSD-3-Clause
/* Who is proposed to be drained: names of captures may be anything, scontrol must get nodes alone.
 */
#include "judge_bed.h"

#include <stdlib.h>

#include "site/judge/verdict/drain.h"

#define POLICY                                                                                     \
	SPEC "classes: { c: { nodes: \"n[0-8],ALL,m.1-x\" } }\n"                                   \
	     "act: { max_drain: { nodes: 3, share: 1 } }\n"

/* A node of that name with two ranks, one of which sends to the other over tcp. */
static void add_node(struct bed *bed, int host, const char *name, uint64_t bytes)
{
	for (int i = 0; i < 2; i++) {
		const struct fact_process process = {
			.index = 2 * host + i,
			.host = host,
			.host_id = name,
			.host_name = name,
			.rank = 2 * host + i,
			.size = 100,
			.mpi = "Open MPI 4.1.4",
			.ucx = bed->ucx[0],
			.ucx_count = 1,
		};

		fact_put(&bed->sink, FACT_PROCESS, &process);
	}
	bed_move(bed, &(struct moved){ .from = 2 * host,
				       .to = 2 * host + 1,
				       .transport = bytes ? "tcp" : "sysv",
				       .device = bytes ? "eth0" : "memory",
				       .bytes = bytes ? bytes : 4096 });
}

/* Nodes that fail, then the verdict. */
static void judge_nodes(struct bed *bed, struct drains *drains, const char *policy,
			const char *const *names)
{
	bed_begin(bed, policy);
	for (int i = 0; names[i]; i++)
		add_node(bed, i, names[i], 4 << 20);
	bed_judge(bed);
	drains_make(drains, bed->judge);
}

static void end(struct bed *bed, struct drains *drains)
{
	drains_release(drains);
	bed_end(bed);
}

static void nodes_fold(void **state)
{
	struct bed bed;
	struct drains drains;
	char *words[DRAIN_WORDS + 1];

	(void)state;
	judge_nodes(&bed, &drains, POLICY, (const char *[]){ "n2", "n0", "n1", NULL });
	assert_int_equal(drains.list.len, 1);
	assert_int_equal(drains.nodes, 3);
	assert_true(drains_allowed(&drains));
	drain_command(&drains.list.data[0], words);
	assert_string_equal(words[0], "scontrol");
	assert_string_equal(words[1], "update");
	assert_string_equal(words[2], "NodeName=n[0-2]");
	assert_string_equal(words[3], "State=DRAIN");
	assert_string_equal(words[4], "Reason=[node_problem] ucxbpf PATH-03");
	assert_null(words[5]);
	for (int i = 0; i < DRAIN_WORDS; i++)
		free(words[i]);
	end(&bed, &drains);
}

static void one_more_than_allowed(void **state)
{
	struct bed bed;
	struct drains drains;

	(void)state;
	judge_nodes(&bed, &drains, POLICY, (const char *[]){ "n0", "n1", "n2", "n3", NULL });
	assert_int_equal(drains.nodes, 4);
	assert_false(drains_allowed(&drains));
	end(&bed, &drains);
	/* 2 % of eleven nodes is none */
	judge_nodes(&bed, &drains, SPEC "classes: { c: { nodes: \"n[0-10]\" } }\n",
		    (const char *[]){ "n0", NULL });
	assert_int_equal(drains.most, 0);
	assert_false(drains_allowed(&drains));
	end(&bed, &drains);
}

/* Each of these means something else than one node to scontrol, or is no node of the site's. */
static void hostile_names(void **state)
{
	static const char *const names[] = {
		"ALL",   "all",    "n[0-8]",    "n0,n1",     "-n0",      "n0 State=DOWN",
		"",      "n0\nn1", "n0;reboot", "$(reboot)", "Reason=x", "n9",
		"../n0", "n0\xff", "n0\"",      NULL,
	};

	(void)state;
	for (int i = 0; names[i]; i++) {
		struct bed bed;
		struct drains drains;

		judge_nodes(&bed, &drains, POLICY, (const char *[]){ names[i], NULL });
		assert_int_equal(drains.list.len, 0);
		assert_int_equal(drains.refused.len, 1);
		end(&bed, &drains);
	}
}

static void odd_but_fine(void **state)
{
	struct bed bed;
	struct drains drains;

	(void)state;
	judge_nodes(&bed, &drains, POLICY, (const char *[]){ "m.1-x", NULL });
	assert_int_equal(drains.list.len, 1);
	assert_string_equal(drains.list.data[0].nodes, "m.1-x");
	end(&bed, &drains);
}

/* Of two nodes that fail with each other nobody knows which it is. */
static void pairs(void **state)
{
	struct bed bed;
	struct drains drains;

	(void)state;
	bed_begin(&bed, POLICY);
	bed_move(&bed, &(struct moved){ .from = 0,
					.to = 2,
					.transport = "tcp",
					.device = "eth0",
					.bytes = 4 << 20 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-02", "n0>n1", VERDICT_FAIL);
	drains_make(&drains, bed.judge);
	assert_int_equal(drains.list.len + drains.refused.len, 0);
	end(&bed, &drains);
}

static void warnings(void **state)
{
	struct bed bed;
	struct drains drains;

	(void)state;
	judge_nodes(&bed, &drains, POLICY "rules: { PATH-03: { severity: warning } }\n",
		    (const char *[]){ "n0", NULL });
	bed_expect(&bed, "PATH-03", "n0", VERDICT_FAIL);
	assert_int_equal(drains.list.len + drains.refused.len, 0);
	end(&bed, &drains);
}

/* A node whose evidence is complete goes, the other one stays. */
static void evidence(void **state)
{
	struct bed bed;
	struct drains drains;

	(void)state;
	bed_begin(&bed, POLICY);
	add_node(&bed, 0, "n0", 4 << 20);
	add_node(&bed, 1, "n1", 4 << 20);
	bed_move(&bed, &(struct moved){ .from = 2, .to = -1, .bytes = 4 << 20 });
	bed_judge(&bed);
	drains_make(&drains, bed.judge);
	assert_int_equal(drains.list.len, 1);
	assert_string_equal(drains.list.data[0].nodes, "n0");
	assert_int_equal(drains.refused.len, 1);
	assert_string_equal(drains.refused.data[0].nodes, "n1");
	end(&bed, &drains);
	bed_begin(&bed, POLICY);
	add_node(&bed, 0, "n0", 4 << 20);
	judge_captures_broken(bed.judge);
	bed_judge(&bed);
	drains_make(&drains, bed.judge);
	assert_int_equal(drains.list.len, 0);
	assert_string_equal(drains.refused.data[0].nodes, "n0");
	end(&bed, &drains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_fold),    cmocka_unit_test(one_more_than_allowed),
		cmocka_unit_test(hostile_names), cmocka_unit_test(odd_but_fine),
		cmocka_unit_test(pairs),         cmocka_unit_test(warnings),
		cmocka_unit_test(evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
