// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "file/codec.h"

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
	[UB_POLLS] = { 1 + WORD_OF(struct ub_polls, call.ret_addr), 0 },
};

static inline uint32_t kind_words(unsigned int kind)
{
	return (ub_kind_size(kind) - sizeof(struct ub_hdr)) / 8;
}

/* How many parts a context's key has: the record's sort alone, one key of it, or both. */
enum context_level { CONTEXT_NONE, CONTEXT_FIRST, CONTEXT_BOTH, CONTEXT_LEVELS };

/* Contexts of a kind that keys of a level may make: where they hardly ever repeat, they cost more
 * than they save.
 */
static uint32_t most_contexts(enum context_level level, uint32_t records)
{
	static const uint32_t few[] = { [CONTEXT_FIRST] = 512, [CONTEXT_BOTH] = 128 };

	return level == CONTEXT_NONE ? UINT32_MAX : records / 8 + few[level];
}

#define PAIR_AT(type, first) (1u << WORD_OF(type, first))

static const uint32_t kind_split[UB_KIND_MAX] = {
	[UB_OP] = PAIR_AT(struct ub_op, attr_mask),
	[UB_XFER] = PAIR_AT(struct ub_xfer, status),
	[UB_RX] = PAIR_AT(struct ub_rx, length),
	[UB_FRAGS] = PAIR_AT(struct ub_frags, xfer.status) | PAIR_AT(struct ub_frags, count),
	[UB_TASK] = PAIR_AT(struct ub_task, what),
	[UB_POLLS] = PAIR_AT(struct ub_polls, count) | PAIR_AT(struct ub_polls, began),
	[UB_MEM] = PAIR_AT(struct ub_mem, device) | PAIR_AT(struct ub_mem, runtime),
};

struct encoder_context {
	uint64_t sort; /* enum frames, site, flags, layout, kind */
	uint64_t key; /* made of the words' keys & these masks */
	uint64_t with_first, with_second;
	uint32_t thread;
	uint32_t image; /* words of its last record: where in images */
	struct context_last last;
	uint32_t slot; /* in context_slots */
	uint32_t pad[2];
};

_Static_assert(sizeof(struct encoder_context) == 64, "a cache line");

/* Numbers of a column whose length is not known beforehand, in pieces of PIECE. */
#define PIECE 32
#define PIECES (ENCODER_RECORDS * MAX_WORDS / PIECE + UB_KIND_MAX * MAX_WORDS)

struct column_piece {
	uint64_t values[PIECE];
	uint32_t next;
};

struct pieces {
	uint32_t n, first, last;
};

#define SLOTS (2 * ENCODER_RECORDS)
#define NO_CPU UINT32_MAX

struct block_encoder {
	uint64_t base_ts, min_ts, max_ts;
	uint32_t records, threads_n, contexts_n, pieces_n;
	uint32_t image_words; /* of all contexts */
	/* the run being made */
	struct thread_last *thread;
	uint32_t thread_number;
	uint64_t who; /* tgid, tid */
	uint32_t cpu; /* NO_CPU: no record yet */
	uint32_t cpu_seq; /* of its next record */
	uint32_t run_begin; /* records before it */

	uint32_t kind_records[UB_KIND_MAX], kind_contexts[UB_KIND_MAX];
	uint64_t kind_image[UB_KIND_MAX][MAX_WORDS]; /* of the context made last */
	struct pieces words[UB_KIND_MAX][MAX_WORDS];

	struct followers followers;
	uint16_t context_slots[SLOTS]; /* number + 1 */
	uint16_t thread_slots[SLOTS];
	struct thread_last threads[ENCODER_RECORDS];
	uint64_t thread_who[ENCODER_RECORDS];
	uint16_t thread_slot[ENCODER_RECORDS]; /* in thread_slots */
	struct encoder_context contexts[ENCODER_RECORDS];
	uint64_t images[ENCODER_RECORDS * MAX_WORDS];

	uint8_t how[ENCODER_RECORDS];
	uint32_t lengths[BLOCK_COLUMNS];
	uint32_t columns[BLOCK_COLUMNS][ENCODER_RECORDS + 1];
	struct column_piece pieces[PIECES];
	struct encoder_news news[ENCODER_RECORDS]; /* of one call */
	uint64_t column[ENCODER_RECORDS];
};

