// SPDX-License-Identifier: BSD-3-Clause
/* Counters as JSON: docs/serve.schema.json. Numbers that are not known are null. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/shape.h"
#include "base/text.h"
#include "show/serve/serve.h"

#define SECOND 1e9

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static const struct shape path_shape[] = {
	SHAPE_CHARS("transport", struct job_path, transport),
	SHAPE_CHARS("device", struct job_path, device),
	SHAPE_CHARS("memory", struct job_path, memory),
	SHAPE_CHARS("data_path", struct job_path, way),
	SHAPE_AS("count", struct job_path, sums.count),
	SHAPE_AS("bytes", struct job_path, sums.bytes),
	SHAPE_AS("unsized", struct job_path, sums.unsized),
	SHAPE_AS("refused", struct job_path, sums.retries),
	{ 0 },
};

static json_t *paths_of(const struct live_job *job)
{
	json_t *array = json_array();

	for (size_t i = 0; i < JOB_PATHS + 2; i++) {
		const struct job_path *path = &job->paths[i];
		json_t *row;

		if (!path->sums.count && !path->sums.retries)
			continue;
		row = shape_json(path_shape, path, NULL);
		json_object_set_new(row, "direction", json_string(path->fetches ? "in" : "out"));
		json_array_append_new(array, row);
	}
	return array;
}

static const struct shape error_shape[] = {
	SHAPE_CHARS("what", struct job_error, what),
	SHAPE_CHARS("status", struct job_error, status),
	SHAPE_CHARS("transport", struct job_error, transport),
	SHAPE_CHARS("device", struct job_error, device),
	SHAPE_OF(struct job_error, count),
	{ 0 },
};

static json_t *errors_of(const struct live_job *job)
{
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(job->errors); i++)
		if (job->errors[i].count)
			json_array_append_new(array,
					      shape_json(error_shape, &job->errors[i], NULL));
	return array;
}

static json_t *ages(const unsigned int *by_age)
{
	json_t *object = json_object();
	char name[16];

	for (unsigned int i = 0; i < JOB_AGES; i++) {
		snprintf(name, sizeof(name), "%u", job_ages[i]);
		json_object_set_new(object, name, json_integer(by_age[i]));
	}
	return object;
}

static const struct shape job_shape[] = {
	SHAPE_CHARS("jobid", struct live_job, id),
	SHAPE_CHARS("step", struct live_job, step),
	SHAPE_OF(struct live_job, alive),
	SHAPE_OF(struct live_job, processes),
	SHAPE_OF(struct live_job, calls),
	SHAPE_AS("sends", struct live_job, sends.count),
	SHAPE_AS("send_bytes", struct live_job, sends.bytes),
	SHAPE_AS("receives", struct live_job, receives.count),
	SHAPE_AS("exited_0", struct live_job, exits[JOB_EXIT_0]),
	SHAPE_AS("exited_not_0", struct live_job, exits[JOB_EXIT_OTHER]),
	SHAPE_AS("exited_by_signal", struct live_job, exits[JOB_EXIT_SIGNAL]),
	SHAPE_AS("exited_unknown", struct live_job, exits[JOB_EXIT_UNKNOWN]),
	SHAPE_OF(struct live_job, late),
	{ 0 },
};

static json_t *jobs_json(const struct serve_state *state)
{
	struct live_job *const *jobs;
	const size_t count = jobs_all(state->jobs, &jobs);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *row = shape_json(job_shape, jobs[i], NULL);

		json_object_set_new(row, "open_calls", ages(jobs[i]->open_calls));
		json_object_set_new(row, "open_operations", ages(jobs[i]->open_ops));
		json_object_set_new(row, "paths", paths_of(jobs[i]));
		json_object_set_new(row, "errors", errors_of(jobs[i]));
		json_array_append_new(array, row);
	}
	return array;
}

static json_t *self_json(const struct serve_state *state)
{
	const struct live_tracer *tracer = live_tracer(state->live);
	const struct jobs_totals *totals = jobs_totals(state->jobs);

	return json_pack(
		"{s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"lost_records", (json_int_t)tracer->lost, "governor_step", tracer->away, "budget",
		real(tracer->budget > 0 ? tracer->budget : NAN), "paid", real(tracer->paid),
		"cpu_s", real(totals->cpu_s), "reader_cpu_s", real(state->self.reader_cpu_s),
		"traced_cpu_s", real(totals->trap_s + totals->program_s), "hits",
		(json_int_t)totals->hits, "memory", (json_int_t)tracer->memory, "reader_memory",
		(json_int_t)state->self.reader_memory, "jobs_seen", (json_int_t)totals->came,
		"jobs_dropped", (json_int_t)totals->dropped, "processes_folded",
		(json_int_t)totals->folded, "processes_missed", (json_int_t)tracer->missed,
		"unattributed", (json_int_t)live_unattributed(state->live), "unwritten",
		(json_int_t)state->self.unwritten);
}

int serve_json(const struct serve_state *state, FILE *out)
{
	const struct live_tracer *tracer = live_tracer(state->live);
	const struct jobs_totals *totals = jobs_totals(state->jobs);
	json_t *object =
		json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SERVE_SCHEMA,
			  "host", state->self.host, "n", (json_int_t)live_count(state->live),
			  "time_s", real(tracer->real / SECOND), "interval_s",
			  real((tracer->to - tracer->from) / SECOND), "elapsed_s",
			  real(totals->ns / SECOND), "watched_s", real(totals->watched / SECOND),
			  "tracer", self_json(state), "jobs", jobs_json(state));
	int err;

	text_put_json(object, JSON_COMPACT, out);
	err = fputc('\n', out) == EOF || fflush(out) ? -errno : 0;
	json_decref(object);
	return err;
}
