// SPDX-License-Identifier: BSD-3-Clause
/* Long, many and hostile texts, in comparisons and in their outputs. */
#include "diff_runs.h"

/* ---- many texts ---- */

#define MANY 4000 /* joined one by one, their texts would take 500 MB */

/* A run of programs without ranks: process i has value VALUES[i] of UCX_TLS. */
static void put_programs(struct diff *diff, enum diff_side side, const char *const *comms,
			 const char *const *values, int count)
{
	struct fact_sink sink = diff_begin(diff, side, "a.ucxb");
	struct fact_totals totals = { 0 };

	for (int i = 0; i < count; i++) {
		const struct fact_variable variable = { i, "UCX_TLS", values[i] };

		fact_put(&sink, FACT_PROCESS,
			 &(struct fact_process){ .index = i,
						 .host = -1,
						 .comm = comms[i],
						 .exe = "/bin/app",
						 .rank = -1,
						 .size = -1,
						 .from_start = true,
						 .environment = &variable,
						 .environment_count = 1 });
	}
	totals.self.levels[LEVEL_UCT] = true;
	diff_end(diff, &totals);
}

/* Long texts that sort by their number. */
static void make_texts(char texts[MANY][64], const char *list[MANY])
{
	for (int i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%04d-%058d", i, 0);
		list[i] = texts[i];
	}
}

static const struct diff_row *variable_row(const struct diff *diff)
{
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table == &diff_tables[TABLE_VARIABLES])
			return &diff->rows.data[i];
	fail();
	return NULL;
}

static void many_values_of_one_program(void **state)
{
	static char texts[MANY][64];
	static const char *values[MANY], *comms[MANY];
	const struct diff_row *row;
	struct diff *diff;

	(void)state;
	make_texts(texts, values);
	for (int i = 0; i < MANY; i++)
		comms[i] = "worker";
	for (int other = 0; other < 2; other++) {
		diff = diff_new();
		put_programs(diff, DIFF_BEFORE, comms, values, MANY);
		if (other) /* the last one, which is not shown */
			texts[MANY - 1][60] = 'x';
		put_programs(diff, DIFF_AFTER, comms, values, MANY);
		diff_compare(diff);
		row = variable_row(diff);
		assert_int_equal(row->verdict, other ? DIFF_CHANGED : DIFF_SAME);
		assert_memory_equal(row->values[DIFF_BEFORE].text, texts[0], 63);
		assert_non_null(strstr(row->values[DIFF_BEFORE].text, ", and 3936 more (digest "));
		assert_true(strlen(row->values[DIFF_BEFORE].text) < 64 * 65 + 64);
		diff_free(diff);
	}
}

/* No program is on both sides: all count as one, and equal values once, in any order. */
static void values_of_other_programs(void **state)
{
	struct diff *diff = diff_new();

	(void)state;
	put_programs(diff, DIFF_BEFORE, (const char *[]){ "a", "b", "c" },
		     (const char *[]){ "tcp", "cma", "tcp" }, 3);
	put_programs(diff, DIFF_AFTER, (const char *[]){ "d", "e" },
		     (const char *[]){ "cma", "tcp" }, 2);
	diff_compare(diff);
	assert_int_equal(variable_row(diff)->verdict, DIFF_SAME);
	assert_string_equal(variable_row(diff)->values[DIFF_BEFORE].text, "cma, tcp");
	diff_free(diff);
}

/* Programs may be called as a rank, a host or the job would be. */
static void programs_of_hostile_names(void **state)
{
	static const char *const comms[] = { "0", "host 1", "the job" };
	struct diff *diff = diff_new();

	(void)state;
	put_programs(diff, DIFF_BEFORE, comms, (const char *[]){ "tcp", "tcp", "tcp" }, 3);
	put_programs(diff, DIFF_AFTER, comms, (const char *[]){ "cma", "ib", "self" }, 3);
	diff_compare(diff);
	assert_rows(diff, DIFF_CHANGED,
		    "variables: UCX_TLS (program 0): tcp > cma\n"
		    "variables: UCX_TLS (program host 1): tcp > ib\n"
		    "variables: UCX_TLS (program the job): tcp > self\n");
	diff_free(diff);
	/* rank 0 of the one side is not the program "0" of the other */
	diff = diff_new();
	put_run(diff, DIFF_BEFORE, &usual);
	put_programs(diff, DIFF_AFTER, comms, (const char *[]){ "cma", "ib", "self" }, 3);
	diff_compare(diff);
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table == &diff_tables[TABLE_VARIABLES])
			assert_null(diff->rows.data[i].ranks); /* all processes count as one */
	diff_free(diff);
}

