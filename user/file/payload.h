/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of records behind their common header, kind by kind. */
#ifndef UCXBPF_FILE_PAYLOAD_H
#define UCXBPF_FILE_PAYLOAD_H

#include "file/codec.h"
#include "file/column.h"
#include "file/context.h"

/* The records of one kind, in the block's column order. */
struct payload_rows {
	const struct block_kind *kind;
	const struct context *contexts;
	uint32_t n; /* contexts */
	uint32_t records;
	uint32_t known; /* bytes of each record to write, 0 = only skip the columns */
};

/* Reads the kind's columns and writes the fields of records known bytes apart. */
void payload_decode(struct column_input *input, const struct payload_rows *rows, uint8_t *out);

#endif
