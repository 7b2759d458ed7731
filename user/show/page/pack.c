// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/pack.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"

#define LEVEL 5
#define ALIGNMENT 8
#define EXACT (1ull << 53)

static void section_release(struct page_section *section)
{
	json_decref(section->columns);
	vec_release(&section->content);
	free(section->packed);
}

void page_pack_drop(struct page_pack *pack, size_t position)
{
	struct page_section *section = &pack->sections.data[position];

	pack->total -= section->packed_bytes;
	section_release(section);
	pack->sections.len--;
	memmove(section, section + 1, (pack->sections.len - position) * sizeof(*section));
}

void page_pack_cut(struct page_pack *pack, size_t position)
{
	while (pack->sections.len > position)
		page_pack_drop(pack, pack->sections.len - 1);
}

void page_pack_release(struct page_pack *pack)
{
	page_pack_cut(pack, 0);
	vec_release(&pack->sections);
	vec_release(&pack->values);
}

static struct page_section *open_section(struct page_pack *pack)
{
	return &pack->sections.data[pack->sections.len - 1];
}

void page_pack_begin(struct page_pack *pack, const char *name, bool columns)
{
	struct page_section *section = vec_add(&pack->sections);

	snprintf(section->name, sizeof(section->name), "%s", name);
	section->columns = columns ? json_array() : NULL;
}

uint64_t *page_pack_values(struct page_pack *pack, size_t count)
{
	vec_reserve(&pack->values, count);
	return pack->values.data;
}

static unsigned char *extend(struct page_section *section, size_t bytes)
{
	size_t at = section->content.len;

	vec_reserve(&section->content, at + bytes + ALIGNMENT);
	section->content.len += bytes;
	return section->content.data + at;
}

static void align(struct page_section *section)
{
	while (section->content.len % ALIGNMENT)
		*extend(section, 1) = 0;
}

void page_pack_text(struct page_pack *pack, const char *text, size_t bytes)
{
	memcpy(extend(open_section(pack), bytes), text, bytes);
}

void page_pack_json(struct page_pack *pack, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	if (!text)
		alloc_failed();
	page_pack_text(pack, text, strlen(text));
	free(text);
	json_decref(value);
}

static void put_double(struct page_pack *pack, unsigned char *to, uint64_t value)
{
	double number = (double)value;
	uint64_t bits;

	pack->rounded += value > EXACT;
	memcpy(&bits, &number, sizeof(bits));
	bits = htole64(bits);
	memcpy(to, &bits, sizeof(bits));
}

static const struct {
	const char *name;
	size_t size;
	uint64_t most;
} types[] = {
	{ "u8", 1, UINT8_MAX },
	{ "u16", 2, UINT16_MAX },
	{ "u32", 4, UINT32_MAX },
	{ "f64", 8, UINT64_MAX },
};

static size_t narrowest(const uint64_t *values, size_t count)
{
	uint64_t most = 0;
	size_t type = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] > most)
			most = values[i];
	while (types[type].most < most)
		type++;
	return type;
}

void page_pack_column(struct page_pack *pack, const char *name, size_t count)
{
	struct page_section *section = open_section(pack);
	const uint64_t *values = pack->values.data;
	size_t type = narrowest(values, count), size = types[type].size, offset;
	unsigned char *to;

	align(section);
	offset = section->content.len;
	to = extend(section, count * size);
	for (size_t i = 0; i < count; i++, to += size)
		if (size == 8) {
			put_double(pack, to, values[i]);
		} else {
			uint64_t little = htole64(values[i]);

			memcpy(to, &little, size);
		}
	json_array_append_new(section->columns,
			      json_pack("{s:s, s:s, s:I, s:I}", "name", name, "type",
					types[type].name, "offset", (json_int_t)offset, "length",
					(json_int_t)count));
}

void page_pack_end(struct page_pack *pack)
{
	struct page_section *section = open_section(pack);
	uLongf got = compressBound(section->content.len);

	section->bytes = section->content.len;
	section->packed = xmalloc(got);
	if (compress2(section->packed, &got, section->content.data, section->bytes, LEVEL) != Z_OK)
		alloc_failed();
	section->packed = xreallocarray(section->packed, got, 1);
	section->packed_bytes = got;
	pack->total += got;
	vec_release(&section->content);
}
