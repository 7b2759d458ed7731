// SPDX-License-Identifier: BSD-3-Clause
/* The JSON report: the writer, its head, hosts, processes and clocks. */
#include "show/report/json.h"

#include <errno.h>

#include "base/shape.h"
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

static void dump(struct json_out *out, json_t *value)
{
	text_put_json(value, 0, out->file);
	check(out, ferror(out->file));
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

/* ---- totals ---- */

static json_t *reasons_json(const void *from)
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

static json_t *levels_json(const void *levels)
{
	json_t *array = json_array();

	for (int i = 0; i < LEVELS; i++)
		if (((const bool *)levels)[i])
			json_array_append_new(array, json_string(level_names[i]));
	return array;
}

#define SELF(name, member, ...) SHAPE_AS(name, struct fact_self, member, ##__VA_ARGS__)

SHAPE_KNOWN(has_spread, struct fact_self, self, self->spread_known == self->kernel_known);

static const struct shape kernel_shape[] = {
	SELF("captures", kernel_known),
	SELF("time_ns", kernel_ns),
	SELF("hits", hits),
	SELF("sampled_hits", sampled_hits),
	SELF("spread_ns", kernel_spread, .known = has_spread, .optional = true),
	{ 0 },
};

static const struct shape consumer_shape[] = {
	SELF("captures", drained_known),
	SELF("threads", threads),
	SELF("rings", rings),
	SELF("ring_bytes", ring_bytes),
	SELF("grown", grown),
	SELF("records", drained),
	SELF("cpu_ns", drained_ns),
	{ 0 },
};

static const struct shape self_shape[] = {
	SELF("captures", known),
	SHAPE_MADE("levels", struct fact_self, levels, levels_json),
	SELF("records", records),
	SELF("bytes", bytes),
	SELF("cpu_ns", cpu_ns),
	SELF("memory_peak", memory_peak, .null = SHAPE_ZERO),
	SHAPE_PART("kernel", kernel_shape, SHAPE_WHEN(struct fact_self, kernel_known)),
	SHAPE_CHARS("kernel_unknown", struct fact_self, kernel_unknown, .optional = true),
	SHAPE_PART("consumer", consumer_shape, SHAPE_WHEN(struct fact_self, drained_known),
		   .optional = true),
	{ 0 },
};

static const struct shape derived_shape[] = {
	SHAPE_CHARS("function", struct fact_derived, function),
	SHAPE_OF(struct fact_derived, calls),
	SHAPE_OF(struct fact_derived, compared),
	SHAPE_OF(struct fact_derived, differing),
	SHAPE_OF(struct fact_derived, without),
	SHAPE_OF(struct fact_derived, away_ns),
	{ 0 },
};

#define TOTAL(name, member, ...) SHAPE_AS(name, struct fact_totals, member, ##__VA_ARGS__)
#define REASONS(name, member) SHAPE_MADE(name, struct fact_totals, member, reasons_json)
#define DETAIL(name, member) SHAPE_STRUCT(name, struct fact_totals, member, share_shape)

static const struct shape counted_shape[] = {
	TOTAL("captures", counted),
	TOTAL("of", captures),
	TOTAL("timed_every", timed_every),
	{ 0 },
};

static const struct shape loss_shape[] = {
	TOTAL("produced", produced),
	TOTAL("stored", stored),
	REASONS("dropped", dropped),
	{ 0 },
};

static const struct shape share_shape[] = {
	SHAPE_OF(struct detail_share, recorded),
	SHAPE_OF(struct detail_share, of),
	{ 0 },
};

static const struct shape detail_shape[] = {
	DETAIL("calls", calls),
	DETAIL("ops", ops),
	DETAIL("transfers", transfers),
	DETAIL("sends", sent),
	TOTAL("unsummed", unsummed),
	TOTAL("partial", partial),
	{ 0 },
};

static const struct shape matching_shape[] = {
	TOTAL("sends", sends),
	TOTAL("receives", receives),
	TOTAL("matched", matched),
	TOTAL("ambiguous", ambiguous),
	REASONS("unmatched_sends", unmatched_sends),
	REASONS("unmatched_receives", unmatched_receives),
	{ 0 },
};

#define COPIES SHAPE_WHEN(struct fact_totals, copies), .optional = true
#define WAYS SHAPE_WHEN(struct fact_totals, way_bytes), .optional = true

static const struct shape attribution_shape[] = {
	TOTAL("data_bytes", data_bytes),
	TOTAL("to_op", to_op_bytes),
	TOTAL("to_call", to_call_bytes),
	TOTAL("unexplained", unexplained_bytes),
	REASONS("unexplained_reasons", unexplained),
	TOTAL("copies", copies, COPIES),
	TOTAL("copy_bytes", copy_bytes, COPIES),
	TOTAL("copy_unexplained", copy_unexplained_bytes, COPIES),
	TOTAL("way_bytes", way_bytes, WAYS),
	TOTAL("without_way", wayless_bytes, WAYS),
	SHAPE_MADE("without_way_reasons", struct fact_totals, wayless, reasons_json, WAYS),
	{ 0 },
};

static const struct shape short_sends_shape[] = {
	SHAPE_OF(struct fact_short_sends, transfers),
	SHAPE_OF(struct fact_short_sends, compared),
	SHAPE_OF(struct fact_short_sends, differing),
	SHAPE_OF(struct fact_short_sends, without),
	SHAPE_OF(struct fact_short_sends, unproven),
	SHAPE_OF(struct fact_short_sends, away_ns),
	{ 0 },
};

static const struct shape joins_shape[] = {
	SHAPE_OF(struct fact_joins, proved),
	SHAPE_OF(struct fact_joins, contradicted),
	SHAPE_MADE("unproved", struct fact_joins, unproved, reasons_json),
	{ 0 },
};

static json_t *derived_json(const void *from)
{
	const struct fact_totals *totals = from;
	json_t *list = json_array();

	for (int i = 0; i < totals->derived_count; i++)
		json_array_append_new(list, shape_json(derived_shape, &totals->derived[i], NULL));
	return list;
}

/* By name of the layer; ns of ns in which anything was recorded. */
static json_t *layers_json(const void *from)
{
	static const char *const words[] = { "always", "partly", "never" };
	const struct fact_self *self = from;
	json_t *object = json_object();

	for (int i = 0; i < LEVELS; i++)
		json_object_set_new(object, level_names[i],
				    json_pack("{s:s, s:I, s:I}", "recorded",
					      words[fact_recorded(self, i)], "ns",
					      (json_int_t)self->level_ns[i], "of_ns",
					      (json_int_t)self->level_ns[LEVEL_MPI]));
	return object;
}

SHAPE_KNOWN(lacks_layer, struct fact_totals, totals,
	    fact_recorded(&totals->self, LEVEL_UCT) != RECORDED_ALWAYS);
SHAPE_KNOWN(lacks_detail, struct fact_totals, totals, report_lacks_detail(totals));
/* Captures made with --count have no messages to match. */
SHAPE_KNOWN(has_messages, struct fact_totals, totals,
	    !totals->counted || totals->counted != totals->captures);

static const struct shape totals_shape[] = {
	SHAPE_PART("counted", counted_shape, SHAPE_WHEN(struct fact_totals, counted),
		   .optional = true),
	SHAPE_PART("loss", loss_shape),
	SHAPE_PART("detail", detail_shape, .known = lacks_detail, .optional = true),
	SHAPE_MADE("layers", struct fact_totals, self, layers_json, .known = lacks_layer,
		   .optional = true),
	SHAPE_PART("matching", matching_shape, .known = has_messages),
	SHAPE_PART("attribution", attribution_shape),
	REASONS("waits_unknown", waits_unknown),
	SHAPE_STRUCT("collective_joins", struct fact_totals, joins, joins_shape),
	REASONS("notes", notes),
	SHAPE_STRUCT("self", struct fact_totals, self, self_shape,
		     SHAPE_WHEN(struct fact_totals, self.known), .optional = true),
	SHAPE_WHOLE("derived", derived_json, SHAPE_WHEN(struct fact_totals, derived_count),
		    .optional = true),
	SHAPE_STRUCT("short_sends", struct fact_totals, short_sends, short_sends_shape,
		     SHAPE_WHEN(struct fact_totals, short_sends.known), .optional = true),
	{ 0 },
};

json_t *report_totals_json(const struct fact_totals *totals)
{
	return shape_json(totals_shape, totals, NULL);
}

/* "loss", "matching", "attribution" and "notes". */
static void report_json_totals(const struct fact_totals *totals, struct json_out *out)
{
	json_t *object = report_totals_json(totals), *value;
	const char *name;

	json_object_foreach(object, name, value) json_out_member(out, name, json_incref(value));
	json_decref(object);
}

json_t *report_filter_json(const struct report_filter *filter)
{
	json_t *object;

	if (!filter_active(filter))
		return json_null();
	object = json_object();
	for (int i = 0; i < FILTER_FIELDS; i++) {
		const struct filter_list *list = &filter->lists[i];

		if (list->patterns.len)
			json_object_set_new(object, filter_infos[i].name,
					    shape_texts((const char *const *)list->patterns.data,
							list->patterns.len));
	}
	return object;
}

/* ---- hosts, processes, windows, clocks ---- */

SHAPE_GETTER_WITH(host_id, struct report_host, host, struct report, report,
		  json_integer(host - report->hosts.data));
SHAPE_GETTER(host_span, struct report_host, host, json_integer(host->last - host->first));

static const struct shape host_shape[] = {
	SHAPE_WHOLE("id", host_id),
	SHAPE_OF(struct report_host, name, .instead = "unknown"),
	SHAPE_AS("boot_id", struct report_host, id, .instead = "unknown"),
	SHAPE_WHOLE("span_ns", host_span),
	{ 0 },
};

static void put_hosts(const struct report *report, struct json_out *out)
{
	json_out_array(out, "hosts");
	for (size_t i = 0; i < report->hosts.len; i++)
		if (report->hosts.data[i].known)
			json_out_item(out, shape_json(host_shape, &report->hosts.data[i], report));
	json_out_array_end(out);
}

static const struct shape ucx_shape[] = {
	SHAPE_OF(struct fact_ucx, path, .instead = "unknown"),
	SHAPE_OF(struct fact_ucx, build_id, .instead = "unknown"),
	SHAPE_OF(struct fact_ucx, version, .instead = "unknown"),
	SHAPE_OF(struct fact_ucx, layout, .instead = "unknown"),
	{ 0 },
};

static const struct shape variable_shape[] = {
	SHAPE_OF(struct fact_variable, name),
	SHAPE_OF(struct fact_variable, value),
	{ 0 },
};

SHAPE_GETTER(mpi_json, struct fact_process, process, shape_text(fact_mpi(process)));
SHAPE_KNOWN(knows_environment, struct fact_process, process, process->environment_cut >= 0);

static const char *const seen_from[] = { "attach", "start" };

#define PROCESS(member, ...) SHAPE_OF(struct fact_process, member, ##__VA_ARGS__)

static const struct shape process_shape[] = {
	SHAPE_AS("id", struct fact_process, index),
	PROCESS(host, .null = SHAPE_NEGATIVE),
	PROCESS(pid),
	PROCESS(tgid),
	PROCESS(start_time),
	PROCESS(comm, .instead = "unknown"),
	PROCESS(exe, .instead = "unknown"),
	PROCESS(job),
	PROCESS(rank, .null = SHAPE_NEGATIVE),
	PROCESS(size, .null = SHAPE_NEGATIVE),
	SHAPE_WHOLE("mpi", mpi_json),
	SHAPE_SPAN("ucx", struct fact_process, ucx, ucx_count, ucx_shape),
	PROCESS(ucx_unknown),
	SHAPE_SPAN("environment", struct fact_process, environment, environment_count,
		   variable_shape, .known = knows_environment),
	PROCESS(environment_cut, .null = SHAPE_NEGATIVE),
	PROCESS(cpus),
	SHAPE_WORD("seen_from", struct fact_process, from_start, seen_from),
	{ 0 },
};

/* Known members only: older captures lack some. */
static const struct shape end_shape[] = {
	SHAPE_OF(struct fact_lifetime, exit_signal, .null = SHAPE_ZERO,
		 SHAPE_WHEN(struct fact_lifetime, exited), .optional = true),
	SHAPE_OF(struct fact_lifetime, exit_status, .null = SHAPE_NEGATIVE,
		 SHAPE_WHEN(struct fact_lifetime, exited),
		 SHAPE_UNLESS(struct fact_lifetime, exit_signal), .optional = true),
	{ 0 },
};

static void put_processes(const struct report *report, struct json_out *out)
{
	json_out_array(out, "processes");
	for (size_t i = 0; i < report->processes.len; i++) {
		const struct report_process *process = &report->processes.data[i];
		json_t *object;

		if (!process->known)
			continue;
		object = shape_json(process_shape, &process->fact, NULL);
		shape_put(object, end_shape, &process->lifetime, NULL);
		json_out_item(out, object);
	}
	json_out_array_end(out);
}

#define STEP SHAPE_WHEN(struct fact_window, step), .optional = true

static const struct shape window_shape[] = {
	SHAPE_OF(struct fact_window, host, .null = SHAPE_NEGATIVE),
	SHAPE_OF(struct fact_window, capture),
	SHAPE_AS("from_ns", struct fact_window, from),
	SHAPE_AS("to_ns", struct fact_window, to),
	SHAPE_OF(struct fact_window, step, STEP),
	SHAPE_OF(struct fact_window, reason, STEP),
	SHAPE_OF(struct fact_window, paid_ppm, STEP),
	{ 0 },
};

/* Only if a capture had a duty cycle. Times are relative to the start of the host's span, as for
 * the slowest transfers. */
static void put_windows(const struct report *report, struct json_out *out)
{
	if (!report->windows.len)
		return;
	json_out_array(out, "windows");
	for (size_t i = 0; i < report->windows.len; i++) {
		struct fact_window window = report->windows.data[i];

		window.from -= report->hosts.data[window.host].first;
		window.to -= report->hosts.data[window.host].first;
		json_out_item(out, shape_json(window_shape, &window, NULL));
	}
	json_out_array_end(out);
}

#define ESTIMATE(name, member)                                                                     \
	SHAPE_AS(name, struct clock_estimate, member, SHAPE_UNLESS(struct clock_estimate, reason))

static const struct shape pair_shape[] = {
	SHAPE_OF(struct clock_pair, host),
	SHAPE_OF(struct clock_pair, other),
	SHAPE_AS("there", struct clock_pair, there.messages),
	SHAPE_AS("back", struct clock_pair, back.messages),
	{ 0 },
};

static const struct shape estimate_shape[] = {
	ESTIMATE("at_ns", at),
	ESTIMATE("offset_ns", offset),
	ESTIMATE("offset_uncertainty_ns", offset_uncertainty),
	ESTIMATE("drift_ppb", drift),
	ESTIMATE("drift_uncertainty_ppb", drift_uncertainty),
	SHAPE_OF(struct clock_estimate, reason),
	{ 0 },
};

/* Only if hosts sent messages to each other. */
static void put_clocks(const struct report *report, struct json_out *out)
{
	if (!report->clocks.list.len)
		return;
	json_out_array(out, "clocks");
	for (size_t i = 0; i < report->clocks.list.len; i++) {
		const struct clock_pair *pair = &report->clocks.list.data[i];
		struct clock_estimate estimate = clocks_solve(pair);
		json_t *object = shape_json(pair_shape, pair, NULL);

		estimate.at -= report->hosts.data[pair->host].first;
		shape_put(object, estimate_shape, &estimate, NULL);
		json_out_item(out, object);
	}
	json_out_array_end(out);
}

static const struct shape selected_shape[] = {
	SHAPE_OF(struct selected, count),
	SHAPE_OF(struct selected, of),
	SHAPE_OF(struct selected, unknown),
	SHAPE_OF(struct selected, bytes),
	SHAPE_AS("bytes_of", struct selected, bytes_of),
	{ 0 },
};

#define SELECTED(layer) SHAPE_STRUCT(#layer, struct report, selected.layer, selected_shape)

static const struct shape selection_shape[] = {
	SELECTED(calls), SELECTED(ops), SELECTED(transfers), SELECTED(messages), { 0 },
};

#define NAMES 1000

/* The names to choose from where nothing passes the filter. */
static json_t *names_json(const struct report_filter *filter)
{
	json_t *object = json_object();

	for (int i = 0; i < FILTER_FIELDS; i++) {
		const char *names[NAMES];
		size_t count = filter_names(filter, i, names, NAMES);

		if (count)
			json_object_set_new(object, filter_infos[i].name,
					    shape_texts(names, count));
	}
	return object;
}

static void put_selection(const struct report *report, struct json_out *out)
{
	if (!report->filtering)
		return;
	json_out_member(out, "selected", shape_json(selection_shape, report, NULL));
	if (report_selects_nothing(report))
		json_out_member(out, "there_is", names_json(report->filter));
}

static void put_all(const struct report *report, struct json_out *out)
{
	json_out_member(out, "schema", json_string("ucxbpf.report/1"));
	json_out_member(out, "filter", report_filter_json(report->filter));
	put_selection(report, out);
	put_hosts(report, out);
	put_processes(report, out);
	put_windows(report, out);
	put_clocks(report, out);
	report_json_totals(&report->totals, out);
	report_json_rows(report, out);
}

int report_pending_json(const struct report *report, FILE *file)
{
	struct json_out out;

	json_out_begin(&out, file);
	json_out_member(&out, "schema", json_string("ucxbpf.pending/1"));
	put_hosts(report, &out);
	put_processes(report, &out);
	report_json_open(report, &out);
	report_json_underway(report, &out);
	return json_out_end(&out);
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
