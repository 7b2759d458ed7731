// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/json_rows.h"

#include <string.h>

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

void report_json_sums(json_t *object, const struct cube_sums *sums)
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

/* Where no GPU library was seen, nothing is known of memory: one unknown more would say nothing. */
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