/* Clears the used slots of the tables, mostly a hundredth of them. */
static void clear_slots(struct block_encoder *e)
{
	for (uint32_t i = 0; i < e->contexts_n; i++)
		e->context_slots[e->contexts[i].slot] = 0;
	for (uint32_t i = 0; i < e->threads_n; i++)
		e->thread_slots[e->thread_slot[i]] = 0;
}

static void begin_block(struct block_encoder *e)
{
	clear_slots(e);
	e->records = e->threads_n = e->contexts_n = 0;
	e->pieces_n = e->image_words = 0;
	e->min_ts = UINT64_MAX;
	e->max_ts = 0;
	e->cpu = NO_CPU;
	memset(e->kind_records, 0, sizeof(e->kind_records));
	memset(e->kind_contexts, 0, sizeof(e->kind_contexts));
	memset(e->kind_image, 0, sizeof(e->kind_image));
	memset(e->words, 0, sizeof(e->words));
	memset(&e->followers, 0, sizeof(e->followers));
	memset(e->lengths, 0, sizeof(e->lengths));
}

struct block_encoder *encoder_new(void)
{
	struct block_encoder *encoder = calloc(1, sizeof(*encoder));

	if (encoder)
		begin_block(encoder);
	return encoder;
}

void encoder_free(struct block_encoder *encoder)
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

static inline void push(struct block_encoder *e, enum block_column column, uint32_t value)
{
	e->columns[column][e->lengths[column]++] = value;
}

/* The same without a branch, where it is worth nothing most of the time. */
static inline void push_if(struct block_encoder *e, bool worth, enum block_column column,
			   uint32_t value)
{
	e->columns[column][e->lengths[column]] = value;
	e->lengths[column] += worth;
}

static void push_word(struct block_encoder *e, struct pieces *p, uint64_t value)
{
	if (p->n % PIECE == 0) {
		uint32_t fresh = e->pieces_n++;

		*(p->n ? &e->pieces[p->last].next : &p->first) = fresh;
		p->last = fresh;
	}
	e->pieces[p->last].values[p->n++ % PIECE] = value;
}

/* ---- runs: records of one thread whose numbers follow each other ---- */

static struct thread_last *find_thread(struct block_encoder *e, uint64_t who)
{
	uint32_t slot = (uint32_t)mix(who, 0, 0) & (SLOTS - 1), n = e->threads_n;
	uint64_t before = n ? e->thread_who[n - 1] : 0;

	for (; e->thread_slots[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (e->thread_who[e->thread_slots[slot] - 1] == who)
			return &e->threads[e->thread_slots[slot] - 1];
	e->thread_slots[slot] = (uint16_t)++e->threads_n;
	e->thread_slot[n] = (uint16_t)slot;
	e->thread_who[n] = who;
	e->threads[n] = (struct thread_last){ .ts = e->base_ts };
	push(e, COLUMN_THREAD_TGID, (uint32_t)zigzag((uint32_t)who - (uint32_t)before, 4));
	push(e, COLUMN_THREAD_TID, (uint32_t)zigzag((who >> 32) - (before >> 32), 4));
	return &e->threads[n];
}

static void end_run(struct block_encoder *e)
{
	if (e->cpu == NO_CPU)
		return;
	e->thread->cpu = e->cpu;
	e->thread->cpu_seq = e->cpu_seq;
	push(e, COLUMN_RUN_RECORDS, e->records - e->run_begin);
}

static inline uint64_t who_made(const struct ub_hdr *h)
{
	return h->tgid | (uint64_t)h->tid << 32;
}

static void begin_run(struct block_encoder *e, const struct ub_hdr *h, uint16_t cpu,
		      uint32_t cpu_seq)
{
	struct thread_last *t;

	end_run(e);
	if (!e->records)
		e->base_ts = h->ts;
	t = find_thread(e, who_made(h));
	e->thread_number = (uint32_t)(t - e->threads);
	push(e, COLUMN_RUN_THREAD, e->thread_number);
	push(e, COLUMN_RUN_CPU, (uint32_t)zigzag(cpu - t->cpu, 4));
	push(e, COLUMN_RUN_SEQ, (uint32_t)zigzag(cpu_seq - t->cpu_seq, 4));
	e->thread = t;
	e->who = who_made(h);
	e->cpu = cpu;
	e->cpu_seq = cpu_seq;
	e->run_begin = e->records;
}

/* ---- contexts ---- */

/* The records of a context share these. */
struct context_common {
	uint64_t sort;
	uint64_t first, second; /* keys, 0 = the kind has none */
	uint32_t thread;
};

/* enum frames of a record. */
static inline uint32_t frames_of(const struct ub_hdr *h)
{
#ifdef __SSE2__
	const __m128i none =
		_mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)&h->seq), _mm_setzero_si128());

	return ~(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(none)) & 0xf;
