// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/codec.h"

/* Numbers of a column are made so many at a time: that takes vector code. */
#define GROUP 16

struct decoder_words {
	struct column column;
	uint32_t n, at;
	uint64_t group[GROUP]; /* with the number at */
};

struct kind_words {
	struct block_kind head;
	uint32_t words; /* of a payload as stored */
	uint32_t known; /* bytes of each record to give out, 0 = kind not known */
	bool bare; /* only its headers are wanted */
	uint32_t left; /* records still to come */
	uint64_t image[BLOCK_MAX_WORDS]; /* of the context made last */
	struct decoder_words column[BLOCK_MAX_WORDS];
};

struct decoder_context {
	struct kind_words *kind;
	uint32_t thread;
	uint32_t image; /* words of its last record: where in images */
	uint32_t sort;
	uint16_t site, frames;
	struct context_last last;
};

struct decoder_thread {
	uint32_t tgid, tid;
	struct thread_last last;
};

struct block_decoder {
	struct column_input input;
	struct block_head head;
	struct kind_words kinds[BLOCK_MAX_KINDS];
	const uint8_t *ts_low[BLOCK_LOW_BYTES], *dur_low[BLOCK_LOW_BYTES]; /* in other parts */
	const uint8_t *how;
	uint32_t lengths[BLOCK_COLUMNS], taken[BLOCK_COLUMNS];
	uint32_t columns[BLOCK_COLUMNS][CHUNK_MAX_RECORDS];
	bool bad;
	bool frames; /* headers get their numbers */

	struct followers followers;
	uint32_t threads, contexts, images; /* made so far */
	struct decoder_thread thread[CHUNK_MAX_RECORDS];
	struct decoder_context context[CHUNK_MAX_RECORDS];
	uint64_t image[CHUNK_MAX_RECORDS * BLOCK_MAX_WORDS];
};

struct block_decoder *decoder_new(void)
{
	return malloc(sizeof(struct block_decoder));
}

void decoder_free(struct block_decoder *decoder)
{
	free(decoder);
}

/* ---- the block's tables ---- */

static bool kind_valid(const struct block_kind *kind)
{
	return kind->size >= sizeof(struct ub_hdr) && kind->size % 8 == 0 &&
	       kind->size <= sizeof(struct ub_hdr) + 8 * BLOCK_MAX_WORDS;
}

/* Returns how many bytes all known records take, or -EBADMSG. */
static long read_kinds(struct block_decoder *d)
{
	uint64_t records = 0;
	long total = 0;

	for (uint32_t k = 0; k < d->head.kinds; k++) {
		struct kind_words *kind = &d->kinds[k];
		const uint8_t *stored = input_take(&d->input, sizeof(kind->head));

		if (!stored)
			return -EBADMSG;
		memset(kind, 0, sizeof(*kind));
		memcpy(&kind->head, stored, sizeof(kind->head));
		if (!kind_valid(&kind->head))
			return -EBADMSG;
		kind->words = (kind->head.size - sizeof(struct ub_hdr)) / 8;
		kind->known = ub_kind_size(kind->head.kind);
		kind->left = kind->head.records;
		records += kind->head.records;
		total += (long)kind->known * kind->head.records;
	}
	return records == d->head.records ? total : -EBADMSG;
}

static uint32_t read_length(struct block_decoder *d)
{
	const uint8_t *stored = input_take(&d->input, sizeof(uint32_t));
	uint32_t length = 0;

	if (stored)
		memcpy(&length, stored, sizeof(length));
	if (length > d->head.records)
		d->input.bad = true;
	return d->input.bad ? 0 : length;
}

/* The planes of a column's lowest bytes that stand in other parts; NULL: it has all itself. */
static const uint8_t *const *low_planes(const struct block_decoder *d, enum block_column column)
{
	if (column == COLUMN_TS)
		return d->ts_low;
	return column == COLUMN_DUR ? d->dur_low : NULL;
}

