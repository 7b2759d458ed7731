// SPDX-License-Identifier: BSD-3-Clause
/* What is UTF-8, what steers a terminal, and what is left of a text that has neither. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/text.h"

static void characters(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		unsigned int code;
	} cases[] = {
		{ "", 1, 0 },
		{ "a", 1, 'a' },
		{ "\x7f", 1, 0x7f },
		{ "\x80", 0, 0 }, /* a byte of another character's middle */
		{ "\xbf", 0, 0 },
		{ "\xc1\xbf", 0, 0 }, /* longer than it need be: DEL in two bytes */
		{ "\xc2\x80", 2, 0x80 },
		{ "\xc2", 0, 0 }, /* cut off by the end */
		{ "\xc2"
		  "a",
		  0, 0 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\x9f\xbf", 0, 0 }, /* longer than it need be */
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xed\xa0\x80", 0, 0 }, /* the first surrogate */
		{ "\xed\xbf\xbf", 0, 0 }, /* the last one */
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xe2\x82", 0, 0 },
		{ "\xf0\x8f\xbf\xbf", 0, 0 }, /* longer than it need be */
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
		{ "\xf4\x90\x80\x80", 0, 0 }, /* beyond the last character */
		{ "\xf8\x88\x80\x80\x80", 0, 0 },
		{ "\xff", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int code = 0;
		size_t length = text_character(cases[i].text, &code);

		assert_int_equal(length, cases[i].length);
		if (length)
			assert_int_equal(code, cases[i].code);
	}
}

static void steering(void **state)
{
	static const unsigned int does[] = { 0,      '\n',   0x1b,   0x1f,   0x7f,   0x80,
					     0x9b,   0x9f,   0x61c,  0x200e, 0x200f, 0x2028,
					     0x2029, 0x202a, 0x202e, 0x2066, 0x2069 };
	static const unsigned int does_not[] = { ' ',    '~',    0xa0,   0x61b,  0x61d,  0x200d,
						 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, 0x10ffff };

	(void)state;
	for (size_t i = 0; i < sizeof(does) / sizeof(does[0]); i++)
		assert_true(text_steers(does[i]));
	for (size_t i = 0; i < sizeof(does_not) / sizeof(does_not[0]); i++)
		assert_false(text_steers(does_not[i]));
}

static void copies(void **state)
{
	static const struct {
		const char *text, *utf8, *plain;
	} cases[] = {
		{ "", "", "" },
		{ "plain \xc3\xa9", "plain \xc3\xa9", "plain \xc3\xa9" },
		{ "a\nb\x1b[0m", "a\nb\x1b[0m", "a?b?[0m" },
		{ "\xff\xfe"
		  "a\xc3",
		  "??a?", "??a?" },
		{ "\xc2\x9b"
		  "1m",
		  "\xc2\x9b"
		  "1m",
		  "?1m" },
		{ "\xed\xa0\x80", "???", "???" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *utf8 = text_utf8(cases[i].text), *plain = text_plain(cases[i].text);

		assert_string_equal(utf8, cases[i].utf8);
		assert_string_equal(plain, cases[i].plain);
		free(utf8);
		free(plain);
	}
}

/* Characters that steer are escaped, the line breaks of a layout stay, and the value is the same
 * again. */
static void json(void **state)
{
	static const char name[] = "\x1b[2J\n\x7f\xc2\x9b\xe2\x80\xae\"\\\xc3\xa9";
	json_t *value = json_pack("{s:[s, i]}", "name", name, 1), *again;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	text_put_json(value, JSON_INDENT(1), out);
	fclose(out);
	assert_string_equal(
		text,
		"{\n \"name\": [\n  \"\\u001B[2J\\n\\u007f\\u009b\\u202e\\\"\\\\\xc3\xa9\",\n  1\n ]\n}");
	again = json_loads(text, 0, NULL);
	assert_true(json_equal(again, value));
	json_decref(again);
	json_decref(value);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters),
		cmocka_unit_test(steering),
		cmocka_unit_test(copies),
		cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
