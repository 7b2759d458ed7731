// SPDX-License-Identifier: BSD-3-Clause
/*
 * Turns an interval in JSON back into the facts from which it was made. The view of a remote node
 * then adds up sums, ages of calls and bounds in the same way as that node's own view.
 */
#include "show/top/top.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/place.h"

/* The object that is read. */
struct json_interval {
	const json_t *object;
	const char *what; /* the first member that cannot be read; NULL: none so far */
	struct fact_sink sink;
	struct map processes; /* id -> number in the facts */
	uint64_t from, to; /* ns of the interval */
};

static const char *text(const json_t *row, const char *name)
{
	return json_string_value(json_object_get(row, name));
}

/* NAN: null or missing, so unknown, or no number that any node may send. */
static double real(const json_t *row, const char *name)
{
	const double value = json_number_value(json_object_get(row, name));

	return json_is_number(json_object_get(row, name)) && value >= 0 && value < 0x1p62 ? value
											  : NAN;
}

/* -1: null or missing, so unknown. */
static int64_t whole(const json_t *row, const char *name)
{
	const json_t *value = json_object_get(row, name);

	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
									: -1;
}

static int number(const json_t *row, const char *name)
{
	const int64_t value = whole(row, name);

	return value <= INT32_MAX ? (int)value : -1;
}

/* A member that each object must have. */
static uint64_t count(struct json_interval *reading, const json_t *row, const char *name)
{
	const int64_t value = whole(row, name);

	if (value < 0 && !reading->what)
		reading->what = name;
	return value < 0 ? 0 : (uint64_t)value;
}

#define ROWS_MOST (1 << 20)

/*
 * Rows that one node may have: far more than real ones have. The work for processes, threads and
 * NICs grows with the square of their number, and nothing ends it.
 */
static const struct {
	const char *name;
	size_t most;
} arrays[] = {
	{ "processes", 4096 },      { "threads", 16384 },   { "nics", 1024 },
	{ "functions", ROWS_MOST }, { "paths", ROWS_MOST },
};

static void check_arrays(struct json_interval *reading)
{
	for (size_t i = 0; i < ARRAY_SIZE(arrays) && !reading->what; i++) {
		const json_t *value = json_object_get(reading->object, arrays[i].name);

		if (!json_is_array(value) || json_array_size(value) > arrays[i].most)
			reading->what = arrays[i].name;
	}
	/* older programs have none */
	if (json_array_size(json_object_get(reading->object, "errors")) > ROWS_MOST)
		reading->what = "errors";
}

/* Rows and texts of a view stay, so that a node that sends new ones again and again must be
 * stopped. */
static bool is_full(const struct live *live)
{
	const struct live_path *paths;
	const struct live_function *functions;
	const struct live_error *errors;
	const struct live_site *sites;

	return live_paths(live, &paths) > ROWS_MOST ||
	       live_functions(live, &functions) > ROWS_MOST ||
	       live_errors(live, &errors) > ROWS_MOST || live_sites(live, &sites) > ROWS_MOST ||
	       live_texts(live) > ROWS_MOST;
}

static const json_t *array(const struct json_interval *reading, const char *name)
{
	return json_object_get(reading->object, name);
}

/* ---- the facts ---- */

static struct fact_sums bytes_of(struct json_interval *reading, const json_t *row, const char *name)
{
	const json_t *amount = json_object_get(row, name);

	return (struct fact_sums){
		.count = count(reading, amount, "count"),
		.bytes = count(reading, amount, "bytes"),
		.bytes_unknown = count(reading, amount, "unsized"),
	};
}

static struct fact_sums count_of(struct json_interval *reading, const json_t *row, const char *name)
{
	return (struct fact_sums){ .count = count(reading, json_object_get(row, name), "count") };
}

/* -1: none, or unknown. */
static int process_of(const struct json_interval *reading, const json_t *row, const char *name)
{
	const int64_t id = whole(row, name);
	const uint64_t *index = id < 0 ? NULL : map_find(&reading->processes, (uint64_t)id, 0);

	return index ? (int)*index : -1;
}

static void number_processes(struct json_interval *reading)
{
	const json_t *row;
	size_t i;

	json_array_foreach(array(reading, "processes"), i, row) *
		map_insert(&reading->processes, count(reading, row, "id"), 0, NULL) = i;
}