static bool lengths_fit(const struct block_decoder *d)
{
	return d->lengths[COLUMN_TS] == d->head.records && d->lengths[COLUMN_DUR] == d->head.durs;
}

static void read_columns(struct block_decoder *d)
{
	struct column column[BLOCK_COLUMNS];

	for (enum block_column i = 0; i < BLOCK_COLUMNS && !d->input.bad; i++) {
		d->lengths[i] = read_length(d);
		column[i] = column_open(&d->input, d->lengths[i], 4);
	}
	if (d->input.bad || !lengths_fit(d)) {
		d->input.bad = true;
		return;
	}
	for (enum block_column i = 0; i < BLOCK_COLUMNS; i++) {
		const uint8_t *const *low = low_planes(d, i);

		column_get_32(&column[i], low, d->lengths[i], low ? BLOCK_LOW_BYTES : 0,
			      d->columns[i]);
	}
	for (uint32_t k = 0; k < d->head.kinds; k++) {
		struct kind_words *kind = &d->kinds[k];

		for (uint32_t i = 0; i < kind->words && !d->input.bad; i++) {
			kind->column[i].n = read_length(d);
			kind->column[i].column = column_open(&d->input, kind->column[i].n, 8);
		}
	}
}

long decoder_open(struct block_decoder *d, uint32_t n, const void *block, size_t size)
{
	const uint8_t *head;
	long total;

	d->input = (struct column_input){ .data = block, .size = size };
	head = input_take(&d->input, sizeof(d->head));
	if (!head)
		return -EBADMSG;
	memcpy(&d->head, head, sizeof(d->head));
	if (d->head.records != n || n > CHUNK_MAX_RECORDS || d->head.kinds > BLOCK_MAX_KINDS)
		return -EBADMSG;
	for (unsigned int b = 0; b < BLOCK_LOW_BYTES; b++) {
		d->ts_low[b] = input_take(&d->input, n);
		d->dur_low[b] = input_take(&d->input, d->head.durs);
	}
	total = read_kinds(d);
	if (total < 0)
		return total;
	d->how = input_take(&d->input, n);
	read_columns(d);
	return d->input.bad ? -EBADMSG : total;
}

/* ---- records ---- */

static inline uint32_t take(struct block_decoder *d, enum block_column column)
{
	if (d->taken[column] >= d->lengths[column]) {
		d->bad = true;
		return 0;
	}
	return d->columns[column][d->taken[column]++];
}

/* The number that a bit of how announces. */
static inline uint32_t take_if(struct block_decoder *d, uint8_t how, enum how bit,
			       enum block_column column, uint32_t otherwise)
{
	return how & bit ? (uint32_t)unzigzag(take(d, column)) : otherwise;
}

static uint64_t take_word(struct block_decoder *d, struct decoder_words *words)
{
	const uint32_t at = words->at++, left = words->n - at;

	if (at >= words->n) {
		d->bad = true;
		return 0;
	}
	if (at % GROUP == 0)
		column_get(&words->column, at, left < GROUP ? left : GROUP, words->group);
	return words->group[at % GROUP];
}

static struct decoder_thread *begin_run(struct block_decoder *d, uint32_t *records)
{
	uint32_t number = take(d, COLUMN_RUN_THREAD);
	struct decoder_thread *t = &d->thread[number < d->threads ? number : d->threads];

	if (number >= d->threads) {
		const struct decoder_thread *before = d->threads ? t - 1 : NULL;

		*t = (struct decoder_thread){
			.tgid = (before ? before->tgid : 0) +
				(uint32_t)unzigzag(take(d, COLUMN_THREAD_TGID)),
			.tid = (before ? before->tid : 0) +
			       (uint32_t)unzigzag(take(d, COLUMN_THREAD_TID)),
			.last.ts = d->head.base_ts,
		};
		d->threads++;
	}
	t->last.cpu += (uint32_t)unzigzag(take(d, COLUMN_RUN_CPU));
	t->last.cpu_seq += (uint32_t)unzigzag(take(d, COLUMN_RUN_SEQ));
	*records = take(d, COLUMN_RUN_RECORDS);
	if (!*records)
		d->bad = true;
	return t;
}

