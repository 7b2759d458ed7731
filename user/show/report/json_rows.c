// SPDX-License-Identifier: BSD-3-Clause
/* The tables of the JSON report. */
#include "show/report/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/shape.h"

static const char *precision_name(uint32_t precisions)
{
	for (int i = TIME_EXACT; fact_precision_names[i]; i++)
		if (precisions == 1u << i)
			return fact_precision_names[i];
	return "mixed";
}

SHAPE_GETTER(precision_json, struct cube_sums, sums, json_string(precision_name(sums->precisions)));
SHAPE_KNOWN(has_range, struct cube_sums, sums, sums->time_min != UINT64_MAX);

static const struct shape time_shape[] = {
	SHAPE_AS("known", struct cube_sums, timed),
	SHAPE_AS("sum_ns", struct cube_sums, time_sum),
	SHAPE_AS("min_ns", struct cube_sums, time_min, .known = has_range),
	SHAPE_AS("max_ns", struct cube_sums, time_max, .known = has_range),
	SHAPE_WHOLE("precision", precision_json),
	SHAPE_OF(struct cube_sums, exact),
	SHAPE_AS("exact_sum_ns", struct cube_sums, exact_time),
	SHAPE_OF(struct cube_sums, exact_bytes),
	{ 0 },
};

#define SUM(member, ...) SHAPE_OF(struct cube_sums, member, ##__VA_ARGS__)
SHAPE_KNOWN(has_ops, struct cube_sums, sums, cube_ops_known(sums));

/* Sums of calls; null where no operations were recorded. */
#define OPS SUM(ops, .known = has_ops), SUM(ops_unknown), SUM(bytes, .known = has_ops)
#define TIME SHAPE_PART("time", time_shape, SHAPE_WHEN(struct cube_sums, timed))

static const struct shape call_sums[] = {
	SUM(count),
	OPS,
	SUM(bytes_unknown),
	TIME,
	SHAPE_AS("time_most_ns", struct cube_sums, time_most,
		 SHAPE_UNLESS(struct cube_sums, unbounded)),
	{ 0 },
};

static const struct shape op_sums[] = {
	SUM(count),
	SUM(bytes),
	SUM(bytes_unknown),
	SUM(errors, SHAPE_UNLESS(struct cube_sums, unchecked)),
	TIME,
	{ 0 },
};

static const struct shape transfer_sums[] = {
	SUM(count),   SUM(bytes),      SUM(bytes_unknown),
	SUM(retries), SUM(wire_bytes), SUM(unexplained_bytes),
	TIME,         { 0 },
};

static const struct shape plain_message_sums[] = {
	SUM(count),
	SUM(bytes),
	SUM(bytes_unknown),
	{ 0 },
};

static const struct shape message_sums[] = {
	SUM(count), SUM(bytes), SUM(bytes_unknown), SUM(copies), SUM(copy_bytes), { 0 },
};

static const struct shape network_sums[] = {
	SUM(count), SUM(bytes), SUM(bytes_unknown), SUM(wire_bytes), { 0 },
};

static const struct shape place_sums[] = {
	SUM(count),
	OPS,
	TIME,
	{ 0 },
};

static const struct shape error_sums[] = { SUM(count), { 0 } };

static json_t *list_json(const char *names)
{
	json_t *array = json_array();
	size_t length;

	for (; *names; names += length + (names[length] == ',')) {
		length = strcspn(names, ",");
		json_array_append_new(array, json_stringn(names, length));
	}
	return array;
}

static json_t *key_json(const struct cube_key *key, uint64_t word)
{
	const char *text;

	if (key->type == CUBE_PROCESS)
		return (int64_t)word < 0 ? json_null() : json_integer(word);
	text = cube_key_text(key, word);
	if (key->type == CUBE_LIST)
		return text ? list_json(text) : json_null();
	return shape_text(text);
}

