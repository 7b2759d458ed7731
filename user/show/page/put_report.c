// SPDX-License-Identifier: BSD-3-Clause
/* The report itself, and the words and places that the numbers stand for. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "show/page/internal.h"

#define MOST_KEYS 25000 /* whose rows, 10 MB of text, a browser reads while it opens */

static int put(struct page *page, int (*print)(const struct report *report, FILE *out))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int err = out ? print(page->report, out) : -errno;

	if (out && fclose(out) && !err)
		err = -errno;
	if (!err) {
		page_pack_begin(&page->pack, "report", false);
		page_pack_text(&page->pack, text, bytes);
		page_pack_end(&page->pack);
	}
	free(text);
	return err;
}

const char *const page_left_out[] = { "calls", "ops", "transfers", "messages", NULL };

static bool left_out(const char *table)
{
	for (int i = 0; page_left_out[i]; i++)
		if (!strcmp(table, page_left_out[i]))
			return true;
	return false;
}

/* The report as an object that is made whole: what is left is small. */
static void add_member(void *arg, const char *name, const json_t *value)
{
	json_object_set(arg, name, (json_t *)(uintptr_t)value);
}

static void add_table(void *arg, const char *name)
{
	if (!left_out(name))
		json_object_set_new(arg, name, json_array());
}

static void add_row(void *arg, const char *table, const json_t *row)
{
	json_array_append(json_object_get(arg, table), (json_t *)(uintptr_t)row);
}

static int print_rest(const struct report *report, FILE *out)
{
	json_t *object = json_object();
	const struct report_visitor visitor = { object, add_member, add_table, add_row };
	int err;

	report_visit(report, &visitor);
	err = json_dumpf(object, out, JSON_COMPACT);
	json_decref(object);
	return err ? -EIO : 0;
}

/* The report has about as many rows as the cube has keys. */
int page_put_report(struct page *page, const struct fact_totals *totals)
{
	size_t most = page->options.keys ? page->options.keys : MOST_KEYS;

	report_finish(page->report, totals);
	page->report_cut = page_cube_keys(&page->cube) > most;
	return put(page, page->report_cut ? print_rest : report_json);
}

static json_t *text_json(const char *text)
{
	char *safe = text ? text_utf8(text) : NULL;
	json_t *json = safe ? json_string(safe) : json_null();

	free(safe);
	return json;
}

static void set_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, text_json(text));
}

static json_t *place_json(const struct place *place)
{
	json_t *object = json_object();
	char hex[24];

	snprintf(hex, sizeof(hex), "%#" PRIx64, place->offset);
	set_text(object, "label", place->label);
	set_text(object, "module", place->module);
	set_text(object, "offset", place->module ? hex : NULL);
	set_text(object, "symbol", place->symbol);
	set_text(object, "file", place->file);
	json_object_set_new(object, "line", place->file ? json_integer(place->line) : json_null());
	return object;
}

void page_put_words(struct page *page)
{
	json_t *names = json_pack("[n]"), *places = json_pack("[n]");

	for (size_t i = 0; i < page->words.texts.len; i++)
		json_array_append_new(names, text_json(page->words.texts.data[i]));
	for (size_t i = 0; i < page->places.len; i++)
		json_array_append_new(places, place_json(page->places.data[i]));
	page_pack_begin(&page->pack, "names", false);
	page_pack_json(&page->pack, names);
	page_pack_end(&page->pack);
	page_pack_begin(&page->pack, "places", false);
	page_pack_json(&page->pack, places);
	page_pack_end(&page->pack);
}