#else
	return (h->seq ? FRAMES_SEQ : 0) | (h->call ? FRAMES_CALL : 0) | (h->op ? FRAMES_OP : 0) |
	       (h->rx ? FRAMES_RX : 0);
#endif
}

_Static_assert(offsetof(struct ub_hdr, rx) == offsetof(struct ub_hdr, seq) + 12,
	       "frame numbers are read together");

static inline struct context_common common_of(const struct block_encoder *e, const struct ub_hdr *h,
					      unsigned int kind, uint32_t frames)
{
	const uint64_t *payload = (const uint64_t *)(h + 1);
	const uint8_t first = kind_keys[kind].first, second = kind_keys[kind].second;

	return (struct context_common){
		.sort = kind | (uint64_t)h->layout << 8 | (uint64_t)h->flags << 16 |
			(uint64_t)h->site << 32 | (uint64_t)frames << 48,
		.first = first ? payload[first - 1] : 0,
		.second = second ? payload[second - 1] * 0x9e3779b97f4a7c15ULL : 0,
		.thread = e->thread_number,
	};
}

/* The key that a record has in a context with these masks. */
static inline uint64_t key_in(const struct encoder_context *c, const struct context_common *common)
{
	return (common->first & c->with_first) ^ (common->second & c->with_second);
}

static inline bool is_of(const struct encoder_context *c, const struct context_common *common)
{
	return !((c->sort ^ common->sort) | (c->key ^ key_in(c, common)) |
		 (c->thread ^ common->thread));
}

static struct encoder_context *
find_context(struct block_encoder *e, const struct encoder_context *wanted, uint16_t **free_slot)
{
	uint32_t slot = (uint32_t)mix(wanted->sort, wanted->key,
				      wanted->thread ^ (wanted->with_first + wanted->with_second)) &
			(SLOTS - 1);

	for (; e->context_slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
		struct encoder_context *c = &e->contexts[e->context_slots[slot] - 1];

		if (!((c->sort ^ wanted->sort) | (c->key ^ wanted->key) |
		      (c->thread ^ wanted->thread) | (c->with_first ^ wanted->with_first) |
		      (c->with_second ^ wanted->with_second)))
			return c;
	}
	*free_slot = &e->context_slots[slot];
	return NULL;
}

static struct encoder_context *make_context(struct block_encoder *e,
					    const struct encoder_context *wanted,
					    const struct ub_hdr *h, uint32_t words)
{
	struct encoder_context *c = &e->contexts[e->contexts_n++];

	*c = *wanted;
	c->image = e->image_words;
	push(e, COLUMN_CONTEXT_SORT, (uint32_t)c->sort);
	push(e, COLUMN_CONTEXT_SITE, (uint32_t)(c->sort >> 32));
	memcpy(e->images + c->image, e->kind_image[h->kind], 8 * words);
	memcpy(e->kind_image[h->kind], h + 1, 8 * words);
	e->image_words += words;
	e->kind_contexts[h->kind]++;
	return c;
}

