// SPDX-License-Identifier: BSD-3-Clause
/* What captures say of when they looked: windows, and processes that another capture knew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explain/decode/decode.h"

static json_t *capture(int ts)
{
	return json_pack("[{s:s, s:{s:s, s:s}, s:s, s:i}]", "t", "capture", "host", "id", "h1",
			 "name", "n1", "mode", "attach", "ts", ts);
}

static void process(json_t *sides, int tgid, int ts, const char *seen_from)
{
	json_array_append_new(sides,
			      json_pack("{s:s, s:i, s:i, s:i, s:s}", "t", "process", "tgid", tgid,
					"start_time", 5, "ts", ts, "seen_from", seen_from));
}

static void library(json_t *sides, int tgid, const char *path, int ts)
{
	json_array_append_new(sides, json_pack("{s:s, s:i, s:s, s:s, s:[s], s:i}", "t", "library",
					       "tgid", tgid, "path", path, "build_id", "1b2c",
					       "roles", "ucp", "ts", ts));
}

static void window(json_t *sides, int from, int to)
{
	json_array_append_new(sides, json_pack("{s:s, s:i}", "t", "window", "from", from));
	if (to)
		json_array_append_new(
			sides, json_pack("{s:s, s:i, s:i}", "t", "window", "from", from, "to", to));
}

/* Each is told of twice; the last one's end was never told, since the tracer was killed. */
static void windows_of_a_capture(void **state)
{
	struct decoder decoder;
	struct capture seen = { 0 };
	json_t *sides = capture(10);

	(void)state;
	window(sides, 20, 30);
	window(sides, 50, 60);
	window(sides, 80, 0);
	decoder_init(&decoder);
	decoder_add_capture(&decoder, &seen, sides);
	assert_int_equal(seen.windows.len, 3);
	assert_int_equal(seen.windows.data[0].from, 20);
	assert_int_equal(seen.windows.data[0].to, 30);
	assert_int_equal(seen.windows.data[1].to, 60);
	assert_int_equal(seen.windows.data[2].from, 80);
	assert_int_equal(seen.windows.data[2].to, 0);
	assert_int_equal(seen.ended, 0);
	capture_release(&seen);
	decoder_release(&decoder);
	json_decref(sides);
}

/* What the second one says neither blinds the first one nor makes things twice. */
static void two_captures_of_a_process(void **state)
{
	struct decoder decoder;
	struct capture first = { 0 }, second = { 0 };
	json_t *sides = capture(10), *later = capture(100);
	const struct process *known;

	(void)state;
	process(sides, 1, 20, "attach");
	process(sides, 2, 20, "start");
	library(sides, 1, "/usr/lib/libucp.so.0", 20);
	process(later, 1, 120, "attach");
	process(later, 2, 120, "attach");
	process(later, 3, 120, "attach");
	library(later, 1, "/usr/lib/libucp.so.0", 120);
	library(later, 1, "/opt/lib/libucp.so.0", 120);
	decoder_init(&decoder);
	decoder_add_capture(&decoder, &first, sides);
	decoder_add_capture(&decoder, &second, later);
	assert_int_equal(decoder.processes.len, 3);
	known = decoder.processes.data[0];
	assert_int_equal(known->blind_until, 21);
	assert_int_equal(known->ucx.len, 2);
	known = decoder.processes.data[1];
	assert_int_equal(known->blind_until, 0);
	assert_true(known->from_start);
	assert_int_equal(decoder.processes.data[2]->blind_until, 121);
	assert_int_equal(first.rejoined.len, 0);
	assert_int_equal(second.rejoined.len, 2);
	assert_ptr_equal(second.rejoined.data[1].process, known);
	assert_int_equal(second.rejoined.data[1].until, 121);
	capture_release(&first);
	capture_release(&second);
	decoder_release(&decoder);
	json_decref(sides);
	json_decref(later);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_of_a_capture),
		cmocka_unit_test(two_captures_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
