// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/export_captures.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/output/abandon.h"

static const char *name_of(const struct export_request *request)
{
	return request->path ? request->path : "standard output";
}

static int failed(const struct export_request *request, int err, const char *why)
{
	switch (err) {
	case -EPIPE: /* whoever reads us may stop early: that is no failure of ours */
		return UCXBPF_EXIT_OK;
	case -ENODATA:
		why = *why ? why : "nothing written: the captures have nothing for this format";
		break;
	}
	log_error("%s: %s", name_of(request), *why ? why : strerror(-err));
	switch (err) {
	case -EINVAL:
	case -EEXIST:
	case -EISDIR:
		return UCXBPF_EXIT_USAGE;
	case -ENOSPC:
	case -EDQUOT:
		return UCXBPF_EXIT_NO_SPACE;
	}
	return UCXBPF_EXIT_FAILED;
}

/* The format carries it along where it can; whoever makes the export is told in any case. */
static void tell_loss(const struct fact_totals *totals)
{
	if (totals->produced > totals->stored)
		log_warn("%" PRIu64 " of %" PRIu64 " records are not in the captures",
			 totals->produced - totals->stored, totals->produced);
}

static int finish(struct export *export, const struct export_request *request,
		  const struct fact_totals *totals, struct captures *captures)
{
	char why[EXPORT_WHY];
	int err = export_finish(export, totals, why);

	if (err)
		return failed(request, err, why);
	tell_loss(totals);
	return captures->broken ? UCXBPF_EXIT_PARTIAL : UCXBPF_EXIT_OK;
}

static int convert(const char *command, const struct export_request *request,
		   struct analysis *analysis, struct captures *captures)
{
	struct fact_totals totals = { 0 };
	struct fact_sink sink;
	struct abandon abandon;
	char why[EXPORT_WHY];
	int status, err = 0;
	struct export *export = export_open(request, &err, why);

	if (!export)
		return failed(request, err, why);
	abandon_start(&abandon, export_part(export));
	sink = export_sink(export);
	if (captures_analyse(captures, analysis, command, &sink, &totals))
		status = UCXBPF_EXIT_FAILED;
	else
		status = finish(export, request, &totals, captures);
	export_free(export);
	abandon_end(&abandon);
	return status;
}

int export_captures(const char *command, const struct export_request *request,
		    struct captures *captures)
{
	struct analysis *analysis;
	int status = UCXBPF_EXIT_INPUT;

	if (request->path && captures_has(request->path)) {
		log_error("%s: is a capture, not overwritten", request->path);
		return UCXBPF_EXIT_USAGE;
	}
	analysis = analysis_new();
	if (captures_add(captures, analysis))
		status = convert(command, request, analysis, captures);
	analysis_free(analysis);
	return status;
}
