// SPDX-License-Identifier: BSD-3-Clause
/* The tables of the JSON report. */
#include "show/report/json.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

struct measure {
	const char *name;
	size_t offset; /* of a uint64_t in struct cube_sums */
};

#define MEASURE(field)                                                                             \
	{                                                                                          \
#field, offsetof(struct cube_sums, field)                                          \
	}
#define MAX_MEASURES 6

static const struct measure call_measures[MAX_MEASURES] = {
	MEASURE(count),
	MEASURE(ops),
	MEASURE(bytes),
	MEASURE(bytes_unknown),
};

static const struct measure op_measures[MAX_MEASURES] = {
	MEASURE(count),
	MEASURE(bytes),
	MEASURE(bytes_unknown),
	MEASURE(errors),
};

static const struct measure transfer_measures[MAX_MEASURES] = {
	MEASURE(count),   MEASURE(bytes),      MEASURE(bytes_unknown),
	MEASURE(retries), MEASURE(wire_bytes), MEASURE(unexplained_bytes),
};

static const struct measure plain_message_measures[MAX_MEASURES] = {
	MEASURE(count),
	MEASURE(bytes),
	MEASURE(bytes_unknown),
};

static const struct measure message_measures[MAX_MEASURES] = {
	MEASURE(count),  MEASURE(bytes),      MEASURE(bytes_unknown),
	MEASURE(copies), MEASURE(copy_bytes),
};

static const char *precision_name(uint32_t precisions)
{
	for (int i = TIME_EXACT; fact_precision_names[i]; i++)
		if (precisions == 1u << i)
			return fact_precision_names[i];
	return "mixed";
}

static json_t *time_json(const struct cube_sums *sums)
{
	bool known = sums->time_min != UINT64_MAX;
	json_t *object;

	if (!sums->timed)
		return json_null();
	object = json_object();
	json_object_set_new(object, "known", json_integer(sums->timed));
	json_object_set_new(object, "sum_ns", json_integer(sums->time_sum));
	json_object_set_new(object, "min_ns", known ? json_integer(sums->time_min) : json_null());
	json_object_set_new(object, "max_ns", known ? json_integer(sums->time_max) : json_null());
	json_object_set_new(object, "precision", json_string(precision_name(sums->precisions)));
	return object;
}

/* Members "count", "ops", "bytes" and "time" of a row. */
static void report_json_sums(json_t *object, const struct cube_sums *sums)
{
	json_object_set_new(object, "count", json_integer(sums->count));
	json_object_set_new(object, "ops", json_integer(sums->ops));
	json_object_set_new(object, "bytes", json_integer(sums->bytes));
	json_object_set_new(object, "time", time_json(sums));
}

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
	return json_out_text(text, NULL);
}

static json_t *row_json(const struct cube_shape *shape, const struct cube_row *row,
			const struct measure *measures)
{
	json_t *object = json_object();

	for (int i = 0; i < shape->count; i++)
		json_object_set_new(object, shape->keys[i].name,
				    key_json(&shape->keys[i], row->key[i]));
	for (int i = 0; i < MAX_MEASURES && measures[i].name; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&row->sums + measures[i].offset, sizeof(value));
		json_object_set_new(object, measures[i].name, json_integer(value));
	}
	return object;
}

static void put_cube(struct json_out *out, const char *name, const struct cube *cube,
		     const struct measure *measures, bool timed)
{
	const struct cube_row **rows = cube_sorted(cube, CUBE_BY_KEYS);

	json_out_array(out, name);
	for (size_t i = 0; i < cube->rows.len; i++) {
		json_t *object = row_json(cube->shape, rows[i], measures);

		if (rows[i]->sums.unchecked)
			json_object_set_new(object, "errors", json_null());
		if (timed)
			json_object_set_new(object, "time", time_json(&rows[i]->sums));
		json_out_item(out, object);
	}
	json_out_array_end(out);
	free(rows);
}

