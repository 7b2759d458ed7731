// SPDX-License-Identifier: BSD-3-Clause
/* An interval as JSON: docs/top.schema.json. Numbers that are not known are null. */
#include "show/top/top.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/shape.h"

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : NULL;
}

static json_t *rate(const struct live *live, uint64_t amount)
{
	return real(live_rate(live_tracer(live), amount));
}

static json_t *id_of(const struct live_process *process)
{
	return process ? json_integer((json_int_t)process->id) : NULL;
}

/* ---- amounts: of the interval, per second of it, and in all ---- */

SHAPE_GETTER_WITH(count_rate, struct live_amount, amount, struct live, live,
		  rate(live, amount->now.count));
/* A sum that lacks something is no rate. */
SHAPE_GETTER_WITH(bytes_rate, struct live_amount, amount, struct live, live,
		  amount->now.unsized ? NULL : rate(live, amount->now.bytes));
SHAPE_GETTER_WITH(retries_rate, struct live_amount, amount, struct live, live,
		  rate(live, amount->now.retries));
SHAPE_GETTER(mean_ns, struct live_amount, amount,
	     amount->now.timed ? json_real((double)amount->now.ns / amount->now.timed) : NULL);

static const struct shape count_shape[] = {
	SHAPE_WHOLE("per_s", count_rate),
	SHAPE_AS("count", struct live_amount, now.count),
	SHAPE_AS("total", struct live_amount, total.count),
	{ 0 },
};

#define BYTES                                                                                      \
	SHAPE_WHOLE("per_s", count_rate), SHAPE_WHOLE("bytes_per_s", bytes_rate),                  \
		SHAPE_AS("count", struct live_amount, now.count),                                  \
		SHAPE_AS("bytes", struct live_amount, now.bytes),                                  \
		SHAPE_AS("unsized", struct live_amount, now.unsized),                              \
		SHAPE_AS("total", struct live_amount, total.count),                                \
		SHAPE_AS("total_bytes", struct live_amount, total.bytes),                          \
		SHAPE_AS("total_unsized", struct live_amount, total.unsized)

static const struct shape bytes_shape[] = {
	BYTES,
	{ 0 },
};

static const struct shape transfers_shape[] = {
	BYTES,
	SHAPE_WHOLE("retries_per_s", retries_rate),
	SHAPE_AS("retries", struct live_amount, now.retries),
	SHAPE_AS("total_retries", struct live_amount, total.retries),
	SHAPE_WHOLE("mean_ns", mean_ns),
	{ 0 },
};

/* ---- rows ---- */

SHAPE_GETTER(looks, struct live_process, process, json_integer(live_looks(process->looks)));
SHAPE_GETTER(in_mpi, struct live_process, process, json_integer(live_looks(process->in_mpi)));
SHAPE_GETTER(waiting, struct live_process, process, json_integer(live_looks(process->waiting)));

static const struct shape process_shape[] = {
	SHAPE_OF(struct live_process, id),
	SHAPE_OF(struct live_process, pid),
	SHAPE_OF(struct live_process, tgid),
	SHAPE_OF(struct live_process, host),
	SHAPE_OF(struct live_process, rank, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct live_process, size, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct live_process, job),
	SHAPE_OF(struct live_process, comm),
	SHAPE_OF(struct live_process, mpi),
	SHAPE_OF(struct live_process, ended),
	SHAPE_AS("unprobed_ns", struct live_process, unprobed),
	SHAPE_WHOLE("looks", looks),
	SHAPE_WHOLE("in_mpi", in_mpi),
	SHAPE_WHOLE("waiting", waiting),
	SHAPE_STRUCT("calls", struct live_process, calls, count_shape),
	SHAPE_STRUCT("sends", struct live_process, sends, bytes_shape),
	SHAPE_STRUCT("receives", struct live_process, receives, count_shape),
	SHAPE_OF(struct live_process, whole),
	SHAPE_STRUCT("out", struct live_process, out, bytes_shape),
	SHAPE_STRUCT("in", struct live_process, in, bytes_shape),
	{ 0 },
};

