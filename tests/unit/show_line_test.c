// SPDX-License-Identifier: BSD-3-Clause
/* A job's line always fits, and is JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "show/line/line.h"

static json_t *line_of(const struct job_line *line)
{
	char text[LINE_ROOM];
	json_t *object;

	memset(text, 'x', sizeof(text));
	line_text(line, text);
	assert_non_null(memchr(text, 0, LINE_ROOM - 1)); /* an end of line finds room, too */
	object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(object);
	assert_string_equal(json_string_value(json_object_get(object, "schema")), LINE_SCHEMA);
	return object;
}

static json_int_t number(const json_t *object, const char *name)
{
	assert_true(json_is_integer(json_object_get(object, name)));
	return json_integer_value(json_object_get(object, name));
}

static void test_usual(void **state)
{
	json_t *object = line_of(&(struct job_line){
		.job = "1234",
		.step = "0",
		.ranks = 64,
		.seconds = 12.34,
		.unwatched = 1.26,
		.calls = 1000,
		.sends = 500,
		.bytes = 1 << 20,
		.transport = "rc_mlx5",
		.device = "mlx5_0:1",
		.most = 981,
		.data = 1000,
	});

	(void)state;
	assert_string_equal(json_string_value(json_object_get(object, "job")), "1234");
	assert_string_equal(json_string_value(json_object_get(object, "top")), "rc_mlx5/mlx5_0:1");
	assert_true(json_real_value(json_object_get(object, "share")) == 0.98);
	assert_int_equal(number(object, "ranks"), 64);
	assert_int_equal(number(object, "lost"), 0);
	assert_true(json_real_value(json_object_get(object, "unwatched")) == 1.3);
	assert_int_equal(json_object_size(object), 12);
	json_decref(object);
}

static void test_nothing_known(void **state)
{
	json_t *object = line_of(&(struct job_line){ .unwatched = NAN });

	(void)state;
	assert_null(json_object_get(object, "job"));
	assert_null(json_object_get(object, "top"));
	assert_null(json_object_get(object, "unwatched"));
	json_decref(object);
}

/* 0 of a time in which not all was counted is unknown; another number is a lower bound. */
static void test_not_all_counted(void **state)
{
	struct job_line line = { .sends = 3, .bytes = 0, .why = "late-probes", .unwatched = 0.4 };
	json_t *object = line_of(&line);

	(void)state;
	assert_true(json_is_null(json_object_get(object, "calls")));
	assert_int_equal(number(object, "sends"), 3);
	assert_int_equal(number(object, "bytes"), 0);
	assert_string_equal(json_string_value(json_object_get(object, "why")), "late-probes");
	json_decref(object);
	line.sends = 0;
	object = line_of(&line);
	assert_true(json_is_null(json_object_get(object, "sends")));
	assert_true(json_is_null(json_object_get(object, "bytes")));
	json_decref(object);
	line.sends = line.calls = 1;
	object = line_of(&line);
	assert_null(json_object_get(object, "why"));
	json_decref(object);
}

static void test_extremes(void **state)
{
	const char *most =
		"\"\\\n\xff$(x)';drop aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	json_t *object = line_of(&(struct job_line){
		.job = most,
		.step = most,
		.ranks = 4294967295,
		.seconds = 1e9,
		.unwatched = 1e9,
		.calls = INT64_MAX,
		.sends = INT64_MAX,
		.bytes = INT64_MAX,
		.transport = most,
		.device = most,
		.most = INT64_MAX,
		.data = INT64_MAX,
		.lost = INT64_MAX,
	});

	(void)state;
	/* what names the job and its amount stays */
	assert_true(number(object, "bytes") == INT64_MAX);
	assert_true(number(object, "lost") == INT64_MAX);
	assert_null(strpbrk(json_string_value(json_object_get(object, "job")), "\"\\\n$'; "));
	json_decref(object);
}

/* ---- lines of captures ---- */

#define SECOND 1000000000ull

struct captured {
	struct job_lines *lines;
	struct fact_sink sink;
};

static struct captured captured(void)
{
	struct captured captured = { .lines = lines_new() };

	captured.sink = lines_sink(captured.lines);
	return captured;
}

