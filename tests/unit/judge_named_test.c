// SPDX-License-Identifier: BSD-3-Clause
/* Which nodes a subject is of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "site/judge/exhibits/words.h"

static void nodes_of_subjects(void **state)
{
	static const struct {
		const char *subject, *first, *second;
	} cases[] = {
		{ "n1", "n1", NULL },           { "n10", "n10", NULL },
		{ "n1:rank0", "n1", NULL },     { "n10>n1", "n10", "n1" },
		{ "n1<>n10", "n1", "n10" },     { "n1>n1", "n1", "n1" },
		{ "n2", NULL, NULL },           { "n", NULL, NULL },
		{ "n1x", NULL, NULL },          { "all captures", NULL, NULL },
		{ "a:b:mlx5_0", "a:b", NULL },  { "a:b>n1:x", "a:b", "n1" },
		{ "n2>n10:eth0", "n10", NULL }, { "", NULL, NULL },
	};
	struct words names = { 0 };

	(void)state;
	words_keep(&names, "n1");
	words_keep(&names, "n10");
	words_keep(&names, "a:b");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *found[NAMED_MOST] = { NULL };
		size_t count = named_in(&names, cases[i].subject, found);

		if (count != (cases[i].first != NULL) + (size_t)(cases[i].second != NULL))
			fail_msg("'%s': %zu nodes", cases[i].subject, count);
		if (cases[i].first)
			assert_string_equal(found[0], cases[i].first);
		if (cases[i].second)
			assert_string_equal(found[1], cases[i].second);
	}
	words_release(&names);
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
	assert_int_equal(words.list.len, 1000);
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
