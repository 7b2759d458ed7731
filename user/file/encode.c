// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "file/codec.h"
#include "file/column.h"
#include "file/predict.h"

#define MAX_WORDS ((UB_MAX_RECORD - sizeof(struct ub_hdr)) / 8)

#define WORD_OF(type, field) ((offsetof(type, field) - sizeof(struct ub_hdr)) / 8)

/*
 * The words of a kind that say most about its other words: those of the first sort (call site,
 * endpoint, worker) are few, those of the second one (tag) may be.
 */
static const struct {
	uint8_t first, second; /* word + 1, 0 = none */
} kind_keys[UB_KIND_MAX] = {
	[UB_CALL] = { 1 + WORD_OF(struct ub_call, ret_addr), 0 },
	[UB_OP] = { 1 + WORD_OF(struct ub_op, obj), 1 + WORD_OF(struct ub_op, tag) },
	[UB_XFER] = { 1 + WORD_OF(struct ub_xfer, uct_ep), 1 + WORD_OF(struct ub_xfer, w) },
	[UB_RX] = { 1 + WORD_OF(struct ub_rx, worker), 1 + WORD_OF(struct ub_rx, w) },
	[UB_COMP] = { 1 + WORD_OF(struct ub_comp, func), 1 + WORD_OF(struct ub_comp, tag) },
	[UB_MATCH] = { 1 + WORD_OF(struct ub_match, worker), 1 + WORD_OF(struct ub_match, tag) },
	[UB_FRAGS] = { 1 + WORD_OF(struct ub_frags, xfer.uct_ep),
		       1 + WORD_OF(struct ub_frags, xfer.w) },
};

/* What a context's key is made of. */
enum level { LEVEL_NONE, LEVEL_FIRST, LEVEL_BOTH, LEVELS };

/* Contexts of a kind that keys of a level may make: where they hardly ever repeat, they cost more
 * than they save.
 */
static uint32_t most_contexts(enum level level, uint32_t records)
{
	static const uint32_t few[] = { [LEVEL_FIRST] = 512, [LEVEL_BOTH] = 128 };

	return level == LEVEL_NONE ? UINT32_MAX : records / 8 + few[level];
}

#define PAIR_AT(type, first) (1u << WORD_OF(type, first))

static const uint32_t kind_split[UB_KIND_MAX] = {
	[UB_OP] = PAIR_AT(struct ub_op, attr_mask),
	[UB_XFER] = PAIR_AT(struct ub_xfer, status),
	[UB_RX] = PAIR_AT(struct ub_rx, length),
	[UB_FRAGS] = PAIR_AT(struct ub_frags, xfer.status) | PAIR_AT(struct ub_frags, count),
	[UB_TASK] = PAIR_AT(struct ub_task, what),
	[UB_MEM] = PAIR_AT(struct ub_mem, device) | PAIR_AT(struct ub_mem, runtime),
};

struct context {
	uint64_t sort; /* enum frames, site, flags, layout, kind */
	uint64_t key; /* as keys_of() has it for the level */
	uint32_t level;
	uint32_t thread;
	uint32_t image; /* words of its last record: where in images */
	struct context_last last;
};

/* Numbers of a column whose length is not known beforehand, in pieces of PIECE. */
#define PIECE 32
#define PIECES (ENCODER_RECORDS * MAX_WORDS / PIECE + UB_KIND_MAX * MAX_WORDS)

struct piece {
	uint64_t values[PIECE];
	uint32_t next;
};

struct pieces {
	uint32_t n, first, last;
};

#define SLOTS (2 * ENCODER_RECORDS)

struct encoder {
	struct block_head head;
	/* the run being made */
	uint64_t who; /* tgid, tid */
	struct thread_last *thread;
	uint16_t cpu;
	uint32_t cpu_seq; /* of its next record */

	uint32_t pieces_used, images_used;
	uint32_t kind_records[UB_KIND_MAX], kind_contexts[UB_KIND_MAX];
	uint64_t kind_image[UB_KIND_MAX][MAX_WORDS]; /* of the context made last */
	struct pieces words[UB_KIND_MAX][MAX_WORDS];

