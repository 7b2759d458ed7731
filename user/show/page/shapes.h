/* SPDX-License-Identifier: BSD-3-Clause */
/* Which columns the four tables of sums have. */
#ifndef UCXBPF_PAGE_SHAPES_H
#define UCXBPF_PAGE_SHAPES_H

enum page_sort { PAGE_CALLS, PAGE_OPS, PAGE_TRANSFERS, PAGE_MESSAGES, PAGE_SORTS };

enum page_column {
	COLUMN_PROCESS,
	COLUMN_PEER,
	COLUMN_SRC,
	COLUMN_DST,
	COLUMN_FUNCTION,
	COLUMN_PLACE,
	COLUMN_UCP_OP,
	COLUMN_OP,
	COLUMN_PROTOCOL,
	COLUMN_TRANSPORT,
	COLUMN_DEVICE,
	COLUMN_SRC_MEM,
	COLUMN_DST_MEM,
	COLUMN_SRC_REASON,
	COLUMN_DST_REASON,
	COLUMN_MEMORY,
	COLUMN_MEMORY_REASON,
	COLUMN_MEMORY_KNOWN_BY,
	COLUMN_CHAIN,
	COLUMN_VIA,
	COLUMN_CHAIN_REASON,
	COLUMN_LOCALITY,
	COLUMN_KIND,
	PAGE_COLUMNS
};

extern const char *const page_column_names[PAGE_COLUMNS];

/* The first five are those of all facts, the rest of some. */
enum page_sum {
	SUM_COUNT,
	SUM_BYTES,
	SUM_BYTES_UNKNOWN,
	SUM_TIMED,
	SUM_TIME,
	SUM_OPS, /* of calls */
	SUM_ERRORS = SUM_OPS, /* of operations */
	SUM_UNCHECKED,
	SUM_WIRE_BYTES = SUM_OPS, /* of transfers */
	SUM_RETRIES,
	SUM_UNEXPLAINED,
	SUM_COPIES = SUM_OPS, /* of messages */
	SUM_COPY_BYTES,
	PAGE_SUMS = SUM_UNEXPLAINED + 1
};

struct page_shape {
	const char *name; /* of the section */
	unsigned int columns; /* bit set of enum page_column */
	const char *sums[PAGE_SUMS]; /* names of those that it has */
};

extern const struct page_shape page_shapes[PAGE_SORTS];

#endif
