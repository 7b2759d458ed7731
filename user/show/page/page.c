// SPDX-License-Identifier: BSD-3-Clause
/*
 * A page: the report, the words and places that numbers stand for, and the directory, which
 * describes the sections, their resolution and dropped detail.
 */
#include "show/page/internal.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/shape.h"
#include "base/units.h"
#include "base/vec.h"
#include "show/page/page.h"
#include "version.h"

int page_window_parse(const char *text, struct page_window *window)
{
	const char *end;

	if (duration_parse(text, &end, &window->from) || *end != ':' ||
	    duration_parse(end + 1, &end, &window->to) || *end || window->from >= window->to)
		return -EINVAL;
	return 0;
}

#define CELLS 1000000 /* as many as a browser can scan in a frame or two */
#define SPANS 500000
#define EVENTS 1000000

struct page *page_new(const struct page_options *options)
{
	struct page *page = NULL;
	size_t room = 0;

	page = vec_grow(page, &room, 1, sizeof(*page));
	*page = (struct page){ .options = *options };
	selection_init(&page->selection, options->filter);
	page->report = report_new(options->filter);
	page->to_report = report_sink(page->report);
	selection_init(&page->scanned, options->filter);
	page_causes_init(&page->causes);
	page_cube_init(&page->cube, &page->hosts, options->cells ? options->cells : CELLS);
	page_timeline_init(&page->timeline, &page->hosts, options->spans ? options->spans : SPANS);
	page_events_init(&page->events, &page->hosts, options->window,
			 options->events ? options->events : EVENTS);
	return page;
}

void page_free(struct page *page)
{
	if (!page)
		return;
	report_free(page->report);
	page_hosts_release(&page->hosts);
	clocks_release(&page->clocks);
	selection_release(&page->selection);
	selection_release(&page->scanned);
	page_causes_release(&page->causes);
	strings_release(&page->place_keys);
	page_words_release(&page->words);
	vec_release(&page->places);
	map_release(&page->place_codes);
	page_cube_release(&page->cube);
	page_timeline_release(&page->timeline);
	page_events_release(&page->events);
	page_pack_release(&page->pack);
	vec_release(&page->order);
	vec_release(&page->rank);
	for (size_t i = 0; i < page->levels.len; i++)
		free(page->levels.data[i].first);
	vec_release(&page->levels);
	free(page);
}

#define MOST_KEYS 25000 /* whose rows, 10 MB of text, a browser reads while it opens */

static int page_put_json(struct page *page, int (*print)(const struct report *report, FILE *out))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = xmemstream(&text, &bytes);
	int err = print(page->report, out);

	fclose(out);
	if (!err) {
		page_pack_begin(&page->pack, "report", false);
		page_pack_text(&page->pack, text, bytes);
		page_pack_end(&page->pack);
	}
	free(text);
	return err;
}

/* Tables of the report that are left out of a large page. */
static const char *const page_left_out[] = { "calls", "ops", "transfers", "messages", NULL };

static bool left_out(const char *table)
{
	for (int i = 0; page_left_out[i]; i++)
		if (!strcmp(table, page_left_out[i]))
			return true;
	return false;
}

/* The report as one object: the rest is small. */
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
static int page_put_report(struct page *page, const struct fact_totals *totals)
{
	size_t most = page->options.keys ? page->options.keys : MOST_KEYS;

	report_finish(page->report, totals);
	page->report_cut = page_cube_keys(&page->cube) > most;
	return page_put_json(page, page->report_cut ? print_rest : report_json);
}

static const struct shape place_shape[] = {
	SHAPE_OF(struct place, label),
	SHAPE_OF(struct place, frame),
	SHAPE_OF(struct place, module),
	SHAPE_OF(struct place, offset, .hex = true, SHAPE_WHEN(struct place, module)),
	SHAPE_OF(struct place, symbol),
	SHAPE_OF(struct place, demangled, .optional = true),
	SHAPE_OF(struct place, file),
	SHAPE_OF(struct place, line, SHAPE_WHEN(struct place, file)),
	SHAPE_OF(struct place, library),
	SHAPE_OF(struct place, role),
	{ 0 },
};

