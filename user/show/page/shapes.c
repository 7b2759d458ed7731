// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/shapes.h"

#define BIT(column) (1u << COLUMN_##column)

const char *const page_column_names[PAGE_COLUMNS] = {
	[COLUMN_PROCESS] = "process",
	[COLUMN_PEER] = "peer",
	[COLUMN_SRC] = "src",
	[COLUMN_DST] = "dst",
	[COLUMN_FUNCTION] = "function",
	[COLUMN_PLACE] = "place",
	[COLUMN_UCP_OP] = "ucp_op",
	[COLUMN_OP] = "op",
	[COLUMN_PROTOCOL] = "protocol",
	[COLUMN_TRANSPORT] = "transport",
	[COLUMN_DEVICE] = "device",
	[COLUMN_SRC_MEM] = "src_mem",
	[COLUMN_DST_MEM] = "dst_mem",
	[COLUMN_SRC_REASON] = "src_reason",
	[COLUMN_DST_REASON] = "dst_reason",
	[COLUMN_MEMORY] = "memory",
	[COLUMN_MEMORY_REASON] = "memory_reason",
	[COLUMN_MEMORY_KNOWN_BY] = "memory_known_by",
	[COLUMN_CHAIN] = "chain",
	[COLUMN_VIA] = "via",
	[COLUMN_CHAIN_REASON] = "chain_reason",
	[COLUMN_LOCALITY] = "locality",
	[COLUMN_KIND] = "kind",
};

#define OF_ALL [SUM_COUNT] = "count", [SUM_BYTES] = "bytes", [SUM_BYTES_UNKNOWN] = "bytes_unknown"
#define OF_SPANS [SUM_TIMED] = "timed", [SUM_TIME] = "time_sum"

const struct page_shape page_shapes[PAGE_SORTS] = {
	[PAGE_CALLS] = { "calls",
			 BIT(PROCESS) | BIT(FUNCTION) | BIT(PLACE),
			 { OF_ALL, OF_SPANS, [SUM_OPS] = "ops" } },
	[PAGE_OPS] = { "ops",
		       BIT(PROCESS) | BIT(PEER) | BIT(FUNCTION) | BIT(PLACE) | BIT(UCP_OP) |
			       BIT(PROTOCOL) | BIT(MEMORY) | BIT(MEMORY_REASON) |
			       BIT(MEMORY_KNOWN_BY),
		       { OF_ALL,
			 OF_SPANS, [SUM_ERRORS] = "errors", [SUM_UNCHECKED] = "unchecked" } },
	[PAGE_TRANSFERS] = { "transfers",
			     BIT(PROCESS) | BIT(PEER) | BIT(SRC) | BIT(DST) | BIT(FUNCTION) |
				     BIT(PLACE) | BIT(UCP_OP) | BIT(OP) | BIT(PROTOCOL) |
				     BIT(TRANSPORT) | BIT(DEVICE) | BIT(SRC_MEM) | BIT(DST_MEM) |
				     BIT(SRC_REASON) | BIT(DST_REASON) | BIT(LOCALITY) | BIT(KIND),
			     { OF_ALL,
			       OF_SPANS, [SUM_WIRE_BYTES] = "wire_bytes", [SUM_RETRIES] = "retries",
			       [SUM_UNEXPLAINED] = "unexplained_bytes" } },
	[PAGE_MESSAGES] = { "messages",
			    BIT(SRC) | BIT(DST) | BIT(FUNCTION) | BIT(UCP_OP) | BIT(SRC_MEM) |
				    BIT(DST_MEM) | BIT(SRC_REASON) | BIT(DST_REASON) | BIT(CHAIN) |
				    BIT(VIA) | BIT(CHAIN_REASON),
			    { OF_ALL, [SUM_COPIES] = "copies", [SUM_COPY_BYTES] = "copy_bytes" } },
};
