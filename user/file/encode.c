// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "file/codec.h"
#include "file/column.h"
#include "file/encode.h"

/* Kinds whose first word (call site, endpoint, worker) says much about the other words. */
#define KEYED                                                                                      \
	(1u << UB_CALL | 1u << UB_OP | 1u << UB_XFER | 1u << UB_RX | 1u << UB_MATCH |              \
	 1u << UB_FRAGS)

#define PAIR_AT(type, first) (1u << ((offsetof(type, first) - sizeof(struct ub_hdr)) / 8))

static const uint32_t kind_split[UB_KIND_MAX] = {
	[UB_OP] = PAIR_AT(struct ub_op, attr_mask),
	[UB_XFER] = PAIR_AT(struct ub_xfer, status),
	[UB_RX] = PAIR_AT(struct ub_rx, length),
	[UB_FRAGS] = PAIR_AT(struct ub_frags, xfer.status) | PAIR_AT(struct ub_frags, count),
	[UB_TASK] = PAIR_AT(struct ub_task, what),
	[UB_MEM] = PAIR_AT(struct ub_mem, device) | PAIR_AT(struct ub_mem, runtime),
};

/* Columns that begin a power of two apart would all fight for the same cache lines. */
#define COLUMN_STRIDE (ENCODER_RECORDS + 40)

struct encoder {
	struct grouping grouping;
	struct threads threads;
	struct block_kind kinds[UB_KIND_MAX];
	uint64_t residuals[RESIDUALS][ENCODER_RECORDS];
	uint64_t column[ENCODER_RECORDS];
	uint64_t heads[ENCODER_RECORDS];
	uint64_t fields[BLOCK_MAX_COLUMNS][COLUMN_STRIDE];
	uint64_t is_tail[ENCODER_RECORDS]; /* of a kind's records: 0 of a context's first, else all
					      bits */
};

struct encoder *encoder_new(void)
{
	return malloc(sizeof(struct encoder));
}

void encoder_free(struct encoder *encoder)
{
	free(encoder);
}

size_t encoder_bound(uint32_t n, size_t size)
{
	const size_t masks = CONTEXT_FIELDS + 1 + RESIDUALS + UB_KIND_MAX * 2 * BLOCK_MAX_COLUMNS;
	const size_t per_record = sizeof(struct context) + 4 + 32 - sizeof(struct ub_hdr);

	return sizeof(struct block_head) + UB_KIND_MAX * sizeof(struct block_kind) + masks + size +
	       n * per_record;
}

static uint8_t *put(uint8_t *out, const void *data, size_t size)
{
	memcpy(out, data, size);
	return out + size;
}

/* The kinds of the block in the order of its contexts. */
static uint32_t list_kinds(struct encoder *e)
{
	const struct grouping *g = &e->grouping;
	uint32_t i, n = 0;

	for (i = 0; i < g->n; i++) {
		uint8_t kind = g->contexts[i].kind;

		if (n && e->kinds[n - 1].kind == kind)
			continue;
		e->kinds[n++] = (struct block_kind){
			.kind = kind,
			.keyed = g->keyed >> kind & 1,
			.size = (uint16_t)ub_kind_size(kind),
			.split = kind_split[kind],
		};
	}
	return n;
}

static uint8_t *put_contexts(struct encoder *e, uint8_t *out)
{
	const struct grouping *g = &e->grouping;
	unsigned int f;
	uint32_t i;

	for (f = 0; f < CONTEXT_FIELDS; f++) {
		const struct context_field *field = &context_fields[f];
		uint64_t previous = 0;

		for (i = 0; i < g->n; i++) {
			uint64_t value = 0;

			memcpy(&value, (const uint8_t *)&g->contexts[i] + field->offset,
			       field->width);
			e->column[i] = zigzag(value - previous, field->width);
			previous = value;
		}
		out = column_put(out, e->column, g->n, field->width);
	}
	return out;
}

static uint8_t *put_headers(struct encoder *e, const void *records, uint32_t n, uint8_t *out)
{
	struct grouping *g = &e->grouping;
	const uint8_t *at = records;
	uint64_t res[RESIDUALS], bits[RESIDUALS] = { 0 };
	unsigned int r;
	uint32_t i;

	threads_init(&e->threads, g->contexts, g->n, ((const struct ub_hdr *)records)->ts);
	for (i = 0; i < n; i++) {
		const struct ub_hdr *h = (const struct ub_hdr *)at;
		uint32_t context = g->of_record[i];
		uint32_t place = g->next[context]++;

		g->sorted[place] = h;
		header_encode(&e->threads, context, h, res);
		for (r = 0; r < RESIDUALS; r++) {
			e->residuals[r][place] = res[r];
			bits[r] |= res[r];
		}
		at += ub_kind_size(h->kind);
	}
	for (r = 0; r < RESIDUALS; r++)
		out = column_put_bits(out, e->residuals[r], n, residual_width[r], bits[r]);
	return out;
}

