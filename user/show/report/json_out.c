// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/json_out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"

static void check(struct json_out *out, bool failed)
{
	if (failed && !out->err)
		out->err = errno ? -errno : -EIO;
}

static void put(struct json_out *out, const char *text)
{
	check(out, fputs(text, out->file) == EOF);
}

/* JSON leaves DEL, C1 and separators of lines as they are; a terminal does not. */
static void put_safe(struct json_out *out, const char *text)
{
	unsigned int code;

	while (*text) {
		const char *end = text;
		size_t len = 0;

		while (*end && (!(len = text_character(end, &code)) || !text_steers(code)))
			end += len ? len : 1;
		check(out,
		      fwrite(text, 1, (size_t)(end - text), out->file) != (size_t)(end - text));
		if (*end)
			check(out, fprintf(out->file, "\\u%04x", code) < 0);
		text = end + (*end ? len : 0);
	}
}

static void dump(struct json_out *out, json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);

	if (!text)
		abort();
	put_safe(out, text);
	free(text);
	json_decref(value);
}

static void name_member(struct json_out *out, const char *name)
{
	put(out, out->more_members ? ",\n" : "\n");
	out->more_members = true;
	check(out, fprintf(out->file, " \"%s\": ", name) < 0);
}

void json_out_begin(struct json_out *out, FILE *file)
{
	*out = (struct json_out){ .file = file };
	errno = 0;
	put(out, "{");
}

int json_out_end(struct json_out *out)
{
	put(out, "\n}\n");
	check(out, fflush(out->file) || ferror(out->file));
	return out->err;
}

void json_out_visit(struct json_out *out, const struct report_visitor *visitor)
{
	*out = (struct json_out){ .visitor = visitor };
}

void json_out_member(struct json_out *out, const char *name, json_t *value)
{
	if (out->visitor) {
		out->visitor->member(out->visitor->arg, name, value);
		json_decref(value);
		return;
	}
	name_member(out, name);
	dump(out, value);
}

void json_out_array(struct json_out *out, const char *name)
{
	out->array = name;
	if (out->visitor) {
		out->visitor->table(out->visitor->arg, name);
		return;
	}
	name_member(out, name);
	put(out, "[");
	out->more_items = false;
}

void json_out_item(struct json_out *out, json_t *value)
{
	if (out->visitor) {
		out->visitor->row(out->visitor->arg, out->array, value);
		json_decref(value);
		return;
	}
	put(out, out->more_items ? ",\n  " : "\n  ");
	out->more_items = true;
	dump(out, value);
}

void json_out_array_end(struct json_out *out)
{
	if (!out->visitor)
		put(out, out->more_items ? "\n ]" : "]");
}

json_t *json_out_text(const char *text, const char *absent)
{
	json_t *string;
	char *safe;

	text = text ? text : absent;
	if (!text)
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	safe = text_utf8(text);
	string = json_string(safe);
	free(safe);
	return string;
}
