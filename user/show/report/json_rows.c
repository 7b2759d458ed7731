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

static uint64_t host_first(const struct report *report, int process)
{
	const struct report_process *found = report_process_at(report, process);

	return found && found->fact.host >= 0 ? report->hosts.data[found->fact.host].first : 0;
}

SHAPE_GETTER(slow_time, struct fact_transfer, transfer, json_integer(slowest_time(transfer)));
SHAPE_GETTER(slow_precision, struct fact_transfer, transfer,
	     json_string(precision_name(1u << transfer->end_precision)));
SHAPE_GETTER_WITH(slow_at, struct fact_transfer, transfer, struct report, report,
		  json_integer(transfer->start - host_first(report, transfer->process)));

static const struct shape slow_shape[] = {
	SHAPE_OF(struct fact_transfer, process, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_transfer, peer, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_transfer, op, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, transport, .instead = "unknown"),
	SHAPE_OF(struct fact_transfer, device, .instead = "unknown"),
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
	SHAPE_OF(struct place, symbol_offset, SHAPE_WHEN(struct place, symbol)),
	SHAPE_OF(struct place, file),
	SHAPE_OF(struct place, line, SHAPE_WHEN(struct place, file)),
	SHAPE_OF(struct place, address, .hex = true, SHAPE_UNLESS(struct place, module)),
	SHAPE_OF(struct place, reason),
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

/* The rows of call sites or of stacks. */
static void put_places(const struct report *report, struct json_out *out, const char *name,
		       const struct cube *cube)
{
	const struct cube_row **rows = cube_sorted(cube, CUBE_BY_KEYS);

	json_out_array(out, name);
	for (size_t i = 0; i < cube->rows.len; i++) {
		const uint64_t *key = rows[i]->key;
		json_t *object = json_pack("{s:I, s:o}", "process", (json_int_t)key[0], "function",
					   key_json(&cube->shape->keys[1], key[1]));

		if (cube == &report->stacks)
			shape_put(object, stack_shape, report_stack(report, key[2]), NULL);
		else
			shape_put(object, place_shape, report_place(report, key[2]), NULL);
		shape_put(object, place_sums, &rows[i]->sums, NULL);
		json_out_item(out, object);
	}
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
	put_networks(report, out);
	PUT_LIST("slowest", slow_shape, report->slowest.transfers, report->slowest.len);
	if (memory) {
		PUT_LIST("memory", memory_shape, report->memory.data, report->memory.len);
		PUT_LIST("devices", device_shape, report->totals.devices,
			 report->totals.device_count);
	}
	if (report->knows_places)
		put_places(report, out, "call_sites", &report->call_sites);
	if (report->knows_stacks)
		put_places(report, out, "stacks", &report->stacks);
}