static void page_put_words(struct page *page)
{
	json_t *names = json_pack("[n]"), *places = json_pack("[n]");

	for (size_t i = 0; i < page->words.texts.all.len; i++)
		json_array_append_new(names, shape_text(page->words.texts.all.data[i]));
	for (size_t i = 0; i < page->places.len; i++) {
		const struct place *place = page->places.data[i];

		json_array_append_new(places,
				      place ? shape_json(place_shape, place, NULL) : json_null());
	}
	page_pack_begin(&page->pack, "names", false);
	page_pack_json(&page->pack, names);
	page_pack_end(&page->pack);
	page_pack_begin(&page->pack, "places", false);
	page_pack_json(&page->pack, places);
	page_pack_end(&page->pack);
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

SHAPE_GETTER(columns_of, struct page_section, section, json_incref(section->columns));

static const struct shape section_shape[] = {
	SHAPE_CHARS("name", struct page_section, name),
	SHAPE_AS("packed", struct page_section, packed_bytes),
	SHAPE_OF(struct page_section, bytes),
	SHAPE_WHOLE("columns", columns_of, .optional = true),
	{ 0 },
};

/* The start of the bucket in which a host's trace starts. */
static json_t *zero_json(const struct page_host *host, unsigned int shift)
{
	return json_integer((json_int_t)((host->first >> shift << shift) - host->first));
}

/*
 * The time of day at which a host's trace starts: by the clock of the host that messages join it
 * to, if that one tells its time of day, else by its own. A capture may claim any time: sums wrap.
 */
static uint64_t time_of_day(const struct page_host *host)
{
	return host->first + (uint64_t)host->ahead;
}

/* An offset holds in the middle of the messages: over a short run their drift is hardly known. */
static void fit_hosts(struct page *page)
{
	size_t count = page->hosts.hosts.len;
	struct clock_place *places = xcalloc(count + 1, sizeof(*places));

	clocks_place(&page->clocks, count, places);
	for (size_t i = 0; i < count; i++) {
		struct page_host *host = &page->hosts.hosts.data[i];
		const struct page_host *reference = &page->hosts.hosts.data[places[i].reference];

		host->reference = (int)i;
		if (places[i].reference == (int)i || !reference->clocked || !host->last)
			continue;
		host->reference = places[i].reference;
		host->uncertainty = places[i].uncertainty;
		host->ahead = reference->ahead + clock_place_offset(&places[i], host->clocked,
								    host->ahead - reference->ahead);
		host->clocked = true;
	}
	free(places);
}

/* The time of day of the earliest host: hosts without a clock cannot be aligned. */
static int64_t earliest(const struct page_hosts *hosts)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < hosts->hosts.len; i++) {
		const struct page_host *host = &hosts->hosts.data[i];
		int64_t at = (int64_t)time_of_day(host);

		if (host->clocked && host->last && at < least)
			least = at;
	}
	return least;
}

static json_t *host_json(const struct page *page, size_t number_of, int64_t zero)
{
	const struct page_host *host = &page->hosts.hosts.data[number_of];
	json_t *levels = json_array();

	for (size_t i = 0; i < page->levels.len; i++)
		json_array_append_new(levels, zero_json(host, page->levels.data[i].shift));
	return json_pack("{s:I, s:o, s:o, s:o, s:I, s:o, s:o}", "host", (json_int_t)number_of,
			 "span_ns", number(host->last - host->first), "zero_ns",
			 zero_json(host, page->cube.shift), "level_zero_ns", levels, "reference",
			 (json_int_t)host->reference, "uncertainty_ns", number(host->uncertainty),
			 "begin_ns",
			 host->clocked && host->last
				 ? json_integer((json_int_t)(time_of_day(host) - (uint64_t)zero))
				 : json_null());
}

static json_t *time_json(const struct page *page)
{
	json_t *hosts = json_array();
	int64_t zero = earliest(&page->hosts);

	for (size_t i = 0; i < page->hosts.hosts.len; i++)
		if (page->hosts.hosts.data[i].known)
			json_array_append_new(hosts, host_json(page, i, zero));
	return json_pack("{s:o, s:o, s:o}", "bucket_ns", number(1ull << page->cube.shift),
			 "buckets", number(page_hosts_buckets(&page->hosts, page->cube.shift)),
			 "hosts", hosts);
}

