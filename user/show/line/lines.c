// SPDX-License-Identifier: BSD-3-Clause
/* Sums of a capture's facts by job. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/level.h"
#include "base/order.h"
#include "base/text.h"
#include "base/vec.h"
#include "show/line/line.h"

struct line_path {
	const char *transport, *device;
	uint64_t bytes;
};

/* The job on one host: hosts have clocks of their own. */
struct line_span {
	int host;
	uint64_t from, to; /* of its facts; to 0: it has none */
	uint64_t until; /* until when its processes were seen; 0: not known */
	bool early; /* some of them may be older than the capture */
};

struct line_job {
	struct job_line line;
	VEC(struct line_path) paths;
	VEC(struct line_span) spans;
};

struct job_lines {
	VEC(struct line_job *) jobs;
	VEC(struct line_place {
		struct line_job *job;
		int host;
	})
	processes; /* by index */
	VEC(struct fact_window) windows; /* by capture, then in order of time */
};

struct job_lines *lines_new(void)
{
	return xcalloc(1, sizeof(struct job_lines));
}

void lines_free(struct job_lines *lines)
{
	for (size_t i = 0; i < lines->jobs.len; i++) {
		vec_release(&lines->jobs.data[i]->paths);
		vec_release(&lines->jobs.data[i]->spans);
		free(lines->jobs.data[i]);
	}
	vec_release(&lines->jobs);
	vec_release(&lines->processes);
	vec_release(&lines->windows);
	free(lines);
}

static struct line_job *job_of(struct job_lines *lines, const struct fact_process *fact)
{
	const char *id = fact->batch_job ? fact->batch_job : fact->job;
	struct line_job *job;

	for (size_t i = 0; i < lines->jobs.len; i++)
		if (lines->jobs.data[i]->line.job == id &&
		    lines->jobs.data[i]->line.step == fact->step)
			return lines->jobs.data[i];
	job = xcalloc(1, sizeof(*job));
	job->line.job = id;
	job->line.step = fact->step;
	job->line.unwatched = NAN;
	vec_push(&lines->jobs, job);
	return job;
}

static struct line_span *span_of(const struct line_place *place)
{
	struct line_span *span;

	for (size_t i = 0; i < place->job->spans.len; i++)
		if (place->job->spans.data[i].host == place->host)
			return &place->job->spans.data[i];
	span = vec_add(&place->job->spans);
	*span = (struct line_span){ .host = place->host, .from = UINT64_MAX };
	return span;
}

static void on_process(struct job_lines *lines, const struct fact_process *fact)
{
	if (fact->index < 0)
		return;
	while (lines->processes.len <= (size_t)fact->index)
		vec_push(&lines->processes, ((struct line_place){ NULL, -1 }));
	if (!lines->processes.data[fact->index].job)
		lines->processes.data[fact->index] =
			(struct line_place){ job_of(lines, fact), fact->host };
	lines->processes.data[fact->index].job->line.ranks++;
	if (!fact->from_start)
		span_of(&lines->processes.data[fact->index])->early = true;
}

static const struct line_place *place_of(const struct job_lines *lines, int process)
{
	const bool known = process >= 0 && (size_t)process < lines->processes.len;

	return known && lines->processes.data[process].job ? &lines->processes.data[process] : NULL;
}

static void stretch(struct line_span *span, uint64_t from, uint64_t to)
{
	if (from < span->from)
		span->from = from;
	if (to > span->to)
		span->to = to;
}

static void on_call(const struct job_lines *lines, const struct fact_call *fact, uint64_t count)
{
	const struct line_place *place = place_of(lines, fact->process);

	if (!place)
		return;
	place->job->line.calls += count;
	stretch(span_of(place), fact->start, fact->end);
}

static void on_op(const struct job_lines *lines, const struct fact_op *fact, uint64_t count,
		  uint64_t bytes)
{
	const struct line_place *place = place_of(lines, fact->process);

	if (!place)
		return;
	stretch(span_of(place), fact->start, fact->end);
	if (!fact->sends)
		return;
	place->job->line.sends += count;
	place->job->line.bytes += bytes;
}

