// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "site/inventory/private.h"

#define MAX_BYTES (64 << 20)

static int open_regular(const char *path, FILE **file)
{
	struct stat stat;

	*file = fopen(path, "re");
	if (!*file)
		return -errno;
	if (fstat(fileno(*file), &stat) || !S_ISREG(stat.st_mode) || stat.st_size > MAX_BYTES) {
		fclose(*file);
		return S_ISDIR(stat.st_mode) ? -EISDIR : -EFBIG;
	}
	return 0;
}

static int refuse(char why[INVENTORY_WHY], const char *where, const char *what)
{
	snprintf(why, INVENTORY_WHY, "%s%s%s", where, *where ? ": " : "", what);
	return -EINVAL;
}

static bool is_schema(json_t *object)
{
	const char *schema = json_string_value(json_object_get(object, "schema"));

	return schema && !strcmp(schema, INVENTORY_SCHEMA);
}

/* The object is changed. */
static int take(json_t *object, struct inventory **inventory, char why[INVENTORY_WHY])
{
	struct shape_error error = { .where = "" };
	struct inventory *made;

	if (!is_schema(object))
		return refuse(why, "schema", "is not " INVENTORY_SCHEMA);
	json_object_del(object, "schema");
	made = inventory_new();
	if (shape_read(inventory_shape, object, made, &error)) {
		*inventory = made;
		return 0;
	}
	inventory_free(made);
	return refuse(why, error.where, error.what);
}

/* object: NULL where it is no JSON. */
static int take_loaded(json_t *object, const json_error_t *error, struct inventory **inventory,
		       char why[INVENTORY_WHY])
{
	int err;

	if (!object) {
		snprintf(why, INVENTORY_WHY, "line %d: %s", error->line, error->text);
		return -EINVAL;
	}
	err = take(object, inventory, why);
	json_decref(object);
	return err;
}

int inventory_parse(const char *text, struct inventory **inventory, char why[INVENTORY_WHY])
{
	json_error_t error;
	json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	return take_loaded(object, &error, inventory, why);
}

int inventory_read(const char *path, struct inventory **inventory, char why[INVENTORY_WHY])
{
	json_error_t error;
	json_t *object;
	FILE *file;
	int err = open_regular(path, &file);

	if (err) {
		snprintf(why, INVENTORY_WHY, "%s", strerror(-err));
		return err;
	}
	object = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	fclose(file);
	return take_loaded(object, &error, inventory, why);
}