static struct decoder_context *make_context(struct block_decoder *d, uint32_t thread)
{
	uint32_t sort = take(d, COLUMN_CONTEXT_SORT), site = take(d, COLUMN_CONTEXT_SITE), k = 0;
	struct decoder_context *c;

	while (k < d->head.kinds && d->kinds[k].head.kind != (uint8_t)sort)
		k++;
	if (d->bad || k == d->head.kinds || d->contexts == BLOCK_MAX_CONTEXTS)
		return NULL;
	c = &d->context[d->contexts++];
	*c = (struct decoder_context){
		.kind = &d->kinds[k],
		.thread = thread,
		.image = d->images,
		.sort = sort,
		.site = (uint16_t)site,
		.frames = (uint16_t)(site >> 16),
	};
	memcpy(d->image + c->image, c->kind->image, c->kind->words * 8);
	d->images += c->kind->words;
	return c;
}

static struct decoder_context *find_context(struct block_decoder *d, struct decoder_thread *t,
					    bool follows, bool *is_new)
{
	uint16_t *next = follower(&d->followers, &t->last);
	uint32_t number = follows ? *next : take(d, COLUMN_CONTEXT);
	struct decoder_context *c;

	*is_new = !number && !follows;
	if (*is_new)
		c = make_context(d, (uint32_t)(t - d->thread));
	else
		c = number && number <= d->contexts ? &d->context[number - 1] : NULL;
	if (!c || c->thread != (uint32_t)(t - d->thread))
		return NULL;
	*next = (uint16_t)(c - d->context + 1);
	t->last.history = history_with(t->last.history, (uint32_t)(c - d->context));
	return c;
}

/* The numbers of the frames that a record is of and in. */
static void read_frames(struct block_decoder *d, struct thread_last *last,
			struct decoder_context *c, uint8_t how, struct ub_hdr *h)
{
	uint32_t seq;

	c->last.seq = take_if(d, how, HOW_SEQ, COLUMN_SEQ, c->last.seq);
	seq = last->seq + c->last.seq;
	h->seq = c->frames & FRAMES_SEQ ? seq : 0;
	h->call = how & HOW_CALL ? seq - (uint32_t)unzigzag(take(d, COLUMN_CALL)) : last->call;
	h->call = c->frames & FRAMES_CALL ? h->call : 0;
	c->last.op = take_if(d, how, HOW_OP, COLUMN_OP, c->last.op);
	h->op = c->frames & FRAMES_OP ? seq - c->last.op : 0;
	c->last.rx = take_if(d, how, HOW_RX, COLUMN_RX, c->last.rx);
	h->rx = c->frames & FRAMES_RX ? seq - c->last.rx : 0;
	last->seq = seq;
	last->call = expected_call(last->call, h->seq, h->call);
}

/* All of a header but its frames. */
static void read_header(struct block_decoder *d, struct decoder_thread *t,
			const struct decoder_context *c, uint8_t how, struct ub_hdr *h)
{
	struct thread_last *last = &t->last;
	uint64_t delta = take(d, COLUMN_TS);

	if (how & HOW_LONG)
		delta |= (uint64_t)take(d, COLUMN_LONG) << 32;
	h->ts = last->ts + unzigzag(delta);
	h->dur = expected_dur(last, h->ts) + take_if(d, how, HOW_DUR, COLUMN_DUR, 0);
	h->tgid = t->tgid;
	h->tid = t->tid;
	h->cpu = (uint16_t)last->cpu;
	h->cpu_seq = last->cpu_seq++;
	h->site = c->site;
	h->kind = (uint8_t)c->sort;
	h->layout = (uint8_t)(c->sort >> 8);
	h->flags = (uint16_t)(c->sort >> 16);
	last->ts = h->ts;
	last->dur = h->dur;
}