static void process_until(const struct captured *captured, int index, int host, uint64_t until)
{
	const struct fact_process process = { .index = index, .host = host, .batch_job = "7" };
	const struct fact_lifetime lifetime = { .process = index, .until = until };

	fact_put(&captured->sink, FACT_PROCESS, &process);
	fact_put(&captured->sink, FACT_LIFETIME, &lifetime);
}

/* Of the capture of that host, which lasts from 10 to 20 s. */
static void window(const struct captured *captured, int host, uint64_t from, uint64_t to,
		   const char *step)
{
	const struct fact_window fact = { .host = host,
					  .capture = host,
					  .from = from * SECOND,
					  .to = to * SECOND,
					  .until = 20 * SECOND,
					  .step = step };

	fact_put(&captured->sink, FACT_WINDOW, &fact);
}

static json_t *told(struct captured *captured)
{
	const struct fact_totals totals = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *object;

	assert_int_equal(lines_write(captured->lines, &totals, out), 0);
	fclose(out);
	lines_free(captured->lines);
	object = json_loads(text, 0, NULL); /* one line */
	assert_non_null(object);
	free(text);
	return object;
}

static double real(const json_t *object, const char *name)
{
	assert_true(json_is_real(json_object_get(object, name)));
	return json_real_value(json_object_get(object, name));
}

/* The time without all layers, up to the job's end, on the host that lacks most. */
static void test_windows(void **state)
{
	struct captured of = captured();
	const struct fact_call call = { .process = 0,
					.start = 10 * SECOND + 1,
					.end = 10 * SECOND + 2 };
	json_t *object;

	(void)state;
	process_until(&of, 0, 0, 20 * SECOND);
	process_until(&of, 1, 1, 18 * SECOND);
	fact_put(&of.sink, FACT_CALL, &call);
	window(&of, 0, 10, 11, "uct");
	window(&of, 0, 11, 14, "mpi");
	window(&of, 0, 14, 19, "windows");
	window(&of, 1, 10, 11, "uct");
	window(&of, 1, 17, 20, "windows");
	object = told(&of);
	assert_true(real(object, "s") == 10);
	assert_true(real(object, "unwatched") == 6);
	assert_int_equal(number(object, "calls"), 1);
	assert_true(json_is_null(json_object_get(object, "sends")));
	assert_string_equal(json_string_value(json_object_get(object, "why")), "budget");
	json_decref(object);

	of = captured();
	process_until(&of, 0, 0, 20 * SECOND);
	window(&of, 0, 10, 11, NULL);
	object = told(&of);
	assert_true(real(object, "unwatched") == 9);
	assert_string_equal(json_string_value(json_object_get(object, "why")), "windows");
	json_decref(object);
}

/* The line of a job that began in the capture is not about the time before. */
static void test_begins_late(void **state)
{
	static const struct fact_process process = { .batch_job = "7", .from_start = true };
	static const struct fact_lifetime lifetime = { .until = 20 * SECOND };
	static const struct fact_call call = { .start = 16 * SECOND, .end = 17 * SECOND };
	struct captured of = captured();
	json_t *object;

	(void)state;
	fact_put(&of.sink, FACT_PROCESS, &process);
	fact_put(&of.sink, FACT_CALL, &call);
	fact_put(&of.sink, FACT_LIFETIME, &lifetime);
	window(&of, 0, 10, 11, NULL);
	window(&of, 0, 15, 17, NULL);
	object = told(&of);
	assert_true(real(object, "s") == 4);
	assert_true(real(object, "unwatched") == 3);
	json_decref(object);
}

static void test_no_windows(void **state)
{
	const struct fact_call call = { .process = 0, .start = 10 * SECOND, .end = 12 * SECOND };
	struct captured of = captured();
	json_t *object;

	(void)state;
	process_until(&of, 0, 0, 20 * SECOND);
	fact_put(&of.sink, FACT_CALL, &call);
	object = told(&of);
	assert_true(real(object, "s") == 2);
	assert_null(json_object_get(object, "unwatched"));
	assert_int_equal(number(object, "sends"), 0);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),           cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_not_all_counted), cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_windows),         cmocka_unit_test(test_no_windows),
		cmocka_unit_test(test_begins_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
