// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/page.h"

#include <errno.h>

#include "show/page/internal.h"

#define BYTES (24u << 20)
#define CELLS 1000000 /* that a browser looks through within a frame or two */
#define SPANS 500000
#define EVENTS 1000000

struct page *page_new(const struct page_options *options)
{
	struct page *page = NULL;
	size_t room = 0;

	page = vec_grow(page, &room, 1, sizeof(*page));
	*page = (struct page){ .options = *options, .filtering = filter_active(options->filter) };
	page->report = report_new(options->filter);
	page->to_report = report_sink(page->report);
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

struct page_shares page_shares(const struct page *page)
{
	size_t all = page->options.bytes ? page->options.bytes : BYTES;

	return (struct page_shares){ all, all / 3, all / 6 };
}

int page_put(struct page *page, const struct fact_totals *totals)
{
	int err = page_put_report(page, totals);

	if (err)
		return err;
	page_put_words(page);
	page_put_cube(page);
	page_order_lanes(page);
	page_put_levels(page);
	page_put_events(page);
	return page->pack.total > page_shares(page).all ? -EFBIG : 0;
}
