// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/internal.h"
#include "show/report/json_rows.h"

static json_t *number_or_null(int number)
{
	return number < 0 ? json_null() : json_integer(number);
}

json_t *report_filter_json(const struct filter *filter)
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

/* Only what is known: captures of before this was recorded do not tell. */
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

/* Times count from where the host's span begins, as those of the slowest transfers do. */
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

/* Only where a capture had a duty cycle. */
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
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(object, numbers[i], json_null());
	if (!estimate.reason)
		put_estimate(object, &estimate, report->hosts.data[pair->host].first);
	json_object_set_new(object, "reason", json_out_text(estimate.reason, NULL));
	return object;
}

/* Only where hosts sent messages to each other. */
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
