// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocks of format version 1, whose records are sorted by context (docs/format.md, "Wire records,
 * type 2"): to be read for good, not written any more.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file/codec.h"
#include "file/chunk.h"

struct sorted_context {
	uint64_t key; /* first payload word of a keyed kind, else 0 */
	uint32_t tgid, tid;
	uint16_t cpu, site;
	uint8_t kind, layout;
	uint16_t flags;
	uint32_t frames; /* enum frames */
	uint32_t count; /* records of this chunk */
};

_Static_assert(sizeof(struct sorted_context) == 32, "hashed as words");

#define CONTEXT_FIELDS 10
struct context_field {
	uint8_t offset, width;
};

static inline uint64_t context_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ULL;
	uint64_t h = (a ^ a >> 29) * odd;

	h = (h ^ b ^ h >> 32) * odd;
	h = (h ^ c ^ h >> 32) * odd;
	h = (h ^ d ^ h >> 32) * odd;
	return h ^ h >> 32;
}

/* What is predicted from: per thread, and the last cpu_seq per CPU. */
struct thread_state {
	uint64_t ts;
	uint32_t dur;
	uint32_t seq;
};

#define CONTEXT_HASH_SLOTS (2 * CHUNK_MAX_RECORDS)

/* Slots to use for up to n entries, a power of two: clearing all for a small chunk would be dear.
 */
static inline uint32_t context_slots(uint32_t n)
{
	uint32_t size = 64;

	while (size < 2 * n)
		size *= 2;
	return size;
}

struct threads {
	struct thread_state state[CHUNK_MAX_RECORDS];
	uint32_t of_context[CHUNK_MAX_RECORDS]; /* thread number of each context */
	uint32_t cpu_seq[1 << 16];
	uint32_t slots[CONTEXT_HASH_SLOTS]; /* context number + 1 */
};

/* The residuals of one record's header: what prediction leaves over. */
enum residual { RES_TS, RES_CPU_SEQ, RES_SEQ, RES_CALL, RES_OP, RES_RX, RES_DUR, RESIDUALS };

#define SORTED_MAX_COLUMNS (2 * BLOCK_MAX_WORDS)

/* A column of a payload: a field of 4 or 8 bytes at an offset into the record. */
struct sorted_field {
	uint8_t width;
	uint16_t offset;
};

/* The records of one kind, in the block's column order. */
struct payload_rows {
	const struct sorted_kind *kind;
	const struct sorted_context *contexts;
	uint32_t n; /* contexts */
	uint32_t records;
	uint32_t known; /* bytes of each record to write, 0 = only skip the columns */
};

#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct sorted_context, name), sizeof(((struct sorted_context *)0)->name)  \
	}

/* The columns of the context table, in file order. */
static const struct context_field context_fields[CONTEXT_FIELDS] = {
	FIELD(key),  FIELD(tgid),   FIELD(tid),   FIELD(cpu),    FIELD(site),
	FIELD(kind), FIELD(layout), FIELD(flags), FIELD(frames), FIELD(count),
};

static const uint8_t residual_width[RESIDUALS] = { 8, 4, 4, 4, 4, 4, 4 };

static uint32_t thread_slot(const struct threads *threads, const struct sorted_context *contexts,
			    uint32_t i, uint32_t mask)
{
	const struct sorted_context *c = &contexts[i];
	uint32_t slot = (uint32_t)context_hash(c->tgid, c->tid, 0, 0) & mask;

	while (threads->slots[slot]) {
		const struct sorted_context *other = &contexts[threads->slots[slot] - 1];

		if (other->tgid == c->tgid && other->tid == c->tid)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

/* Numbers the threads of n contexts; their state starts at base_ts. */
static void threads_init(struct threads *threads, const struct sorted_context *contexts, uint32_t n,
			 uint64_t base_ts)
{
	uint32_t i, size = context_slots(n);

	memset(threads->slots, 0, size * sizeof(threads->slots[0]));
	for (i = 0; i < n; i++) {
		uint32_t slot = thread_slot(threads, contexts, i, size - 1);

		if (!threads->slots[slot])
			threads->slots[slot] = i + 1;
		threads->of_context[i] = threads->slots[slot] - 1;
		threads->cpu_seq[contexts[i].cpu] = 0;
		threads->state[i] = (struct thread_state){ .ts = base_ts };
	}
}

/* A span around the thread's last record most likely ended a little after that one. */
static uint32_t predicted_dur(const struct thread_state *last, uint64_t ts)
{
	uint64_t dur = last->ts + last->dur - ts;

	return last->dur && ts <= last->ts && dur <= UINT32_MAX ? (uint32_t)dur : 0;
}

/* Fills the record's predicted fields from res[], and moves the state on. */
static void header_decode(struct threads *threads, uint32_t context, const struct sorted_context *c,
			  const uint64_t res[RESIDUALS], struct ub_hdr *h)
{
	struct thread_state *last = &threads->state[threads->of_context[context]];
	uint32_t seq = last->seq + (uint32_t)unzigzag(res[RES_SEQ]);

	h->ts = last->ts + unzigzag(res[RES_TS]);
	h->tgid = c->tgid;
	h->tid = c->tid;
	h->cpu_seq = threads->cpu_seq[c->cpu] + (uint32_t)unzigzag(res[RES_CPU_SEQ]);
	h->cpu = c->cpu;
	h->site = c->site;
	h->seq = c->frames & FRAMES_SEQ ? seq : 0;
	h->call = c->frames & FRAMES_CALL ? seq - (uint32_t)unzigzag(res[RES_CALL]) : 0;
	h->op = c->frames & FRAMES_OP ? seq - (uint32_t)unzigzag(res[RES_OP]) : 0;
	h->rx = c->frames & FRAMES_RX ? seq - (uint32_t)unzigzag(res[RES_RX]) : 0;
	h->dur = predicted_dur(last, h->ts) + (uint32_t)unzigzag(res[RES_DUR]);
	h->kind = c->kind;
	h->layout = c->layout;
	h->flags = c->flags;
	threads->cpu_seq[c->cpu] = h->cpu_seq + 1;
	*last = (struct thread_state){ .ts = h->ts, .dur = h->dur, .seq = seq };
}

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

/* Writes the words without a column: the key, and zeros where records have grown since. */
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

/* Reads the kind's columns and writes the fields of records known bytes apart. */
static void payload_decode(struct column_input *input, const struct payload_rows *rows,
			   uint8_t *out)
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
	struct sorted_context contexts[CHUNK_MAX_RECORDS];
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
		const struct sorted_context *c = &d->contexts[i];

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