/* The id replaces the start time: no id is used twice. */
static void put_process(struct json_interval *reading, const json_t *row)
{
	const int64_t tgid = whole(row, "tgid");
	const struct fact_process fact = {
		.index = process_of(reading, row, "id"),
		.host_name = text(row, "host"),
		.pid = (uint32_t)count(reading, row, "pid"),
		.tgid = tgid > 0 ? (uint32_t)tgid : 0,
		.start_time = count(reading, row, "id"),
		.comm = text(row, "comm"),
		.mpi = text(row, "mpi"),
		.job = text(row, "job"),
		.rank = number(row, "rank"),
		.size = number(row, "size"),
	};

	fact_put(&reading->sink, FACT_PROCESS, &fact);
}

/* Only receives: put_function() has the sends. */
static void put_life(struct json_interval *reading, const json_t *row)
{
	const struct fact_op receive = { .process = process_of(reading, row, "id"),
					 .op = "tag_recv" };
	const struct fact_sums receives = count_of(reading, row, "receives");
	const struct fact_lifetime life = {
		.process = process_of(reading, row, "id"),
		.exited = json_is_true(json_object_get(row, "ended")),
		.exit_status = -1,
	};

	fact_put_sums(&reading->sink, FACT_OPS, &receive, &receives);
	fact_put(&reading->sink, FACT_LIFETIME, &life);
}

static void put_function(struct json_interval *reading, const json_t *row)
{
	const struct fact_call call = { .process = process_of(reading, row, "process"),
					.function = text(row, "function") };
	const struct fact_op op = {
		.process = call.process, .op = "tag_send", .function = call.function, .sends = true
	};
	const struct fact_sums calls = count_of(reading, row, "calls"),
			       sends = bytes_of(reading, row, "sends");

	if (calls.count)
		fact_put_sums(&reading->sink, FACT_CALLS, &call, &calls);
	if (sends.count)
		fact_put_sums(&reading->sink, FACT_OPS, &op, &sends);
}

/* The position of a word, or of the NULL at the end. */
static int word(const char *const *words, const char *word)
{
	int i = 0;

	while (words[i] && (!word || strcmp(words[i], word) != 0))
		i++;
	return i;
}

static void put_path(struct json_interval *reading, const json_t *row)
{
	const char *locality = text(row, "locality");
	const int kind = word(fact_kind_names, text(row, "kind"));
	struct fact_sums sums = bytes_of(reading, row, "transfers");
	struct fact_transfer fact = {
		.process = process_of(reading, row, "process"),
		.peer = process_of(reading, row, "peer"),
		.transport = text(row, "transport"),
		.device = text(row, "device"),
		.kind = kind,
		.data_path = text(row, "way"),
		.initiator = text(row, "initiator"),
		.src_mem = text(row, "memory"),
		.fetches = json_is_true(json_object_get(row, "fetches")),
	};

	if (locality && fact_locality_names[word(fact_locality_names, locality)])
		fact.locality = word(fact_locality_names, locality);
	if (!fact_kind_names[kind] && !reading->what)
		reading->what = "kind";
	if (reading->what)
		return;
	sums.retries = count(reading, json_object_get(row, "transfers"), "retries");
	fact_put_sums(&reading->sink, FACT_TRANSFERS, &fact, &sums);
}

static void put_error(struct json_interval *reading, const json_t *row)
{
	const struct fact_error fact = {
		.process = process_of(reading, row, "process"),
		.what = text(row, "what"),
		.status = text(row, "status"),
		.op = text(row, "op"),
		.function = text(row, "function"),
		.transport = text(row, "transport"),
		.device = text(row, "device"),
	};
	const struct fact_sums sums = count_of(reading, row, "errors");

	fact_put_sums(&reading->sink, FACT_ERRORS, &fact, &sums);
}

/* A thread without any state was not inspected. */
static void put_thread(struct json_interval *reading, const json_t *row)
{
	const uint64_t looked = (uint64_t)whole(row, "looked_ns");
	const char *label = text(row, "call_site");
	const struct place place = { .label = label };
	const struct fact_thread fact = {
		.process = process_of(reading, row, "process"),
		.tid = (uint32_t)count(reading, row, "tid"),
		.state = text(row, "state"),
		.function = text(row, "function"),
		.place = label ? &place : NULL,
		.outside = json_is_true(json_object_get(row, "outside")),
		.reason = text(row, "reason"),
		.at = looked >= reading->from && looked <= reading->to ? looked : reading->to,
	};
	const struct fact_open open = {
		.process = fact.process,
		.tid = fact.tid,
		.op = text(row, "op"),
		.peer = process_of(reading, row, "peer"),
		.peer_rank = number(row, "peer_rank"),
		.tag = number(row, "tag"),
		.comm = text(row, "communicator"),
		.context = number(row, "context"),
		.step = text(row, "step"),
		.step_reason = text(row, "step_reason"),
		.bytes = (uint64_t)whole(row, "bytes"),
		.moved = (uint64_t)whole(row, "moved_bytes"),
		.until = reading->to,
	};

	if (fact.state || fact.function || fact.outside || fact.reason)
		fact_put(&reading->sink, FACT_THREAD, &fact);
	if (open.op)
		fact_put(&reading->sink, FACT_OPEN, &open);
}

