// SPDX-License-Identifier: BSD-3-Clause
/* Names of nodes as one word; a policy reads the same nodes out of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lists.h"
#include "site/policy/policy.h"

#define MAX_NAMES 8

static void words(void **state)
{
	static const struct {
		const char *names[MAX_NAMES], *folded;
	} cases[] = {
		{ { NULL }, "" },
		{ { "n0" }, "n0" },
		{ { "head" }, "head" },
		{ { "n2", "n0", "n1", "n0" }, "n[0-2]" },
		{ { "n0", "n2", "n3", "n10", "m7" }, "m7,n[0,2-3,10]" },
		{ { "lrdn0804", "lrdn0801", "lrdn0802", "lrdn0803" }, "lrdn[0801-0804]" },
		{ { "n9", "n10", "n11" }, "n[9-11]" },
		{ { "n09", "n10" }, "n[09-10]" },
		{ { "n9", "n09" }, "n[9,09]" },
		{ { "n9", "n010" }, "n[9,010]" },
		{ { "r1n0.ib", "r1n1.ib", "r2n0.ib" }, "r1n[0-1].ib,r2n0.ib" },
		{ { "n[0-9]", "n1", "n2" }, "n[1-2],n[0-9]" }, /* a name, whatever it looks like */
		{ { "n1234567890", "n1234567891" }, "n1234567890,n1234567891" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t count = 0;
		char *text;

		while (count < MAX_NAMES && cases[i].names[count])
			count++;
		text = fold_names(cases[i].names, count);
		assert_string_equal(text, cases[i].folded);
		free(text);
	}
}

/* A fixed seed: the same names each time. */
static unsigned int next(unsigned int *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

static void there_and_back(void **state)
{
	unsigned int seed = 6;

	(void)state;
	for (int round = 0; round < 200; round++) {
		char names[64][16], yaml[4096], *folded, *again;
		const char *list[64];
		struct policy *policy;
		struct policy_errors errors = { 0 };
		const texts *nodes;

		for (int i = 0; i < 64; i++) {
			snprintf(names[i], sizeof(names[i]), "%c%0*u", "nm"[next(&seed) % 2],
				 1 + (int)(next(&seed) % 3), next(&seed) % 120);
			list[i] = names[i];
		}
		folded = fold_names(list, 64);
		snprintf(yaml, sizeof(yaml),
			 "spec: ucxbpf-policy-v1\nclasses: { c: { nodes: \"%s\" } }\n", folded);
		assert_int_equal(policy_parse(yaml, strlen(yaml), &policy, &errors), 0);
		nodes = &policy->classes.data[0].nodes;
		for (int i = 0; i < 64; i++)
			assert_non_null(policy_class_of(policy, list[i]));
		again = fold_names(nodes->data, nodes->len);
		assert_string_equal(folded, again);
		free(folded);
		free(again);
		policy_free(policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
