// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/sorted.h"
#include "file/column.h"
#include "file/sorted_context.h"
#include "file/sorted_payload.h"

struct kind_columns {
	struct sorted_kind head;
	uint32_t first_context, contexts, records;
	uint32_t known; /* bytes of each record to give out, 0 = kind not known */
	uint32_t offset; /* of its first record in the output */
};

struct sorted {
	struct column_input input;
	struct sorted_head head;
	struct kind_columns kinds[BLOCK_MAX_KINDS];
	struct context contexts[CHUNK_MAX_RECORDS];
	uint8_t kind_index[CHUNK_MAX_RECORDS]; /* of each context */
	uint32_t next[CHUNK_MAX_RECORDS]; /* place of each context's next record */
	uint32_t end[CHUNK_MAX_RECORDS];
	uint32_t successor[CHUNK_MAX_RECORDS];
	uint64_t numbers[CHUNK_MAX_RECORDS];
	uint64_t residuals[RESIDUALS][CHUNK_MAX_RECORDS];
	struct threads threads;
};

struct sorted *sorted_new(void)
{
	return malloc(sizeof(struct sorted));
}

void sorted_free(struct sorted *sorted)
{
	free(sorted);
}

static bool kind_valid(const struct sorted_kind *kind)
{
	return kind->size >= sizeof(struct ub_hdr) && kind->size % 8 == 0 &&
	       kind->size <= sizeof(struct ub_hdr) + 8 * BLOCK_MAX_WORDS &&
	       (!kind->keyed || kind->size > sizeof(struct ub_hdr));
}

static bool read_kinds(struct sorted *d)
{
	uint32_t k;

	for (k = 0; k < d->head.kinds; k++) {
		struct kind_columns *kind = &d->kinds[k];
		const uint8_t *stored = input_take(&d->input, sizeof(kind->head));

		if (!stored)
			return false;
		memset(kind, 0, sizeof(*kind));
		memcpy(&kind->head, stored, sizeof(kind->head));
		kind->known = ub_kind_size(kind->head.kind);
		if (!kind_valid(&kind->head))
			return false;
	}
	return true;
}

static void read_contexts(struct sorted *d)
{
	unsigned int f;
	uint32_t i, n = d->head.contexts;

	for (f = 0; f < CONTEXT_FIELDS; f++) {
		const struct context_field *field = &context_fields[f];
		struct column column = column_open(&d->input, n, field->width);
		uint64_t value = 0;

		column_get(&column, 0, n, d->numbers);
		for (i = 0; i < n; i++) {
			value += unzigzag(d->numbers[i]);
			memcpy((uint8_t *)&d->contexts[i] + field->offset, &value, field->width);
		}
	}
}

/* Gives each context its range of places, and each kind its range of contexts. */
static bool place_contexts(struct sorted *d)
{
	uint32_t i, k = 0, place = 0;

	for (i = 0; i < d->head.contexts; i++) {
		const struct context *c = &d->contexts[i];

		while (k < d->head.kinds && d->kinds[k].head.kind != c->kind)
			k++;
		if (k == d->head.kinds || !c->count || c->count > d->head.records - place)
			return false;
		if (!d->kinds[k].contexts++)
			d->kinds[k].first_context = i;
		d->kinds[k].records += c->count;
		d->kind_index[i] = (uint8_t)k;
		d->next[i] = place;
		place += c->count;
		d->end[i] = place;
	}
	return place == d->head.records;
}

long sorted_open(struct sorted *d, uint32_t n, const void *block, size_t size)
{
	const uint8_t *head;
	long total = 0;
	uint32_t k;

	d->input = (struct column_input){ .data = block, .size = size };
	head = input_take(&d->input, sizeof(d->head));
	if (!head)
		return -EBADMSG;
	memcpy(&d->head, head, sizeof(d->head));
	if (d->head.records != n || n > CHUNK_MAX_RECORDS || d->head.contexts > d->head.records ||
	    d->head.kinds > BLOCK_MAX_KINDS)
		return -EBADMSG;
	if (!read_kinds(d))
		return -EBADMSG;
	read_contexts(d);
	if (d->input.bad || !place_contexts(d))
		return -EBADMSG;
	for (k = 0; k < d->head.kinds; k++) {
		d->kinds[k].offset = (uint32_t)total;
		total += (long)d->kinds[k].records * d->kinds[k].known;
	}
	return total;
}

/* The context of each record in the order of the block; false: more records than a context has. */
static bool read_order(struct sorted *d)
{
	struct column column = column_open(&d->input, d->head.records, 4);
	uint32_t i, last = 0;

	column_get(&column, 0, d->head.records, d->numbers);
	memset(d->successor, 0, d->head.contexts * sizeof(d->successor[0]));
	for (i = 0; i < d->head.records; i++) {
		uint32_t number = (uint32_t)d->numbers[i];

		number = number ? number - 1 : d->successor[last];
		if (number >= d->head.contexts)
			return false;
		d->successor[last] = number;
		d->numbers[i] = number;
		last = number;
	}
	return true;
}

static void read_residuals(struct sorted *d)
{
	unsigned int r;

	for (r = 0; r < RESIDUALS; r++) {
		struct column column = column_open(&d->input, d->head.records, residual_width[r]);

		column_get(&column, 0, d->head.records, d->residuals[r]);
	}
}

/* Returns how many rows, or -EBADMSG. */
static long write_headers(struct sorted *d, uint8_t *out, struct block_row *rows)
{
	uint64_t res[RESIDUALS];
	struct ub_hdr h;
	unsigned int r;
	uint32_t i;
	long n = 0;

	threads_init(&d->threads, d->contexts, d->head.contexts, d->head.base_ts);
	for (i = 0; i < d->head.records; i++) {
		uint32_t number = (uint32_t)d->numbers[i], place = d->next[number]++;
		const struct kind_columns *kind = &d->kinds[d->kind_index[number]];
		uint32_t row;

		if (place >= d->end[number])
			return -EBADMSG;
		for (r = 0; r < RESIDUALS; r++)
			res[r] = d->residuals[r][place];
		header_decode(&d->threads, number, &d->contexts[number], res, &h);
		if (!kind->known)
			continue;
		row = place -
		      (d->end[kind->first_context] - d->contexts[kind->first_context].count);
		rows[n] = (struct block_row){ h.ts, kind->offset + row * kind->known, i };
		memcpy(out + rows[n++].offset, &h, sizeof(h));
	}
	return n;
}

long sorted_run(struct sorted *d, void *out, struct block_row *rows)
{
	uint32_t k;
	long n;

	if (!read_order(d))
		return -EBADMSG;
	read_residuals(d);
	if (d->input.bad)
		return -EBADMSG;
	n = write_headers(d, out, rows);
	for (k = 0; k < d->head.kinds && n >= 0; k++) {
		const struct kind_columns *kind = &d->kinds[k];
		const struct payload_rows where = {
			.kind = &kind->head,
			.contexts = d->contexts + kind->first_context,
			.n = kind->contexts,
			.records = kind->records,
			.known = kind->known,
		};

		payload_decode(&d->input, &where, (uint8_t *)out + kind->offset);
	}
	return d->input.bad ? -EBADMSG : n;
}