static void put_all(struct json_interval *reading)
{
	const json_t *row;
	size_t i;

	json_array_foreach(array(reading, "processes"), i, row) put_process(reading, row);
	json_array_foreach(array(reading, "functions"), i, row) put_function(reading, row);
	json_array_foreach(array(reading, "paths"), i, row) put_path(reading, row);
	json_array_foreach(array(reading, "errors"), i, row) put_error(reading, row);
	json_array_foreach(array(reading, "threads"), i, row) put_thread(reading, row);
	json_array_foreach(array(reading, "processes"), i, row) put_life(reading, row);
}

/* ---- the rest ---- */

static double per_hit(const json_t *row, const char *name, const struct live_tracer *tracer)
{
	return tracer->hits ? real(row, name) * (double)(tracer->to - tracer->from) / tracer->hits
			    : NAN;
}

static struct live_tracer tracer_of(struct json_interval *reading)
{
	const json_t *object = reading->object, *row = json_object_get(object, "tracer");
	const int64_t memory = whole(row, "memory");
	const double budget = real(row, "budget");
	struct live_tracer tracer = {
		.from = count(reading, object, "from_ns"),
		.to = count(reading, object, "to_ns"),
		.real = count(reading, object, "real_ns"),
		.watched = count(reading, object, "watched_ns"),
		.away = json_is_true(json_object_get(row, "away")),
		.budget = isfinite(budget) ? budget : 0,
		.paid = real(row, "paid"),
		.cpu = real(row, "cpu"),
		.memory = memory > 0 ? (uint64_t)memory : 0,
		.hits = count(reading, row, "hits"),
		.lost = count(reading, row, "lost"),
		.missed = count(reading, row, "missed"),
	};

	if (tracer.to < tracer.from && !reading->what)
		reading->what = "to_ns";
	tracer.trap_ns = per_hit(row, "trap_cpus", &tracer);
	tracer.program_ns = per_hit(row, "program_cpus", &tracer);
	return tracer;
}

static void read_notes(struct json_interval *reading, struct fact_totals *totals)
{
	const json_t *notes = json_object_get(reading->object, "notes"), *value;
	const char *reason;
	size_t i = 0;

	json_object_foreach((json_t *)notes, reason, value)
	{
		if (i == FACT_MAX_REASONS)
			break;
		totals->notes[i++] = (struct fact_reason){ reason, count(reading, notes, reason) };
	}
}

static void read_nics(struct json_interval *reading, struct top_nics *nics)
{
	const json_t *row;
	size_t i;

	nics->all.len = 0;
	json_array_foreach(array(reading, "nics"), i, row)
	{
		if (!text(row, "name"))
			continue;
		vec_push(&nics->all, ((struct top_nic){
					     .name = text(row, "name"),
					     .state = text(row, "state"),
					     .rate = real(row, "link_bytes_per_s"),
					     .in = real(row, "in_bytes_per_s"),
					     .out = real(row, "out_bytes_per_s"),
					     .traced = real(row, "traced_bytes_per_s"),
					     .numa = number(row, "numa_node"),
				     }));
	}
}

static void ignore(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	(void)arg, (void)type, (void)fact, (void)sums;
}

bool top_read(const json_t *object, struct live *live, struct top_nics *nics, const char **what)
{
	struct json_interval reading = { .object = object, .sink = { NULL, ignore } };
	const struct live_tracer tracer = tracer_of(&reading);
	struct fact_totals totals = { 0 };

	reading.from = tracer.from;
	reading.to = tracer.to;
	if (is_full(live))
		reading.what = "paths";
	check_arrays(&reading);
	if (!reading.what) {
		number_processes(&reading);
		read_notes(&reading, &totals);
		/* a first pass into nothing finds members that cannot be read */
		put_all(&reading);
	}
	*what = reading.what;
	if (!reading.what) {
		live_begin(live, &tracer);
		reading.sink = live_sink(live);
		put_all(&reading);
		live_end(live, &totals);
		read_nics(&reading, nics);
	}
	map_release(&reading.processes);
	return !*what;
}
