/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exports captures to the formats of other tools. Each format is a row of the table in formats.c.
 *
 * An output appears whole or not at all: it is written next to its destination under a temporary
 * name (OUT.part-XXXXXX) and renamed at the end. Devices and pipes are written directly.
 */
#ifndef UCXBPF_EXPORT_EXPORT_H
#define UCXBPF_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "explain/facts/facts.h"
#include "show/page/page.h"
#include "show/report/report.h"

#define EXPORT_WHY 256 /* bytes for an error message; empty: errno explains it */

enum export_place {
	EXPORT_STREAM, /* a file, a pipe or standard output */
	EXPORT_FILE, /* a seekable file, opened by name */
	EXPORT_DIRECTORY, /* a directory that does not exist yet or is empty */
};

struct export_request {
	const struct export_format *format;
	const char *path; /* output path; NULL: standard output */
	struct report_filter *filter; /* must outlive the export */
	const char *table; /* write this table only, as a stream; NULL: all tables */
	enum report_amount amount; /* what folded stacks count */
	const char *beside; /* HTML: a verdict's page to link to, see page_beside(); NULL: none */
	const struct page_window *window; /* HTML: where single events are kept; NULL: anywhere */
};

/* The output of a format. */
struct export_target {
	const struct export_request *request;
	FILE *file; /* for streams; the core flushes and closes it, and checks for errors */
	const char *path; /* path of a file or directory, which exists and is empty; else NULL */
	char why[EXPORT_WHY]; /* error message of the format, where errno is not enough */
};

struct export_format {
	const char *name, *help;
	enum export_place place;
	bool binary; /* never written to a terminal */
	bool has_tables, has_windows, has_amounts;
	bool unfiltered; /* receives all facts and applies the filter itself */
	/* Returns the state of this export, or NULL with *err set to -errno. */
	void *(*begin)(struct export_target *target, int *err);
	struct fact_sink (*sink)(void *state);
	/* Optional: takes all facts in advance, whose strings may be freed after scan_end(). */
	struct fact_sink (*scan)(void *state);
	void (*scan_end)(void *state);
	/*
	 * Called after the last fact. Returns 0 or -errno; -ENODATA: the captures lack the data for
	 * it.
	 */
	int (*end)(void *state, const struct fact_totals *totals);
	void (*free)(void *state); /* after end(), or instead of it on errors */
};

#define EXPORT_EVENTS_SCHEMA "ucxbpf.events/1"

/* Writes the JSON Schema of the ndjson lines. Returns 0 or -errno of a failed write. */
int export_schema(FILE *out);

/* Formats implemented in their own files: rows of the table in formats.c. */
extern const struct export_format export_ndjson;
extern const struct export_format export_csv;
extern const struct export_format export_sqlite;
extern const struct export_format export_perfetto;
extern const struct export_format export_otf2;

/* The row with that name, or NULL. */
const struct export_format *export_format_find(const char *name);

/* The i-th row; NULL after the last one. */
const struct export_format *export_format_at(size_t i);

struct export;

/*
 * Opens the output. Returns NULL, with -errno in *err and a message in why, on failure. -EINVAL,
 * -EEXIST, -EISDIR: options contradict each other or the existing file.
 */
struct export *export_open(const struct export_request *request, int *err, char why[EXPORT_WHY]);

/*
 * The temporary path, to be removed when the process is interrupted; NULL: there is no temporary
 * file.
 */
const char *export_part(const struct export *export);

/* Removes a file, or a directory with its contents. */
void export_remove(const char *path);

/*
 * Whether the format wants all facts of the same captures in advance, in a sink of their own; then
 * export_scan_end() follows.
 */
bool export_scan(struct export *export, struct fact_sink *sink);
void export_scan_end(struct export *export);

/* The sink to feed; valid until export_free(). */
struct fact_sink export_sink(struct export *export);

/*
 * Finishes the output and moves it into place. Returns 0 or -errno with a message in why, in which
 * case nothing is left of the output. -EPIPE: the reader went away.
 */
int export_finish(struct export *export, const struct fact_totals *totals, char why[EXPORT_WHY]);

/* Discards an unfinished output. */
void export_free(struct export *export);

#endif
