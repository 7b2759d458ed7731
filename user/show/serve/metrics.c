// SPDX-License-Identifier: BSD-3-Clause
/* Metrics by tables: a row is a family, or the same family by another label. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/openmetrics.h"
#include "base/vec.h"
#include "show/serve/serve.h"
#include "version.h"

#define SECOND 1e9

struct serve_metrics {
	const struct serve_state *state;
	bool open;
	FILE *out;
};

static void family(const struct serve_metrics *metrics, const char *name, const char *type,
		   const char *help)
{
	openmetrics_family(metrics->out, metrics->open, name, type, help);
}

/* The part of a sample before its own labels: name and job. */
static void put_job(const struct serve_metrics *metrics, const char *name, const char *suffix,
		    const struct live_job *job)
{
	fprintf(metrics->out, "%s%s{", name, suffix);
	openmetrics_label(metrics->out, "jobid", job->id);
	putc(',', metrics->out);
	openmetrics_label(metrics->out, "step", job->step);
}

static void put_text(const struct serve_metrics *metrics, const char *name, const char *value)
{
	putc(',', metrics->out);
	openmetrics_label(metrics->out, name, value);
}

static void put_value(const struct serve_metrics *metrics, uint64_t value)
{
	fprintf(metrics->out, "} %" PRIu64 "\n", value);
}

/* ---- paths ---- */

static const char *or_unknown(const char *text)
{
	return *text ? text : "unknown";
}

static void put_path(const struct serve_metrics *metrics, const char *name,
		     const struct live_job *job, const struct job_path *path, uint64_t value)
{
	put_job(metrics, name, "_total", job);
	put_text(metrics, "transport", or_unknown(path->transport));
	put_text(metrics, "device", or_unknown(path->device));
	put_text(metrics, "direction", path->fetches ? "in" : "out");
	put_text(metrics, "memory", or_unknown(path->memory));
	put_text(metrics, "data_path", or_unknown(path->way));
	put_value(metrics, value);
}

static const struct {
	const char *name, *help;
	size_t member; /* of struct live_sums */
	bool always; /* also where it is 0 */
} path_families[] = {
	{ "ucxbpf_transfer_bytes", "Payload of transfers that this node's processes started",
	  offsetof(struct live_sums, bytes), true },
	{ "ucxbpf_transfers", "Transfers", offsetof(struct live_sums, count), true },
	{ "ucxbpf_transfers_unsized", "Transfers whose bytes are not known",
	  offsetof(struct live_sums, unsized), false },
};

static uint64_t of_sums(const struct live_sums *sums, size_t member)
{
	return *(const uint64_t *)((const char *)sums + member);
}

static bool is_used(const struct job_path *path)
{
	return path->sums.count || path->sums.retries;
}

static void put_paths(const struct serve_metrics *metrics)
{
	struct live_job *const *jobs;
	const size_t count = jobs_all(metrics->state->jobs, &jobs);

	for (size_t f = 0; f < ARRAY_SIZE(path_families); f++) {
		family(metrics, path_families[f].name, "counter", path_families[f].help);
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < ARRAY_SIZE(jobs[i]->paths); k++) {
				const struct job_path *path = &jobs[i]->paths[k];
				const uint64_t value =
					of_sums(&path->sums, path_families[f].member);

				if (is_used(path) && (value || path_families[f].always))
					put_path(metrics, path_families[f].name, jobs[i], path,
						 value);
			}
	}
}

static bool is_like(const struct job_path *a, const struct job_path *b)
{
	return !strcmp(a->transport, b->transport) && !strcmp(a->device, b->device);
}

/* By transport and device alone: paths differ in what else they say. */
static uint64_t refused_like(const struct live_job *job, const struct job_path *path)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < ARRAY_SIZE(job->paths); k++)
		if (is_like(&job->paths[k], path))
			sum += job->paths[k].sums.retries;
	return sum;
}

static bool is_first_like(const struct live_job *job, const struct job_path *path)
{
	for (const struct job_path *one = job->paths; one < path; one++)
		if (is_used(one) && is_like(one, path))
			return false;
	return is_used(path);
}

static bool is_of_transfer(const struct job_error *error)
{
	return !strcmp(error->what, FACT_ERROR_TRANSFER);
}

/* none: where it has no transport or device. */
static void put_error(const struct serve_metrics *metrics, const struct live_job *job,
		      const struct job_error *error, const char *none)
{
	put_job(metrics, "ucxbpf_errors", "_total", job);
	put_text(metrics, "what", error->what);
	put_text(metrics, "status", or_unknown(error->status));
	put_text(metrics, "transport", *error->transport ? error->transport : none);
	put_text(metrics, "device", *error->device ? error->device : none);
	put_value(metrics, error->count);
}

