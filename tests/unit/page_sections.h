/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a page's sections again, as docs/viewer-data.md says. */
#ifndef TESTS_UNIT_PAGE_SECTIONS_H
#define TESTS_UNIT_PAGE_SECTIONS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "explain/analysis/analysis.h"
#include "show/page/internal.h"

static inline void add_captures(struct analysis *analysis, const char *names)
{
	const char *top = getenv("TOP"), *why = NULL;
	char path[4096];
	int length;

	for (; *names; names += length + (names[length] == ' ')) {
		length = (int)strcspn(names, " ");
		snprintf(path, sizeof(path), "%s/tests/data/%.*s.ucxb", top ? top : ".", length,
			 names);
		assert_int_equal(analysis_add_file(analysis, path, &why), 0);
	}
}

/* A page; the analysis owns its strings. */
struct made_page {
	struct analysis *analysis;
	struct page *page;
	struct fact_totals totals;
};

/* Of captures, whose names have spaces between them. */
static inline void made_page_feed(struct made_page *made, const char *captures,
				  const struct page_options *options)
{
	struct analysis *scanned = analysis_new();
	struct fact_sink sink;

	memset(made, 0, sizeof(*made));
	made->analysis = analysis_new();
	add_captures(made->analysis, captures);
	made->page = page_new(options);
	add_captures(scanned, captures);
	sink = page_scan(made->page);
	assert_int_equal(analysis_run(scanned, &sink, &made->totals), 0);
	page_scan_end(made->page);
	analysis_free(scanned);
	sink = page_sink(made->page);
	assert_int_equal(analysis_run(made->analysis, &sink, &made->totals), 0);
}

static inline void made_page_of(struct made_page *made, const char *captures,
				const struct page_options *options)
{
	made_page_feed(made, captures, options);
	assert_int_equal(page_put(made->page, &made->totals), 0);
}

static inline void made_page_release(struct made_page *made)
{
	page_free(made->page);
	analysis_free(made->analysis);
}

static inline const struct page_section *section_of(const struct page *page, const char *name)
{
	for (size_t i = 0; i < page->pack.sections.len; i++)
		if (!strcmp(page->pack.sections.data[i].name, name))
			return &page->pack.sections.data[i];
	return NULL;
}

/* Its content with a 0 behind it; the caller frees it. */
static inline char *content_of(const struct page *page, const char *name)
{
	const struct page_section *section = section_of(page, name);
	char *content;
	uLongf bytes;

	assert_non_null(section);
	bytes = section->bytes;
	content = calloc(1, bytes + 1);
	assert_int_equal(uncompress((unsigned char *)content, &bytes, section->packed,
				    section->packed_bytes),
			 Z_OK);
	assert_int_equal(bytes, section->bytes);
	return content;
}

static inline json_t *text_of(const struct page *page, const char *name)
{
	char *content = content_of(page, name);
	json_error_t error;
	json_t *json = json_loads(content, 0, &error);

	if (!json)
		fail_msg("%s: %s", name, error.text);
	free(content);
	return json;
}

static inline uint64_t number_at(const char *content, const char *type, size_t i)
{
	uint16_t u16;
	uint32_t u32;
	double f64;

	if (!strcmp(type, "u8"))
		return ((const unsigned char *)content)[i];
	if (!strcmp(type, "u16")) {
		memcpy(&u16, content + i * sizeof(u16), sizeof(u16));
		return u16;
	}
	if (!strcmp(type, "u32")) {
		memcpy(&u32, content + i * sizeof(u32), sizeof(u32));
		return u32;
	}
	assert_string_equal(type, "f64");
	memcpy(&f64, content + i * sizeof(f64), sizeof(f64));
	return (uint64_t)f64;
}

struct table_column {
	char name[24];
	size_t length;
	uint64_t *values;
};

struct table {
	size_t count;
	struct table_column columns[64];
};

static inline void table_read(struct table *table, const struct page *page, const char *section)
{
	char *content = content_of(page, section);
	size_t i, k;
	json_t *meta;

	table->count = 0;
	json_array_foreach(section_of(page, section)->columns, i, meta)
	{
		struct table_column *column = &table->columns[table->count++];
		json_int_t offset, length;
		const char *name, *type;

		assert_int_equal(json_unpack(meta, "{s:s, s:s, s:I, s:I}", "name", &name, "type",
					     &type, "offset", &offset, "length", &length),
				 0);
		assert_int_equal(offset % 8, 0);
		snprintf(column->name, sizeof(column->name), "%s", name);
		column->length = (size_t)length;
		column->values = calloc(column->length + 1, sizeof(*column->values));
		for (k = 0; k < column->length; k++)
			column->values[k] = number_at(content + offset, type, k);
	}
	free(content);
}

static inline const struct table_column *table_find(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, name))
			return &table->columns[i];
	return NULL;
}

static inline uint64_t table_at(const struct table *table, const char *name, size_t row)
{
	const struct table_column *column = table_find(table, name);

	if (!column)
		fail_msg("no column %s", name);
	assert_true(row < column->length);
	return column->values[row];
}

static inline size_t table_rows(const struct table *table, const char *name)
{
	const struct table_column *column = table_find(table, name);

	return column ? column->length : 0;
}

static inline uint64_t table_sum(const struct table *table, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < table_rows(table, name); i++)
		sum += table_at(table, name, i);
	return sum;
}

static inline void table_release(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->columns[i].values);
}

#endif