static void put_protocols(struct diff *diff, enum diff_side side, const char *const *list,
			  int count)
{
	struct fact_sink sink = diff_begin(diff, side, "a.ucxb");
	struct fact_totals totals = { 0 };

	for (int i = 0; i < count; i++)
		fact_put(&sink, FACT_OP,
			 &(struct fact_op){ .process = -1,
					    .peer = -1,
					    .op = "tag_send",
					    .protocol = list[i],
					    .bytes = 8,
					    .sends = true });
	totals.self.levels[LEVEL_UCT] = true;
	diff_end(diff, &totals);
}

static size_t switches_of(const char *const *before, const char *const *after, int afters)
{
	struct diff *diff = diff_new();
	size_t count;

	put_protocols(diff, DIFF_BEFORE, before, MANY);
	put_protocols(diff, DIFF_AFTER, after, afters);
	diff_compare(diff);
	count = diff->changed[DIFF_SWITCHES];
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table->section == DIFF_SWITCHES)
			assert_non_null(strstr(diff->rows.data[i].values[DIFF_BEFORE].text,
					       ", and 3936 more (digest "));
	diff_free(diff);
	return count;
}

static void many_protocols_of_one_size(void **state)
{
	static char texts[MANY][64], others[MANY][64];
	static const char *list[MANY], *other[MANY];

	(void)state;
	make_texts(texts, list);
	make_texts(others, other);
	assert_int_equal(switches_of(list, other, MANY), 0);
	assert_int_equal(switches_of(list, other, MANY - 1), 0); /* all of them are before, too */
	others[MANY - 1][60] = 'x';
	assert_int_equal(switches_of(list, other, MANY), 1);
}

/* ---- outputs ---- */

static char *page_of(const struct diff *diff, int (*print)(const struct diff *diff, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	assert_int_equal(print(diff, out), 0);
	fclose(out);
	return text;
}

static void names_are_no_markup(void **state)
{
	struct made hostile = usual;
	struct diff *diff;
	char *page;

	(void)state;
	hostile.tls[0] = "<script>alert(1)</script>\x1b[2J\xff";
	hostile.tls[1] = "\x7f\xc2\x9b"
			 "31m\xe2\x80\xae"
			 "a";
	hostile.host = "\"><img src=x>&amp;";
	hostile.transport = "<b>";
	diff = compared(&usual, 1, &hostile, 1);
	page = page_of(diff, diff_html);
	assert_null(strstr(page, "<script"));
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "<b>"));
	assert_null(strchr(page, '\x1b'));
	assert_null(strchr(page, '\xff'));
	assert_non_null(strstr(page, "&lt;script&gt;alert(1)&lt;/script&gt;?[2J?"));
	assert_non_null(strstr(page, "&quot;&gt;&lt;img src=x&gt;&amp;amp;"));
	free(page);
	page = page_of(diff, diff_json);
	assert_null(strchr(page, '\xff'));
	assert_null(strchr(page, '\x1b'));
	assert_null(strchr(page, '\x7f'));
	assert_null(strstr(page, "\xc2\x9b"));
	assert_null(strstr(page, "\xe2\x80\xae"));
	assert_non_null(strstr(page, "\"\\u007f\\u009b31m\\u202ea\""));
	free(page);
	diff_free(diff);
}

static int print_text(const struct diff *diff, FILE *out)
{
	return diff_text(diff, &(struct report_text_options){ .width = 80 }, out);
}

/* A text differs at its end: all of it is shown. */
static void texts_are_not_cut(void **state)
{
	static char values[DIFF_SIDES][2048];
	struct made before = usual, after = usual;
	struct diff *diff;
	char *page;

	(void)state;
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
		memset(values[side], 'a', sizeof(values[side]) - 1);
		memcpy(&values[side][sizeof(values[side]) - 6], side ? "-new" : "-old", 5);
	}
	before.log = values[DIFF_BEFORE];
	after.log = values[DIFF_AFTER];
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->outcome.differences, 1);
	for (int html = 0; html < 2; html++) {
		page = page_of(diff, html ? diff_html : print_text);
		assert_non_null(strstr(page, values[DIFF_BEFORE]));
		assert_non_null(strstr(page, values[DIFF_AFTER]));
		free(page);
	}
	diff_free(diff);
}

static void no_difference_names_what_was_compared(void **state)
{
	struct diff *diff = compared(&usual, 1, &usual, 1);
	char *line = diff_verdict(diff);

	(void)state;
	assert_string_equal(line, "no difference found in environment, libraries, paths and "
				  "protocols, switch points, counts and bytes, times");
	free(line);
	diff_free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_values_of_one_program),
		cmocka_unit_test(values_of_other_programs),
		cmocka_unit_test(programs_of_hostile_names),
		cmocka_unit_test(many_protocols_of_one_size),
		cmocka_unit_test(names_are_no_markup),
		cmocka_unit_test(texts_are_not_cut),
		cmocka_unit_test(no_difference_names_what_was_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
