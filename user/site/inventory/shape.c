// SPDX-License-Identifier: BSD-3-Clause
#include "site/inventory/shape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

#define EXACT (INT64_C(1) << 53) /* integers up to here are exact in every JSON reader */

/* Any VEC(): its members are copied, since their types differ. */
struct items {
	char *data;
	size_t len, cap;
};

static struct items items_of(const void *list)
{
	struct items items;

	memcpy(&items, list, sizeof(items));
	return items;
}

static void *member(const struct shape *shape, const void *object)
{
	return (char *)object + shape->offset;
}

void shape_init(const struct shape *shape, void *to)
{
	for (; shape->type != SHAPE_END; shape++) {
		if (shape->type == SHAPE_NUMBER)
			*(int64_t *)member(shape, to) = -1;
		else if (shape->type == SHAPE_STRUCT)
			shape_init(shape->of, member(shape, to));
		else if (shape->type == SHAPE_TEXT)
			*(char **)member(shape, to) = NULL;
		else
			memset(member(shape, to), 0, sizeof(struct items));
	}
}

void shape_release(const struct shape *shape, void *from)
{
	for (; shape->type != SHAPE_END; shape++) {
		if (shape->type == SHAPE_TEXT) {
			free(*(char **)member(shape, from));
		} else if (shape->type == SHAPE_STRUCT) {
			shape_release(shape->of, member(shape, from));
		} else if (shape->type == SHAPE_LIST) {
			struct items items = items_of(member(shape, from));

			for (size_t i = 0; i < items.len; i++)
				shape_release(shape->of, items.data + i * shape->size);
			free(items.data);
		}
	}
}

static json_t *number_of(int64_t number)
{
	char text[24];

	if (number < 0)
		return json_null();
	if (number <= EXACT)
		return json_integer(number);
	snprintf(text, sizeof(text), "%" PRId64, number);
	return json_string(text);
}

static json_t *list_of(const struct shape *shape, const void *list)
{
	struct items items = items_of(list);
	json_t *array = json_array();

	for (size_t i = 0; i < items.len; i++)
		json_array_append_new(array, shape_write(shape->of, items.data + i * shape->size));
	return array;
}

static json_t *value_of(const struct shape *shape, const void *value)
{
	const char *text;

	switch (shape->type) {
	case SHAPE_TEXT:
		text = *(char *const *)value;
		return text ? json_string(text) : json_null();
	case SHAPE_NUMBER:
		return number_of(*(const int64_t *)value);
	case SHAPE_STRUCT:
		return shape_write(shape->of, value);
	default:
		return list_of(shape, value);
	}
}

json_t *shape_write(const struct shape *shape, const void *from)
{
	json_t *object = json_object();

	for (; shape->type != SHAPE_END; shape++)
		json_object_set_new(object, shape->name, value_of(shape, member(shape, from)));
	return object;
}

static bool wrong(struct shape_error *error, const char *what)
{
	error->what = what;
	return false;
}

static bool read_text(const json_t *from, char **to, struct shape_error *error)
{
	if (json_is_null(from))
		return true;
	if (!json_is_string(from))
		return wrong(error, "must be a text or null");
	*to = text_plain(json_string_value(from));
	return true;
}

/* Only digits, no more than an int64_t holds. */
static bool digits(const char *text, int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool read_number(const json_t *from, int64_t *to, struct shape_error *error)
{
	if (json_is_null(from))
		return true;
	if (json_is_string(from) && digits(json_string_value(from), to))
		return true;
	*to = json_is_integer(from) ? json_integer_value(from) : -1;
	return *to >= 0 || wrong(error, "must be a whole number of 0 or more, or null");
}

static bool read_list(const struct shape *shape, const json_t *from, void *to,
		      struct shape_error *error)
{
	size_t count = json_array_size(from), base = strlen(error->where);
	struct items items = { 0 };
	bool good = json_is_array(from) || wrong(error, "must be a list");

	items.data = vec_grow(NULL, &items.cap, count, shape->size);
	for (size_t i = 0; good && i < count; i++) {
		void *item = items.data + i * shape->size;

		snprintf(error->where + base, sizeof(error->where) - base, "[%zu]", i);
		shape_init(shape->of, item);
		items.len++;
		good = shape_read(shape->of, json_array_get(from, i), item, error);
	}
	if (good)
		error->where[base] = '\0';
	memcpy(to, &items, sizeof(items));
	return good;
}

static bool read_value(const struct shape *shape, const json_t *from, void *to,
		       struct shape_error *error)
{
	if (!from)
		return shape->need == SHAPE_LATER || wrong(error, "is missing");
	if (shape->need == SHAPE_NEEDED && json_is_null(from))
		return wrong(error, "must not be null");
	switch (shape->type) {
	case SHAPE_TEXT:
		return read_text(from, to, error);
	case SHAPE_NUMBER:
		return read_number(from, to, error);
	case SHAPE_STRUCT:
		return shape_read(shape->of, from, to, error);
	default:
		return read_list(shape, from, to, error);
	}
}

static bool has(const struct shape *shape, const char *name)
{
	for (; shape->type != SHAPE_END; shape++)
		if (!strcmp(shape->name, name))
			return true;
	return false;
}

static void enter(struct shape_error *error, size_t base, const char *name)
{
	snprintf(error->where + base, sizeof(error->where) - base, "%s%s", base ? "." : "", name);
}

bool shape_read(const struct shape *shape, const json_t *from, void *to, struct shape_error *error)
{
	size_t base = strlen(error->where);
	const char *name;
	json_t *value;

	if (!json_is_object(from))
		return wrong(error, "must be an object");
	json_object_foreach((json_t *)from, name, value)
	{
		enter(error, base, name);
		if (!has(shape, name))
			return wrong(error, "is no member that this version knows");
	}
	for (; shape->type != SHAPE_END; shape++) {
		enter(error, base, shape->name);
		if (!read_value(shape, json_object_get(from, shape->name), member(shape, to),
				error))
			return false;
	}
	error->where[base] = '\0';
	return true;
}
