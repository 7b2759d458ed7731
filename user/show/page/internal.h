/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of page/. */
#ifndef UCXBPF_PAGE_INTERNAL_H
#define UCXBPF_PAGE_INTERNAL_H

#include "base/place.h"
#include "explain/clocks/clocks.h"
#include "show/page/causes.h"
#include "show/page/cube.h"
#include "show/page/events.h"
#include "show/page/pack.h"
#include "show/page/page.h"
#include "show/page/timeline.h"

/* A level of the timeline that has been written. */
struct page_level {
	unsigned int shift;
	uint64_t *first; /* first row of each lane, in order */
};

struct page {
	struct page_options options;
	struct selection selection;
	struct report *report;
	struct fact_sink to_report;
	struct page_hosts hosts;
	struct clocks clocks; /* between hosts, over all messages whatever the filter */
	struct page_words words;
	VEC(const struct place *) places; /* place of code n at n - 1 */
	struct strings place_keys; /* its key's text at n - 1 */
	struct map place_codes; /* that text's address -> code */
	struct selection scanned; /* in the scan */
	struct page_causes causes;
	struct page_cube cube;
	struct page_timeline timeline;
	struct page_events events;
	struct page_pack pack;
	VEC(uint32_t) order; /* lanes in output order */
	VEC(uint32_t) rank; /* position of each lane in that order */
	VEC(struct page_level) levels;
	bool report_cut; /* the report was written without its rows */
};

/* Limits that are not in page_options. */
struct page_shares {
	size_t all, cube, timeline; /* compressed bytes; events get the rest */
};

/* ---- keys.c ---- */

/* 0: unknown. */
uint32_t page_code(int process);
uint32_t page_word_code(struct page *page, const char *text);
uint32_t page_place_code(struct page *page, const struct place *place);

/* The key of a fact, without its causes. */
struct page_key page_key_of(struct page *page, enum page_sort sort, const void *fact);
struct page_key page_transfer_key(struct page *page, const struct fact_transfer *transfer);

/* The analysis whose strings and places have codes is about to be freed. */
void page_forget_names(struct page *page);

/* ---- sections.c ---- */
struct page_shares page_shares(const struct page *page);

/* Writes the cube, coarsened until it fits. */
void page_put_cube(struct page *page);

/* Likewise the timeline; lanes are in output order from here on. */
void page_order_lanes(struct page *page);
void page_put_levels(struct page *page);

/* Writes lanes, events, threads and links, thinned until they fit. */
void page_put_events(struct page *page);

/* ---- page.c ---- */

json_t *page_directory(struct page *page);

/* Writes all sections. Returns 0, -errno, or -EFBIG if they do not fit. */
int page_put(struct page *page, const struct fact_totals *totals);

#endif