static json_t *keys_json(const struct cube_shape *shape, const struct cube_row *row)
{
	json_t *object = json_object();

	for (int k = 0; k < shape->count; k++)
		json_object_set_new(object, shape->keys[k].name,
				    key_json(&shape->keys[k], row->key[k]));
	return object;
}

static void put_cube(struct json_out *out, const char *name, const struct cube *cube,
		     const struct shape *sums)
{
	const struct cube_row **rows = cube_sorted(cube, CUBE_BY_KEYS);

	json_out_array(out, name);
	for (size_t i = 0; i < cube->rows.len; i++) {
		json_t *object = keys_json(cube->shape, rows[i]);

		shape_put(object, sums, &rows[i]->sums, NULL);
		json_out_item(out, object);
	}
	json_out_array_end(out);
	free(rows);
}

/* Without a GPU library, memory is not mentioned at all. */
static void put_plain(const struct report *report, struct json_out *out, const char *name,
		      const struct cube *cube, const struct cube_shape *shape,
		      const struct shape *sums)
{
	struct cube plain;

	if (report_knows_memory(report)) {
		put_cube(out, name, cube, sums);
		return;
	}
	cube_init(&plain, shape);
	cube_rollup(&plain, cube);
	put_cube(out, name, &plain, sums);
	cube_release(&plain);
}

static void put_networks(const struct report *report, struct json_out *out)
{
	struct cube nics, routes;

	cube_init(&nics, &report_nics_shape);
	cube_init(&routes, &report_routes_shape);
	report_networks(report, &nics, &routes);
	if (nics.rows.len) {
		put_cube(out, "nics", &nics, network_sums);
		put_cube(out, "routes", &routes, network_sums);
	}
	cube_release(&nics);
	cube_release(&routes);
}

SHAPE_GETTER(slow_time, struct fact_transfer, transfer, json_integer(slowest_time(transfer)));
SHAPE_GETTER(slow_precision, struct fact_transfer, transfer,
	     json_string(precision_name(1u << transfer->end_precision)));
SHAPE_GETTER_WITH(slow_at, struct fact_transfer, transfer, struct report, report,
		  json_integer(transfer->start - json_host_first(report, transfer->process)));

static const struct shape slow_shape[] = {
	SHAPE_OF(struct fact_transfer, process, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_transfer, peer, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_transfer, op, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, transport, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, device, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, data_path, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, initiator, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, ucp_op),
	SHAPE_OF(struct fact_transfer, function),
	SHAPE_OF(struct fact_transfer, bytes, .null = SHAPE_MOST),
	SHAPE_WHOLE("time_ns", slow_time),
	SHAPE_WHOLE("precision", slow_precision),
	SHAPE_WHOLE("at_ns", slow_at),
	{ 0 },
};

/* The members that locate a place. */
static const struct shape place_shape[] = {
	SHAPE_OF(struct place, label),
	SHAPE_OF(struct place, module),
	SHAPE_OF(struct place, build_id),
	SHAPE_OF(struct place, offset, .hex = true, SHAPE_WHEN(struct place, module)),
	SHAPE_OF(struct place, symbol),
	SHAPE_OF(struct place, demangled, .optional = true),
	SHAPE_OF(struct place, symbol_offset, SHAPE_WHEN(struct place, symbol)),
	SHAPE_OF(struct place, file),
	SHAPE_OF(struct place, line, SHAPE_WHEN(struct place, file)),
	SHAPE_OF(struct place, address, .hex = true, SHAPE_UNLESS(struct place, module)),
	SHAPE_OF(struct place, reason),
	{ 0 },
};

static const struct shape caller_shape[] = {
	SHAPE_OF(struct place, library),
	SHAPE_OF(struct place, role),
	{ 0 },
};

static json_t *frames_json(const void *of)
{
	const struct stack *stack = of;
	json_t *frames = json_array();

	for (int i = 0; i < stack->depth; i++)
		json_array_append_new(frames, shape_json(place_shape, stack->frames[i], NULL));
	return frames;
}

static const struct shape stack_shape[] = {
	SHAPE_OF(struct stack, end),
	SHAPE_WHOLE("frames", frames_json),
	{ 0 },
};