SHAPE_GETTER(path_process, struct live_path, path, id_of(path->process));
SHAPE_GETTER(path_peer, struct live_path, path, id_of(path->peer));
SHAPE_GETTER(path_fetches, struct live_path, path, json_boolean(path->fetches));

static const struct shape path_shape[] = {
	SHAPE_WHOLE("process", path_process),
	SHAPE_WHOLE("peer", path_peer),
	SHAPE_OF(struct live_path, transport),
	SHAPE_OF(struct live_path, device),
	SHAPE_OF(struct live_path, locality),
	SHAPE_OF(struct live_path, kind),
	SHAPE_OF(struct live_path, way),
	SHAPE_OF(struct live_path, initiator),
	SHAPE_OF(struct live_path, memory),
	SHAPE_WHOLE("fetches", path_fetches),
	SHAPE_STRUCT("transfers", struct live_path, amount, transfers_shape),
	{ 0 },
};

SHAPE_GETTER(function_process, struct live_function, function, id_of(function->process));

static const struct shape function_shape[] = {
	SHAPE_WHOLE("process", function_process),
	SHAPE_OF(struct live_function, function),
	SHAPE_STRUCT("calls", struct live_function, calls, count_shape),
	SHAPE_STRUCT("sends", struct live_function, sends, bytes_shape),
	{ 0 },
};

SHAPE_GETTER(error_process, struct live_error, error, id_of(error->process));

static const struct shape error_shape[] = {
	SHAPE_WHOLE("process", error_process),
	SHAPE_OF(struct live_error, what),
	SHAPE_OF(struct live_error, status),
	SHAPE_OF(struct live_error, op),
	SHAPE_OF(struct live_error, function),
	SHAPE_OF(struct live_error, transport),
	SHAPE_OF(struct live_error, device),
	SHAPE_STRUCT("errors", struct live_error, amount, count_shape),
	{ 0 },
};

static const struct shape site_shape[] = {
	SHAPE_OF(struct live_site, function),
	SHAPE_AS("call_site", struct live_site, place),
	SHAPE_AS("looks", struct live_site, now),
	SHAPE_AS("total_looks", struct live_site, total),
	{ 0 },
};

SHAPE_GETTER(thread_process, struct live_thread, thread, id_of(thread->process));
SHAPE_GETTER(thread_peer, struct live_thread, thread, id_of(thread->peer));
SHAPE_GETTER(thread_age, struct live_thread, thread,
	     thread->since ? json_integer((json_int_t)live_age(thread)) : NULL);

static const struct shape thread_shape[] = {
	SHAPE_WHOLE("process", thread_process),
	SHAPE_OF(struct live_thread, tid),
	SHAPE_OF(struct live_thread, state),
	SHAPE_OF(struct live_thread, function),
	SHAPE_AS("call_site", struct live_thread, place),
	SHAPE_OF(struct live_thread, outside),
	SHAPE_OF(struct live_thread, reason),
	SHAPE_AS("looked_ns", struct live_thread, at, .null = SHAPE_ZERO),
	SHAPE_WHOLE("at_least_ns", thread_age),
	SHAPE_OF(struct live_thread, op),
	SHAPE_WHOLE("peer", thread_peer),
	SHAPE_OF(struct live_thread, peer_rank, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct live_thread, tag, .null = SHAPE_NEGATIVE),
	SHAPE_AS("communicator", struct live_thread, comm),
	SHAPE_OF(struct live_thread, context, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct live_thread, sequence, .null = SHAPE_ZERO),
	SHAPE_OF(struct live_thread, sequence_by),
	SHAPE_OF(struct live_thread, step),
	SHAPE_OF(struct live_thread, step_reason),
	SHAPE_OF(struct live_thread, bytes, .null = SHAPE_MOST),
	SHAPE_AS("moved_bytes", struct live_thread, moved, .null = SHAPE_MOST),
	{ 0 },
};

SHAPE_GETTER(tracer_budget, struct live_tracer, tracer,
	     tracer->budget > 0 ? json_real(tracer->budget) : NULL);
