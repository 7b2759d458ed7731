// SPDX-License-Identifier: BSD-3-Clause
#include "base/shape.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

#define EXACT (UINT64_C(1) << 53) /* integers up to here are exact in every JSON reader */

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

/* ---- to JSON ---- */

json_t *shape_text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	char *valid;

	if (value)
		return value;
	valid = text_utf8(text);
	value = json_string(valid);
	free(valid);
	return value;
}

json_t *shape_texts(const char *const *texts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, shape_text(texts[i]));
	return array;
}

json_t *shape_exact(uint64_t number)
{
	return number <= EXACT ? json_integer((json_int_t)number)
			       : json_sprintf("%" PRIu64, number);
}

json_t *json_hex(uint64_t value)
{
	return json_sprintf("%#" PRIx64, value);
}

/* With its sign. */
static uint64_t number_of(const void *value, size_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)value;
	case 2:
		return *(const uint16_t *)value;
	case 4:
		return is_signed ? (uint64_t)(int64_t) * (const int *)value
				 : *(const uint32_t *)value;
	default:
		return *(const uint64_t *)value;
	}
}

static json_t *number_json(const struct shape *shape, uint64_t number)
{
	static const uint64_t nulls[] = { [SHAPE_MOST] = UINT64_MAX };

	if (shape->null == SHAPE_NEGATIVE ? (int64_t)number < 0
					  : shape->null && number == nulls[shape->null])
		return NULL;
	if (shape->hex)
		return json_hex(number);
	return shape->exact ? shape_exact(number) : json_integer((json_int_t)number);
}

static json_t *span_json(const struct shape *shape, const void *from, const void *arg)
{
	const void *items = *(const void *const *)member(shape, from);
	size_t count = number_of((const char *)from + shape->count.offset, shape->count.size, true);

	return shape_array(shape->of, items, count, shape->size, arg);
}

/* NULL: it is not known. */
static json_t *value_json(const struct shape *shape, const void *from, const void *arg)
{
	const void *value = member(shape, from);
	const char *text = shape->instead;
	struct items items;

	switch (shape->type) {
	case SHAPE_IS_TEXT:
		text = *(const char *const *)value ? *(const char *const *)value : text;
		return text ? shape_text(text) : NULL;
	case SHAPE_IS_CHARS:
		text = *(const char *)value ? value : text;
		return text ? shape_text(text) : NULL;
	case SHAPE_IS_BOOL:
		return json_boolean(*(const bool *)value);
	case SHAPE_IS_REAL:
		return json_real(*(const double *)value); /* NULL: NAN */
	case SHAPE_IS_WORD:
		text = shape->words[number_of(value, shape->size, false)];
		return text ? json_string(text) : NULL;
	case SHAPE_IS_STRUCT:
		return shape_json(shape->of, value, arg);
	case SHAPE_IS_LIST:
		items = items_of(value);
		return shape_array(shape->of, items.data, items.len, shape->size, arg);
	case SHAPE_IS_SPAN:
		return span_json(shape, from, arg);
	case SHAPE_IS_TEXTS:
		items = items_of(value);
		return shape_texts((const char *const *)(void *)items.data, items.len);
	case SHAPE_IS_SAID:
		return json_string(text);
	case SHAPE_IS_MADE:
		return shape->make ? shape->make(value) : shape->call(value, arg);
	default:
		return number_json(shape,
				   number_of(value, shape->size, shape->type == SHAPE_IS_SIGNED));
	}
}

static bool is_set(const struct shape_place *place, const void *object)
{
	for (size_t i = 0; i < place->size; i++)
		if (((const char *)object)[place->offset + i])
			return true;
	return false;
}

static bool is_known(const struct shape *shape, const void *object)
{
	return (!shape->when.size || is_set(&shape->when, object)) &&
	       !is_set(&shape->unless, object) && (!shape->known || shape->known(object));
}

void shape_put(json_t *to, const struct shape *shape, const void *from, const void *arg)
{
	for (; shape->type != SHAPE_END; shape++) {
		json_t *value = is_known(shape, from) ? value_json(shape, from, arg) : NULL;

		if (value || !shape->optional)
			json_object_set_new_nocheck(to, shape->name, value ? value : json_null());
	}
}

json_t *shape_json(const struct shape *shape, const void *from, const void *arg)
{
	json_t *object = json_object();

	shape_put(object, shape, from, arg);
	return object;
}

json_t *shape_array(const struct shape *shape, const void *from, size_t count, size_t size,
		    const void *arg)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, shape_json(shape, (const char *)from + i * size, arg));
	return array;
}

/* ---- and back ---- */

void shape_init(const struct shape *shape, void *to)
{
	for (; shape->type != SHAPE_END; shape++) {
		if (shape->type == SHAPE_IS_SIGNED)
			*(int64_t *)member(shape, to) = -1;
		else if (shape->type == SHAPE_IS_STRUCT)
			shape_init(shape->of, member(shape, to));
		else if (shape->type == SHAPE_IS_TEXT)
			*(char **)member(shape, to) = NULL;
		else if (shape->type == SHAPE_IS_LIST)
			memset(member(shape, to), 0, sizeof(struct items));
	}
}

void shape_release(const struct shape *shape, void *from)
{
	for (; shape->type != SHAPE_END; shape++) {
		if (shape->type == SHAPE_IS_TEXT) {
			free(*(char **)member(shape, from));
		} else if (shape->type == SHAPE_IS_STRUCT) {
			shape_release(shape->of, member(shape, from));
		} else if (shape->type == SHAPE_IS_LIST) {
			struct items items = items_of(member(shape, from));

			for (size_t i = 0; i < items.len; i++)
				shape_release(shape->of, items.data + i * shape->size);
			free(items.data);
		}
	}
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
	case SHAPE_IS_TEXT:
		return read_text(from, to, error);
	case SHAPE_IS_SIGNED:
		return read_number(from, to, error);
	case SHAPE_IS_STRUCT:
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