/* Which words have changed. */
static uint32_t take_changed(struct block_decoder *d, const struct kind_words *kind)
{
	const uint32_t changed = take(d, COLUMN_WORDS);

	if (kind->words < BLOCK_MAX_WORDS && changed >> kind->words)
		d->bad = true;
	return changed;
}

static void read_words(struct block_decoder *d, struct kind_words *kind, uint64_t *image)
{
	uint32_t changed = take_changed(d, kind);

	for (; changed && !d->bad; changed &= changed - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(changed);
		uint64_t value = take_word(d, &kind->column[i]);

		if (kind->head.split >> i & 1)
			image[i] = (uint32_t)(image[i] + unzigzag((uint32_t)value)) |
				   ((image[i] >> 32) + unzigzag(value >> 32)) << 32;
		else
			image[i] += unzigzag(value);
	}
}

/* Word by word: few, and never the same number, which memcpy() waits for. */
static void give_words(const struct kind_words *kind, const uint64_t *image, uint64_t *out)
{
	const uint32_t words = (kind->known - sizeof(struct ub_hdr)) / 8;
	const uint32_t stored = words < kind->words ? words : kind->words;
	uint32_t i = 0;

	for (; i < stored; i++)
		out[i] = image[i];
	for (; i < words; i++)
		out[i] = 0;
}

/* Returns the record's size in the output, or -EBADMSG. */
static long read_record(struct block_decoder *d, struct decoder_thread *t, uint8_t how,
			uint8_t *out)
{
	bool is_new;
	struct decoder_context *c = find_context(d, t, !(how & HOW_CONTEXT), &is_new);
	struct kind_words *kind = c ? c->kind : NULL;
	struct ub_hdr unknown, *h;
	uint64_t *image;

	if (!c || !kind->left--)
		return -EBADMSG;
	image = d->image + c->image;
	h = kind->known ? (struct ub_hdr *)out : &unknown;
	read_header(d, t, c, how, h);
	if (d->frames)
		read_frames(d, &t->last, c, how, h);
	if (how & HOW_WORDS && kind->bare)
		take_changed(d, kind);
	else if (how & HOW_WORDS)
		read_words(d, kind, image);
	if (is_new)
		memcpy(kind->image, image, kind->words * 8);
	if (d->bad)
		return -EBADMSG;
	if (kind->bare)
		return kind->known ? sizeof(unknown) : 0;
	if (kind->known)
		give_words(kind, image, (uint64_t *)(out + sizeof(unknown)));
	return kind->known;
}

long decoder_run(struct block_decoder *d, void *out, struct block_row *rows, uint64_t whole)
{
	struct decoder_thread *t = NULL;
	uint32_t left = 0, offset = 0;
	long n = 0;

	memset(d->taken, 0, sizeof(d->taken));
	memset(&d->followers, 0, sizeof(d->followers));
	d->bad = false;
	d->frames = whole == DECODE_ALL;
	d->threads = d->contexts = d->images = 0;
	for (uint32_t k = 0; k < d->head.kinds; k++)
		d->kinds[k].bare = !(whole >> (d->kinds[k].head.kind % 64) & 1);
	for (uint32_t i = 0; i < d->head.records; i++) {
		const struct ub_hdr *h = (const struct ub_hdr *)((uint8_t *)out + offset);
		long size;

		if (!left)
			t = begin_run(d, &left);
		if (d->bad)
			return -EBADMSG;
		left--;
		size = read_record(d, t, d->how[i], (uint8_t *)out + offset);
		if (size < 0)
			return size;
		if (!size)
			continue;
		rows[n++] = (struct block_row){ h->ts, offset, i };
		offset += (uint32_t)size;
	}
	return left ? -EBADMSG : n;
}
