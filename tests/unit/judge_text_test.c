// SPDX-License-Identifier: BSD-3-Clause
/* The table of findings: what says the same of many is one line, and each line says why. */
#include "judge_bed.h"

#include <stdio.h>
#include <stdlib.h>

#include "site/judge/verdict/lines.h"

#define MAX_SUBJECTS 12

#define NODE(name)                                                                                 \
	{                                                                                          \
		SUBJECT_NODE, name, NULL, NULL, name                                               \
	}
#define FLOW(from, to)                                                                             \
	{                                                                                          \
		SUBJECT_FLOW, from, to, NULL, from ">" to                                          \
	}
#define PAIR(one, two)                                                                             \
	{                                                                                          \
		SUBJECT_PAIR, one, two, NULL, one "<>" two                                         \
	}
#define NIC(node, nic)                                                                             \
	{                                                                                          \
		SUBJECT_NIC, node, NULL, nic, node ":" nic                                         \
	}

static void subjects(void **state)
{
	static const struct {
		struct subject subjects[MAX_SUBJECTS];
		size_t most;
		const char *folded;
	} cases[] = {
		{ { NODE("n0") }, 0, "n0" },
		{ { NODE("n0"), NODE("n1"), NODE("n3") }, 0, "n[0-1,3]" },
		{ { { .text = "all captures" } }, 0, "all captures" },
		{ { FLOW("n0", "n1"), FLOW("n1", "n0") }, 0, "n0>n1,n1>n0" },
		{ { FLOW("n0", "n1"), FLOW("n0", "n2"), FLOW("n1", "n0"), FLOW("n1", "n2"),
		    FLOW("n2", "n0"), FLOW("n2", "n1") },
		  0,
		  "n[0-2]>n[0-2]" },
		{ { PAIR("n0", "n1"), PAIR("n0", "n2"), PAIR("n1", "n2") }, 0, "n[0-2]<>n[0-2]" },
		/* one node with all others: not all pairs */
		{ { FLOW("n0", "n3"), FLOW("n1", "n3"), FLOW("n2", "n3"), FLOW("n3", "n0"),
		    FLOW("n3", "n1"), FLOW("n3", "n2") },
		  0,
		  "n3>n[0-2],n[0-2]>n3" },
		{ { FLOW("n0", "n2"), FLOW("n0", "n3"), FLOW("n1", "n2"), FLOW("n1", "n3") },
		  0,
		  "n[0-1]>n[2-3]" },
		{ { NIC("n0", "mlx5_0"), NIC("n1", "mlx5_0") }, 0, "n[0-1]:mlx5_0" },
		{ { NIC("n0", "mlx5_0"), NIC("n0", "mlx5_1"), NIC("n1", "mlx5_0"),
		    NIC("n1", "mlx5_1") },
		  0,
		  "n[0-1]:mlx5_[0-1]" },
		{ { NIC("n0", "rank0"), NIC("n1", "rank1") }, 0, "n0:rank0,n1:rank1" },
		{ { FLOW("a", "b"), FLOW("c", "d"), FLOW("e", "f"), FLOW("g", "h") },
		  2,
		  "a>b,c>d and 2 more" },
		{ { NODE("n0"), FLOW("n1", "n0") }, 0, "n0,n1>n0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct subject *list[MAX_SUBJECTS];
		size_t count = 0;
		char *text;

		for (; count < MAX_SUBJECTS && cases[i].subjects[count].text; count++)
			list[count] = &cases[i].subjects[count];
		text = subjects_fold(list, count, cases[i].most);
		assert_string_equal(text, cases[i].folded);
		free(text);
	}
}

/* What is to be drained has tests of its own. */
#define POLICY SPEC "act: { drain: never }\n"

/* The table without its head and footer; the caller frees it. */
static char *table_of(struct bed *bed, const struct judge_output *how)
{
	char *text, *end;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	bed_judge(bed);
	assert_int_equal(judge_text(bed->judge, how, out), 0);
	fclose(out);
	end = strstr(text, "coverage ");
	assert_non_null(end);
	*end = '\0';
	memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n')));
	return text;
}

/* 4 MiB within each node over tcp, and to each other: rules say the same of both. */
static void move_wrongly(struct bed *bed, uint64_t other)
{
	for (int node = 0; node < 2; node++)
		bed_move(bed, &(struct moved){ .from = 2 * node,
					       .to = 2 * node + 1,
					       .transport = "tcp",
					       .device = "eth0",
					       .bytes = node ? other : 4 << 20 });
}

static void alike(void **state)
{
	struct bed bed;
	char *text;

	(void)state;
	bed_begin(&bed, POLICY);
	move_wrongly(&bed, 4 << 20);
	text = table_of(&bed, &(struct judge_output){ 0 });
	assert_string_equal(
		text, "FAIL C PATH-03  n[0-1]    am_zcopy over tcp/eth0, host to host  expected "
		      "shared memory, cma, xpmem or cuda_ipc  2 transfers, 8.00 MiB  2 of 2 nodes  "
		      "likely: pid, ipc or user namespaces of containers\n");
	free(text);
	bed_end(&bed);
}

/* Rails out of balance by other numbers on each node are one line, and one of them an example. */
static void alike_but_for_numbers(void **state)
{
	struct bed bed;
	char *text;

	(void)state;
	bed_begin(&bed, POLICY "classes: { c: { nodes: \"n[0-1]\", nics: [a0, a1] } }\n"
			       "expect: [ { loc: inter, tl: [tcp] } ]\n"
			       "rules: { PATH-12: { severity: off } }\n");
	for (int node = 0; node < 2; node++)
		for (int nic = 0; nic < 2; nic++)
			bed_move(&bed,
				 &(struct moved){ .from = 2 * node,
						  .to = 2 - 2 * node,
						  .transport = "tcp",
						  .device = nic ? "a1" : "a0",
						  .bytes = (nic ? 1000 : 9000 + node) << 10 });
	text = table_of(&bed, &(struct judge_output){ 0 });
	assert_string_equal(text, "FAIL C RAIL-02  n[0-1]    e.g. max/mean 1.80: a0 9217024 B, a1 "
				  "1024000 B  expected max/mean at most 1.10  4 transfers, 19.5 "
				  "MiB  2 of 2 nodes  likely: one of several rails is down\n");
	free(text);
	bed_end(&bed);
}

/* A line goes on below where the terminal ends; names do not steer it. */
static void narrow(void **state)
{
	struct bed bed;
	char *text;

	(void)state;
	bed_begin(&bed, POLICY);
	bed_move(&bed, &(struct moved){ .from = 0,
					.to = 1,
					.transport = "tcp",
					.device = "e\033[2J\n",
					.bytes = 4 << 20 });
	text = table_of(&bed, &(struct judge_output){ .width = 80 });
	assert_string_equal(text,
			    "FAIL C PATH-03  n0        am_zcopy over tcp/e?[2J?, host to host\n"
			    "         expected shared memory, cma, xpmem or cuda_ipc\n"
			    "         1 transfer, 4.00 MiB (100 %)\n"
			    "         likely: pid, ipc or user namespaces of containers\n");
	free(text);
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subjects),
		cmocka_unit_test(alike),
		cmocka_unit_test(alike_but_for_numbers),
		cmocka_unit_test(narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
