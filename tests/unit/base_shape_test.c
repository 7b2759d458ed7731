// SPDX-License-Identifier: BSD-3-Clause
/* Structs as JSON; back: inventory_json_test.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/shape.h"
#include "base/vec.h"

enum colour { RED, BLUE };

struct part {
	int at;
	uint8_t small;
};

struct whole {
	const char *name;
	char id[8];
	bool good;
	enum colour colour;
	double share;
	int rank;
	uint16_t port;
	int64_t offset;
	uint64_t bytes, most, none;
	struct part part;
	VEC(struct part) list;
	VEC(char *) texts;
	const struct part *span;
	int span_count;
};

static const char *const colours[] = { "red", "blue" };
static const char *const answers[] = { "no", "yes" };

static json_t *twice(const void *number)
{
	return json_integer(2 * *(const int *)number);
}

static json_t *beside(const void *part, const void *arg)
{
	return json_integer(((const struct part *)part)->at + *(const int *)arg);
}

static bool is_red(const void *whole)
{
	return ((const struct whole *)whole)->colour == RED;
}

static const struct shape part_shape[] = {
	SHAPE_OF(struct part, at),
	SHAPE_OF(struct part, small),
	SHAPE_WHOLE("beside", beside),
	{ 0 },
};

static void is_json(const struct shape *shape, const struct whole *whole, const char *wanted)
{
	int arg = 100;
	json_t *json = shape_json(shape, whole, &arg);
	char *text = json_dumps(json, JSON_COMPACT);

	assert_string_equal(text, wanted);
	free(text);
	json_decref(json);
}

static const struct shape nothing[] = { { 0 } };

#define OF(member, ...) SHAPE_OF(struct whole, member, ##__VA_ARGS__)

static void each_type_has_its_form(void **state)
{
	static const struct shape shape[] = {
		SHAPE_SAYS("t", "whole"),
		OF(name),
		SHAPE_CHARS("id", struct whole, id),
		OF(good),
		SHAPE_WORD("good_word", struct whole, good, answers),
		SHAPE_WORD("colour", struct whole, colour, colours),
		OF(share),
		OF(rank),
		OF(port),
		OF(offset),
		OF(bytes),
		SHAPE_AS("exact", struct whole, bytes, .exact = true),
		SHAPE_AS("hex", struct whole, port, .hex = true),
		SHAPE_STRUCT("part", struct whole, part, part_shape),
		SHAPE_LIST("list", struct whole, list, part_shape),
		SHAPE_SPAN("span", struct whole, span, span_count, part_shape),
		SHAPE_TEXTS("texts", struct whole, texts),
		SHAPE_MADE("twice", struct whole, rank, twice),
		{ 0 },
	};
	struct whole whole = {
		.name = "a\xff",
		.id = "x",
		.good = true,
		.colour = BLUE,
		.share = 0.5,
		.rank = -3,
		.port = 65535,
		.offset = -1,
		.bytes = (1ull << 53) + 1,
		.part = { 7, 200 },
		.span = &whole.part,
		.span_count = 1,
	};

	(void)state;
	vec_push(&whole.texts, (char *)"one");
	*vec_add(&whole.list) = (struct part){ 1, 2 };
	is_json(shape, &whole,
		"{\"t\":\"whole\",\"name\":\"a?\",\"id\":\"x\",\"good\":true,\"good_word\":\"yes\","
		"\"colour\":\"blue\",\"share\":0.5,\"rank\":-3,\"port\":65535,\"offset\":-1,"
		"\"bytes\":9007199254740993,\"exact\":\"9007199254740993\",\"hex\":\"0xffff\","
		"\"part\":{\"at\":7,\"small\":200,\"beside\":107},"
		"\"list\":[{\"at\":1,\"small\":2,\"beside\":101}],"
		"\"span\":[{\"at\":7,\"small\":200,\"beside\":107}],\"texts\":[\"one\"],\"twice\":-6}");
	vec_release(&whole.texts);
	vec_release(&whole.list);
}

static void unknown_is_null_or_left_out(void **state)
{
	static const struct shape shape[] = {
		OF(name),
		SHAPE_AS("called", struct whole, name, .instead = "unknown"),
		SHAPE_CHARS("id", struct whole, id),
		OF(share),
		OF(rank, .null = SHAPE_NEGATIVE),
		OF(most, .null = SHAPE_MOST),
		OF(none, .null = SHAPE_ZERO),
		OF(port, SHAPE_WHEN(struct whole, name)),
		OF(good, SHAPE_UNLESS(struct whole, rank)),
		OF(bytes, .known = is_red),
		SHAPE_AS("gone", struct whole, none, .null = SHAPE_ZERO, .optional = true),
		SHAPE_PART("part", nothing, .known = is_red, .optional = true),
		{ 0 },
	};
	struct whole whole = { .share = NAN, .rank = -1, .most = UINT64_MAX, .colour = BLUE };

	(void)state;
	is_json(shape, &whole,
		"{\"name\":null,\"called\":\"unknown\",\"id\":null,\"share\":null,\"rank\":null,"
		"\"most\":null,\"none\":null,\"port\":null,\"good\":null,\"bytes\":null}");
	whole = (struct whole){ .name = "n", .id = "i", .none = 1 };
	is_json(shape, &whole,
		"{\"name\":\"n\",\"called\":\"n\",\"id\":\"i\",\"share\":0.0,\"rank\":0,\"most\":0,"
		"\"none\":1,\"port\":0,\"good\":false,\"bytes\":0,\"gone\":1,\"part\":{}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_has_its_form),
		cmocka_unit_test(unknown_is_null_or_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
