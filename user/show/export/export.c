// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs an export: passes the facts that the filter selects to the format, and moves the finished
 * output into place.
 */
#include "show/export/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "show/report/report.h"

/* The output file: written under a temporary name, renamed when complete. */
struct outlet {
	FILE *file; /* of a stream */
	char *path; /* temporary path; NULL: a device or standard output */
	char *place; /* final path */
	enum export_place kind;
	int fd; /* below file */
	int err; /* first failed write, -errno */
};

#define STREAM_BUFFER (256u << 10)

/* stdio forgets why a write failed; this remembers the first reason. */
static ssize_t export_put(void *cookie, const char *data, size_t size)
{
	struct outlet *outlet = cookie;
	size_t done = 0;

	while (!outlet->err && done < size) {
		ssize_t n = write(outlet->fd, data + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			outlet->err = -errno;
	}
	errno = -outlet->err;
	return outlet->err ? 0 : (ssize_t)size;
}

static int open_stream(struct outlet *outlet)
{
	outlet->file = fopencookie(outlet, "w", (cookie_io_functions_t){ .write = export_put });
	if (!outlet->file)
		return -ENOMEM;
	setvbuf(outlet->file, NULL, _IOFBF, STREAM_BUFFER);
	return 0;
}

static int open_part(struct outlet *outlet)
{
	outlet->fd = newfile_open(outlet->place, NEWFILE_PRIVATE, &outlet->path);
	return outlet->fd < 0 ? outlet->fd : 0;
}

static int open_file(struct outlet *outlet, const char **why)
{
	struct stat old;
	bool there = !stat(outlet->place, &old);

	if (there && S_ISDIR(old.st_mode)) {
		*why = "is a directory, but this format is a single file";
		return -EISDIR;
	}
	if (!there || S_ISREG(old.st_mode))
		return open_part(outlet);
	if (outlet->kind == EXPORT_FILE) {
		*why = "is not a regular file, which this format needs";
		return -EINVAL;
	}
	outlet->fd = newfile_open_special(outlet->place);
	return outlet->fd < 0 ? outlet->fd : 0;
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	bool empty = dir != NULL;

	for (struct dirent *entry; empty && (entry = readdir(dir));)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

static int open_directory(struct outlet *outlet, const char **why)
{
	size_t len = strlen(outlet->place);
	struct stat old;

	while (len > 1 && outlet->place[len - 1] == '/')
		outlet->place[--len] = '\0';
	if (!stat(outlet->place, &old) && !(S_ISDIR(old.st_mode) && is_empty(outlet->place))) {
		*why = "already exists: name a new or empty directory";
		return -EEXIST;
	}
	return newfile_directory(outlet->place, &outlet->path);
}

/* path NULL: standard output. Returns 0 or -errno, with *why (static) or NULL. */
static int outlet_open(struct outlet *outlet, const char *path, enum export_place kind,
		       const char **why)
{
	int err = 0;

	*outlet = (struct outlet){ .kind = kind, .fd = -1 };
	if (!path) {
		outlet->fd = STDOUT_FILENO;
		return open_stream(outlet);
	}
	outlet->place = newfile_place(path);
	if (!outlet->place) {
		*why = newfile_why(-ELOOP);
		return -ELOOP;
	}
	err = kind == EXPORT_DIRECTORY ? open_directory(outlet, why) : open_file(outlet, why);
	return !err && kind == EXPORT_STREAM ? open_stream(outlet) : err;
}

static void close_all(struct outlet *outlet)
{
	if (outlet->file && fclose(outlet->file) && !outlet->err)
		outlet->err = errno ? -errno : -EIO;
	outlet->file = NULL;
	if (outlet->fd >= 0 && outlet->fd != STDOUT_FILENO && close(outlet->fd) && !outlet->err)
		outlet->err = -errno;
	outlet->fd = -1;
}

/* Closes the output and moves it into place. Returns 0 or -errno, also of earlier writes. */
static int outlet_keep(struct outlet *outlet)
{
	close_all(outlet);
	if (!outlet->err && outlet->path)
		outlet->err = newfile_keep(outlet->path, outlet->place);
	if (!outlet->err) {
		free(outlet->path);
		outlet->path = NULL;
	}
	return outlet->err;
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *at)
{
	(void)file;
	(void)type;
	(void)at;
	return remove(path);
}

void export_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Closes the output and removes it unless it was kept. */
static void outlet_release(struct outlet *outlet)
{
	close_all(outlet);
	if (outlet->path)
		export_remove(outlet->path);
	free(outlet->path);
	free(outlet->place);
	outlet->path = outlet->place = NULL;
}

/* A sink that passes on only the facts that a filter selects. */
struct filtered {
	struct selection selection;
	struct fact_sink to;
};

static void filtered_fact(void *arg, enum fact_type type, const void *fact,
			  const struct fact_sums *sums)
{
	struct filtered *filtered = arg;

	if (selection_passes(&filtered->selection, type, fact))
		filtered->to.fact(filtered->to.arg, type, fact, sums);
}

/* Returns a sink that filters for *to, or *to itself if the filter is not active. */
static struct fact_sink filtered_start(struct filtered *filtered, struct report_filter *filter,
				       const struct fact_sink *to)
{
	filtered->to = *to;
	selection_init(&filtered->selection, filter);
	return filter_active(filter) ? (struct fact_sink){ filtered, filtered_fact } : *to;
}

static void filtered_release(struct filtered *filtered)
{
	selection_release(&filtered->selection);
}

struct export
{
	const struct export_format *format;
	struct export_request request;
	struct export_target target;
	struct outlet outlet;
	struct filtered filtered;
	void *state;
};

/* The kind of output that this request needs: --table turns a directory into a stream. */
static enum export_place place_of(const struct export_request *request)
{
	return request->table ? EXPORT_STREAM : request->format->place;
}

/* Rejects contradictory requests before any file is touched. */
static const char *at_odds(const struct export_request *request)
{
	const struct export_format *format = request->format;

	if (request->table && !format->has_tables)
		return "this format does not support --table";
	if (request->amount != REPORT_CALLS && !format->has_amounts)
		return "--amount requires the format folded";
	if (request->beside && !format->has_windows)
		return "this format does not support --beside";
	if (request->window && !format->has_windows)
		return "this format does not support --window";
	if (request->path)
		return NULL;
	if (place_of(request) == EXPORT_DIRECTORY)
		return "this format is a directory: name one with -o";
	if (place_of(request) == EXPORT_FILE)
		return "this format cannot be written to a pipe: name a file with -o";
	if (format->binary && isatty(STDOUT_FILENO))
		return "this format is not text: name a file with -o";
	return NULL;
}

static int start(struct export *export, char *why)
{
	const char *reason = NULL;
	int err = outlet_open(&export->outlet, export->request.path, place_of(&export->request),
			      &reason);

	if (err) {
		snprintf(why, EXPORT_WHY, "%s", reason ? reason : "");
		return err;
	}
	export->target.file = export->outlet.file;
	export->target.path = export->outlet.file ? NULL : export->outlet.path;
	export->state = export->format->begin(&export->target, &err);
	snprintf(why, EXPORT_WHY, "%s", export->target.why);
	return export->state ? 0 : err;
}

struct export *export_open(const struct export_request *request, int *err, char why[EXPORT_WHY])
{
	const char *odd = at_odds(request);
	struct export *export;

	snprintf(why, EXPORT_WHY, "%s", odd ? odd : "");
	*err = -EINVAL;
	if (odd)
		return NULL;
	export = xcalloc(1, sizeof(*export));
	export->format = request->format;
	export->request = *request;
	export->target.request = &export->request;
	*err = start(export, why);
	if (!*err)
		return export;
	export_free(export);
	return NULL;
}

const char *export_part(const struct export *export)
{
	return export->outlet.path;
}

bool export_scan(struct export *export, struct fact_sink *sink)
{
	if (!export->format->scan)
		return false;
	*sink = export->format->scan(export->state);
	return true;
}

void export_scan_end(struct export *export)
{
	export->format->scan_end(export->state);
}

struct fact_sink export_sink(struct export *export)
{
	struct fact_sink sink = export->format->sink(export->state);

	if (export->format->unfiltered)
		return sink;
	return filtered_start(&export->filtered, export->request.filter, &sink);
}

int export_finish(struct export *export, const struct fact_totals *totals, char why[EXPORT_WHY])
{
	int err = export->format->end(export->state, totals);

	export->format->free(export->state);
	export->state = NULL;
	if (export->outlet.err)
		err = export->outlet.err;
	if (!err)
		err = outlet_keep(&export->outlet);
	snprintf(why, EXPORT_WHY, "%s", export->target.why);
	return err;
}

void export_free(struct export *export)
{
	if (!export)
		return;
	if (export->state)
		export->format->free(export->state);
	outlet_release(&export->outlet);
	filtered_release(&export->filtered);
	free(export);
}