/* The rows of call sites, of callers, or of stacks. */
static void put_places(const struct report *report, struct json_out *out, const char *name,
		       const struct cube *cube, const struct shape *sums)
{
	static const struct place none = { .reason = "not recorded" };
	const struct cube_row **rows = cube_sorted(cube, CUBE_BY_KEYS);

	json_out_array(out, name);
	for (size_t i = 0; i < cube->rows.len; i++) {
		const uint64_t *key = rows[i]->key;
		const struct place *place = report_place(report, key[2]);
		json_t *object = json_pack("{s:I, s:o}", "process", (json_int_t)key[0],
					   cube->shape->keys[1].name,
					   key_json(&cube->shape->keys[1], key[1]));

		if (cube == &report->stacks)
			shape_put(object, stack_shape, report_stack(report, key[2]), NULL);
		else
			shape_put(object, place_shape, place ? place : &none, NULL);
		if (cube == &report->callers)
			shape_put(object, caller_shape, place ? place : &none, NULL);
		shape_put(object, sums, &rows[i]->sums, NULL);
		json_out_item(out, object);
	}
	json_out_array_end(out);
	free(rows);
}

/* ---- waits, times of processes, open calls ---- */

static json_t *label_of(const struct report *report, uint64_t key)
{
	const struct place *place = report_place(report, key);

	return place ? shape_text(place->label) : NULL;
}

static json_t *name_of(uint64_t word)
{
	return word ? shape_text((const char *)(uintptr_t)word) : NULL;
}

#define WAIT_GETTER(name, value)                                                                   \
	SHAPE_GETTER_WITH(wait_##name, struct wait_row, row, struct report, report,                \
			  ((void)report, (value)))

WAIT_GETTER(kind, name_of(row->key.kind));
WAIT_GETTER(function, name_of(row->key.function));
WAIT_GETTER(rank, report_json_rank(report, row->key.process));
WAIT_GETTER(site, label_of(report, row->key.place));
WAIT_GETTER(culprit_rank, report_json_rank(report, row->key.culprit));
WAIT_GETTER(culprit_function, name_of(row->key.culprit_function));
WAIT_GETTER(culprit_site, label_of(report, row->key.culprit_place));
WAIT_GETTER(precision, json_string(!row->by_clocks ? "exact" : row->exact ? "mixed" : "clocks"));
WAIT_GETTER(root_rank, report_json_rank(report, row->longest.root));
WAIT_GETTER(root_site, row->longest.root_place ? shape_text(row->longest.root_place->label) : NULL);

