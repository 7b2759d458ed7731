// SPDX-License-Identifier: BSD-3-Clause
/* The JSON report: the writer, its head, hosts, processes and clocks. */
#include "show/report/json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/text.h"
#include "show/report/internal.h"

static void check(struct json_out *out, bool failed)
{
	if (failed && !out->err)
		out->err = errno ? -errno : -EIO;
}

static void put(struct json_out *out, const char *text)
{
	check(out, fputs(text, out->file) == EOF);
}

/* JSON does not escape DEL, C1 controls and line separators; terminals act on them. */
static void put_safe(struct json_out *out, const char *text)
{
	unsigned int code;

	while (*text) {
		const char *end = text;
		size_t len = 0;

		while (*end && (!(len = text_character(end, &code)) || !text_steers(code)))
			end += len ? len : 1;
		check(out,
		      fwrite(text, 1, (size_t)(end - text), out->file) != (size_t)(end - text));
		if (*end)
			check(out, fprintf(out->file, "\\u%04x", code) < 0);
		text = end + (*end ? len : 0);
	}
}

static void dump(struct json_out *out, json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);

	if (!text)
		alloc_failed();
	put_safe(out, text);
	free(text);
	json_decref(value);
}

static void name_member(struct json_out *out, const char *name)
{
	put(out, out->more_members ? ",\n" : "\n");
	out->more_members = true;
	check(out, fprintf(out->file, " \"%s\": ", name) < 0);
}

static void json_out_begin(struct json_out *out, FILE *file)
{
	*out = (struct json_out){ .file = file };
	errno = 0;
	put(out, "{");
}

/* Ends the object and the line. Returns 0 or -errno of the first write that failed. */
static int json_out_end(struct json_out *out)
{
	put(out, "\n}\n");
	check(out, fflush(out->file) || ferror(out->file));
	return out->err;
}

/* Without json_out_end(). */
static void json_out_visit(struct json_out *out, const struct report_visitor *visitor)
{
	*out = (struct json_out){ .visitor = visitor };
}

static void json_out_member(struct json_out *out, const char *name, json_t *value)
{
	if (out->visitor) {
		out->visitor->member(out->visitor->arg, name, value);
		json_decref(value);
		return;
	}
	name_member(out, name);
	dump(out, value);
}

void json_out_array(struct json_out *out, const char *name)
{
	out->array = name;
	if (out->visitor) {
		out->visitor->table(out->visitor->arg, name);
		return;
	}
	name_member(out, name);
	put(out, "[");
	out->more_items = false;
}

void json_out_item(struct json_out *out, json_t *value)
{
	if (out->visitor) {
		out->visitor->row(out->visitor->arg, out->array, value);
		json_decref(value);
		return;
	}
	put(out, out->more_items ? ",\n  " : "\n  ");
	out->more_items = true;
	dump(out, value);
}

void json_out_array_end(struct json_out *out)
{
	if (!out->visitor)
		put(out, out->more_items ? "\n ]" : "]");
}

json_t *json_out_text(const char *text, const char *absent)
{
	json_t *string;
	char *safe;

	text = text ? text : absent;
	if (!text)
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	safe = text_utf8(text);
	string = json_string(safe);
	free(safe);
	return string;
}

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

/* Captures made with --count have no messages to match. */
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

	for (int i = 0; i < LEVELS; i++)
		if (self->levels[i])
			json_array_append_new(array, json_string(level_names[i]));
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

/* "loss", "matching", "attribution" and "notes". */
static void report_json_totals(const struct fact_totals *totals, struct json_out *out)
{
	json_t *object = report_totals_json(totals), *value;
	const char *name;

	json_object_foreach(object, name, value) json_out_member(out, name, json_incref(value));
	json_decref(object);
}

static json_t *number_or_null(int number)
{
	return number < 0 ? json_null() : json_integer(number);
}

