/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the sections of the text report. Layers: table.c; text.c, their common parts; a file
 * for each section; text_report.c, which prints all.
 */
#ifndef UCXBPF_REPORT_TEXT_H
#define UCXBPF_REPORT_TEXT_H

#include "show/report/internal.h"
#include "show/report/table.h"

#define TEXT_LIMITS 2

struct text_report {
	const struct report *report;
	const struct report_text_options *options;
	FILE *out;
	bool ranks_unique; /* a rank names one process */
	const char *arrow, *at_most, *at_least;
	char outside[128]; /* text_outside() */
};

void text_header(const struct text_report *text);
void text_time_shares(const struct text_report *text);
void text_open(const struct text_report *text);
/* Who is behind, a line each, at most shown of them; returns how many there are. */
size_t text_behind(const struct text_report *text, size_t shown);
/* A line for each worker whose queues were not read to their end. */
void text_unread(const struct text_report *text);
/*
 * The peer and tag that a call waits for: "from rank 1, tag 7", "perhaps to rank 2"; "": not known.
 */
const char *text_peer(const struct fact_open *open, char *line, size_t size);
const char *text_step(const struct text_report *text, const struct fact_open *open, char *line,
		      size_t size);
void text_times(const struct text_report *text);
void text_waits(const struct text_report *text);
void text_collectives(const struct text_report *text);
void text_processes(const struct text_report *text);
void text_deaths(const struct text_report *text);
void text_paths(const struct text_report *text);
void text_functions(const struct text_report *text);
void text_call_sites(const struct text_report *text);
void text_callers(const struct text_report *text);
/* fact_outside() of all callers: "UCX-Py, program". */
void text_outside(const struct report *report, char *out, size_t size);
void text_tags(const struct text_report *text);
void text_devices(const struct text_report *text);
void text_memory(const struct text_report *text);
void text_ways(const struct text_report *text);
void text_pairs(const struct text_report *text);
void text_networks(const struct text_report *text);
void text_sizes(const struct text_report *text);
void text_slowest(const struct text_report *text);
void text_clocks(const struct text_report *text);
void text_unknown(const struct text_report *text);

/* Fills in the members that all sections share. */
void text_begin(struct text_report *text, const struct report *report,
		const struct report_text_options *options, FILE *out);

/* Number of count rows to show, given the limits without -v and with one -v. */
size_t text_limit(const struct text_report *text, size_t count, const size_t limits[TEXT_LIMITS]);

/* Ends a section: prints how many rows were left out, or a blank line. */
void text_end(const struct text_report *text, size_t shown, size_t count);

/* The rank; "3#7" (rank and index) where ranks are not unique; "pid 12" without rank; "?". */
void text_process(const struct text_report *text, char *out, size_t size, int64_t index);

/* Likewise: "rank 3", "rank 3#7", "pid 12", "rank ?". */
void text_who(const struct text_report *text, char *out, size_t size, int64_t index);

/* A duration with a mark for its precision: none = exact, at most, at least, ~ mixed. */
void text_time(const struct text_report *text, char *out, size_t size, uint64_t ns,
	       uint32_t precisions);

/* A share of which the part is at_least or about ("~") so much; bound "": it is exact. */
void text_share(const struct text_report *text, char *out, size_t size, const char *bound,
		uint64_t part, uint64_t whole);

/*
 * The mean of all exact durations, with their number where others have bounds: "38.0 us (52 of
 * 67)". Without exact ones a bound of the mean; "unknown".
 */
void text_mean(const struct text_report *text, char *out, size_t size,
	       const struct cube_sums *sums);

/* Data transfers by owner (first keys) and transport (last key). */
struct text_carried {
	struct cube cube;
	const struct cube_row *
		*sorted; /* sorted by keys, may be reordered below the same first keys */
	const char *between; /* NULL: the last key is named; else the last two, with this */
};

/*
 * Appends the transports of the rows whose first keys are prefix, with their share of the bytes:
 * "posix 60 %, cma 40 %".
 */
void text_shares(char *out, size_t size, const struct text_carried *carried,
		 const uint64_t *prefix);

/*
 * Prints words and ends the line; wrapped at the width, behind so many columns, which are printed
 * on the first line already. Control characters are escaped.
 */
void text_paragraph(const struct text_report *text, int indent, const char *words,
		    enum style style);

/* Appends with snprintf() semantics. */
void text_append(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether text shows every digit: rows of tables do so with --exact only. */
bool text_is_exact(const struct text_report *text);

/* Appends a count, every digit of it where text_is_exact(). */
void text_count(const struct text_report *text, char *out, size_t size, uint64_t count);

/* Appends a duration, every digit of it with --exact only. */
void text_add_time(const struct text_report *text, char *out, size_t size, uint64_t ns);

/*
 * The sign before a number that follows from a layer: "", or at_least if the layer was recorded for
 * a part of the time. NULL: the number is unknown, which a lower bound of zero is as well.
 */
const char *text_layer_bound(const struct text_report *text, enum level level, uint64_t number);

/* Whether cells of a table, whose context is a struct text_report, show every digit. */
static inline bool text_exact(const void *context)
{
	return ((const struct text_report *)context)->options->exact;
}

/* The cube row behind a table row. */
static inline const struct cube_sums *text_row_sums(const void *row)
{
	return &((const struct cube_row *)row)->sums;
}

#endif