SHAPE_GETTER(tracer_traps, struct live_tracer, tracer, real(live_trap_cpus(tracer)));
SHAPE_GETTER(tracer_programs, struct live_tracer, tracer, real(live_program_cpus(tracer)));

static const struct shape nic_shape[] = {
	SHAPE_AS("name", struct top_nic, name),
	SHAPE_AS("state", struct top_nic, state),
	SHAPE_AS("link_bytes_per_s", struct top_nic, rate),
	SHAPE_AS("in_bytes_per_s", struct top_nic, in),
	SHAPE_AS("out_bytes_per_s", struct top_nic, out),
	SHAPE_AS("traced_bytes_per_s", struct top_nic, traced),
	SHAPE_AS("numa_node", struct top_nic, numa, .null = SHAPE_NEGATIVE),
	{ 0 },
};

static const struct shape tracer_shape[] = {
	SHAPE_OF(struct live_tracer, cpu),
	SHAPE_OF(struct live_tracer, memory, .null = SHAPE_ZERO),
	SHAPE_OF(struct live_tracer, hits),
	SHAPE_WHOLE("trap_cpus", tracer_traps),
	SHAPE_WHOLE("program_cpus", tracer_programs),
	SHAPE_WHOLE("budget", tracer_budget),
	SHAPE_OF(struct live_tracer, paid),
	SHAPE_OF(struct live_tracer, away),
	SHAPE_OF(struct live_tracer, lost),
	SHAPE_OF(struct live_tracer, missed),
	{ 0 },
};

static json_t *processes(const struct live *live)
{
	struct live_process *const *all;
	size_t count = live_processes(live, &all);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, shape_json(process_shape, all[i], live));
	return array;
}

static json_t *notes(const struct live *live)
{
	const struct fact_reason *reasons = live_notes(live);
	json_t *object = json_object();

	for (size_t i = 0; i < FACT_MAX_REASONS && reasons[i].reason; i++)
		json_object_set_new(object, reasons[i].reason,
				    json_integer((json_int_t)reasons[i].count));
	return object;
}

int top_json(const struct live *live, const struct top_nics *nics, FILE *out)
{
	const struct live_tracer *tracer = live_tracer(live);
	const struct live_path *paths;
	const struct live_function *functions;
	const struct live_error *errors;
	const struct live_site *sites;
	const struct live_thread *threads;
	size_t path_count = live_paths(live, &paths),
	       function_count = live_functions(live, &functions),
	       error_count = live_errors(live, &errors);
	size_t site_count = live_sites(live, &sites), thread_count = live_threads(live, &threads);
	json_t *object = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"schema", TOP_SCHEMA, "n", (json_int_t)live_count(live), "real_ns",
		(json_int_t)tracer->real, "from_ns", (json_int_t)tracer->from, "to_ns",
		(json_int_t)tracer->to, "watched_ns", (json_int_t)tracer->watched, "rates_bound",
		live_rates_least(tracer), "tracer", shape_json(tracer_shape, tracer, live),
		"processes", processes(live), "paths",
		shape_array(path_shape, paths, path_count, sizeof(*paths), live), "functions",
		shape_array(function_shape, functions, function_count, sizeof(*functions), live),
		"errors", shape_array(error_shape, errors, error_count, sizeof(*errors), live),
		"call_sites", shape_array(site_shape, sites, site_count, sizeof(*sites), live),
		"threads", shape_array(thread_shape, threads, thread_count, sizeof(*threads), live),
		"nics",
		nics ? shape_array(nic_shape, nics->all.data, nics->all.len,
				   sizeof(*nics->all.data), live)
		     : json_array(),
		"notes", notes(live));
	int err = json_dumpf(object, out, JSON_COMPACT) || fputc('\n', out) == EOF || fflush(out)
			  ? -errno
			  : 0;

	json_decref(object);
	return err;
}

double top_traced(const struct live *live, const char *device)
{
	const struct live_path *all;
	size_t count = live_paths(live, &all);
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (all[i].device && !strcmp(all[i].device, device))
			bytes += all[i].amount.now.bytes;
	return live_rate(live_tracer(live), bytes);
}
