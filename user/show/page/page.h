/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report as one HTML file that needs nothing else (docs/viewer-data.md): facts go in one by
 * one, sums by all that can be filtered by, a timeline and single events come out, each in as much
 * detail as there is room for. Memory is bounded by that room, not by the number of facts.
 */
#ifndef UCXBPF_PAGE_PAGE_H
#define UCXBPF_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "explain/match/facts.h"
#include "show/report/report.h"

struct page;

/* Where single events are kept; ns from the first event of each host. */
struct page_window {
	uint64_t from, to;
};

/* Reads "2s:2.5s". Returns 0 or -EINVAL. */
int page_window_parse(const char *text, struct page_window *window);

struct page_options {
	struct filter *filter; /* NULL: everything; else must outlive the page */
	const struct page_window *window; /* NULL: wherever there is room */
	const char *beside; /* a verdict's page to link to, as page_beside() allows; NULL: none */
	/* Most that there may be; 0: as documented. For tests. */
	size_t bytes; /* of data, compressed */
	size_t keys; /* of sums: with more, the report is there without its own */
	size_t cells, spans, events; /* in memory: sums, pieces of the timeline, single events */
};

/* Strings of the facts must live until page_free(). */
struct page *page_new(const struct page_options *options);

void page_free(struct page *page);

/* The sink that feeds this page; valid as long as the page. */
struct fact_sink page_sink(struct page *page);

/* Once, when all facts are in. Returns 0 or -errno of a failed write; -EFBIG: no room for it. */
int page_write(struct page *page, const struct fact_totals *totals, FILE *out);

/*
 * The verdict of `ucxbpf check` as one HTML file that needs nothing else.
 * json: UTF-8, as judge_page_data() writes it. beside: the full report's page, to link to, as
 * page_beside() allows; NULL: none. Returns 0 or -errno of a failed write.
 */
int page_verdict(const char *json, const char *beside, FILE *out);

/* Whether a page may link to that: a relative path, of no other scheme, of printable UTF-8. */
bool page_beside(const char *path);

#endif