/* The context of a record that does not follow as last time. */
static __attribute__((noinline)) struct encoder_context *
look_up(struct block_encoder *e, const struct context_common *common, const struct ub_hdr *h,
	uint32_t words)
{
	enum context_level level = kind_keys[h->kind].second  ? CONTEXT_BOTH
				   : kind_keys[h->kind].first ? CONTEXT_FIRST
							      : CONTEXT_NONE;
	struct encoder_context wanted, *c;
	uint16_t *slot;

	for (;; level--) {
		wanted = (struct encoder_context){
			.sort = common->sort,
			.with_first = level >= CONTEXT_FIRST ? UINT64_MAX : 0,
			.with_second = level == CONTEXT_BOTH ? UINT64_MAX : 0,
			.thread = common->thread,
		};
		wanted.key = key_in(&wanted, common);
		c = find_context(e, &wanted, &slot);
		if (c) {
			push(e, COLUMN_CONTEXT, (uint32_t)(c - e->contexts) + 1);
			return c;
		}
		if (e->kind_contexts[h->kind] < most_contexts(level, e->kind_records[h->kind]))
			break;
	}
	push(e, COLUMN_CONTEXT, 0);
	c = make_context(e, &wanted, h, words);
	*slot = (uint16_t)e->contexts_n;
	c->slot = (uint32_t)(slot - e->context_slots);
	return c;
}

/* ---- records ---- */

/* Bits 2 i and 2 i + 1: word i is not the same. At most 8 words; how many is a constant. */
static inline __attribute__((always_inline)) uint32_t
changed_of_8(const uint64_t *before, const uint64_t *now, unsigned int words)
{
#ifdef __SSE2__
	const __m128i ones = _mm_set1_epi32(-1);
	__m128i same[4] = { ones, ones, ones, ones };
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i + 2 <= words; i += 2)
		same[i / 2] = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(before + i)),
					      _mm_loadu_si128((const __m128i *)(now + i)));
	if (words % 2)
		same[i / 2] = _mm_cmpeq_epi32(_mm_loadl_epi64((const __m128i *)(before + i)),
					      _mm_loadl_epi64((const __m128i *)(now + i)));
	same[0] = _mm_packs_epi32(same[0], same[1]);
	same[2] = _mm_packs_epi32(same[2], same[3]);
	return ~(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(same[0], same[2])) & 0xffff;
#else
	uint32_t changed = 0;

	for (unsigned int i = 0; i < words; i++)
		changed |= (before[i] != now[i] ? 3u : 0) << 2 * i;
	return changed;
#endif
}

/* The same of up to MAX_WORDS words. */
static inline __attribute__((always_inline)) uint64_t
changed_words(const uint64_t *before, const uint64_t *now, unsigned int words)
{
	uint64_t changed = 0;

#pragma GCC unroll 4
	for (unsigned int i = 0; i < words; i += 8)
		changed |=
			(uint64_t)changed_of_8(before + i, now + i, words - i < 8 ? words - i : 8)
			<< 2 * i;
	return changed;
}

static inline void push_words(struct block_encoder *e, unsigned int kind, uint64_t changed,
			      uint64_t *image, const uint64_t *payload)
{
	uint32_t words = 0;

	while (changed) {
		unsigned int i = (unsigned int)__builtin_ctzll(changed) / 2;
		uint64_t now = payload[i], before = image[i];

		changed &= ~(3ull << 2 * i);
		words |= 1u << i;
		image[i] = now;
		push_word(e, &e->words[kind][i],
			  kind_split[kind] >> i & 1
				  ? (uint32_t)zigzag((uint32_t)now - (uint32_t)before, 4) |
					    zigzag((now >> 32) - (before >> 32), 4) << 32
				  : zigzag(now - before, 8));
	}
	push(e, COLUMN_WORDS, words);
}

static inline uint32_t all_if(bool condition)
{
	return -(uint32_t)condition;
}

/*
 * Frame numbers that are not as expected. The three of a context_last by themselves: a struct would
 * go through memory, stored in parts and loaded at once, which stalls.
 */