	struct followers followers;
	uint16_t context_slots[SLOTS]; /* number + 1 */
	uint16_t thread_slots[SLOTS];
	struct thread_last threads[ENCODER_RECORDS];
	uint64_t thread_who[ENCODER_RECORDS];
	struct context contexts[ENCODER_RECORDS];
	uint64_t images[ENCODER_RECORDS * MAX_WORDS];

	uint8_t how[ENCODER_RECORDS];
	uint32_t lengths[BLOCK_COLUMNS];
	uint32_t columns[BLOCK_COLUMNS][ENCODER_RECORDS + 1];
	struct piece pieces[PIECES];
	uint64_t column[ENCODER_RECORDS];
};

static void begin_block(struct encoder *e)
{
	e->head = (struct block_head){ 0 };
	e->thread = NULL;
	e->pieces_used = 0;
	e->images_used = 0;
	memset(e->kind_records, 0, sizeof(e->kind_records));
	memset(e->kind_contexts, 0, sizeof(e->kind_contexts));
	memset(e->kind_image, 0, sizeof(e->kind_image));
	memset(e->words, 0, sizeof(e->words));
	memset(&e->followers, 0, sizeof(e->followers));
	memset(e->context_slots, 0, sizeof(e->context_slots));
	memset(e->thread_slots, 0, sizeof(e->thread_slots));
	memset(e->lengths, 0, sizeof(e->lengths));
}

struct encoder *encoder_new(void)
{
	struct encoder *encoder = malloc(sizeof(*encoder));

	if (encoder)
		begin_block(encoder);
	return encoder;
}

void encoder_free(struct encoder *encoder)
{
	free(encoder);
}

size_t encoder_bound(uint32_t n)
{
	const size_t tables = sizeof(struct block_head) + UB_KIND_MAX * sizeof(struct block_kind);
	const size_t lengths = 5 * (1 + BLOCK_COLUMNS + UB_KIND_MAX * MAX_WORDS);

	return tables + lengths + n * (1 + 4 * BLOCK_COLUMNS + 8 * MAX_WORDS);
}

static inline uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ULL;
	uint64_t h = (a ^ a >> 29) * odd;

	h = (h ^ b ^ h >> 32) * odd;
	h = (h ^ c ^ h >> 32) * odd;
	return h >> 32;
}

static inline void push(struct encoder *e, enum block_column column, uint32_t value)
{
	e->columns[column][e->lengths[column]++] = value;
}

/* The same without a branch, where it is worth nothing most of the time. */
static inline void push_if(struct encoder *e, bool worth, enum block_column column, uint32_t value)
{
	e->columns[column][e->lengths[column]] = value;
	e->lengths[column] += worth;
}

static void push_word(struct encoder *e, struct pieces *p, uint64_t value)
{
	if (p->n % PIECE == 0) {
		uint32_t fresh = e->pieces_used++;

		*(p->n ? &e->pieces[p->last].next : &p->first) = fresh;
		p->last = fresh;
	}
	e->pieces[p->last].values[p->n++ % PIECE] = value;
}

/* ---- runs: records of one thread whose numbers follow each other ---- */

static struct thread_last *find_thread(struct encoder *e, uint64_t who)
{
	uint32_t slot = (uint32_t)mix(who, 0, 0) & (SLOTS - 1), n = e->head.threads;
	uint64_t before = n ? e->thread_who[n - 1] : 0;