/* A transfer that found no resource is tried again, and part of the sums of its path. */
static void put_refused(const struct serve_metrics *metrics, const struct live_job *job,
			const struct job_path *path)
{
	struct job_error error = { .what = FACT_ERROR_TRANSFER,
				   .status = "UCS_ERR_NO_RESOURCE",
				   .count = refused_like(job, path) };

	memcpy(error.transport, path->transport, sizeof(error.transport));
	memcpy(error.device, path->device, sizeof(error.device));
	put_error(metrics, job, &error, "unknown");
}

static void put_errors(const struct serve_metrics *metrics)
{
	struct live_job *const *jobs;
	const size_t count = jobs_all(metrics->state->jobs, &jobs);

	family(metrics, "ucxbpf_errors", "counter",
	       "Failed endpoints, operations and transfers, and transfers without resources, by status");
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(jobs[i]->paths); k++)
			if (is_first_like(jobs[i], &jobs[i]->paths[k]))
				put_refused(metrics, jobs[i], &jobs[i]->paths[k]);
		for (size_t k = 0; k < ARRAY_SIZE(jobs[i]->errors); k++)
			if (jobs[i]->errors[k].count)
				put_error(metrics, jobs[i], &jobs[i]->errors[k],
					  is_of_transfer(&jobs[i]->errors[k]) ? "unknown" : "");
	}
}

/* ---- jobs ---- */

static const struct {
	const char *name, *type, *help, *label, *value; /* label NULL: none */
	size_t member; /* of struct live_job, a uint64_t */
} job_families[] = {
	{ "ucxbpf_mpi_calls", "counter", "Calls of MPI functions", NULL, NULL,
	  offsetof(struct live_job, calls) },
	{ "ucxbpf_operations", "counter", "Operations of UCP", "direction", "out",
	  offsetof(struct live_job, sends.count) },
	{ NULL, NULL, NULL, "direction", "in", offsetof(struct live_job, receives.count) },
	{ "ucxbpf_operation_bytes", "counter", "Payload of operations that send", "direction",
	  "out", offsetof(struct live_job, sends.bytes) },
	{ "ucxbpf_processes_ended", "counter", "Processes that have ended", "status", "0",
	  offsetof(struct live_job, exits[JOB_EXIT_0]) },
	{ NULL, NULL, NULL, "status", "not 0", offsetof(struct live_job, exits[JOB_EXIT_OTHER]) },
	{ NULL, NULL, NULL, "status", "signal", offsetof(struct live_job, exits[JOB_EXIT_SIGNAL]) },
	{ NULL, NULL, NULL, "status", "unknown",
	  offsetof(struct live_job, exits[JOB_EXIT_UNKNOWN]) },
	{ "ucxbpf_processes_late", "counter",
	  "Processes that ran before their libraries had probes: until then nothing was counted",
	  NULL, NULL, offsetof(struct live_job, late) },
};

static void put_jobs(const struct serve_metrics *metrics)
{
	struct live_job *const *jobs;
	const size_t count = jobs_all(metrics->state->jobs, &jobs);

	for (size_t f = 0, to; f < ARRAY_SIZE(job_families); f = to) {
		for (to = f + 1; to < ARRAY_SIZE(job_families) && !job_families[to].name; to++)
			;
		family(metrics, job_families[f].name, job_families[f].type, job_families[f].help);
		for (size_t i = 0; i < count; i++)
			for (size_t k = f; k < to; k++) {
				put_job(metrics, job_families[f].name, "_total", jobs[i]);
				if (job_families[k].label)
					put_text(metrics, job_families[k].label,
						 job_families[k].value);
				put_value(metrics, *(const uint64_t *)((const char *)jobs[i] +
								       job_families[k].member));
			}
	}
}

static void put_processes(const struct serve_metrics *metrics)
{
	struct live_job *const *jobs;
	const size_t count = jobs_all(metrics->state->jobs, &jobs);

	family(metrics, "ucxbpf_processes", "gauge", "Processes that are traced");
	for (size_t i = 0; i < count; i++) {
		put_job(metrics, "ucxbpf_processes", "", jobs[i]);
		put_value(metrics, jobs[i]->processes);
	}
}

static void put_ages(const struct serve_metrics *metrics, const char *name, const char *help,
		     size_t member)
{
	struct live_job *const *jobs;
	const size_t count = jobs_all(metrics->state->jobs, &jobs);

	family(metrics, name, "gauge", help);
	for (size_t i = 0; i < count; i++) {
		const unsigned int *by_age = (const void *)((const char *)jobs[i] + member);

		for (unsigned int k = 0; k < JOB_AGES; k++) {
			put_job(metrics, name, "", jobs[i]);
			fprintf(metrics->out, ",older_than=\"%u\"", job_ages[k]);
			put_value(metrics, by_age[k]);
		}
	}
}

/* ---- the tracer ---- */