void report_json_calls(const struct report *report, struct json_out *out)
{
	put_cube(out, "calls", &report->calls, call_measures, true);
}

/* Without a GPU library, memory is not mentioned at all. */
static void put_plain(const struct report *report, struct json_out *out, const char *name,
		      const struct cube *cube, const struct cube_shape *shape,
		      const struct measure *measures, bool timed)
{
	struct cube plain;

	if (report_knows_memory(report)) {
		put_cube(out, name, cube, measures, timed);
		return;
	}
	cube_init(&plain, shape);
	cube_rollup(&plain, cube);
	put_cube(out, name, &plain, measures, timed);
	cube_release(&plain);
}

void report_json_ops(const struct report *report, struct json_out *out)
{
	put_plain(report, out, "ops", &report->ops, &report_plain_ops_shape, op_measures, true);
}

void report_json_transfers(const struct report *report, struct json_out *out)
{
	put_plain(report, out, "transfers", &report->transfers, &report_plain_transfers_shape,
		  transfer_measures, true);
}

void report_json_messages(const struct report *report, struct json_out *out)
{
	put_plain(report, out, "messages", &report->messages, &report_plain_messages_shape,
		  report_knows_memory(report) ? message_measures : plain_message_measures, false);
}

static const struct measure network_measures[MAX_MEASURES] = {
	MEASURE(count),
	MEASURE(bytes),
	MEASURE(bytes_unknown),
	MEASURE(wire_bytes),
};

void report_json_networks(const struct report *report, struct json_out *out)
{
	struct cube nics, routes;

	cube_init(&nics, &report_nics_shape);
	cube_init(&routes, &report_routes_shape);
	report_networks(report, &nics, &routes);
	if (nics.rows.len) {
		put_cube(out, "nics", &nics, network_measures, false);
		put_cube(out, "routes", &routes, network_measures, false);
	}
	cube_release(&nics);
	cube_release(&routes);
}

static void set_text(json_t *object, const char *name, const char *text, const char *absent)
{
	json_object_set_new(object, name, json_out_text(text, absent));
}

static void set_process(json_t *object, const char *name, int process)
{
	json_object_set_new(object, name, process < 0 ? json_null() : json_integer(process));
}

static uint64_t host_first(const struct report *report, int process)
{
	const struct report_process *found = report_process_at(report, process);

	return found && found->fact.host >= 0 ? report->hosts.data[found->fact.host].first : 0;
}

static json_t *slow_json(const struct report *report, const struct fact_transfer *transfer)
{
	json_t *object = json_object();
	bool sized = transfer->bytes != UINT64_MAX;
	uint64_t at = transfer->start - host_first(report, transfer->process);

	set_process(object, "process", transfer->process);
	set_process(object, "peer", transfer->peer);
	set_text(object, "op", transfer->op, "unknown");
	set_text(object, "transport", transfer->transport, "unknown");
	set_text(object, "device", transfer->device, "unknown");
	set_text(object, "ucp_op", transfer->ucp_op, NULL);
	set_text(object, "function", transfer->function, NULL);
	json_object_set_new(object, "bytes", sized ? json_integer(transfer->bytes) : json_null());
	json_object_set_new(object, "time_ns", json_integer(slowest_time(transfer)));
	set_text(object, "precision", precision_name(1u << transfer->end_precision), NULL);
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

static void place_set_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, json_out_text(text, NULL));
}

/* The members that locate a place. */
static void report_json_place(json_t *object, const struct place *place)
{
	place_set_text(object, "label", place->label);
	place_set_text(object, "module", place->module);
	place_set_text(object, "build_id", place->build_id);
	json_object_set_new(object, "offset",
			    place->module ? json_hex(place->offset) : json_null());
	place_set_text(object, "symbol", place->symbol);
	json_object_set_new(object, "symbol_offset",
			    place->symbol ? json_integer(place->symbol_offset) : json_null());
	place_set_text(object, "file", place->file);
	json_object_set_new(object, "line", place->file ? json_integer(place->line) : json_null());
	json_object_set_new(object, "address",
			    place->module ? json_null() : json_hex(place->address));
	place_set_text(object, "reason", place->reason);
}

