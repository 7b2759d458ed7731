/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in one line of JSON that fits a job's comment, schema "ucxbpf.line/1". */
#ifndef UCXBPF_SHOW_LINE_LINE_H
#define UCXBPF_SHOW_LINE_LINE_H

#include <stdio.h>

#include "explain/facts/facts.h"

#define LINE_SCHEMA "ucxbpf.line/1"
#define LINE_ROOM 200 /* bytes of a line, its end included */

/* NULL: unknown, or none. */
struct job_line {
	const char *job, *step;
	unsigned int ranks; /* processes seen */
	double seconds;
	double unwatched; /* seconds of these in which not all probes were in place; NAN: unknown */
	uint64_t calls, sends, bytes; /* bytes: of sends, at least */
	const char *why; /* some were not counted: 0 calls or sends are unknown; NULL: all were */
	const char *transport, *device; /* of most data */
	uint64_t most, data; /* bytes over these, and of all data transfers */
	uint64_t lost; /* records */
};

/*
 * Writes its members as text, without a newline; if there is no room, the least important ones are
 * left out.
 */
void line_text(const struct job_line *line, char text[LINE_ROOM]);

/* ---- lines of captures ---- */

struct job_lines;

struct job_lines *lines_new(void);
void lines_free(struct job_lines *lines);

/* Feeds it; facts' texts live until lines_free(). */
struct fact_sink lines_sink(struct job_lines *lines);

/* A line for each job, in the order in which they came. 0, or -errno of a write. */
int lines_write(const struct job_lines *lines, const struct fact_totals *totals, FILE *out);

#endif
