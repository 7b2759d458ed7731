// SPDX-License-Identifier: BSD-3-Clause
/* Memory allocated by GPU libraries, and the GPUs. */
#include "show/report/text.h"

#include <string.h>

#include "base/memory_name.h"
#include "base/units.h"
#include "base/vec.h"

static const struct fact_memory *memory_row_of(const void *row)
{
	return row;
}

static void print_kind(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_memory *memory = memory_row_of(row);
	char exporter[24];

	if (memory->device >= 0 && memory->exporter >= 0) {
		text_process(context, exporter, sizeof(exporter), memory->exporter);
		snprintf(cell, size, "%s%d of %s", memory->kind, memory->device, exporter);
	} else if (memory->device >= 0)
		snprintf(cell, size, "%s%d", memory->kind, memory->device);
	else
		snprintf(cell, size, "%s", memory->kind ? memory->kind : "unknown");
}

static void print_sort(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", memory_row_of(row)->sort);
}

static void print_function(char *cell, size_t size, const void *row, const void *context)
{
	const char *function = memory_row_of(row)->function;

	(void)context;
	snprintf(cell, size, "%s", function ? function : "?");
}

static void print_process(char *cell, size_t size, const void *row, const void *context)
{
	text_process(context, cell, size, memory_row_of(row)->process);
}

static void print_allocations(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, memory_row_of(row)->allocations, text_exact(context));
}

/* No sum over allocations of unknown size. */
static void print_size(char *cell, size_t size, const struct fact_memory *memory, uint64_t bytes,
		       const void *context)
{
	if (memory->unsized == memory->allocations)
		snprintf(cell, size, "unknown");
	else
		unit_bytes(cell, size, bytes, text_exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	print_size(cell, size, memory_row_of(row), memory_row_of(row)->bytes, context);
}

static void print_peak(char *cell, size_t size, const void *row, const void *context)
{
	print_size(cell, size, memory_row_of(row), memory_row_of(row)->live_peak, context);
}

static void print_reason(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", memory_row_of(row)->reason ? memory_row_of(row)->reason : "");
}

static const struct table_column memory_columns[] = {
	{ "MEMORY", true, 0, 0, print_kind },
	{ "sort", true, 0, 0, print_sort },
	{ "made by", true, 0, 3, print_function },
	{ "rank", false, 0, 0, print_process },
	{ "allocations", false, 0, 0, print_allocations },
	{ "bytes", false, 0, 2, print_bytes },
	{ "most at once", false, 0, 0, print_peak },
	{ "unknown because", true, 16, 1, print_reason },
};

/* The last column is shown only if it has data. */
static int column_count(const struct report *report)
{
	int all = ARRAY_SIZE(memory_columns);

	for (size_t i = 0; i < report->memory.len; i++)
		if (report->memory.data[i].reason)
			return all;
	return all - 1;
}

void text_memory(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 8, 40 };
	const struct report *report = text->report;
	VEC(const void *) rows = { 0 };
	size_t shown;

	if (!report->memory.len)
		return;
	for (size_t i = 0; i < report->memory.len; i++)
		vec_push(&rows, &report->memory.data[i]);
	shown = text_limit(text, rows.len, limits);
	table_print(text->out, text->options,
		    &(struct report_table){ memory_columns, column_count(report), text, rows.data,
					    shown });
	text_end(text, shown, rows.len);
	vec_release(&rows);
}

static const struct fact_device *devices_row_of(const void *row)
{
	return row;
}

static void print_name(char *cell, size_t size, const void *row, const void *context)
{
	char name[MEMORY_NAME_MAX];

	(void)context;
	memory_gpu_name(name, devices_row_of(row)->number);
	snprintf(cell, size, "%s", name);
}

static void print_host(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s",
		 devices_row_of(row)->host_name ? devices_row_of(row)->host_name : "unknown");
}

static void print_pci(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", devices_row_of(row)->pci);
}

static void print_model(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s",
		 devices_row_of(row)->model ? devices_row_of(row)->model : "unknown");
}

static void print_node(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	if (devices_row_of(row)->numa_node < 0)
		snprintf(cell, size, "unknown");
	else
		snprintf(cell, size, "%d", devices_row_of(row)->numa_node);
}

static void print_uuid(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s",
		 devices_row_of(row)->uuid ? devices_row_of(row)->uuid : "unknown");
}

static const struct table_column devices_columns[] = {
	{ "GPUS", true, 0, 0, print_name },       { "host", true, 0, 0, print_host },
	{ "PCI address", true, 0, 0, print_pci }, { "model", true, 12, 1, print_model },
	{ "node", false, 0, 2, print_node },      { "UUID", true, 12, 2, print_uuid },
};

void text_devices(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 8, 40 };
	const struct fact_totals *totals = &text->report->totals;
	VEC(const void *) rows = { 0 };
	size_t shown;

	if (!totals->device_count)
		return;
	for (int i = 0; i < totals->device_count; i++)
		vec_push(&rows, &totals->devices[i]);
	shown = text_limit(text, rows.len, limits);
	table_print(text->out, text->options,
		    &(struct report_table){ devices_columns, ARRAY_SIZE(devices_columns), text,
					    rows.data, shown });
	text_end(text, shown, rows.len);
	vec_release(&rows);
}
