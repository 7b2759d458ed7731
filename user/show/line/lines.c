// SPDX-License-Identifier: BSD-3-Clause
/* Sums of a capture's facts by job. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/vec.h"
#include "show/line/line.h"

struct line_path {
	const char *transport, *device;
	uint64_t bytes;
};

/* Hosts have clocks of their own. */
struct line_span {
	int host;
	uint64_t from, to;
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
}

static const struct line_place *place_of(const struct job_lines *lines, int process)
{
	const bool known = process >= 0 && (size_t)process < lines->processes.len;

	return known && lines->processes.data[process].job ? &lines->processes.data[process] : NULL;
}

static void stretch(const struct line_place *place, uint64_t from, uint64_t to)
{
	struct line_span *span = NULL;

	for (size_t i = 0; i < place->job->spans.len && !span; i++)
		if (place->job->spans.data[i].host == place->host)
			span = &place->job->spans.data[i];
	if (!span) {
		span = vec_add(&place->job->spans);
		*span = (struct line_span){ place->host, from, from };
	}
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
	stretch(place, fact->start, fact->end);
}

static void on_op(const struct job_lines *lines, const struct fact_op *fact, uint64_t count,
		  uint64_t bytes)
{
	const struct line_place *place = place_of(lines, fact->process);

	if (!place)
		return;
	stretch(place, fact->start, fact->end);
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
	default:
		break;
	}
}

struct fact_sink lines_sink(struct job_lines *lines)
{
	return (struct fact_sink){ lines, on_fact };
}

static struct job_line whole(const struct line_job *job, uint64_t lost)
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
		const struct line_span *span = &job->spans.data[i];
		const double seconds = (span->to - span->from) / 1e9;

		if (seconds > line.seconds)
			line.seconds = seconds;
	}
	return line;
}

int lines_write(const struct job_lines *lines, const struct fact_totals *totals, FILE *out)
{
	char text[LINE_ROOM];

	for (size_t i = 0; i < lines->jobs.len; i++) {
		const struct job_line line = whole(lines->jobs.data[i], totals->lost);

		line_text(&line, text);
		fprintf(out, "%s\n", text);
	}
	return text_finish(out);
}
