// SPDX-License-Identifier: BSD-3-Clause
/*
 * Changes that keep an input meaningful: parts are repeated, moved and left out as a whole. Of a
 * record a word is changed, mostly to one that another record has there, because what is joined is
 * joined by equal words. Of a text a word or a line is.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/harness.h"
#include "fuzz/parts.h"
#include "ucxbpf.h"

struct mutation {
	bytes text; /* what the parts point into; does not move */
	VEC(struct part) parts;
	uint64_t random;
};

static uint64_t dice(struct mutation *m, uint64_t sides)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (m->random >> 11) % sides;
}

static void take(struct mutation *m, const uint8_t *data, size_t size)
{
	const uint8_t *at = data, *end = data + size;
	struct part part;

	while (part_next(&at, end, &part))
		vec_push(&m->parts, part);
}

static size_t give(const struct mutation *m, uint8_t *out, size_t most)
{
	size_t size = 0;

	for (size_t i = 0; i < m->parts.len; i++) {
		const struct part *part = &m->parts.data[i];

		if (size + PART_HEAD + part->size > most)
			break;
		out[size] = part->type;
		out[size + 1] = part->arg;
		memcpy(out + size + 2, &part->size, sizeof(part->size));
		memcpy(out + size + PART_HEAD, part->data, part->size);
		size += PART_HEAD + part->size;
	}
	return size;
}

/* A part's own copy, with room for more. */
static uint8_t *own(struct mutation *m, struct part *part, size_t more)
{
	uint8_t *copy = m->text.data + m->text.len;

	if (m->text.len + part->size + more > m->text.cap)
		return NULL;
	memcpy(copy, part->data, part->size);
	m->text.len += part->size + more;
	part->data = copy;
	return copy;
}

/* NULL: there is none. */
static struct part *any_of(struct mutation *m, bool (*is)(const struct part *part))
{
	size_t start, n = m->parts.len;

	if (!n)
		return NULL;
	start = dice(m, n);
	for (size_t i = 0; i < n; i++)
		if (is(&m->parts.data[(start + i) % n]))
			return &m->parts.data[(start + i) % n];
	return NULL;
}

static bool is_record(const struct part *part)
{
	return part->type == PART_RECORD && part->size >= sizeof(struct ub_hdr);
}

static bool is_text(const struct part *part)
{
	return part->size && strchr("SPLNIEB", part->type);
}

static bool is_any(const struct part *part)
{
	(void)part;
	return true;
}

/* ---- parts as a whole ---- */

static void insert(struct mutation *m, size_t at, struct part part)
{
	vec_push(&m->parts, part);
	memmove(&m->parts.data[at + 1], &m->parts.data[at], (m->parts.len - 1 - at) * sizeof(part));
	m->parts.data[at] = part;
}

static void leave_out(struct mutation *m, size_t at, size_t n)
{
	memmove(&m->parts.data[at], &m->parts.data[at + n],
		(m->parts.len - at - n) * sizeof(struct part));
	m->parts.len -= n;
}

static void repeat(struct mutation *m)
{
	size_t from = dice(m, m->parts.len);

	insert(m, dice(m, 2) ? from : dice(m, m->parts.len + 1), m->parts.data[from]);
}

static void remove_some(struct mutation *m)
{
	size_t at = dice(m, m->parts.len), left = m->parts.len - at;

	leave_out(m, at, dice(m, 4) ? 1 : 1 + dice(m, left));
}

static void move(struct mutation *m)
{
	size_t from = dice(m, m->parts.len);
	struct part part = m->parts.data[from];

	leave_out(m, from, 1);
	insert(m, dice(m, m->parts.len + 1), part);
}

static void change_head(struct mutation *m)
{
	static const uint8_t types[] = "CCSRKGPLNIEB";
	struct part *part = any_of(m, is_any);

	if (dice(m, 8))
		part->arg = (uint8_t)dice(m, dice(m, 2) ? 32 : 256);
	else
		part->type = types[dice(m, sizeof(types) - 1)];
}

