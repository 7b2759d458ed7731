/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report as one self-contained HTML file (docs/viewer-data.md): sums over everything that can
 * be filtered by, a timeline and single events, each in as much detail as fits. Memory is bounded
 * by the size of the page, not by the number of facts.
 */
#ifndef UCXBPF_PAGE_PAGE_H
#define UCXBPF_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "explain/facts/facts.h"
#include "show/report/report.h"

struct page;

/* The window in which single events are kept, ns from the first event of each host. */
struct page_window {
	uint64_t from, to;
};

/* Parses "2s:2.5s". Returns 0 or -EINVAL. */
int page_window_parse(const char *text, struct page_window *window);

struct page_options {
	struct report_filter *filter; /* NULL: everything; else must outlive the page */
	const struct page_window *window; /* NULL: as far as there is room */
	const char *beside; /* page of a verdict to link to, see page_beside(); NULL: none */
	/* Limits; 0: the documented default. For tests. */
	size_t bytes; /* compressed bytes of data */
	size_t keys; /* sums: with more, the report's own rows are left out */
	size_t cells, spans, events; /* in memory: sums, pieces of the timeline, events */
};

/* Strings of the facts after a scan must live until page_free(). */
struct page *page_new(const struct page_options *options);

void page_free(struct page *page);

/*
 * The sink of a scan, to be fed with all facts of the same captures before those of the page, so
 * that filters of the page select what caused the transfers that pass. Optional. The strings of its
 * facts may go after page_scan_end().
 */
struct fact_sink page_scan(struct page *page);
void page_scan_end(struct page *page);

/* The sink that feeds this page; valid until page_free(). */
struct fact_sink page_sink(struct page *page);

/*
 * Call once, after the last fact. Returns 0 or -errno of a failed write; -EFBIG: no room for it;
 * -EINVAL: the window begins after the last event of every host.
 */
int page_write(struct page *page, const struct fact_totals *totals, FILE *out);

/*
 * The verdict of `ucxbpf check` as one self-contained HTML file. json: UTF-8, as judge_page_data()
 * writes it. beside: page of the full report to link to, see page_beside(); NULL: none. Returns 0
 * or -errno of a failed write.
 */
int page_verdict(const char *json, const char *beside, FILE *out);

/* Whether a page may link to this: a relative path without a scheme, in printable UTF-8. */
bool page_beside(const char *path);

#endif
