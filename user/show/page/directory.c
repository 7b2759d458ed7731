// SPDX-License-Identifier: BSD-3-Clause
/* What the page says of its data: where it is, how fine it is, and what was left out. */
#include "show/page/internal.h"
#include "version.h"

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *sections_json(const struct page_pack *pack)
{
	json_t *array = json_array();

	for (size_t i = 0; i < pack->sections.len; i++) {
		const struct page_section *section = &pack->sections.data[i];
		json_t *object =
			json_pack("{s:s, s:o, s:o}", "name", section->name, "packed",
				  number(section->packed_bytes), "bytes", number(section->bytes));

		if (section->columns)
			json_object_set(object, "columns", section->columns);
		json_array_append_new(array, object);
	}
	return array;
}

/* Where the bucket begins that a host's trace begins in. */
static json_t *zero_json(const struct page_host *host, unsigned int shift)
{
	return json_integer((json_int_t)((host->first >> shift << shift) - host->first));
}

/* The time of day of the earliest host: hosts that have none cannot be laid beside the others. */
static int64_t earliest(const struct page_hosts *hosts)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < hosts->hosts.len; i++) {
		const struct page_host *host = &hosts->hosts.data[i];
		int64_t at = (int64_t)host->first + host->ahead;

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
	return json_pack("{s:I, s:o, s:o, s:o, s:o}", "host", (json_int_t)number_of, "span_ns",
			 number(host->last - host->first), "zero_ns",
			 zero_json(host, page->cube.shift), "level_zero_ns", levels, "begin_ns",
			 host->clocked && host->last
				 ? json_integer((int64_t)host->first + host->ahead - zero)
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

/* A column by its name where all that have it gave it up, else with the section: "ops.peer". */
static void add_merged(json_t *array, const struct page_cube *cube, int column)
{
	unsigned int have = 0, gone = 0;

	for (int i = 0; i < PAGE_SORTS; i++) {
		have |= (page_shapes[i].columns >> column & 1) << i;
		gone |= (cube->merged[i] >> column & 1) << i;
	}
	if (have && have == gone)
		json_array_append_new(array, json_string(page_column_names[column]));
	for (int i = 0; have != gone && i < PAGE_SORTS; i++)
		if (gone >> i & 1)
			json_array_append_new(array, json_sprintf("%s.%s", page_shapes[i].name,
								  page_column_names[column]));
}

static json_t *merged_json(const struct page_cube *cube)
{
	json_t *array = json_array();

	for (int i = 0; i < PAGE_COLUMNS; i++)
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
	json_t *array = json_array();

	for (int i = 0; page->report_cut && page_left_out[i]; i++)
		json_array_append_new(array, json_string(page_left_out[i]));
	return json_pack("{s:o}", "left_out", array);
}

json_t *page_directory(struct page *page)
{
	return json_pack("{s:s, s:s, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
			 "ucxbpf.viewer/1", "generator", "ucxbpf " UCXBPF_VERSION, "budget",
			 "bytes", number(page_shares(page).all), "used", number(page->pack.total),
			 "rounded", number(page->pack.rounded), "report", left_out_json(page),
			 "time", time_json(page), "cube", cube_json(&page->cube), "timeline",
			 timeline_json(page), "sections", sections_json(&page->pack));
}