static inline uint64_t field_value(const struct ub_hdr *row, const struct block_field *field)
{
	const uint8_t *at = (const uint8_t *)row + field->offset;
	uint64_t wide;
	uint32_t narrow;

	if (field->width == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

/*
 * All fields of n records, a column each. Tile by tile: a record's memory is read once, whatever
 * number of fields it has.
 */
#define TILE 64

static void split_fields(struct encoder *e, const struct ub_hdr *const *rows, uint32_t n,
			 const struct block_field *fields, unsigned int count)
{
	for (uint32_t tile = 0; tile < n; tile += TILE) {
		uint32_t end = n - tile < TILE ? n : tile + TILE;

		for (unsigned int f = 0; f < count; f++)
			for (uint32_t i = tile; i < end; i++)
				e->fields[f][i] = field_value(rows[i], &fields[f]);
	}
}

static void mark_tails(struct encoder *e, uint32_t first, uint32_t end)
{
	uint64_t *is_tail = e->is_tail;

	for (uint32_t c = first; c < end; c++) {
		uint32_t count = e->grouping.contexts[c].count;

		*is_tail++ = 0;
		for (uint32_t i = 1; i < count; i++)
			*is_tail++ = UINT64_MAX;
	}
}

#define TOGETHER 16 /* values between two looks at what they differ in */

/* Whether a field has one value throughout each context, as most have. */
static bool is_constant(const uint64_t *values, const uint64_t *is_tail, uint32_t n)
{
	uint64_t bits = 0;
	uint32_t i = 1;

	for (; i + TOGETHER <= n && !bits; i += TOGETHER)
		for (uint32_t k = 0; k < TOGETHER; k++)
			bits |= (values[i + k] ^ values[i + k - 1]) & is_tail[i + k];
	for (; i < n && !bits; i++)
		bits |= (values[i] ^ values[i - 1]) & is_tail[i];
	return !bits;
}

/* The first value of each context, as the difference to that of the context before. */
static uint8_t *put_heads(struct encoder *e, uint32_t first, uint32_t end, const uint64_t *values,
			  unsigned int width, uint8_t *out)
{
	uint64_t previous = 0;

	for (uint32_t c = first; c < end; c++) {
		e->heads[c - first] = zigzag(*values - previous, width);
		previous = *values;
		values += e->grouping.contexts[c].count;
	}
	return column_put(out, e->heads, end - first, width);
}

/* The other values, as the difference to the one before. */
static uint8_t *put_tails(struct encoder *e, uint32_t first, uint32_t end, const uint64_t *values,
			  unsigned int width, uint8_t *out)
{
	uint64_t bits = 0, *tail = e->column;

	for (uint32_t c = first; c < end; c++) {
		uint32_t count = e->grouping.contexts[c].count;

		for (uint32_t i = 1; i < count; i++) {
			*tail = zigzag(values[i] - values[i - 1], width);
			bits |= *tail++;
		}
		values += count;
	}
	return column_put_bits(out, e->column, (size_t)(tail - e->column), width, bits);
}

static uint8_t *put_payloads(struct encoder *e, uint32_t kinds, uint8_t *out)
{
	struct block_field fields[BLOCK_MAX_COLUMNS];
	const struct grouping *g = &e->grouping;
	const struct ub_hdr *const *rows = g->sorted;
	uint32_t k, first = 0;

	for (k = 0; k < kinds; k++) {
		unsigned int f, n = block_fields(&e->kinds[k], fields);
		uint32_t end = first, count = 0;

		for (; end < g->n && g->contexts[end].kind == e->kinds[k].kind; end++)
			count += g->contexts[end].count;
		split_fields(e, rows, count, fields, n);
		mark_tails(e, first, end);
		for (f = 0; f < n; f++) {
			const uint64_t *values = e->fields[f];
			unsigned int width = fields[f].width;

			out = put_heads(e, first, end, values, width, out);
			out = is_constant(values, e->is_tail, count)
				      ? column_put_bits(out, NULL, 0, width, 0)
				      : put_tails(e, first, end, values, width, out);
		}
		rows += count;
		first = end;
	}
	return out;
}

size_t encoder_run(struct encoder *e, const void *records, uint32_t n, uint8_t *out)
{
	struct grouping *g = &e->grouping;
	struct block_head head = { 0 };
	uint8_t *start = out;

	/* Where first words hardly ever repeat, their contexts would cost more than they save. */
	group_records(g, records, n, KEYED);
	if (g->n > n / 8 + 64)
		group_records(g, records, n, 0);
	head.base_ts = ((const struct ub_hdr *)records)->ts;
	head.records = n;
	head.contexts = g->n;
	head.kinds = list_kinds(e);
	out = put(out, &head, sizeof(head));
	out = put(out, e->kinds, head.kinds * sizeof(e->kinds[0]));
	out = put_contexts(e, out);
	out = column_put(out, g->successor_misses, n, 4);
	out = put_headers(e, records, n, out);
	return (size_t)(put_payloads(e, head.kinds, out) - start);
}
