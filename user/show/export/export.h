/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures in the formats of other tools: facts go in one by one, a file or a directory comes out.
 * Each format is a row of the table in formats.c.
 *
 * An output appears whole or not at all: it is written beside its place, under a name of its own
 * (OUT.part-XXXXXX), and moved there at the end. Devices and pipes are written to directly.
 */
#ifndef UCXBPF_EXPORT_EXPORT_H
#define UCXBPF_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "explain/match/facts.h"
#include "show/page/page.h"
#include "show/report/report.h"

#define EXPORT_WHY 256 /* bytes for a sentence on what went wrong; empty: errno says it all */

enum export_place {
	EXPORT_STREAM, /* a file, a pipe or standard output */
	EXPORT_FILE, /* a file that is written in any order, by its name */
	EXPORT_DIRECTORY, /* one that is not there yet, or empty */
};

struct export_request {
	const struct export_format *format;
	const char *path; /* of the output; NULL: standard output */
	struct filter *filter; /* must outlive the export */
	const char *table; /* of formats with tables: only this one, as a stream; NULL: all */
	enum report_amount amount; /* of folded stacks */
	const char
		*beside; /* of pages: one of a verdict to link to, see page_beside(); NULL: none */
	const struct page_window
		*window; /* of formats with windows: where single events are kept; NULL */
};

/* What a format writes to. */
struct export_target {
	const struct export_request *request;
	FILE *file; /* of a stream; the core flushes and closes it, and sees its errors */
	const char *path; /* of a file (there, empty) or a directory (likewise); else NULL */
	char why[EXPORT_WHY]; /* a format's own words on its error, where errno says too little */
};

struct export_format {
	const char *name, *help;
	enum export_place place;
	bool binary; /* nothing for a terminal */
	bool has_tables, has_windows, has_amounts;
	bool unfiltered; /* takes all facts and asks the filter itself: a report does */
	/* Returns the state of this export; NULL: not, *err is -errno. */
	void *(*begin)(struct export_target *target, int *err);
	struct fact_sink (*sink)(void *state);
	/* All facts are in. Returns 0 or -errno; -ENODATA: these captures have nothing for it. */
	int (*end)(void *state, const struct fact_totals *totals);
	void (*free)(void *state); /* after end(), or instead of it */
};

#define EXPORT_EVENTS_SCHEMA "ucxbpf.events/1"

/* What the lines of ndjson are, as a JSON Schema. Returns 0 or -errno of a failed write. */
int export_schema(FILE *out);

/* Formats that have files of their own: rows of the table in formats.c. */
extern const struct export_format export_ndjson;
extern const struct export_format export_csv;
extern const struct export_format export_sqlite;
extern const struct export_format export_perfetto;
extern const struct export_format export_otf2;

/* The row of that name or NULL. */
const struct export_format *export_format_find(const char *name);

/* Row by row; NULL behind the last one. */
const struct export_format *export_format_at(size_t i);

/* Where this request's output goes: --table makes a stream of a directory. */
enum export_place export_place_of(const struct export_request *request);

struct export;

/*
 * Opens the output. Returns NULL, with *err -errno and a sentence in why, where that fails.
 * -EINVAL, -EEXIST, -EISDIR: what was asked for is at odds with itself or with what is there.
 */
struct export *export_open(const struct export_request *request, int *err, char why[EXPORT_WHY]);

/* What is being written until then: to remove where the process has to end; NULL: nothing. */
const char *export_part(const struct export *export);

/* Removes a file, or a directory and what is in it. */
void export_remove(const char *path);

/* The sink to feed; valid as long as the export. */
struct fact_sink export_sink(struct export *export);

/*
 * Writes what is left and puts the output in its place. Returns 0 or -errno, with a sentence in
 * why, and then nothing of the output is left. -EPIPE: the reader went away.
 */
int export_finish(struct export *export, const struct fact_totals *totals, char why[EXPORT_WHY]);

/* Unfinished: nothing of the output is left. */
void export_free(struct export *export);

#endif