static void begin_capture(struct mutation *m)
{
	insert(m, dice(m, m->parts.len + 1),
	       (struct part){ PART_CAPTURE, (uint8_t)dice(m, 32), 0, m->text.data });
}

static void change_bytes(struct mutation *m)
{
	struct part *part = any_of(m, is_any);
	size_t most = part->size + 64u < PART_MOST ? part->size + 64u : PART_MOST;
	uint8_t *data = own(m, part, 64);

	if (data)
		part->size = (uint16_t)LLVMFuzzerMutate(data, part->size, most);
}

/* ---- records ---- */

static uint64_t number(struct mutation *m)
{
	static const uint64_t edges[] = { 0,          1,          UINT64_MAX, INT64_MAX, 1ull << 63,
					  UINT32_MAX, 1ull << 32, INT32_MAX,  1ull << 31 };

	switch (dice(m, 3)) {
	case 0:
		return edges[dice(m, sizeof(edges) / sizeof(*edges))];
	case 1:
		return dice(m, 300);
	}
	return m->random >> dice(m, 64);
}

static void change_record(struct mutation *m)
{
	struct part *part = any_of(m, is_record), *other = any_of(m, is_record);
	size_t width = 1u << dice(m, 4), at;
	uint64_t value;
	uint8_t *data;

	if (!part || !(data = own(m, part, 0)))
		return;
	at = dice(m, part->size / width) * width;
	value = 0;
	memcpy(&value, data + at, width);
	switch (dice(m, 6)) {
	case 0:
	case 1: /* what another one has there */
		if (at + width <= other->size)
			memcpy(&value, other->data + at, width);
		break;
	case 2: /* or elsewhere */
		memcpy(&value, other->data + dice(m, other->size / width) * width, width);
		break;
	case 3:
		value += dice(m, 33) - 16;
		break;
	case 4:
		value ^= 1ull << dice(m, 8 * width);
		break;
	case 5:
		value = number(m);
	}
	memcpy(data + at, &value, width);
}

static void change_kind(struct mutation *m)
{
	struct part *part = any_of(m, is_record);
	uint8_t kind = (uint8_t)(1 + dice(m, UB_KIND_MAX - 1)), *data;
	size_t size = ub_kind_size(kind);

	if (!part || !(data = own(m, part, UB_MAX_RECORD)))
		return;
	if (size > part->size)
		memset(data + part->size, 0, size - part->size);
	part->size = (uint16_t)size;
	data[offsetof(struct ub_hdr, kind)] = kind;
}

/* An object gets another address, wherever it is named. */
static void rename_word(struct mutation *m)
{
	const struct part *one = any_of(m, is_record);
	size_t width = dice(m, 2) ? 8 : 4;
	uint64_t from = 0, to = number(m);

	if (!one)
		return;
	memcpy(&from, one->data + dice(m, one->size / width) * width, width);
	for (size_t i = 0; i < m->parts.len; i++) {
		struct part *part = &m->parts.data[i];

		for (size_t at = 0; is_record(part) && at + width <= part->size; at += width) {
			uint8_t *data;

			if (memcmp(part->data + at, &from, width))
				continue;
			data = own(m, part, 0);
			if (!data)
				return;
			memcpy(data + at, &to, width);
		}
	}
}

/* ---- texts ---- */

struct span {
	size_t from, size;
};

static bool in_word(uint8_t c)
{
	return isalnum(c) || c == '_' || c == '.' || c == '-' || c == '/' || c >= 0x80;
}

/* The word at or behind a place; empty at the end. */
static struct span word_at(const struct part *part, size_t at)
{
	struct span word = { at, 0 };

	while (word.from < part->size && !in_word(part->data[word.from]))
		word.from++;
	while (word.from && in_word(part->data[word.from - 1]) && word.from <= at)
		word.from--;
	while (word.from + word.size < part->size && in_word(part->data[word.from + word.size]))
		word.size++;
	return word;
}

static struct span line_at(const struct part *part, size_t at)
{
	struct span line = { at, 0 };