	for (; e->thread_slots[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (e->thread_who[e->thread_slots[slot] - 1] == who)
			return &e->threads[e->thread_slots[slot] - 1];
	e->thread_slots[slot] = (uint16_t)++e->head.threads;
	e->thread_who[n] = who;
	e->threads[n] = (struct thread_last){ .ts = e->head.base_ts };
	push(e, COLUMN_THREAD_TGID, (uint32_t)zigzag((uint32_t)who - (uint32_t)before, 4));
	push(e, COLUMN_THREAD_TID, (uint32_t)zigzag((who >> 32) - (before >> 32), 4));
	return &e->threads[n];
}

static void end_run(struct encoder *e)
{
	if (!e->thread)
		return;
	e->thread->cpu = e->cpu;
	e->thread->cpu_seq = e->cpu_seq;
}

static void begin_run(struct encoder *e, uint64_t who, uint16_t cpu, uint32_t cpu_seq)
{
	struct thread_last *t;

	end_run(e);
	t = find_thread(e, who);
	push(e, COLUMN_RUN_THREAD, (uint32_t)(t - e->threads));
	push(e, COLUMN_RUN_CPU, (uint32_t)zigzag(cpu - t->cpu, 4));
	push(e, COLUMN_RUN_SEQ, (uint32_t)zigzag(cpu_seq - t->cpu_seq, 4));
	push(e, COLUMN_RUN_RECORDS, 0);
	e->head.runs++;
	e->who = who;
	e->thread = t;
	e->cpu = cpu;
	e->cpu_seq = cpu_seq;
}

/* ---- contexts ---- */

/* What the records of a context have in common. */
struct common {
	uint64_t sort;
	uint64_t keys[LEVELS];
	uint32_t thread;
};

static inline struct common common_of(const struct encoder *e, const struct ub_hdr *h)
{
	const uint64_t *payload = (const uint64_t *)(h + 1);
	uint8_t first = kind_keys[h->kind].first, second = kind_keys[h->kind].second;
	uint32_t frames = (h->seq ? FRAMES_SEQ : 0) | (h->call ? FRAMES_CALL : 0) |
			  (h->op ? FRAMES_OP : 0) | (h->rx ? FRAMES_RX : 0);
	struct common common = {
		.sort = h->kind | (uint64_t)h->layout << 8 | (uint64_t)h->flags << 16 |
			(uint64_t)h->site << 32 | (uint64_t)frames << 48,
		.thread = (uint32_t)(e->thread - e->threads),
	};

	if (first)
		common.keys[LEVEL_FIRST] = payload[first - 1];
	common.keys[LEVEL_BOTH] = common.keys[LEVEL_FIRST];
	if (second)
		common.keys[LEVEL_BOTH] ^= payload[second - 1] * 0x9e3779b97f4a7c15ULL;
	return common;
}

static inline bool is_of(const struct context *c, const struct common *common)
{
	return !((c->sort ^ common->sort) | (c->key ^ common->keys[c->level]) |
		 (c->thread ^ common->thread));
}

static struct context *find_context(struct encoder *e, const struct common *common,
				    enum level level, uint16_t **free_slot)
{
	uint32_t slot =
		(uint32_t)mix(common->sort, common->keys[level], common->thread * LEVELS + level) &
		(SLOTS - 1);

	for (; e->context_slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
		struct context *c = &e->contexts[e->context_slots[slot] - 1];

		if (c->level == level && is_of(c, common))
			return c;
	}
	*free_slot = &e->context_slots[slot];
	return NULL;
}

static struct context *make_context(struct encoder *e, const struct common *common,
				    enum level level, const struct ub_hdr *h, uint32_t words)
{
	struct context *c = &e->contexts[e->head.contexts++];

	*c = (struct context){
		.sort = common->sort,
		.key = common->keys[level],
		.level = level,
		.thread = common->thread,
		.image = e->images_used,
	};
	push(e, COLUMN_CONTEXT_SORT, (uint32_t)common->sort);
	push(e, COLUMN_CONTEXT_SITE, (uint32_t)(common->sort >> 32));
	memcpy(e->images + c->image, e->kind_image[h->kind], 8 * words);
	memcpy(e->kind_image[h->kind], h + 1, 8 * words);
	e->images_used += words;
	e->kind_contexts[h->kind]++;
	return c;
}

/* The context of a record that does not follow as last time. */
static struct context *look_up(struct encoder *e, const struct common *common,
			       const struct ub_hdr *h, uint32_t words)
{
	enum level level = kind_keys[h->kind].second  ? LEVEL_BOTH
			   : kind_keys[h->kind].first ? LEVEL_FIRST
						      : LEVEL_NONE;
	struct context *c;
	uint16_t *slot;

	for (;; level--) {
		c = find_context(e, common, level, &slot);
		if (c) {
			push(e, COLUMN_CONTEXT, (uint32_t)(c - e->contexts) + 1);
			return c;
		}
		if (e->kind_contexts[h->kind] < most_contexts(level, e->kind_records[h->kind]))
			break;
	}
	push(e, COLUMN_CONTEXT, 0);
	c = make_context(e, common, level, h, words);
	*slot = (uint16_t)e->head.contexts;
	return c;
}

/* ---- records ---- */

/* Bit i: payload word i is not as in the image. */
static inline uint32_t changed_words(const uint64_t *image, const uint64_t *payload, uint32_t words)
{
	uint32_t changed = 0;

	for (uint32_t i = 0; i < words; i++)
		changed |= (uint32_t)(image[i] != payload[i]) << i;
	return changed;
}

static void push_words(struct encoder *e, uint8_t kind, uint32_t changed, uint64_t *image,
		       const uint64_t *payload)
{
	push(e, COLUMN_WORDS, changed);
	for (; changed; changed &= changed - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(changed);
		uint64_t now = payload[i], before = image[i];

		image[i] = now;
		push_word(e, &e->words[kind][i],
			  kind_split[kind] >> i & 1
				  ? (uint32_t)zigzag((uint32_t)now - (uint32_t)before, 4) |
					    zigzag((now >> 32) - (before >> 32), 4) << 32
				  : zigzag(now - before, 8));
	}
}

void encoder_add(struct encoder *e, const struct ub_hdr *h, uint16_t cpu, uint32_t cpu_seq)
{
	const uint64_t *payload = (const uint64_t *)(h + 1);
	uint32_t words = (ub_kind_size(h->kind) - sizeof(*h)) / 8;
	uint64_t who = h->tgid | (uint64_t)h->tid << 32, delta;
	uint32_t seq, own, dur, how = 0, changed;
	struct thread_last *t;
	struct common common;
	struct context *c;
	uint16_t *next;

	if (!e->head.records)
		e->head.base_ts = h->ts;
	if (!e->thread || who != e->who || cpu != e->cpu || cpu_seq != e->cpu_seq)
		begin_run(e, who, cpu, cpu_seq);
	e->cpu_seq++;
	e->columns[COLUMN_RUN_RECORDS][e->head.runs - 1]++;
	t = e->thread;

	common = common_of(e, h);
	next = follower(&e->followers, t);
	c = &e->contexts[*next ? *next - 1 : 0];
	if (!*next || !is_of(c, &common)) {
		how = HOW_CONTEXT;
		c = look_up(e, &common, h, words);
		*next = (uint16_t)(c - e->contexts) + 1;
	}
	t->history = history_with(t->history, (uint32_t)(c - e->contexts));

	seq = h->seq ? h->seq : t->seq;
	own = seq - t->seq;
	if (own != c->last.seq)
		how |= HOW_SEQ;
	push_if(e, own != c->last.seq, COLUMN_SEQ, (uint32_t)zigzag(own, 4));
	c->last.seq = own;
	if (h->call) {
		if (h->call != t->call)
			how |= HOW_CALL;
		push_if(e, h->call != t->call, COLUMN_CALL, (uint32_t)zigzag(seq - h->call, 4));
	}
	t->call = expected_call(t->call, h->seq, h->call);
	if (h->op) {
		if (seq - h->op != c->last.op)
			how |= HOW_OP;
		push_if(e, seq - h->op != c->last.op, COLUMN_OP, (uint32_t)zigzag(seq - h->op, 4));
		c->last.op = seq - h->op;
	}
	if (h->rx) {
		if (seq - h->rx != c->last.rx)
			how |= HOW_RX;
		push_if(e, seq - h->rx != c->last.rx, COLUMN_RX, (uint32_t)zigzag(seq - h->rx, 4));
		c->last.rx = seq - h->rx;
	}
	delta = zigzag(h->ts - t->ts, 8);
	push(e, COLUMN_TS, (uint32_t)delta);
	if (delta >> 32)
		how |= HOW_LONG;
	push_if(e, delta >> 32, COLUMN_LONG, (uint32_t)(delta >> 32));
	dur = (uint32_t)zigzag(h->dur - expected_dur(t, h->ts), 4);
	if (dur)
		how |= HOW_DUR;
	push_if(e, dur, COLUMN_DUR, dur);
	t->ts = h->ts;
	t->dur = h->dur;
	t->seq = seq;

	changed = changed_words(e->images + c->image, payload, words);
	if (changed) {
		how |= HOW_WORDS;
		push_words(e, h->kind, changed, e->images + c->image, payload);
	}
	e->kind_records[h->kind]++;
	e->how[e->head.records++] = (uint8_t)how;
}

/* ---- the block ---- */

static uint8_t *put(uint8_t *out, const void *data, size_t size)
{
	memcpy(out, data, size);
	return out + size;
}

static uint8_t *put_words(struct encoder *e, const struct pieces *p, uint8_t *out)
{
	uint32_t at = p->first;

	out = put(out, &p->n, sizeof(p->n));
	for (uint32_t i = 0; i < p->n; i += PIECE) {
		uint32_t n = p->n - i < PIECE ? p->n - i : PIECE;

		memcpy(e->column + i, e->pieces[at].values, n * sizeof(e->column[0]));
		at = e->pieces[at].next;
	}
	return column_put(out, e->column, p->n, 8);
}

static uint32_t kind_words(unsigned int kind)
{
	return (ub_kind_size(kind) - sizeof(struct ub_hdr)) / 8;
}

/* Byte b of all times and durations. */
static uint8_t *put_low(struct encoder *e, unsigned int b, uint8_t *out)
{
	out = plane_put_32(out, e->columns[COLUMN_TS], e->lengths[COLUMN_TS], 8 * b);
	return plane_put_32(out, e->columns[COLUMN_DUR], e->lengths[COLUMN_DUR], 8 * b);
}

static uint8_t *put_rest(struct encoder *e, uint8_t *out)
{
	for (unsigned int k = 0; k < UB_KIND_MAX; k++) {
		const struct block_kind kind = { .kind = (uint8_t)k,
						 .size = (uint16_t)ub_kind_size(k),
						 .split = kind_split[k],
						 .records = e->kind_records[k] };

		if (kind.records)
			out = put(out, &kind, sizeof(kind));
	}
	out = put(out, e->how, e->head.records);
	for (unsigned int i = 0; i < BLOCK_COLUMNS; i++) {
		bool low = i == COLUMN_TS || i == COLUMN_DUR;

		out = put(out, &e->lengths[i], sizeof(e->lengths[i]));
		out = column_put_32(out, e->columns[i], e->lengths[i], low ? BLOCK_LOW_BYTES : 0);
	}
	for (unsigned int k = 0; k < UB_KIND_MAX; k++)
		for (uint32_t i = 0; e->kind_records[k] && i < kind_words(k); i++)
			out = put_words(e, &e->words[k][i], out);
	return out;
}

void encoder_finish(struct encoder *e, uint8_t *out, size_t parts[BLOCK_PARTS])
{
	uint8_t *start = out, *end;

	for (unsigned int k = 0; k < UB_KIND_MAX; k++)
		e->head.kinds += !!e->kind_records[k];
	e->head.durs = e->lengths[COLUMN_DUR];
	end = put_low(e, 0, put(start, &e->head, sizeof(e->head)));
	parts[PART_LOWEST] = (size_t)(end - start);
	start = end;
	end = put_low(e, 1, start);
	parts[PART_LOW] = (size_t)(end - start);
	start = end;
	end = put_rest(e, start);
	parts[PART_REST] = (size_t)(end - start);
	begin_block(e);
}