static void put_one(const struct serve_metrics *metrics, const char *name, const char *type,
		    const char *help, double value)
{
	const bool counter = !strcmp(type, "counter");

	family(metrics, name, type, help);
	if (isfinite(value))
		fprintf(metrics->out, "%s%s %.17g\n", name, counter ? "_total" : "", value);
}

static void put_by_process(const struct serve_metrics *metrics, const char *name, const char *type,
			   const char *help, double tracer, double reader)
{
	const char *total = !strcmp(type, "counter") ? "_total" : "";

	family(metrics, name, type, help);
	fprintf(metrics->out, "%s%s{process=\"tracer\"} %.17g\n", name, total, tracer);
	fprintf(metrics->out, "%s%s{process=\"reader\"} %.17g\n", name, total, reader);
}

static void put_tracer(const struct serve_metrics *metrics)
{
	const struct serve_self *self = &metrics->state->self;
	const struct live_tracer *tracer = live_tracer(metrics->state->live);
	const struct jobs_totals *totals = jobs_totals(metrics->state->jobs);
	struct live_job *const *jobs;

	put_one(metrics, "ucxbpf_lost_records", "counter",
		"Records of objects and processes that found no room", (double)tracer->lost);
	put_one(metrics, "ucxbpf_read_timestamp_seconds", "gauge",
		"Time of the last reading, since 1970", tracer->real / SECOND);
	put_one(metrics, "ucxbpf_elapsed_seconds", "counter", "Time of all intervals",
		totals->ns / SECOND);
	put_one(metrics, "ucxbpf_watched_seconds", "counter",
		"Time of them with all probes in place: counters have the traffic of that time",
		totals->watched / SECOND);
	put_one(metrics, "ucxbpf_governor_step", "gauge",
		"0: all probes are in place; 1: the budget has taken some away in the last "
		"interval",
		tracer->away);
	put_one(metrics, "ucxbpf_budget_ratio", "gauge",
		"Highest share of a thread's time that counting may cost; 0: no limit",
		tracer->budget);
	put_one(metrics, "ucxbpf_paid_ratio", "gauge",
		"Share of its time that the thread that paid most paid in the last interval",
		tracer->paid);
	put_one(metrics, "ucxbpf_probe_hits", "counter", "Hits of probes", (double)totals->hits);
	put_one(metrics, "ucxbpf_traced_cpu_seconds", "counter",
		"CPU time of traced processes that probes took, an estimate",
		totals->trap_s + totals->program_s);
	put_by_process(metrics, "ucxbpf_self_cpu_seconds", "counter", "CPU time of ucxbpf",
		       totals->cpu_s, self->reader_cpu_s);
	put_by_process(metrics, "ucxbpf_self_memory_bytes", "gauge", "Resident memory of ucxbpf",
		       (double)tracer->memory, (double)self->reader_memory);
	put_one(metrics, "ucxbpf_jobs", "gauge", "Steps of jobs with counters here, ended ones too",
		(double)jobs_all(metrics->state->jobs, &jobs));
	put_one(metrics, "ucxbpf_jobs_seen", "counter", "Steps of jobs that came",
		(double)totals->came);
	put_one(metrics, "ucxbpf_jobs_dropped", "counter",
		"Ended ones that had to make room before their time", (double)totals->dropped);
	put_one(metrics, "ucxbpf_processes_folded", "counter",
		"Processes counted as of the job other, for want of room", (double)totals->folded);
	put_one(metrics, "ucxbpf_processes_missed", "counter",
		"Processes that mapped UCX and ended before anything could be read of them",
		(double)tracer->missed);
	put_one(metrics, "ucxbpf_unattributed", "counter",
		"Calls, operations and transfers of no known process, in no other metric",
		(double)live_unattributed(metrics->state->live));
	put_one(metrics, "ucxbpf_unwritten", "counter", "Outputs that could not be written",
		(double)self->unwritten);
	family(metrics, "ucxbpf_build_info", "gauge", "Version of ucxbpf");
	fputs("ucxbpf_build_info{", metrics->out);
	openmetrics_label(metrics->out, "version", UCXBPF_VERSION);
	fputs("} 1\n", metrics->out);
}

int serve_metrics(const struct serve_state *state, bool open, FILE *out)
{
	const struct serve_metrics metrics = { state, open, out };

	put_paths(&metrics);
	put_errors(&metrics);
	put_jobs(&metrics);
	put_processes(&metrics);
	put_ages(&metrics, "ucxbpf_open_calls",
		 "Threads in an MPI call for so many seconds at least",
		 offsetof(struct live_job, open_calls));
	put_ages(&metrics, "ucxbpf_open_operations", "Those of them that await an operation of UCP",
		 offsetof(struct live_job, open_ops));
	put_tracer(&metrics);
	return openmetrics_end(out, open);
}