	while (line.from && part->data[line.from - 1] != '\n')
		line.from--;
	while (line.from + line.size < part->size && part->data[line.from + line.size++] != '\n')
		;
	return line;
}

/* Puts a text in the place of a span. */
static void put(struct mutation *m, struct part *part, struct span span, const void *text,
		size_t size)
{
	size_t left = part->size - span.from - span.size;
	uint8_t *data;

	if (part->size + size > PART_MOST || !(data = own(m, part, size)))
		return;
	memmove(data + span.from + size, data + span.from + span.size, left);
	memcpy(data + span.from, text, size);
	part->size = (uint16_t)(span.from + size + left);
}

static void change_word(struct mutation *m)
{
	static const char *const words[] = { "0",
					     "1",
					     "-1",
					     "4294967296",
					     "9223372036854775807",
					     "18446744073709551615",
					     "1e308",
					     "null",
					     "true",
					     "\"\"",
					     "[]",
					     "{}",
					     "0x0",
					     "0xffffffffffffffff",
					     "\\N",
					     "\\x00",
					     "\xff" };
	struct part *part = any_of(m, is_text), *other = any_of(m, is_text);
	struct span to, from;

	if (!part)
		return;
	to = word_at(part, dice(m, part->size));
	if (dice(m, 3)) {
		from = word_at(other, dice(m, other->size));
		put(m, part, to, other->data + from.from, from.size);
	} else {
		const char *word = words[dice(m, sizeof(words) / sizeof(*words))];

		put(m, part, to, word, strlen(word));
	}
}

static void change_line(struct mutation *m)
{
	struct part *part = any_of(m, is_text), *other = any_of(m, is_text);
	struct span to, from;

	if (!part)
		return;
	to = line_at(part, dice(m, part->size));
	from = line_at(other, dice(m, other->size));
	switch (dice(m, 3)) {
	case 0:
		put(m, part, to, "", 0);
		break;
	case 1:
		to.size = 0;
		/* fall through */
	case 2:
		put(m, part, to, other->data + from.from, from.size);
	}
}

/* ---- all of them ---- */

static void change(struct mutation *m)
{
	static void (*const changes[])(struct mutation * m) = {
		change_record, change_record, change_record, change_record, change_record,
		change_record, change_word,   change_word,   change_word,   change_line,
		repeat,        remove_some,   move,          change_head,   change_bytes,
		change_bytes,  change_kind,   rename_word,   begin_capture,
	};

	if (!m->parts.len)
		begin_capture(m);
	else
		changes[dice(m, sizeof(changes) / sizeof(*changes))](m);
}

static struct mutation mutation(unsigned int seed, size_t most)
{
	struct mutation m = { .random = 0x9e3779b97f4a7c15ull * (seed + 1ull) };

	vec_reserve(&m.text, 16 * most + PART_MOST);
	return m;
}

static void mutation_release(struct mutation *m)
{
	vec_release(&m->text);
	vec_release(&m->parts);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
	struct mutation m = mutation(seed, most);
	uint8_t *from = m.text.data;

	memcpy(from, data, size);
	m.text.len = size;
	take(&m, from, size);
	for (uint64_t n = 1 + dice(&m, 4); n; n--)
		change(&m);
	size = give(&m, data, most);
	mutation_release(&m);
	return size;
}

/* Some parts of the other one come into the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
				 size_t other_size, uint8_t *out, size_t most, unsigned int seed)
{
	struct mutation m = mutation(seed, most), from = { 0 };
	size_t at, n, size;

	take(&m, one, one_size);
	take(&from, other, other_size);
	if (from.parts.len) {
		at = dice(&m, from.parts.len);
		n = 1 + dice(&m, from.parts.len - at);
		for (size_t to = dice(&m, m.parts.len + 1); n; n--)
			insert(&m, to++, from.parts.data[at++]);
	}
	size = give(&m, out, most);
	vec_release(&from.parts);
	mutation_release(&m);
	return size;
}
