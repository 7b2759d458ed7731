// SPDX-License-Identifier: BSD-3-Clause
/* Which nodes a subject is of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/judge/internal.h"
#include "site/judge/judge.h"

/* How many nodes each subject names, of those that are known; and how it is printed. */
static void nodes_of_subjects(void **state)
{
	struct policy *policy = policy_default();
	struct judge *judge = judge_new(policy);
	const struct {
		struct subject subject;
		const char *text, *first, *second;
	} cases[] = {
		{ subject_node("n1"), "n1", "n1", NULL },
		{ subject_node("n10"), "n10", "n10", NULL },
		{ subject_rank(judge, "n1", 0), "n1:rank0", "n1", NULL },
		{ subject_pid(judge, "n1", 77), "n1:pid77", "n1", NULL },
		{ subject_flow(judge, "n10", "n1"), "n10>n1", "n10", "n1" },
		{ subject_pair(judge, "n1", "n10"), "n1<>n10", "n1", "n10" },
		{ subject_flow(judge, "n1", "n1"), "n1>n1", "n1", "n1" },
		{ subject_flow(judge, NULL, "n1"), "?>n1", "n1", NULL },
		{ subject_node("n2"), "n2", NULL, NULL },
		{ subject_node("n"), "n", NULL, NULL },
		{ subject_node(NULL), "unknown node", NULL, NULL },
		{ subject_captures(), "all captures", NULL, NULL },
		/* a separator in a name is a part of the name */
		{ subject_nic(judge, "a:b", "mlx5_0:1"), "a:b:mlx5_0:1", "a:b", NULL },
		{ subject_flow(judge, "a:b", "n1>"), "a:b>n1>", "a:b", NULL },
	};
	struct words names = { 0 };

	(void)state;
	words_keep(&names, "n1");
	words_keep(&names, "n10");
	words_keep(&names, "a");
	words_keep(&names, "a:b");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *nodes[SUBJECT_NODES] = { NULL };
		size_t count = subject_nodes(&cases[i].subject, &names, nodes);

		assert_string_equal(cases[i].subject.text, cases[i].text);
		if (count != (cases[i].first != NULL) + (size_t)(cases[i].second != NULL))
			fail_msg("'%s': %zu nodes", cases[i].text, count);
		if (cases[i].first)
			assert_string_equal(nodes[0], cases[i].first);
		if (cases[i].second)
			assert_string_equal(nodes[1], cases[i].second);
	}
	words_release(&names);
	judge_free(judge);
	policy_free(policy);
}

static void words_are_kept_once(void **state)
{
	struct words words = { 0 };
	char word[16];
	const char *first;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(word, sizeof(word), "w%d", i);
		first = words_keep(&words, word);
		assert_string_equal(first, word);
		assert_ptr_equal(words_find(&words, "w999x", 4), i == 999 ? first : NULL);
	}
	assert_ptr_equal(words_keep(&words, "w999"), first);
	assert_ptr_equal(words_of(&words, word), first);
	assert_null(words_keep(&words, NULL));
	assert_null(words_find(&words, "w99x", 4));
	assert_int_equal(words.kept.all.len, 1000);
	words_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_subjects),
		cmocka_unit_test(words_are_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