/* A dropped column by its name if all tables dropped it, else with the section: "ops.peer". */
static void add_merged(json_t *array, const struct page_cube *cube, int column)
{
	unsigned int have = 0, gone = 0;

	for (int i = 0; i < PAGE_SORTS; i++) {
		have |= (page_cube_keyed(cube, i) >> column & 1) << i;
		gone |= (cube->merged[i] >> column & 1) << i;
	}
	if (have && have == gone)
		json_array_append_new(array, json_string(page_key_name(column)));
	for (int i = 0; have != gone && i < PAGE_SORTS; i++)
		if (gone >> i & 1)
			json_array_append_new(array, json_sprintf("%s.%s", page_shapes[i].name,
								  page_key_name(column)));
}

static json_t *merged_json(const struct page_cube *cube)
{
	json_t *array = json_array();

	for (int i = 0; i < PAGE_KEYS; i++)
		add_merged(array, cube, i);
	if (cube->merged_size)
		json_array_append_new(array, json_string("size"));
	return array;
}

static json_t *cube_json(const struct page_cube *cube)
{
	return json_pack("{s:o, s:o, s:o}", "cells", number(page_cube_cells(cube)), "keys",
			 number(page_cube_keys(cube)), "merged", merged_json(cube));
}

static json_t *windows_json(const struct page *page)
{
	json_t *array = json_array();
	struct page_window window;

	for (size_t host = 0; host < page->hosts.hosts.len; host++)
		for (uint64_t i = 0; page_events_window(&page->events, (int)host, i, &window); i++)
			if (window.from < window.to)
				json_array_append_new(array, json_pack("{s:I, s:o, s:o}", "host",
								       (json_int_t)host, "from_ns",
								       number(window.from), "to_ns",
								       number(window.to)));
	return array;
}

static json_t *timeline_json(const struct page *page)
{
	json_t *levels = json_array();

	for (size_t i = 0; i < page->levels.len; i++)
		json_array_append_new(levels,
				      json_pack("{s:o}", "bucket_ns",
						number(1ull << page->levels.data[i].shift)));
	return json_pack("{s:o, s:o, s:{s:o, s:o, s:o}}", "levels", levels, "untimed",
			 number(page->timeline.untimed), "events", "kept",
			 number(page_events_count(&page->events)), "of", number(page->events.seen),
			 "windows", windows_json(page));
}

static json_t *left_out_json(const struct page *page)
{
	size_t count = page->report_cut ? ARRAY_SIZE(page_left_out) - 1 : 0;

	return json_pack("{s:o}", "left_out", shape_texts(page_left_out, count));
}

json_t *page_directory(struct page *page)
{
	return json_pack("{s:s, s:s, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
			 "ucxbpf.viewer/2", "generator", "ucxbpf " UCXBPF_VERSION, "budget",
			 "bytes", number(page_shares(page).all), "used", number(page->pack.total),
			 "rounded", number(page->pack.rounded), "report", left_out_json(page),
			 "time", time_json(page), "cube", cube_json(&page->cube), "timeline",
			 timeline_json(page), "sections",
			 shape_list(section_shape, page->pack.sections, NULL));
}

static bool window_is_beyond(const struct page *page)
{
	const struct page_window *window = page->options.window;

	for (size_t i = 0; window && i < page->hosts.hosts.len; i++) {
		const struct page_host *host = &page->hosts.hosts.data[i];

		if (host->last && host->last - host->first >= window->from)
			return false;
	}
	return window;
}

int page_put(struct page *page, const struct fact_totals *totals)
{
	int err = window_is_beyond(page) ? -EINVAL : page_put_report(page, totals);

	if (err)
		return err;
	fit_hosts(page);
	page_put_words(page);
	page_put_cube(page);
	page_order_lanes(page);
	page_put_levels(page);
	page_put_events(page);
	return page->pack.total > page_shares(page).all ? -EFBIG : 0;
}
