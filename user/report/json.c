// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <jansson.h>

#include "report/internal.h"
#include "report/json_rows.h"

static json_t *text_or(const char *text, const char *absent)
{
	return text ? json_string(text) : json_string(absent);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *number_or_null(int number)
{
	return number < 0 ? json_null() : json_integer(number);
}

static json_t *filter_json(const struct report *report)
{
	json_t *object;

	if (!report->filtering)
		return json_null();
	object = json_object();
	for (int i = 0; i < FILTER_FIELDS; i++) {
		const struct filter_list *list = &report->filter->lists[i];
		json_t *patterns;

		if (!list->patterns.len)
			continue;
		patterns = json_array();
		for (size_t k = 0; k < list->patterns.len; k++)
			json_array_append_new(patterns, json_string(list->patterns.data[k]));
		json_object_set_new(object, filter_infos[i].name, patterns);
	}
	return object;
}

static json_t *hosts_json(const struct report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->hosts.len; i++) {
		const struct report_host *host = &report->hosts.data[i];

		if (!host->known)
			continue;
		json_t *object = json_object();
		json_object_set_new(object, "id", json_integer(i));
		json_object_set_new(object, "name", text_or(host->name, "unknown"));
		json_object_set_new(object, "boot_id", text_or(host->id, "unknown"));
		json_object_set_new(object, "span_ns", json_integer(host->last - host->first));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *ucx_json(const struct fact_process *process)
{
	json_t *array = json_array();

	for (int i = 0; i < process->ucx_count; i++) {
		const struct fact_ucx *ucx = &process->ucx[i];
		json_t *object = json_object();

		json_object_set_new(object, "path", text_or(ucx->path, "unknown"));
		json_object_set_new(object, "build_id", text_or(ucx->build_id, "unknown"));
		json_object_set_new(object, "version", text_or(ucx->version, "unknown"));
		json_object_set_new(object, "layout", text_or(ucx->layout, "unknown"));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *process_json(const struct fact_process *process)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(process->index));
	json_object_set_new(object, "host", number_or_null(process->host));
	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "tgid", json_integer(process->tgid));
	json_object_set_new(object, "start_time", json_integer(process->start_time));
	json_object_set_new(object, "comm", text_or(process->comm, "unknown"));
	json_object_set_new(object, "exe", text_or(process->exe, "unknown"));
	json_object_set_new(object, "job", text_or_null(process->job));
	json_object_set_new(object, "rank", number_or_null(process->rank));
	json_object_set_new(object, "size", number_or_null(process->size));
	json_object_set_new(object, "mpi", text_or_null(process->mpi));
	json_object_set_new(object, "ucx", ucx_json(process));
	json_object_set_new(object, "seen_from",
			    json_string(process->from_start ? "start" : "attach"));
	return object;
}

static json_t *processes_json(const struct report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->processes.len; i++)
		if (report->processes.data[i].known)
			json_array_append_new(array, process_json(&report->processes.data[i].fact));
	return array;
}

int report_json(const struct report *report, FILE *out)
{
	json_t *root = json_object();
	int err;

	json_object_set_new(root, "schema", json_string("ucxbpf.report/1"));
	json_object_set_new(root, "filter", filter_json(report));
	json_object_set_new(root, "hosts", hosts_json(report));
	json_object_set_new(root, "processes", processes_json(report));
	report_json_totals(root, &report->totals);
	json_object_set_new(root, "calls", report_json_calls(report));
	json_object_set_new(root, "ops", report_json_ops(report));
	json_object_set_new(root, "transfers", report_json_transfers(report));
	json_object_set_new(root, "messages", report_json_messages(report));
	json_object_set_new(root, "slowest", report_json_slowest(report));
	errno = 0;
	err = json_dumpf(root, out, JSON_INDENT(1)) || fputc('\n', out) == EOF || fflush(out);
	json_decref(root);
	if (!err)
		return 0;
	return errno ? -errno : -EIO;
}