static void on_transfer(const struct job_lines *lines, const struct fact_transfer *fact,
			uint64_t bytes)
{
	const struct line_place *place = place_of(lines, fact->process);
	struct line_path *path = NULL;

	if (!place || fact->kind != KIND_DATA || fact->retried)
		return;
	for (size_t i = 0; i < place->job->paths.len && !path; i++)
		if (place->job->paths.data[i].transport == fact->transport &&
		    place->job->paths.data[i].device == fact->device)
			path = &place->job->paths.data[i];
	if (!path) {
		path = vec_add(&place->job->paths);
		*path = (struct line_path){ fact->transport, fact->device, 0 };
	}
	path->bytes += bytes;
	place->job->line.data += bytes;
}

static void on_lifetime(const struct job_lines *lines, const struct fact_lifetime *fact)
{
	const struct line_place *place = place_of(lines, fact->process);
	struct line_span *span = place ? span_of(place) : NULL;

	if (span && fact->until > span->until)
		span->until = fact->until;
}

static void on_fact(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	const struct fact_op *op = fact;
	const struct fact_transfer *transfer = fact;
	struct job_lines *lines = arg;

	switch (type) {
	case FACT_PROCESS:
		on_process(lines, fact);
		break;
	case FACT_CALL:
	case FACT_CALLS:
		on_call(lines, fact, sums ? sums->count : 1);
		break;
	case FACT_OP:
	case FACT_OPS:
		on_op(lines, op, sums ? sums->count : 1,
		      sums                      ? sums->bytes
		      : op->bytes == UINT64_MAX ? 0
						: op->bytes);
		break;
	case FACT_TRANSFER:
	case FACT_TRANSFERS:
		on_transfer(lines, transfer,
			    sums                            ? sums->bytes
			    : transfer->bytes == UINT64_MAX ? 0
							    : transfer->bytes);
		break;
	case FACT_LIFETIME:
		on_lifetime(lines, fact);
		break;
	case FACT_WINDOW:
		vec_push(&lines->windows, *(const struct fact_window *)fact);
		break;
	default:
		break;
	}
}

struct fact_sink lines_sink(struct job_lines *lines)
{
	return (struct fact_sink){ lines, on_fact };
}

/* ---- the end ---- */

static bool has_all_layers(const struct fact_window *window)
{
	return !window->step || level_by_step(window->step) == LEVEL_UCT;
}

/*
 * Extends the span to the time of its host's captures with windows, from the job's begin on, and
 * adds the part of that time that no window with all layers covers.
 */
static void add_windows(const struct job_lines *lines, struct line_span *span,
			struct job_line *line)
{
	const uint64_t begin = span->early || !span->to ? 0 : span->from;
	uint64_t whole = 0, seen = 0;
	bool any = false;

	for (size_t i = 0; i < lines->windows.len; i++) {
		const struct fact_window *window = &lines->windows.data[i];
		const uint64_t until =
			span->until ? order_earlier(span->until, window->until) : window->until;
		const uint64_t from = order_later(window->from, begin);
		const uint64_t to = order_earlier(window->to, until);

		if (window->host != span->host || until <= from)
			continue;
		if (!any || window->capture != window[-1].capture) {
			whole += until - from;
			stretch(span, from, until);
		}
		if (has_all_layers(window) && to > from)
			seen += to - from;
		any = true;
		line->why = window->step ? "budget" : "windows";
	}
	if (any && !((whole - seen) / 1e9 <= line->unwatched))
		line->unwatched = (whole - seen) / 1e9;
}

static struct job_line finish_line(const struct job_lines *lines, const struct line_job *job,
				   uint64_t lost)
{
	struct job_line line = job->line;

	line.lost = lost;
	for (size_t i = 0; i < job->paths.len; i++)
		if (job->paths.data[i].bytes > line.most) {
			line.transport = job->paths.data[i].transport;
			line.device = job->paths.data[i].device;
			line.most = job->paths.data[i].bytes;
		}
	for (size_t i = 0; i < job->spans.len; i++) {
		struct line_span span = job->spans.data[i];

		add_windows(lines, &span, &line);
		if (span.to && (span.to - span.from) / 1e9 > line.seconds)
			line.seconds = (span.to - span.from) / 1e9;
	}
	return line;
}

int lines_write(const struct job_lines *lines, const struct fact_totals *totals, FILE *out)
{
	char text[LINE_ROOM];

	for (size_t i = 0; i < lines->jobs.len; i++) {
		const struct job_line line = finish_line(lines, lines->jobs.data[i], totals->lost);

		line_text(&line, text);
		fprintf(out, "%s\n", text);
	}
	return text_finish(out);
}
