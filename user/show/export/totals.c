// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/totals.h"

#include <stddef.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/memory_name.h"
#include "base/vec.h"
#include "show/report/report.h"

struct number {
	const char *topic, *what;
	size_t offset;
};

static const struct number numbers[] = {
#define NUMBER(topic, what, member)                                                                \
	{                                                                                          \
		topic, what, offsetof(struct fact_totals, member)                                  \
	}
	NUMBER("loss", "produced", produced),
	NUMBER("loss", "stored", stored),
	NUMBER("loss", "damaged_bytes", damaged_bytes),
	NUMBER("captures", "all", captures),
	NUMBER("captures", "counted", counted),
	NUMBER("matching", "sends", sends),
	NUMBER("matching", "receives", receives),
	NUMBER("matching", "matched", matched),
	NUMBER("matching", "ambiguous", ambiguous),
	NUMBER("attribution", "data_bytes", data_bytes),
	NUMBER("attribution", "to_op", to_op_bytes),
	NUMBER("attribution", "to_call", to_call_bytes),
	NUMBER("attribution", "unexplained", unexplained_bytes),
	NUMBER("attribution", "copies", copies),
	NUMBER("attribution", "copy_bytes", copy_bytes),
	NUMBER("attribution", "copy_unexplained", copy_unexplained_bytes),
	NUMBER("attribution", "way_bytes", way_bytes),
	NUMBER("attribution", "without_way", wayless_bytes),
};

static const struct number detail[] = {
	NUMBER("detail", "recorded calls", calls.recorded),
	NUMBER("detail", "calls", calls.of),
	NUMBER("detail", "recorded ops", ops.recorded),
	NUMBER("detail", "ops", ops.of),
	NUMBER("detail", "recorded transfers", transfers.recorded),
	NUMBER("detail", "transfers", transfers.of),
	NUMBER("detail", "recorded sends", sent.recorded),
	NUMBER("detail", "sends", sent.of),
	NUMBER("detail", "unsummed", unsummed),
	NUMBER("detail", "partial", partial),
#undef NUMBER
};

static const struct {
	const char *topic;
	size_t offset;
} reasons[] = {
	{ "dropped", offsetof(struct fact_totals, dropped) },
	{ "unmatched_sends", offsetof(struct fact_totals, unmatched_sends) },
	{ "unmatched_receives", offsetof(struct fact_totals, unmatched_receives) },
	{ "unexplained", offsetof(struct fact_totals, unexplained) },
	{ "without_way", offsetof(struct fact_totals, wayless) },
	{ "notes", offsetof(struct fact_totals, notes) },
};

const char *unknowns_heading(const struct fact_totals *totals, uint64_t facts)
{
	if (totals->captures && totals->counted == totals->captures)
		return "captures made with --count: sums only, no single events";
	if (totals->counted)
		return "some captures made with --count: which have no single events";
	if (!facts)
		return "no events at all";
	return "losses and unknowns";
}

static void put_numbers(const struct fact_totals *totals, const struct number *rows, size_t len,
			unknowns_put put, void *arg)
{
	for (size_t i = 0; i < len; i++)
		put(arg, rows[i].topic, rows[i].what,
		    *(const uint64_t *)((const char *)totals + rows[i].offset));
}

void unknowns_each(const struct fact_totals *totals, unknowns_put put, void *arg)
{
	const char *base = (const char *)totals;

	put_numbers(totals, numbers, ARRAY_SIZE(numbers), put, arg);
	if (report_lacks_detail(totals))
		put_numbers(totals, detail, ARRAY_SIZE(detail), put, arg);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		const struct fact_reason *rows =
			(const struct fact_reason *)(base + reasons[i].offset);

		for (int k = 0; k < FACT_MAX_REASONS && rows[k].reason; k++)
			if (rows[k].count)
				put(arg, reasons[i].topic, rows[k].reason, rows[k].count);
	}
}

/* Nested values: reasons with their counts, lists of words. */
static void nested(const struct totals_sink *sink, const char *section, const char *name,
		   const json_t *value)
{
	const char *reason;
	json_t *inner;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, reason, inner)
			sink->row(sink->arg, section, name, reason, inner);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, inner)
			sink->row(sink->arg, section, name, NULL, inner);
	} else {
		sink->row(sink->arg, section, name, NULL, value);
	}
}

/* A row for each number of a function; reason: the number's name. */
static void function_rows(const struct totals_sink *sink, const char *section,
			  const json_t *function)
{
	const char *of = json_string_value(json_object_get(function, "function"));
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)function, name, value) if (!json_is_string(value))
		sink->row(sink->arg, section, of, name, value);
}

void totals_rows(const struct totals_sink *sink, const char *section, const json_t *value)
{
	const char *name;
	json_t *inner;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, name, inner)
			nested(sink, section, name, inner);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, inner) function_rows(sink, section, inner);
	} else {
		sink->row(sink->arg, section, NULL, NULL, value);
	}
}

struct gpu_text gpu_text(const struct fact_device *device)
{
	struct gpu_text text = { 0 };
	char name[MEMORY_NAME_MAX];
	size_t size;
	FILE *out = xmemstream(&text.users, &size);

	memory_gpu_name(name, device->number);
	text.name = xstrdup(name);
	for (int i = 0; i < device->user_count; i++)
		fprintf(out, "%sprocess %d as %d", i ? ", " : "", device->users[i].process,
			device->users[i].ordinal);
	if (!device->user_count)
		fputs("no known process", out);
	fclose(out);
	return text;
}
