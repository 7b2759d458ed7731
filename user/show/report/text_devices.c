// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/text.h"

#include <string.h>

static const struct fact_device *row_of(const void *row)
{
	return row;
}

static void print_name(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "gpu%d", row_of(row)->number);
}

static void print_host(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", row_of(row)->host_name ? row_of(row)->host_name : "unknown");
}

static void print_pci(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", row_of(row)->pci);
}

static void print_model(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", row_of(row)->model ? row_of(row)->model : "unknown");
}

static void print_node(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	if (row_of(row)->numa_node < 0)
		snprintf(cell, size, "unknown");
	else
		snprintf(cell, size, "%d", row_of(row)->numa_node);
}

static void print_uuid(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", row_of(row)->uuid ? row_of(row)->uuid : "unknown");
}

static const struct table_column columns[] = {
	{ "GPUS", true, 0, 0, print_name },       { "host", true, 0, 0, print_host },
	{ "PCI address", true, 0, 0, print_pci }, { "model", true, 12, 1, print_model },
	{ "node", false, 0, 2, print_node },      { "UUID", true, 12, 2, print_uuid },
};

void text_devices(const struct text *text)
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
		    &(struct table){ columns, sizeof(columns) / sizeof(*columns), text, rows.data,
				     shown });
	text_end(text, shown, rows.len);
	vec_release(&rows);
}