static __attribute__((noinline)) uint32_t push_frames(struct block_encoder *e, uint32_t own,
						      uint32_t op, uint32_t rx, bool other_call,
						      uint32_t call, struct context_last *c)
{
	uint32_t how = 0;

	if (own != c->seq) {
		how |= HOW_SEQ;
		push(e, COLUMN_SEQ, (uint32_t)zigzag(own, 4));
	}
	if (other_call) {
		how |= HOW_CALL;
		push(e, COLUMN_CALL, (uint32_t)zigzag(call, 4));
	}
	if (op != c->op) {
		how |= HOW_OP;
		push(e, COLUMN_OP, (uint32_t)zigzag(op, 4));
	}
	if (rx != c->rx) {
		how |= HOW_RX;
		push(e, COLUMN_RX, (uint32_t)zigzag(rx, 4));
	}
	*c = (struct context_last){ .seq = own, .op = op, .rx = rx };
	return how;
}

/* The frame numbers; returns which of enum how they need. */
static inline __attribute__((always_inline)) uint32_t
add_frames(struct block_encoder *e, const struct ub_hdr *h, uint32_t frames, struct thread_last *t,
	   struct context_last *c)
{
	uint32_t seq = h->seq ? h->seq : t->seq;
	uint32_t own = seq - t->seq;
	uint32_t call = (h->call ^ t->call) & all_if(frames & FRAMES_CALL);
	uint32_t op = (seq - h->op) & all_if(frames & FRAMES_OP);
	uint32_t rx = (seq - h->rx) & all_if(frames & FRAMES_RX);
	uint32_t how = 0;

	if ((own ^ c->seq) | (op ^ c->op) | (rx ^ c->rx) | call)
		how = push_frames(e, own, op, rx, call, seq - h->call, c);
	t->call = expected_call(t->call, h->seq, h->call);
	t->seq = seq;
	return how;
}

static inline __attribute__((always_inline)) uint32_t
add_times(struct block_encoder *e, const struct ub_hdr *h, struct thread_last *t)
{
	uint64_t delta = zigzag(h->ts - t->ts, 8);
	uint32_t high = (uint32_t)(delta >> 32);
	uint32_t dur = (uint32_t)zigzag(h->dur - expected_dur(t, h->ts), 4);

	e->columns[COLUMN_TS][e->records] = (uint32_t)delta;
	if (high)
		push(e, COLUMN_LONG, high);
	push_if(e, dur, COLUMN_DUR, dur);
	t->ts = h->ts;
	t->dur = h->dur;
	return (high ? HOW_LONG : 0) | (dur ? HOW_DUR : 0);
}

/*
 * Has a copy for each frequent kind, in which its size and its keys are constants. Returns whether
 * it is news to one who watches these words.
 */
static inline __attribute__((always_inline)) bool add(struct block_encoder *e,
						      const struct ub_hdr *h, unsigned int kind,
						      struct thread_last *t, uint64_t watched)
{
	const uint64_t *payload = (const uint64_t *)(h + 1);
	const uint32_t words = kind_words(kind);
	uint32_t frames = frames_of(h), how = 0;
	const struct context_common common = common_of(e, h, kind, frames);
	uint16_t *next = follower(&e->followers, t);
	struct encoder_context *c = &e->contexts[*next ? *next - 1 : 0];
	uint64_t changed;

	if (!*next || !is_of(c, &common)) {
		how = HOW_CONTEXT;
		c = look_up(e, &common, h, words);
		*next = (uint16_t)(c - e->contexts) + 1;
	}
	t->history = history_with(t->history, (uint32_t)(c - e->contexts));
	how |= add_frames(e, h, frames, t, &c->last) | add_times(e, h, t);
	changed = changed_words(e->images + c->image, payload, words);
	if (changed) {
		how |= HOW_WORDS;
		push_words(e, kind, changed, e->images + c->image, payload);
	}
	e->kind_records[kind]++;
	e->how[e->records++] = (uint8_t)how;
	return (changed & watched) | (how & HOW_CONTEXT && watched) | (watched == UINT64_MAX);
}

/* Bytes of the record at the front of so many; 0: there is no whole one of a known kind. */
static inline size_t record_size(const struct ub_hdr *h, size_t size)
{
	size_t bytes = size < sizeof(*h) ? 0 : ub_kind_size(h->kind);

	return bytes <= size ? bytes : 0;
}

