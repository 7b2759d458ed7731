// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

/* Characters of so many bytes: the bits of the first byte, and the least number. */
static const struct {
	unsigned char mask, mark;
	unsigned int least;
} forms[] = {
	{ 0x80, 0x00, 0 },
	{ 0xe0, 0xc0, 0x80 },
	{ 0xf0, 0xe0, 0x800 },
	{ 0xf8, 0xf0, 0x10000 },
};

#define FORMS ARRAY_SIZE(forms)

size_t text_character(const char *text, unsigned int *code)
{
	unsigned char first = (unsigned char)*text;
	size_t more = 0;

	while (more < FORMS && (first & forms[more].mask) != forms[more].mark)
		more++;
	if (more == FORMS)
		return 0;
	*code = first & (unsigned char)~forms[more].mask;
	for (size_t i = 1; i <= more; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (*code < forms[more].least || *code > 0x10ffff || (*code & ~0x7ffu) == 0xd800)
		return 0;
	return more + 1;
}

bool text_steers(unsigned int code)
{
	static const struct {
		unsigned int first, last;
	} ranges[] = {
		{ 0, 0x1f }, /* C0 */
		{ 0x7f, 0x9f }, /* DEL, C1 */
		{ 0x61c, 0x61c }, /* direction: what follows would stand in another order */
		{ 0x200e, 0x200f }, { 0x2028, 0x2029 }, /* separators of lines and paragraphs */
		{ 0x202a, 0x202e }, /* direction */
		{ 0x2066, 0x2069 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

static char *copy(const char *text, bool plain)
{
	char *safe = xmalloc(strlen(text) + 1), *to = safe;
	unsigned int code;

	while (*text) {
		size_t len = text_character(text, &code);

		if (len && !(plain && text_steers(code)))
			to = mempcpy(to, text, len);
		else
			*to++ = '?';
		text += len ? len : 1;
	}
	*to = '\0';
	return safe;
}

char *text_utf8(const char *text)
{
	return copy(text, false);
}

char *text_plain(const char *text)
{
	return copy(text, true);
}

/* Between strings only line breaks steer, and within them encoders escape these. */
static void put_escaped(const char *json, FILE *out)
{
	unsigned int code;

	while (*json) {
		const char *end = json;
		size_t len = 0;

		while (*end &&
		       (!(len = text_character(end, &code)) || code == '\n' || !text_steers(code)))
			end += len ? len : 1;
		fwrite(json, 1, (size_t)(end - json), out);
		if (*end)
			fprintf(out, "\\u%04x", code);
		json = end + (*end ? len : 0);
	}
}

void text_put_json(const json_t *value, size_t flags, FILE *out)
{
	char *json = json_dumps(value, flags | JSON_ENCODE_ANY);

	if (!json)
		alloc_failed();
	put_escaped(json, out);
	free(json);
}

char *text_json(const json_t *value, size_t flags)
{
	char *text;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	text_put_json(value, flags, out);
	fclose(out);
	return text;
}

bool text_ends(const char *text, const char *part)
{
	const size_t length = text ? strlen(text) : 0;

	return text && length >= strlen(part) && !strcmp(text + length - strlen(part), part);
}

int text_finish(FILE *out)
{
	if (!fflush(out) && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
