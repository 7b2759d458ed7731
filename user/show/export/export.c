// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "show/export/filtered.h"
#include "show/export/outlet.h"

struct export
{
	const struct export_format *format;
	struct export_request request;
	struct export_target target;
	struct outlet outlet;
	struct filtered filtered;
	void *state;
};

enum export_place export_place_of(const struct export_request *request)
{
	return request->table ? EXPORT_STREAM : request->format->place;
}

/* What can be told without touching the output. */
static const char *at_odds(const struct export_request *request)
{
	const struct export_format *format = request->format;

	if (request->table && !format->has_tables)
		return "--table is for formats with tables, which this is not";
	if (request->amount != REPORT_CALLS && !format->has_amounts)
		return "--amount is for folded stacks";
	if (request->beside && !format->has_windows)
		return "--beside is for pages, which this is not";
	if (request->window && !format->has_windows)
		return "--window is for formats that choose their events, which this does not";
	if (request->path)
		return NULL;
	if (export_place_of(request) == EXPORT_DIRECTORY)
		return "this format is a directory: name one with -o";
	if (export_place_of(request) == EXPORT_FILE)
		return "this format cannot be written to a pipe: name a file with -o";
	if (format->binary && isatty(STDOUT_FILENO))
		return "this format is nothing for a terminal: name a file with -o";
	return NULL;
}

static int start(struct export *export, char *why)
{
	const char *reason = NULL;
	int err = outlet_open(&export->outlet, export->request.path,
			      export_place_of(&export->request), &reason);

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
	struct export *export = odd ? NULL : calloc(1, sizeof(*export));

	snprintf(why, EXPORT_WHY, "%s", odd ? odd : "");
	*err = odd ? -EINVAL : -ENOMEM;
	if (!export)
		return NULL;
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
