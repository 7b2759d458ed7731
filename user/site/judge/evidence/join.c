// SPDX-License-Identifier: BSD-3-Clause
/* Two lines of the same key become one: what is done depends on the letter of each value. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/judge/evidence/kinds.h"

static void put_number(struct text *to, uint64_t number)
{
	char text[24];

	text_add(to, text, snprintf(text, sizeof(text), "%" PRIu64, number));
}

static bool numbers(struct line_ref a, struct line_ref b, uint64_t *left, uint64_t *right)
{
	return field_number(a, left) && field_number(b, right);
}

static bool join_sum(struct line_ref a, struct line_ref b, struct text *to)
{
	uint64_t left, right;

	if (!numbers(a, b, &left, &right))
		return false;
	/* what no sum can hold stays at the end, whatever is added in which order */
	put_number(to, left > UINT64_MAX - right ? UINT64_MAX : left + right);
	return true;
}

static bool join_least(struct line_ref a, struct line_ref b, struct text *to)
{
	uint64_t left, right;

	if (!numbers(a, b, &left, &right))
		return false;
	put_number(to, left < right ? left : right);
	return true;
}

static bool join_most(struct line_ref a, struct line_ref b, struct text *to)
{
	uint64_t left, right;

	if (!numbers(a, b, &left, &right))
		return false;
	put_number(to, left > right ? left : right);
	return true;
}

static bool is_unknown(struct line_ref field)
{
	return field.size == 2 && !memcmp(field.text, "\\N", 2);
}

static bool join_word(struct line_ref a, struct line_ref b, struct text *to)
{
	bool second = is_unknown(a) || (!is_unknown(b) && line_compare(b, a) < 0);
	struct line_ref kept = second ? b : a;

	text_add(to, kept.text, kept.size);
	return true;
}

/* ---- pairs ---- */

struct pair {
	uint64_t first, second;
};

/* Takes the next pair off; false: there is none, or it is none. */
static bool next_pair(struct line_ref *rest, struct pair *pair)
{
	const char *comma = memchr(rest->text, ',', rest->size);
	size_t size = comma ? (size_t)(comma - rest->text) : rest->size;
	const char *colon = memchr(rest->text, ':', size);
	struct line_ref first, second;

	if (!colon)
		return false;
	first = (struct line_ref){ rest->text, (size_t)(colon - rest->text) };
	second = (struct line_ref){ colon + 1, size - first.size - 1 };
	if (!numbers(first, second, &pair->first, &pair->second))
		return false;
	rest->text += size + (comma != NULL);
	rest->size -= size + (comma != NULL);
	return true;
}

static bool before(const struct pair *a, const struct pair *b)
{
	return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static bool join_pairs(struct line_ref a, struct line_ref b, struct text *to)
{
	struct pair left, right;
	bool more_left = a.size, more_right = b.size;

	if ((more_left && !next_pair(&a, &left)) || (more_right && !next_pair(&b, &right)))
		return false;
	for (int i = 0; i < CELL_EXAMPLES && (more_left || more_right); i++) {
		bool from_left = more_left && (!more_right || !before(&right, &left));
		struct pair *pair = from_left ? &left : &right;

		if (i)
			text_add(to, ",", 1);
		put_number(to, pair->first);
		text_add(to, ":", 1);
		put_number(to, pair->second);
		if (from_left)
			more_left = a.size && next_pair(&a, &left);
		else
			more_right = b.size && next_pair(&b, &right);
	}
	return true;
}

static const struct {
	char letter;
	bool (*join)(struct line_ref a, struct line_ref b, struct text *to);
} joins[] = {
	{ '+', join_sum },  { '<', join_least }, { '>', join_most },
	{ 'w', join_word }, { '3', join_pairs },
};

static bool join_value(char letter, struct line_ref a, struct line_ref b, struct text *to)
{
	for (size_t i = 0; i < sizeof(joins) / sizeof(*joins); i++)
		if (joins[i].letter == letter)
			return joins[i].join(a, b, to);
	return false;
}

const char *line_join(const struct evidence_kind *kind, struct line_ref a, struct line_ref b,
		      struct text *to)
{
	struct line_ref left[LINE_MAX_FIELDS], right[LINE_MAX_FIELDS], key = line_key(kind, a);

	if (kind->twice)
		return kind->twice;
	if (!line_fields(kind, a, left) || !line_fields(kind, b, right))
		return "a line has other fields than its kind";
	to->bytes.len = 0;
	text_add(to, key.text, key.size);
	for (size_t i = 0; kind->values[i]; i++) {
		text_add(to, "\t", 1);
		if (!join_value(kind->values[i], left[kind->keys + i], right[kind->keys + i], to))
			return FIELD_NO_NUMBER;
	}
	return NULL;
}