static const struct shape wait_shape[] = {
	SHAPE_WHOLE("kind", wait_kind),
	SHAPE_WHOLE("function", wait_function),
	SHAPE_AS("process", struct wait_row, key.process, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("rank", wait_rank),
	SHAPE_WHOLE("call_site", wait_site),
	SHAPE_AS("culprit", struct wait_row, key.culprit, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("culprit_rank", wait_culprit_rank),
	SHAPE_WHOLE("culprit_function", wait_culprit_function),
	SHAPE_WHOLE("culprit_call_site", wait_culprit_site),
	SHAPE_OF(struct wait_row, count),
	SHAPE_AS("sum_ns", struct wait_row, ns),
	SHAPE_AS("max_ns", struct wait_row, most),
	SHAPE_AS("fresh_ns", struct wait_row, fresh),
	SHAPE_AS("uncertainty_ns", struct wait_row, uncertainty),
	SHAPE_WHOLE("precision", wait_precision),
	SHAPE_AS("computing_ns", struct wait_row, computing),
	SHAPE_AS("communicating_ns", struct wait_row, communicating),
	SHAPE_AS("waiting_ns", struct wait_row, waiting),
	SHAPE_AS("root", struct wait_row, longest.root, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("root_rank", wait_root_rank),
	SHAPE_AS("root_function", struct wait_row, longest.root_function),
	SHAPE_WHOLE("root_call_site", wait_root_site),
	SHAPE_AS("root_did", struct wait_row, longest.root_did),
	{ 0 },
};

#define ROOT_GETTER(name, value)                                                                   \
	SHAPE_GETTER_WITH(cause_##name, struct root_row, row, struct report, report,               \
			  ((void)report, (value)))

ROOT_GETTER(rank, report_json_rank(report, row->key.process));
ROOT_GETTER(function, name_of(row->key.function));
ROOT_GETTER(site, label_of(report, row->key.place));
ROOT_GETTER(did, name_of(row->key.did));

static const struct shape root_shape[] = {
	SHAPE_AS("process", struct root_row, key.process, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("rank", cause_rank),
	SHAPE_WHOLE("function", cause_function),
	SHAPE_WHOLE("call_site", cause_site),
	SHAPE_WHOLE("did", cause_did),
	SHAPE_OF(struct root_row, count),
	SHAPE_AS("fresh_ns", struct root_row, fresh),
	{ 0 },
};

/* ---- collectives ---- */

SHAPE_GETTER(collective_function, struct collective_row, row, name_of(row->key.function));
SHAPE_GETTER(collective_comm, struct collective_row, row, name_of(row->key.comm));
SHAPE_GETTER(collective_algorithm, struct collective_row, row, name_of(row->key.algorithm));
SHAPE_GETTER(collective_reason, struct collective_row, row, name_of(row->key.reason));

static const struct shape collective_shape[] = {
	SHAPE_WHOLE("function", collective_function),
	SHAPE_WHOLE("communicator", collective_comm),
	SHAPE_AS("ranks", struct collective_row, key.ranks, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("algorithm", collective_algorithm),
	SHAPE_WHOLE("reason", collective_reason),
	SHAPE_OF(struct collective_row, count),
	SHAPE_OF(struct collective_row, context, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct collective_row, numbered),
	SHAPE_OF(struct collective_row, first_sequence, .null = SHAPE_ZERO),
	SHAPE_OF(struct collective_row, last_sequence, .null = SHAPE_ZERO),
	SHAPE_OF(struct collective_row, rounds, .null = SHAPE_ZERO),
	SHAPE_OF(struct collective_row, rounds_bound),
	SHAPE_OF(struct collective_row, messages),
	SHAPE_OF(struct collective_row, most_sent),
	SHAPE_OF(struct collective_row, bytes),
	SHAPE_AS("least_bytes", struct collective_row, least),
	SHAPE_AS("most_bytes", struct collective_row, most),
	SHAPE_OF(struct collective_row, bytes_bound),
	{ 0 },
};

/* ---- durations ---- */

SHAPE_GETTER(spread_median, struct spread, spread, shape_exact(spread_quantile(spread, 50)));
SHAPE_GETTER(spread_p99, struct spread, spread, shape_exact(spread_quantile(spread, 99)));

static const struct shape spread_shape[] = {
	SHAPE_AS("exact", struct spread, count),
	SHAPE_WHOLE("exact_median_ns", spread_median),
	SHAPE_WHOLE("exact_p99_ns", spread_p99),
	{ 0 },
};

static void put_path_times(const struct report *report, struct json_out *out)
{
	struct durations paths = report_paths(report);
	const struct cube_row **rows = cube_sorted(&paths.rows, CUBE_BY_KEYS);

	json_out_array(out, "path_times");
	for (size_t i = 0; i < paths.rows.rows.len; i++) {
		json_t *object = keys_json(paths.rows.shape, rows[i]);

		shape_put(object, spread_shape, durations_of(&paths, rows[i]->key), NULL);
		json_out_item(out, object);
	}
	json_out_array_end(out);
	free(rows);
	durations_release(&paths);
}

/* ---- functions ---- */

SHAPE_GETTER(function_name, struct report_function, function, name_of(function->name));
SHAPE_GETTER(function_precision, struct report_function, function,
	     json_string(precision_name(function->exact ? 1u << TIME_EXACT
							: function->precisions)));
SHAPE_GETTER_WITH(function_span, struct report_function, function, struct report, report,
		  ((void)function, json_integer((json_int_t)report_mpi_span(report))));
SHAPE_GETTER_WITH(function_least_rank, struct report_function, function, struct report, report,
		  report_json_rank(report, function->least_by));
SHAPE_GETTER_WITH(function_most_rank, struct report_function, function, struct report, report,
		  report_json_rank(report, function->most_by));
SHAPE_GETTER(function_imbalance, struct report_function, function,
	     json_real(report_function_imbalance(function)));

SHAPE_GETTER(function_exact, struct report_function, function,
	     shape_exact(function->durations ? function->durations->count : 0));
SHAPE_GETTER(function_median, struct report_function, function,
	     function->durations ? spread_median(function->durations) : NULL);
SHAPE_GETTER(function_p99, struct report_function, function,
	     function->durations ? spread_p99(function->durations) : NULL);

static const struct shape function_shape[] = {
	SHAPE_WHOLE("function", function_name),
	SHAPE_OF(struct report_function, calls),
	SHAPE_AS("callers", struct report_function, processes),
	SHAPE_AS("time_ns", struct report_function, time),
	SHAPE_WHOLE("precision", function_precision),
	SHAPE_WHOLE("span_ns", function_span),
	SHAPE_AS("least_ns", struct report_function, least),
	SHAPE_AS("least_process", struct report_function, least_by),
	SHAPE_WHOLE("least_rank", function_least_rank),
	SHAPE_AS("most_ns", struct report_function, most),
	SHAPE_AS("most_process", struct report_function, most_by),
	SHAPE_WHOLE("most_rank", function_most_rank),
	SHAPE_WHOLE("imbalance", function_imbalance, SHAPE_WHEN(struct report_function, exact)),
	SHAPE_WHOLE("exact", function_exact),
	SHAPE_WHOLE("exact_median_ns", function_median),
	SHAPE_WHOLE("exact_p99_ns", function_p99),
	{ 0 },
};

/* ---- tags ---- */

SHAPE_GETTER(tag_library, struct tag_row, row, name_of(row->key.library));
SHAPE_GETTER(tag_kind, struct tag_row, row, name_of(row->key.kind));
SHAPE_GETTER(tag_team, struct tag_row, row, name_of(row->key.team));

static const struct shape tag_shape[] = {
	SHAPE_WHOLE("library", tag_library),
	SHAPE_WHOLE("team", tag_team),
	SHAPE_WHOLE("kind", tag_kind),
	SHAPE_OF(struct tag_row, senders),
	SHAPE_AS("operations", struct tag_row, numbers),
	SHAPE_OF(struct tag_row, messages),
	SHAPE_OF(struct tag_row, bytes),
	{ 0 },
};

SHAPE_GETTER(sender_library, struct tag_sender, row, name_of(row->library));
SHAPE_GETTER(sender_team, struct tag_sender, row, name_of(row->team));

static const struct shape tag_sender_shape[] = {
	SHAPE_WHOLE("library", sender_library), SHAPE_WHOLE("team", sender_team),
	SHAPE_OF(struct tag_sender, sender),    SHAPE_OF(struct tag_sender, process),
	SHAPE_OF(struct tag_sender, messages),  { 0 },
};

/* ---- sizes ---- */

struct size_row {
	int number;
	struct size_class of;
};

SHAPE_GETTER(size_from, struct size_row, row, shape_exact(size_class_from(row->number)));
SHAPE_GETTER(size_most, struct size_row, row,
	     shape_exact(row->number
				 ? size_class_from(row->number) + (size_class_from(row->number) - 1)
				 : 0));

static const struct shape size_shape[] = {
	SHAPE_WHOLE("from_bytes", size_from),
	SHAPE_WHOLE("most_bytes", size_most),
	SHAPE_AS("messages", struct size_row, of.messages),
	SHAPE_AS("bytes", struct size_row, of.bytes),
	SHAPE_AS("known", struct size_row, of.known),
	SHAPE_AS("unexpected", struct size_row, of.unexpected),
	SHAPE_AS("unexpected_bytes", struct size_row, of.unexpected_bytes),
	{ 0 },
};

static void put_sizes(const struct report *report, struct json_out *out)
{
	json_out_array(out, "sizes");
	for (int i = 0; i < SIZE_CLASSES; i++) {
		const struct size_row row = { i, report->sizes.classes[i] };

		if (row.of.messages)
			json_out_item(out, shape_json(size_shape, &row, report));
	}
	json_out_array_end(out);
}

SHAPE_GETTER(protocol_op, struct protocol_sizes, row, name_of(row->key.op));
SHAPE_GETTER(protocol_function, struct protocol_sizes, row, name_of(row->key.function));
SHAPE_GETTER(protocol_memory, struct protocol_sizes, row, name_of(row->key.memory));
SHAPE_GETTER(protocol_name, struct protocol_sizes, row, name_of(row->key.protocol));
SHAPE_GETTER(protocol_locality, struct protocol_sizes, row,
	     json_string(fact_locality_names[row->key.locality]));

static const struct shape protocol_shape[] = {
	SHAPE_WHOLE("function", protocol_function),
	SHAPE_WHOLE("op", protocol_op),
	SHAPE_WHOLE("locality", protocol_locality),
	SHAPE_WHOLE("memory", protocol_memory),
	SHAPE_WHOLE("protocol", protocol_name),
	SHAPE_OF(struct protocol_sizes, count),
	SHAPE_OF(struct protocol_sizes, bytes),
	SHAPE_AS("least_bytes", struct protocol_sizes, least),
	SHAPE_AS("most_bytes", struct protocol_sizes, most),
	{ 0 },
};

/* A row of time[]. */
struct time_row {
	int process;
	uint64_t span;
	struct process_time time;
};

SHAPE_GETTER_WITH(time_rank, struct time_row, row, struct report, report,
		  report_json_rank(report, row->process));
SHAPE_GETTER_WITH(time_waited, struct time_row, row, struct report, report,
		  report_recorded(report, LEVEL_UCT) == RECORDED_NEVER
			  ? json_null()
			  : json_integer((json_int_t)row->time.waited));

static json_t *wait_bound(const void *row, const void *report)
{
	(void)row;
	return json_boolean(report_recorded(report, LEVEL_UCT) == RECORDED_PARTLY);
}

SHAPE_GETTER(time_precision, struct time_row, row,
	     json_string(!row->time.unbounded && row->time.least == row->time.most
				 ? "exact"
				 : "lower_bound"));

static const struct shape process_time_shape[] = {
	SHAPE_OF(struct time_row, process),
	SHAPE_WHOLE("rank", time_rank),
	SHAPE_AS("span_ns", struct time_row, span, .null = SHAPE_ZERO),
	SHAPE_AS("mpi_ns", struct time_row, time.least, SHAPE_WHEN(struct time_row, time.timed)),
	SHAPE_AS("mpi_most_ns", struct time_row, time.most,
		 SHAPE_UNLESS(struct time_row, time.unbounded)),
	SHAPE_WHOLE("wait_ns", time_waited),
	SHAPE_WHOLE("wait_bound", wait_bound),
	SHAPE_WHOLE("precision", time_precision),
	{ 0 },
};

static void put_times(const struct report *report, struct json_out *out)
{
	json_out_array(out, "time");
	for (size_t i = 0; i < report->waits.times.len; i++) {
		struct time_row row = { (int)i, report_process_span(report, (int)i),
					report->waits.times.data[i] };

		/* the next call may be one of a later window */
		if (report->windows.len && row.time.most > row.span)
			row.time.most = row.span;
		if (row.time.calls)
			json_out_item(out, shape_json(process_time_shape, &row, report));
	}
	json_out_array_end(out);
}

static const struct shape memory_shape[] = {
	SHAPE_OF(struct fact_memory, process),
	SHAPE_OF(struct fact_memory, kind, .instead = "unknown"),
	SHAPE_OF(struct fact_memory, sort, .instead = "unknown"),
	SHAPE_OF(struct fact_memory, device, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_memory, exporter, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_memory, reason),
	SHAPE_OF(struct fact_memory, function, .instead = "unknown"),
	SHAPE_OF(struct fact_memory, allocations),
	SHAPE_OF(struct fact_memory, bytes),
	SHAPE_OF(struct fact_memory, unsized),
	SHAPE_OF(struct fact_memory, live_peak),
	{ 0 },
};

static const struct shape user_shape[] = {
	SHAPE_OF(struct fact_device_user, process),
	SHAPE_OF(struct fact_device_user, ordinal),
	{ 0 },
};

SHAPE_GETTER(name_json, struct fact_device, device, json_sprintf("gpu%d", device->number));

static const struct shape device_shape[] = {
	SHAPE_OF(struct fact_device, host),
	SHAPE_WHOLE("name", name_json),
	SHAPE_OF(struct fact_device, pci),
	SHAPE_OF(struct fact_device, uuid),
	SHAPE_OF(struct fact_device, model),
	SHAPE_OF(struct fact_device, numa_node, .null = SHAPE_NEGATIVE),
	SHAPE_SPAN("processes", struct fact_device, users, user_count, user_shape),
	{ 0 },
};

static void put_list(struct json_out *out, const char *name, const struct shape *shape,
		     const void *list, size_t count, size_t size, const struct report *report)
{
	json_out_array(out, name);
	for (size_t i = 0; i < count; i++)
		json_out_item(out, shape_json(shape, (const char *)list + i * size, report));
	json_out_array_end(out);
}

#define PUT_LIST(name, shape, list, count)                                                         \
	put_list(out, name, shape, list, count, sizeof(*(list)), report)

void report_json_rows(const struct report *report, struct json_out *out)
{
	bool memory = report_knows_memory(report);

	put_cube(out, "calls", &report->calls, call_sums);
	put_plain(report, out, "ops", &report->ops, &report_plain_ops_shape, op_sums);
	put_plain(report, out, "transfers", &report->transfers, &report_plain_transfers_shape,
		  transfer_sums);
	put_plain(report, out, "messages", &report->messages, &report_plain_messages_shape,
		  memory ? message_sums : plain_message_sums);
	if (report->totals.counted)
		put_cube(out, "errors", &report->errors, error_sums);
	put_path_times(report, out);
	put_networks(report, out);
	PUT_LIST("functions", function_shape, report->functions.rows.data,
		 report->functions.rows.len);
	put_sizes(report, out);
	PUT_LIST("protocols", protocol_shape, report->sizes.protocols.data,
		 report->sizes.protocols.len);
	report_json_open(report, out);
	report_json_underway(report, out);
	put_times(report, out);
	PUT_LIST("waits", wait_shape, report->waits.rows.data, report->waits.rows.len);
	PUT_LIST("wait_roots", root_shape, report->waits.roots.data, report->waits.roots.len);
	PUT_LIST("collectives", collective_shape, report->collectives.rows.data,
		 report->collectives.rows.len);
	if (report->tags.rows.len) {
		PUT_LIST("tags", tag_shape, report->tags.rows.data, report->tags.rows.len);
		PUT_LIST("tag_senders", tag_sender_shape, report->tags.senders.data,
			 report->tags.senders.len);
	}
	PUT_LIST("slowest", slow_shape, report->slowest.transfers, report->slowest.len);
	if (memory) {
		PUT_LIST("memory", memory_shape, report->memory.data, report->memory.len);
		PUT_LIST("devices", device_shape, report->totals.devices,
			 report->totals.device_count);
	}
	if (report->knows_places)
		put_places(report, out, "call_sites", &report->call_sites, place_sums);
	if (report->knows_callers)
		put_places(report, out, "callers", &report->callers, op_sums);
	if (report->knows_stacks)
		put_places(report, out, "stacks", &report->stacks, place_sums);
}