json_t *report_filter_json(const struct report_filter *filter)
{
	json_t *object;

	if (!filter_active(filter))
		return json_null();
	object = json_object();
	for (int i = 0; i < FILTER_FIELDS; i++) {
		const struct filter_list *list = &filter->lists[i];
		json_t *patterns;

		if (!list->patterns.len)
			continue;
		patterns = json_array();
		for (size_t k = 0; k < list->patterns.len; k++)
			json_array_append_new(patterns,
					      json_out_text(list->patterns.data[k], NULL));
		json_object_set_new(object, filter_infos[i].name, patterns);
	}
	return object;
}

static json_t *host_json(const struct report_host *host, size_t id)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(id));
	json_object_set_new(object, "name", json_out_text(host->name, "unknown"));
	json_object_set_new(object, "boot_id", json_out_text(host->id, "unknown"));
	json_object_set_new(object, "span_ns", json_integer(host->last - host->first));
	return object;
}

static void put_hosts(const struct report *report, struct json_out *out)
{
	json_out_array(out, "hosts");
	for (size_t i = 0; i < report->hosts.len; i++)
		if (report->hosts.data[i].known)
			json_out_item(out, host_json(&report->hosts.data[i], i));
	json_out_array_end(out);
}

static json_t *ucx_json(const struct fact_process *process)
{
	json_t *array = json_array();

	for (int i = 0; i < process->ucx_count; i++) {
		const struct fact_ucx *ucx = &process->ucx[i];
		json_t *object = json_object();

		json_object_set_new(object, "path", json_out_text(ucx->path, "unknown"));
		json_object_set_new(object, "build_id", json_out_text(ucx->build_id, "unknown"));
		json_object_set_new(object, "version", json_out_text(ucx->version, "unknown"));
		json_object_set_new(object, "layout", json_out_text(ucx->layout, "unknown"));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *environment_json(const struct fact_process *process)
{
	json_t *array;

	if (process->environment_cut < 0)
		return json_null();
	array = json_array();
	for (int i = 0; i < process->environment_count; i++)
		json_array_append_new(
			array, json_pack("{s:o, s:o}", "name",
					 json_out_text(process->environment[i].name, NULL), "value",
					 json_out_text(process->environment[i].value, NULL)));
	return array;
}

/* Only known members: older captures lack some of them. */
static void put_end(json_t *object, const struct fact_lifetime *lifetime)
{
	if (lifetime->exited && lifetime->exit_signal)
		json_object_set_new(object, "exit_signal", json_integer(lifetime->exit_signal));
	else if (lifetime->exited && lifetime->exit_status >= 0)
		json_object_set_new(object, "exit_status", json_integer(lifetime->exit_status));
}

static json_t *process_json(const struct report_process *of)
{
	const struct fact_process *process = &of->fact;
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(process->index));
	json_object_set_new(object, "host", number_or_null(process->host));
	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "tgid", json_integer(process->tgid));
	json_object_set_new(object, "start_time", json_integer(process->start_time));
	json_object_set_new(object, "comm", json_out_text(process->comm, "unknown"));
	json_object_set_new(object, "exe", json_out_text(process->exe, "unknown"));
	json_object_set_new(object, "job", json_out_text(process->job, NULL));
	json_object_set_new(object, "rank", number_or_null(process->rank));
	json_object_set_new(object, "size", number_or_null(process->size));
	json_object_set_new(object, "mpi", json_out_text(process->mpi, NULL));
	json_object_set_new(object, "ucx", ucx_json(process));
	json_object_set_new(object, "environment", environment_json(process));
	json_object_set_new(object, "environment_cut", number_or_null(process->environment_cut));
	json_object_set_new(object, "cpus", json_out_text(process->cpus, NULL));
	json_object_set_new(object, "seen_from",
			    json_string(process->from_start ? "start" : "attach"));
	put_end(object, &of->lifetime);
	return object;
}

static void put_processes(const struct report *report, struct json_out *out)
{
	json_out_array(out, "processes");
	for (size_t i = 0; i < report->processes.len; i++)
		if (report->processes.data[i].known)
			json_out_item(out, process_json(&report->processes.data[i]));
	json_out_array_end(out);
}

