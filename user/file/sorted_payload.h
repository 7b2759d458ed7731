/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of records behind their common header, kind by kind. */
#ifndef UCXBPF_FILE_SORTED_PAYLOAD_H
#define UCXBPF_FILE_SORTED_PAYLOAD_H

#include "file/sorted.h"
#include "file/column.h"
#include "file/sorted_context.h"

#define SORTED_MAX_COLUMNS (2 * BLOCK_MAX_WORDS)

/* A column of a payload: a field of 4 or 8 bytes at an offset into the record. */
struct sorted_field {
	uint8_t width;
	uint16_t offset;
};

/* The records of one kind, in the block's column order. */
struct payload_rows {
	const struct sorted_kind *kind;
	const struct context *contexts;
	uint32_t n; /* contexts */
	uint32_t records;
	uint32_t known; /* bytes of each record to write, 0 = only skip the columns */
};

/* Reads the kind's columns and writes the fields of records known bytes apart. */
void payload_decode(struct column_input *input, const struct payload_rows *rows, uint8_t *out);

#endif
