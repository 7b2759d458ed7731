// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/json_rows.h"

static json_t *reasons_json(const struct fact_reason *from)
{
	struct fact_reason reasons[FACT_MAX_REASONS];
	int count = report_reasons(from, reasons);
	json_t *object = json_object();

	for (int i = 0; i < count; i++) {
		json_int_t before = json_integer_value(json_object_get(object, reasons[i].reason));

		json_object_set_new(object, reasons[i].reason,
				    json_integer(before + (json_int_t)reasons[i].count));
	}
	return object;
}

static void set(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer(value));
}

static json_t *loss_json(const struct fact_totals *totals)
{
	json_t *object = json_object();

	set(object, "produced", totals->produced);
	set(object, "stored", totals->stored);
	json_object_set_new(object, "dropped", reasons_json(totals->dropped));
	return object;
}

/* Captures that count keep no message: nothing to match. */
static json_t *matching_json(const struct fact_totals *totals)
{
	json_t *object;

	if (totals->counted && totals->counted == totals->captures)
		return json_null();
	object = json_object();
	set(object, "sends", totals->sends);
	set(object, "receives", totals->receives);
	set(object, "matched", totals->matched);
	set(object, "ambiguous", totals->ambiguous);
	json_object_set_new(object, "unmatched_sends", reasons_json(totals->unmatched_sends));
	json_object_set_new(object, "unmatched_receives", reasons_json(totals->unmatched_receives));
	return object;
}

static json_t *attribution_json(const struct fact_totals *totals)
{
	json_t *object = json_object();

	set(object, "data_bytes", totals->data_bytes);
	set(object, "to_op", totals->to_op_bytes);
	set(object, "to_call", totals->to_call_bytes);
	set(object, "unexplained", totals->unexplained_bytes);
	json_object_set_new(object, "unexplained_reasons", reasons_json(totals->unexplained));
	if (totals->copies) {
		set(object, "copies", totals->copies);
		set(object, "copy_bytes", totals->copy_bytes);
		set(object, "copy_unexplained", totals->copy_unexplained_bytes);
	}
	return object;
}

static json_t *levels_json(const struct fact_self *self)
{
	json_t *array = json_array();

	for (int i = 0; i < FACT_LEVELS; i++)
		if (self->levels[i])
			json_array_append_new(array, json_string(fact_level_names[i]));
	return array;
}

static json_t *kernel_json(const struct fact_self *self)
{
	json_t *object = json_object();

	set(object, "captures", self->kernel_known);
	set(object, "time_ns", self->kernel_ns);
	set(object, "hits", self->hits);
	set(object, "sampled_hits", self->sampled_hits);
	if (self->spread_known == self->kernel_known)
		set(object, "spread_ns", self->kernel_spread);
	return object;
}

static json_t *consumer_json(const struct fact_self *self)
{
	json_t *object = json_object();

	set(object, "captures", self->drained_known);
	set(object, "threads", self->threads);
	set(object, "rings", self->rings);
	set(object, "ring_bytes", self->ring_bytes);
	set(object, "grown", self->grown);
	set(object, "records", self->drained);
	set(object, "cpu_ns", self->drained_ns);
	return object;
}

static json_t *self_json(const struct fact_self *self)
{
	json_t *object = json_object();

	set(object, "captures", self->known);
	json_object_set_new(object, "levels", levels_json(self));
	set(object, "records", self->records);
	set(object, "bytes", self->bytes);
	set(object, "cpu_ns", self->cpu_ns);
	json_object_set_new(object, "memory_peak",
			    self->memory_peak ? json_integer((json_int_t)self->memory_peak)
					      : json_null());
	json_object_set_new(object, "kernel", self->kernel_known ? kernel_json(self) : json_null());
	if (*self->kernel_unknown)
		json_object_set_new(object, "kernel_unknown", json_string(self->kernel_unknown));
	if (self->drained_known)
		json_object_set_new(object, "consumer", consumer_json(self));
	return object;
}

static json_t *counted_json(const struct fact_totals *totals)
{
	json_t *object = json_object();

	set(object, "captures", totals->counted);
	set(object, "of", totals->captures);
	set(object, "timed_every", totals->timed_every);
	return object;
}

static void set_detail(json_t *object, const char *name, const struct detail_share *detail)
{
	json_t *of = json_object();

	set(of, "recorded", detail->recorded);
	set(of, "of", detail->of);
	json_object_set_new(object, name, of);
}

static json_t *detail_json(const struct fact_totals *totals)
{
	json_t *object = json_object();

	set_detail(object, "calls", &totals->calls);
	set_detail(object, "ops", &totals->ops);
	set_detail(object, "transfers", &totals->transfers);
	set_detail(object, "sends", &totals->sent);
	set(object, "unsummed", totals->unsummed);
	set(object, "partial", totals->partial);
	return object;
}

json_t *report_totals_json(const struct fact_totals *totals)
{
	json_t *object = json_object();

	if (totals->counted)
		json_object_set_new(object, "counted", counted_json(totals));
	json_object_set_new(object, "loss", loss_json(totals));
	if (report_lacks_detail(totals))
		json_object_set_new(object, "detail", detail_json(totals));
	json_object_set_new(object, "matching", matching_json(totals));
	json_object_set_new(object, "attribution", attribution_json(totals));
	json_object_set_new(object, "notes", reasons_json(totals->notes));
	if (totals->self.known)
		json_object_set_new(object, "self", self_json(&totals->self));
	return object;
}

void report_json_totals(const struct fact_totals *totals, struct json_out *out)
{
	json_t *object = report_totals_json(totals), *value;
	const char *name;

	json_object_foreach(object, name, value) json_out_member(out, name, json_incref(value));
	json_decref(object);
}