/* Times are relative to the start of the host's span, as for the slowest transfers. */
static json_t *window_json(const struct report *report, const struct fact_window *window)
{
	uint64_t zero = report->hosts.data[window->host].first;
	json_t *object = json_object();

	json_object_set_new(object, "host", number_or_null(window->host));
	json_object_set_new(object, "capture", json_integer(window->capture));
	json_object_set_new(object, "from_ns", json_integer(window->from - zero));
	json_object_set_new(object, "to_ns", json_integer(window->to - zero));
	if (window->step) {
		json_object_set_new(object, "step", json_string(window->step));
		json_object_set_new(object, "reason", json_string(window->reason));
		json_object_set_new(object, "paid_ppm", json_integer(window->paid_ppm));
	}
	return object;
}

/* Only if a capture had a duty cycle. */
static void put_windows(const struct report *report, struct json_out *out)
{
	if (!report->windows.len)
		return;
	json_out_array(out, "windows");
	for (size_t i = 0; i < report->windows.len; i++)
		json_out_item(out, window_json(report, &report->windows.data[i]));
	json_out_array_end(out);
}

static void put_estimate(json_t *object, const struct clock_estimate *estimate, uint64_t zero)
{
	json_object_set_new(object, "at_ns", json_integer(estimate->at - zero));
	json_object_set_new(object, "offset_ns", json_integer(estimate->offset));
	json_object_set_new(object, "offset_uncertainty_ns",
			    json_integer((json_int_t)estimate->offset_uncertainty));
	json_object_set_new(object, "drift_ppb", json_integer(estimate->drift));
	json_object_set_new(object, "drift_uncertainty_ppb",
			    json_integer(estimate->drift_uncertainty));
}

static json_t *clock_json(const struct report *report, const struct clock_pair *pair)
{
	static const char *const numbers[] = { "at_ns", "offset_ns", "offset_uncertainty_ns",
					       "drift_ppb", "drift_uncertainty_ppb" };
	const struct clock_estimate estimate = clocks_solve(pair);
	json_t *object = json_object();

	json_object_set_new(object, "host", json_integer(pair->host));
	json_object_set_new(object, "other", json_integer(pair->other));
	json_object_set_new(object, "there", json_integer((json_int_t)pair->there.messages));
	json_object_set_new(object, "back", json_integer((json_int_t)pair->back.messages));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		json_object_set_new(object, numbers[i], json_null());
	if (!estimate.reason)
		put_estimate(object, &estimate, report->hosts.data[pair->host].first);
	json_object_set_new(object, "reason", json_out_text(estimate.reason, NULL));
	return object;
}

/* Only if hosts sent messages to each other. */
static void put_clocks(const struct report *report, struct json_out *out)
{
	if (!report->clocks.list.len)
		return;
	json_out_array(out, "clocks");
	for (size_t i = 0; i < report->clocks.list.len; i++)
		json_out_item(out, clock_json(report, &report->clocks.list.data[i]));
	json_out_array_end(out);
}

static void put_all(const struct report *report, struct json_out *out)
{
	json_out_member(out, "schema", json_string("ucxbpf.report/1"));
	json_out_member(out, "filter", report_filter_json(report->filter));
	put_hosts(report, out);
	put_processes(report, out);
	put_windows(report, out);
	put_clocks(report, out);
	report_json_totals(&report->totals, out);
	report_json_calls(report, out);
	report_json_ops(report, out);
	report_json_transfers(report, out);
	report_json_messages(report, out);
	report_json_networks(report, out);
	report_json_slowest(report, out);
	if (report_knows_memory(report)) {
		report_json_memory(report, out);
		report_json_devices(report, out);
	}
	if (report->knows_places)
		report_json_call_sites(report, out);
	if (report->knows_stacks)
		report_json_stacks(report, out);
}

int report_json(const struct report *report, FILE *file)
{
	struct json_out out;

	json_out_begin(&out, file);
	put_all(report, &out);
	return json_out_end(&out);
}

void report_visit(const struct report *report, const struct report_visitor *visitor)
{
	struct json_out out;

	json_out_visit(&out, visitor);
	put_all(report, &out);
}
