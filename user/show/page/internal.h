/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of page/ share among themselves. */
#ifndef UCXBPF_PAGE_INTERNAL_H
#define UCXBPF_PAGE_INTERNAL_H

#include "base/place.h"
#include "show/page/cube.h"
#include "show/page/events.h"
#include "show/page/pack.h"
#include "show/page/page.h"
#include "show/page/timeline.h"

/* A level of the timeline that was written. */
struct page_level {
	unsigned int shift;
	uint64_t *first; /* its first row of each lane, in order */
};

struct page {
	struct page_options options;
	bool filtering;
	struct report *report;
	struct fact_sink to_report;
	struct page_hosts hosts;
	struct page_words words;
	VEC(const struct place *) places; /* place of code n at n - 1 */
	struct map place_codes; /* its key's text -> code */
	struct page_cube cube;
	struct page_timeline timeline;
	struct page_events events;
	struct page_pack pack;
	VEC(uint32_t) order; /* lanes as they are written */
	VEC(uint32_t) rank; /* where each lane stands in that */
	VEC(struct page_level) levels;
	bool report_cut; /* the report is there without its rows */
};

/* Limits that are not in page_options. */
struct page_shares {
	size_t all, cube, timeline; /* bytes, compressed; events get what the others leave */
};

struct page_shares page_shares(const struct page *page);

/* ---- facts.c ---- */
uint32_t page_code(int process);
uint32_t page_place_code(struct page *page, const struct place *place);
struct page_key page_call_key(struct page *page, const struct fact_call *call);
struct page_key page_op_key(struct page *page, const struct fact_op *op);
struct page_key page_transfer_key(struct page *page, const struct fact_transfer *transfer);
struct page_key page_message_key(struct page *page, const struct fact_message *message);
struct page_sums page_transfer_sums(const struct fact_transfer *transfer);
struct page_sums page_sums_of(const struct fact_sums *from);
void page_sum_bytes(struct page_sums *sums, uint64_t bytes);
void page_sum_time(struct page_sums *sums, uint64_t start, uint64_t end,
		   enum fact_precision precision);
/* Whether a duration is known. */
bool page_timed(uint64_t start, uint64_t end, enum fact_precision precision);
/* Length of one of several, as far as they are alike. */
uint64_t page_mean_bytes(const struct fact_sums *from);

/* ---- shows.c ---- */

/* Whether the filter lets it through. What has an end is noted either way as seen on its host. */
bool page_shows_call(struct page *page, const struct fact_call *call);
bool page_shows_op(struct page *page, const struct fact_op *op);
bool page_shows_transfer(struct page *page, const struct fact_transfer *transfer);
bool page_shows_message(const struct page *page, const struct fact_message *message);

/* ---- draw.c ---- */

/* What is drawn of a fact, whatever it is. */
struct page_drawn {
	enum page_layer layer;
	int process;
	uint32_t tid, key; /* key: of the cube, once it is there */
	uint64_t start, end, bytes; /* start: 0 unknown */
	enum fact_precision precision;
};

struct page_drawn page_drawn_call(const struct page *page, const struct fact_call *call);
struct page_drawn page_drawn_op(const struct page *page, const struct fact_op *op);
struct page_drawn page_drawn_transfer(const struct page *page,
				      const struct fact_transfer *transfer);
/* Of a single fact. */
struct page_work page_work_of(const struct page_drawn *fact);
/* On the lane of its layer; a transfer, on that of its device, too. */
void page_draw_work(struct page *page, const struct page_drawn *fact, uint32_t name,
		    const struct page_work *work);
void page_draw_transfer(struct page *page, const struct page_drawn *fact,
			const struct page_key *key, const struct page_work *work);
/* event: what it has beside that. */
void page_draw_event(struct page *page, const struct page_drawn *fact, struct page_event event);
/* Of a process's host; -1: not known. */
int page_host_number(const struct page *page, int process);

/* ---- feed_several.c ---- */
void page_feed_calls(void *arg, const struct fact_call *call, const struct fact_sums *from);
void page_feed_ops(void *arg, const struct fact_op *op, const struct fact_sums *from);
void page_feed_transfers(void *arg, const struct fact_transfer *transfer,
			 const struct fact_sums *from);

/* ---- put_report.c ---- */
int page_put_report(struct page *page, const struct fact_totals *totals);
/* Tables of the report that a large one is without; NULL behind the last. */
extern const char *const page_left_out[];
void page_put_words(struct page *page);

/* ---- put_cube.c: coarsened until it fits ---- */
void page_put_cube(struct page *page);

/* ---- put_timeline.c: likewise; lanes are in order from here on ---- */
void page_order_lanes(struct page *page);
void page_put_levels(struct page *page);

/* ---- put_events.c: thinned until lanes, events, threads and links fit ---- */
void page_put_events(struct page *page);

/* ---- directory.c ---- */
json_t *page_directory(struct page *page);

/* ---- page.c: all sections. 0, -errno, -EFBIG: they do not fit. ---- */
int page_put(struct page *page, const struct fact_totals *totals);

#endif
