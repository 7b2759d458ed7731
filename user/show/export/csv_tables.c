// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/csv_tables.h"

#include <string.h>

#define TIME "time.known", "time.sum_ns", "time.min_ns", "time.max_ns", "time.precision"
#define PLACE                                                                                      \
	"label", "module", "build_id", "offset", "symbol", "symbol_offset", "file", "line",        \
		"address", "reason"

static const struct csv_table tables[] = {
	{ "totals", { "section", "name", "reason", "value" } },
	{ "hosts", { "id", "name", "boot_id", "span_ns" } },
	{ "processes",
	  { "id", "host", "pid", "tgid", "start_time", "comm", "exe", "job", "rank", "size", "mpi",
	    "environment_cut", "cpus", "seen_from", "exit_status", "exit_signal" } },
	{ "ucx", { "process", "path", "build_id", "version", "layout" } },
	{ "environment", { "process", "name", "value" } },
	{ "windows", { "host", "capture", "from_ns", "to_ns" } },
	{ "clocks",
	  { "host", "other", "there", "back", "at_ns", "offset_ns", "offset_uncertainty_ns",
	    "drift_ppb", "drift_uncertainty_ppb", "reason" } },
	{ "calls", { "process", "function", "count", "ops", "bytes", "bytes_unknown", TIME } },
	{ "ops",
	  { "process", "op", "function", "protocol", "memory", "memory_reason", "memory_known_by",
	    "count", "bytes", "bytes_unknown", "errors", TIME } },
	{ "transfers",
	  { "process",  "peer",          "op",         "transport",  "device",
	    "locality", "kind",          "ucp_op",     "function",   "protocol",
	    "src_mem",  "dst_mem",       "src_reason", "dst_reason", "count",
	    "bytes",    "bytes_unknown", "retries",    "wire_bytes", "unexplained_bytes",
	    TIME } },
	{ "messages",
	  { "src", "dst", "function", "src_mem", "dst_mem", "src_reason", "dst_reason", "chain",
	    "via", "chain_reason", "copies", "copy_bytes", "count", "bytes", "bytes_unknown" } },
	{ "nics",
	  { "host", "device", "direction", "count", "bytes", "bytes_unknown", "wire_bytes" } },
	{ "routes",
	  { "src_host", "src_mem", "src_nic", "dst_nic", "dst_host", "dst_mem", "count", "bytes",
	    "bytes_unknown", "wire_bytes" } },
	{ "slowest",
	  { "process", "peer", "op", "transport", "device", "ucp_op", "function", "bytes",
	    "time_ns", "precision", "at_ns" } },
	{ "memory",
	  { "process", "kind", "sort", "device", "reason", "exporter", "function", "allocations",
	    "bytes", "unsized", "live_peak" } },
	{ "devices", { "host", "name", "pci", "uuid", "model", "numa_node" } },
	{ "device_users", { "host", "name", "process", "ordinal" } },
	{ "call_sites", { "process", "function", PLACE, "count", "ops", "bytes", TIME } },
	{ "stacks", { "process", "function", "end", "frames", "count", "ops", "bytes", TIME } },
};

_Static_assert(sizeof(tables) / sizeof(tables[0]) <= CSV_MAX_TABLES, "a file per table");

const struct csv_table *csv_table_at(size_t i)
{
	return i < sizeof(tables) / sizeof(tables[0]) ? &tables[i] : NULL;
}

const struct csv_table *csv_table_find(const char *name)
{
	for (size_t i = 0; csv_table_at(i); i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}
