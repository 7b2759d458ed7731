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
	{ 0 },
};

#define SUM(member, ...) SHAPE_OF(struct cube_sums, member, ##__VA_ARGS__)
#define TIME SHAPE_PART("time", time_shape, SHAPE_WHEN(struct cube_sums, timed))

static const struct shape call_sums[] = {
	SUM(count), SUM(ops), SUM(bytes), SUM(bytes_unknown), TIME, { 0 },
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
	SUM(count), SUM(ops), SUM(bytes), TIME, { 0 },
};

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

static void put_cube(struct json_out *out, const char *name, const struct cube *cube,
		     const struct shape *sums)
{
	const struct cube_row **rows = cube_sorted(cube, CUBE_BY_KEYS);

	json_out_array(out, name);
	for (size_t i = 0; i < cube->rows.len; i++) {
		json_t *object = json_object();

		for (int k = 0; k < cube->shape->count; k++)
			json_object_set_new(object, cube->shape->keys[k].name,
					    key_json(&cube->shape->keys[k], rows[i]->key[k]));
		shape_put(object, sums, &rows[i]->sums, NULL);
		json_out_item(out, object);
	}
	json_out_array_end(out);
	free(rows);
}

void report_json_calls(const struct report *report, struct json_out *out)
{
	put_cube(out, "calls", &report->calls, call_sums);
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

void report_json_ops(const struct report *report, struct json_out *out)
{
	put_plain(report, out, "ops", &report->ops, &report_plain_ops_shape, op_sums);
}

void report_json_transfers(const struct report *report, struct json_out *out)
{
	put_plain(report, out, "transfers", &report->transfers, &report_plain_transfers_shape,
		  transfer_sums);
}

void report_json_messages(const struct report *report, struct json_out *out)
{
	put_plain(report, out, "messages", &report->messages, &report_plain_messages_shape,
		  report_knows_memory(report) ? message_sums : plain_message_sums);
}

void report_json_networks(const struct report *report, struct json_out *out)
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

static uint64_t host_first(const struct report *report, int process)
{
	const struct report_process *found = report_process_at(report, process);

	return found && found->fact.host >= 0 ? report->hosts.data[found->fact.host].first : 0;
}

static const struct shape slow_shape[] = {
	SHAPE_OF(struct fact_transfer, process, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_transfer, peer, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_transfer, op, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, transport, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, device, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, ucp_op),
	SHAPE_OF(struct fact_transfer, function),
	SHAPE_OF(struct fact_transfer, bytes, .null = SHAPE_MOST),
	{ 0 },
};

static json_t *slow_json(const struct report *report, const struct fact_transfer *transfer)
{
	json_t *object = shape_json(slow_shape, transfer, NULL);
	uint64_t at = transfer->start - host_first(report, transfer->process);

	json_object_set_new(object, "time_ns", json_integer(slowest_time(transfer)));
	json_object_set_new(object, "precision",
			    json_string(precision_name(1u << transfer->end_precision)));
	json_object_set_new(object, "at_ns", json_integer(at));
	return object;
}

void report_json_slowest(const struct report *report, struct json_out *out)
{
	json_out_array(out, "slowest");
	for (size_t i = 0; i < report->slowest.len; i++)
		json_out_item(out, slow_json(report, &report->slowest.transfers[i]));
	json_out_array_end(out);
}

/* The members that locate a place. */
static const struct shape place_shape[] = {
	SHAPE_OF(struct place, label),
	SHAPE_OF(struct place, module),
	SHAPE_OF(struct place, build_id),
	SHAPE_OF(struct place, offset, .hex = true, SHAPE_WHEN(struct place, module)),
	SHAPE_OF(struct place, symbol),
	SHAPE_OF(struct place, symbol_offset, SHAPE_WHEN(struct place, symbol)),
	SHAPE_OF(struct place, file),
	SHAPE_OF(struct place, line, SHAPE_WHEN(struct place, file)),
	SHAPE_OF(struct place, address, .hex = true, SHAPE_UNLESS(struct place, module)),
	SHAPE_OF(struct place, reason),
	{ 0 },
};

/* Process and function of a row of places or stacks. */
static json_t *caller_json(const struct cube *cube, const struct cube_row *row)
{
	return json_pack("{s:I, s:o}", "process", (json_int_t)row->key[0], "function",
			 key_json(&cube->shape->keys[1], row->key[1]));
}

static json_t *call_site_json(const struct report *report, const struct cube_row *row)
{
	json_t *object = caller_json(&report->call_sites, row);

	shape_put(object, place_shape, report_place(report, row->key[2]), NULL);
	shape_put(object, place_sums, &row->sums, NULL);
	return object;
}

void report_json_call_sites(const struct report *report, struct json_out *out)
{
	const struct cube_row **rows = cube_sorted(&report->call_sites, CUBE_BY_KEYS);

	json_out_array(out, "call_sites");
	for (size_t i = 0; i < report->call_sites.rows.len; i++)
		json_out_item(out, call_site_json(report, rows[i]));
	json_out_array_end(out);
	free(rows);
}

static json_t *frames_json(const struct stack *stack)
{
	json_t *frames = json_array();

	for (int i = 0; i < stack->depth; i++)
		json_array_append_new(frames, shape_json(place_shape, stack->frames[i], NULL));
	return frames;
}

static json_t *stack_json(const struct report *report, const struct cube_row *row)
{
	const struct stack *stack = report_stack(report, row->key[2]);
	json_t *object = caller_json(&report->stacks, row);

	json_object_set_new(object, "end", shape_text(stack->end));
	json_object_set_new(object, "frames", frames_json(stack));
	shape_put(object, place_sums, &row->sums, NULL);
	return object;
}

void report_json_stacks(const struct report *report, struct json_out *out)
{
	const struct cube_row **rows = cube_sorted(&report->stacks, CUBE_BY_KEYS);

	json_out_array(out, "stacks");
	for (size_t i = 0; i < report->stacks.rows.len; i++)
		json_out_item(out, stack_json(report, rows[i]));
	json_out_array_end(out);
	free(rows);
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

void report_json_memory(const struct report *report, struct json_out *out)
{
	json_out_array(out, "memory");
	for (size_t i = 0; i < report->memory.len; i++)
		json_out_item(out, shape_json(memory_shape, &report->memory.data[i], NULL));
	json_out_array_end(out);
}

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

void report_json_devices(const struct report *report, struct json_out *out)
{
	json_out_array(out, "devices");
	for (int i = 0; i < report->totals.device_count; i++)
		json_out_item(out, shape_json(device_shape, &report->totals.devices[i], NULL));
	json_out_array_end(out);
}