static json_t *call_site_json(const struct report *report, const struct cube_row *row)
{
	json_t *object = json_object();

	json_object_set_new(object, "process", json_integer((int64_t)row->key[0]));
	place_set_text(object, "function",
		       cube_key_text(&report_call_sites_shape.keys[1], row->key[1]));
	report_json_place(object, report_place(report, row->key[2]));
	report_json_sums(object, &row->sums);
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

	for (int i = 0; i < stack->depth; i++) {
		json_t *frame = json_object();

		report_json_place(frame, stack->frames[i]);
		json_array_append_new(frames, frame);
	}
	return frames;
}

static json_t *stack_json(const struct report *report, const struct cube_row *row)
{
	const struct stack *stack = report_stack(report, row->key[2]);
	json_t *object = json_object();

	json_object_set_new(object, "process", json_integer((int64_t)row->key[0]));
	json_object_set_new(
		object, "function",
		json_out_text(cube_key_text(&report_stacks_shape.keys[1], row->key[1]), NULL));
	json_object_set_new(object, "end", json_out_text(stack->end, NULL));
	json_object_set_new(object, "frames", frames_json(stack));
	report_json_sums(object, &row->sums);
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

static json_t *memory_json(const struct fact_memory *memory)
{
	json_t *object = json_object();

	json_object_set_new(object, "process", json_integer(memory->process));
	json_object_set_new(object, "kind", json_out_text(memory->kind, "unknown"));
	json_object_set_new(object, "sort", json_out_text(memory->sort, "unknown"));
	json_object_set_new(object, "device",
			    memory->device < 0 ? json_null() : json_integer(memory->device));
	json_object_set_new(object, "exporter",
			    memory->exporter < 0 ? json_null() : json_integer(memory->exporter));
	json_object_set_new(object, "reason", json_out_text(memory->reason, NULL));
	json_object_set_new(object, "function", json_out_text(memory->function, "unknown"));
	json_object_set_new(object, "allocations", json_integer((json_int_t)memory->allocations));
	json_object_set_new(object, "bytes", json_integer((json_int_t)memory->bytes));
	json_object_set_new(object, "unsized", json_integer((json_int_t)memory->unsized));
	json_object_set_new(object, "live_peak", json_integer((json_int_t)memory->live_peak));
	return object;
}

void report_json_memory(const struct report *report, struct json_out *out)
{
	json_out_array(out, "memory");
	for (size_t i = 0; i < report->memory.len; i++)
		json_out_item(out, memory_json(&report->memory.data[i]));
	json_out_array_end(out);
}

static json_t *users_json(const struct fact_device *device)
{
	json_t *list = json_array();

	for (int i = 0; i < device->user_count; i++)
		json_array_append_new(list,
				      json_pack("{s:i, s:i}", "process", device->users[i].process,
						"ordinal", device->users[i].ordinal));
	return list;
}

static json_t *device_json(const struct fact_device *device)
{
	json_t *object = json_object();
	char name[24];

	snprintf(name, sizeof(name), "gpu%d", device->number);
	json_object_set_new(object, "host", json_integer(device->host));
	json_object_set_new(object, "name", json_string(name));
	json_object_set_new(object, "pci", json_out_text(device->pci, NULL));
	json_object_set_new(object, "uuid", json_out_text(device->uuid, NULL));
	json_object_set_new(object, "model", json_out_text(device->model, NULL));
	json_object_set_new(object, "numa_node",
			    device->numa_node < 0 ? json_null() : json_integer(device->numa_node));
	json_object_set_new(object, "processes", users_json(device));
	return object;
}

void report_json_devices(const struct report *report, struct json_out *out)
{
	json_out_array(out, "devices");
	for (int i = 0; i < report->totals.device_count; i++)
		json_out_item(out, device_json(&report->totals.devices[i]));
	json_out_array_end(out);
}
