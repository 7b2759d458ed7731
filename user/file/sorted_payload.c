// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "file/sorted_payload.h"

#define BATCH 128 /* records taken apart at a time, so that they stay in the first-level cache */

/* Lists the columns of a kind's payload in file order; returns how many. */
static unsigned int list_fields(const struct sorted_kind *kind,
				struct sorted_field fields[SORTED_MAX_COLUMNS])
{
	unsigned int word, n = 0, words = (kind->size - sizeof(struct ub_hdr)) / 8;

	for (word = kind->keyed ? 1 : 0; word < words; word++) {
		uint16_t offset = (uint16_t)(sizeof(struct ub_hdr) + 8 * word);

		if (kind->split >> word & 1) {
			fields[n++] = (struct sorted_field){ 4, offset };
			fields[n++] = (struct sorted_field){ 4, offset + 4 };
		} else {
			fields[n++] = (struct sorted_field){ 8, offset };
		}
	}
	return n;
}

struct columns {
	unsigned int n;
	struct sorted_field fields[SORTED_MAX_COLUMNS];
	struct column heads[SORTED_MAX_COLUMNS], tails[SORTED_MAX_COLUMNS];
	uint64_t head[SORTED_MAX_COLUMNS]; /* first value of the current context */
	uint64_t value[SORTED_MAX_COLUMNS]; /* last value written */
};

/* Takes all columns off the input; returns with those first that are to be written. */
static void open_columns(struct column_input *input, const struct payload_rows *rows,
			 struct columns *columns)
{
	struct sorted_field fields[SORTED_MAX_COLUMNS];
	unsigned int f, n = list_fields(rows->kind, fields);

	memset(columns, 0, sizeof(*columns));
	for (f = 0; f < n; f++) {
		unsigned int width = fields[f].width;
		struct column heads = column_open(input, rows->n, width);
		struct column tails = column_open(input, rows->records - rows->n, width);

		if (fields[f].offset + width > rows->known)
			continue;
		columns->fields[columns->n] = fields[f];
		columns->heads[columns->n] = heads;
		columns->tails[columns->n++] = tails;
	}
}

/* Writes a field of n records, n at most BATCH; returns its last value. */
static uint64_t write_field(const struct column *tails, uint32_t first, uint32_t n, uint64_t value,
			    unsigned int width, uint32_t step, uint8_t *out)
{
	uint64_t change[BATCH];
	uint32_t i;

	if (tails->mask)
		column_get(tails, first, n, change);
	else
		memset(change, 0, n * sizeof(change[0]));
	for (i = 0; i < n; i++, out += step) {
		value += unzigzag(change[i]);
		if (width == 8)
			memcpy(out, &value, 8);
		else
			memcpy(out, &value, 4);
	}
	return value;
}

static void write_first(struct columns *columns, uint32_t context, uint8_t *out)
{
	unsigned int f;
	uint64_t change;

	for (f = 0; f < columns->n; f++) {
		const struct sorted_field *field = &columns->fields[f];

		column_get(&columns->heads[f], context, 1, &change);
		columns->head[f] += unzigzag(change);
		columns->value[f] = columns->head[f];
		memcpy(out + field->offset, &columns->value[f], field->width);
	}
}

static void write_rest(struct columns *columns, uint32_t first, uint32_t n, uint32_t step,
		       uint8_t *out)
{
	unsigned int f;

	for (f = 0; f < columns->n; f++) {
		const struct sorted_field *field = &columns->fields[f];

		columns->value[f] = write_field(&columns->tails[f], first, n, columns->value[f],
						field->width, step, out + field->offset);
	}
}

/* What does not come from a column: the key, and zeros where records have grown since. */
static void write_fixed(const struct payload_rows *rows, uint64_t key, uint32_t n, uint8_t *out)
{
	uint32_t size = rows->kind->size;
	uint32_t i;

	for (i = 0; i < n; i++, out += rows->known) {
		if (rows->kind->keyed && rows->known >= sizeof(struct ub_hdr) + sizeof(key))
			memcpy(out + sizeof(struct ub_hdr), &key, sizeof(key));
		if (size < rows->known)
			memset(out + size, 0, rows->known - size);
	}
}

void payload_decode(struct column_input *input, const struct payload_rows *rows, uint8_t *out)
{
	struct columns columns;
	uint32_t c, tail = 0;

	open_columns(input, rows, &columns);
	if (input->bad || !rows->known)
		return;
	for (c = 0; c < rows->n; c++) {
		uint32_t left = rows->contexts[c].count - 1;

		write_fixed(rows, rows->contexts[c].key, left + 1, out);
		write_first(&columns, c, out);
		out += rows->known;
		while (left) {
			uint32_t n = left < BATCH ? left : BATCH;

			write_rest(&columns, tail, n, rows->known, out);
			out += (size_t)n * rows->known;
			tail += n;
			left -= n;
		}
	}
}