struct encoder_added encoder_add(struct block_encoder *e, const struct encoder_batch *batch,
				 const uint64_t *watched)
{
	const uint8_t *at = batch->records, *end = at + batch->size;
	struct encoder_added added = { .news = e->news };
	struct thread_last last = { 0 }; /* a copy that nothing else points to */
	const struct ub_hdr *h = (const struct ub_hdr *)at;
	size_t size = record_size(h, batch->size);

	if (!size || !batch->n)
		return added;
	if ((who_made(h) ^ e->who) | (batch->cpu ^ e->cpu) | (batch->cpu_seq ^ e->cpu_seq))
		begin_run(e, h, batch->cpu, batch->cpu_seq);
	last = *e->thread;
	while (added.records < batch->n && size) {
		bool is_news;

		if (who_made(h) != e->who) {
			*e->thread = last;
			e->cpu_seq = batch->cpu_seq + added.records;
			begin_run(e, h, batch->cpu, e->cpu_seq);
			last = *e->thread;
		}
		e->min_ts = h->ts < e->min_ts ? h->ts : e->min_ts;
		e->max_ts = h->ts > e->max_ts ? h->ts : e->max_ts;
		switch (h->kind) {
		case UB_CALL:
			is_news = add(e, h, UB_CALL, &last, watched[UB_CALL]);
			break;
		case UB_OP:
			is_news = add(e, h, UB_OP, &last, watched[UB_OP]);
			break;
		case UB_XFER:
			is_news = add(e, h, UB_XFER, &last, watched[UB_XFER]);
			break;
		case UB_RX:
			is_news = add(e, h, UB_RX, &last, watched[UB_RX]);
			break;
		case UB_COMP:
			is_news = add(e, h, UB_COMP, &last, watched[UB_COMP]);
			break;
		default:
			is_news = add(e, h, h->kind, &last, watched[h->kind]);
		}
		e->news[added.shown] = (struct encoder_news){ h, added.records++ };
		added.shown += is_news;
		at += size;
		h = (const struct ub_hdr *)at;
		size = record_size(h, (size_t)(end - at));
	}
	*e->thread = last;
	e->cpu_seq = batch->cpu_seq + added.records;
	return added;
}

/* ---- the block ---- */

static uint8_t *put(uint8_t *out, const void *data, size_t size)
{
	memcpy(out, data, size);
	return out + size;
}

static uint8_t *put_words(struct block_encoder *e, const struct pieces *p, uint8_t *out)
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

/* Byte b of all times and durations. */
static uint8_t *put_low(struct block_encoder *e, unsigned int b, uint8_t *out)
{
	out = plane_put_32(out, e->columns[COLUMN_TS], e->lengths[COLUMN_TS], 8 * b);
	return plane_put_32(out, e->columns[COLUMN_DUR], e->lengths[COLUMN_DUR], 8 * b);
}

static uint8_t *put_rest(struct block_encoder *e, uint8_t *out)
{
	for (unsigned int k = 0; k < UB_KIND_MAX; k++) {
		const struct block_kind kind = { .kind = (uint8_t)k,
						 .size = (uint16_t)ub_kind_size(k),
						 .split = kind_split[k],
						 .records = e->kind_records[k] };

		if (kind.records)
			out = put(out, &kind, sizeof(kind));
	}
	out = put(out, e->how, e->records);
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

struct block_made encoder_finish(struct block_encoder *e, uint8_t *out)
{
	struct block_made made = { .min_ts = e->min_ts, .max_ts = e->max_ts };
	struct block_head head = {
		.base_ts = e->base_ts,
		.records = e->records,
		.durs = e->lengths[COLUMN_DUR],
	};
	uint8_t *start = out, *end;

	end_run(e);
	e->lengths[COLUMN_TS] = e->records;
	for (unsigned int k = 0; k < UB_KIND_MAX; k++)
		head.kinds += !!e->kind_records[k];
	end = put_low(e, 0, put(start, &head, sizeof(head)));
	made.parts[PART_LOWEST] = (size_t)(end - start);
	start = end;
	end = put_low(e, 1, start);
	made.parts[PART_LOW] = (size_t)(end - start);
	start = end;
	end = put_rest(e, start);
	made.parts[PART_REST] = (size_t)(end - start);
	begin_block(e);
	return made;
}
