// SPDX-License-Identifier: BSD-3-Clause
/* Lines of evidence as text: fields put together, taken apart, two lines of one key made one. */
#include "site/judge/evidence/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "site/judge/evidence/kinds.h"

#define UNKNOWN "\\N"

void text_add(struct text *text, const void *bytes, size_t size)
{
	if (!size)
		return; /* memory that was never reserved has no address to add to */
	vec_reserve(&text->bytes, text->bytes.len + size);
	memcpy(text->bytes.data + text->bytes.len, bytes, size);
	text->bytes.len += size;
}

void evidence_lines_release(struct evidence_lines *lines)
{
	vec_release(&lines->text.bytes);
	vec_release(&lines->starts);
}

static void end_line(struct evidence_lines *lines)
{
	struct text *text = &lines->text;

	if (text->bytes.len && text->bytes.data[text->bytes.len - 1] != '\n')
		text_add(text, "\n", 1);
}

void line_begin(struct evidence_lines *lines, const char *kind)
{
	end_line(lines);
	vec_push(&lines->starts, lines->text.bytes.len);
	text_add(&lines->text, kind, strlen(kind));
}

static bool is_plain(unsigned char byte)
{
	return byte >= ' ' && byte != '\\' && byte != 0x7f;
}

void line_word(struct evidence_lines *lines, const char *word)
{
	const char *from = word;
	char escaped[8];

	text_add(&lines->text, "\t", 1);
	if (!word) {
		text_add(&lines->text, UNKNOWN, 2);
		return;
	}
	for (; *word; word++) {
		if (is_plain(*word))
			continue;
		text_add(&lines->text, from, word - from);
		snprintf(escaped, sizeof(escaped), "\\x%02x", (unsigned char)*word);
		text_add(&lines->text, escaped, 4);
		from = word + 1;
	}
	text_add(&lines->text, from, word - from);
}

void line_number(struct evidence_lines *lines, uint64_t number)
{
	char text[24];
	int size = snprintf(text, sizeof(text), "\t%" PRIu64, number);

	text_add(&lines->text, text, size);
}

void line_index(struct evidence_lines *lines, int64_t number)
{
	if (number < 0)
		line_word(lines, NULL);
	else
		line_number(lines, number);
}

int line_compare(struct line_ref a, struct line_ref b)
{
	size_t least = a.size < b.size ? a.size : b.size;
	int order = least ? memcmp(a.text, b.text, least) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_bytes(const void *left, const void *right)
{
	return line_compare(*(const struct line_ref *)left, *(const struct line_ref *)right);
}

struct line_ref *evidence_lines_sorted(struct evidence_lines *lines)
{
	size_t count = lines->starts.len, room = 0;
	struct line_ref *refs = vec_grow(NULL, &room, count + 1, sizeof(*refs));

	end_line(lines);
	for (size_t i = 0; i < count; i++) {
		size_t from = lines->starts.data[i];
		size_t to = i + 1 < count ? lines->starts.data[i + 1] : lines->text.bytes.len;

		refs[i] = (struct line_ref){ lines->text.bytes.data + from, to - from - 1 };
	}
	qsort(refs, count, sizeof(*refs), by_bytes);
	return refs;
}

/* ---- reading ---- */

static struct line_ref next_field(struct line_ref *rest)
{
	const char *tab = memchr(rest->text, '\t', rest->size);
	struct line_ref field = { rest->text, tab ? (size_t)(tab - rest->text) : rest->size };
	size_t taken = field.size + (tab != NULL);

	rest->text += taken;
	rest->size -= taken;
	return field;
}

bool line_fields(const struct evidence_kind *kind, struct line_ref line,
		 struct line_ref fields[LINE_MAX_FIELDS])
{
	size_t count = kind->keys + strlen(kind->values), tabs = 0;

	for (size_t i = 0; i < line.size; i++)
		tabs += line.text[i] == '\t';
	if (tabs != count || count > LINE_MAX_FIELDS)
		return false;
	next_field(&line);
	for (size_t i = 0; i < count; i++)
		fields[i] = next_field(&line);
	return true;
}

struct line_ref line_key(const struct evidence_kind *kind, struct line_ref line)
{
	struct line_ref rest = line, last = next_field(&rest);

	for (unsigned int i = 0; i < kind->keys; i++)
		last = next_field(&rest);
	return (struct line_ref){ line.text, (size_t)(last.text + last.size - line.text) };
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *field_word(struct line_ref field, char *room)
{
	char *to = room;

	if (field.size == 2 && !memcmp(field.text, UNKNOWN, 2))
		return NULL;
	for (size_t i = 0; i < field.size; i++) {
		const char *at = field.text + i;

		if (field.size - i >= 4 && at[0] == '\\' && at[1] == 'x' && digit(at[2]) >= 0 &&
		    digit(at[3]) >= 0) {
			*to++ = (char)(digit(at[2]) << 4 | digit(at[3]));
			i += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = 0;
	return room;
}

bool field_number(struct line_ref field, uint64_t *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < field.size; i++) {
		int next = field.text[i] - '0';

		if (next < 0 || next > 9 || value > (UINT64_MAX - next) / 10)
			return false;
		value = value * 10 + next;
	}
	*number = value;
	return field.size > 0;
}

/* ---- two lines of one key: each value's letter says how they merge ---- */

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
	put_number(to, order_sum(left, right));
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

struct line_pair {
	uint64_t first, second;
};

/* Takes the next pair off; false: no pair is left, or it is malformed. */
static bool next_pair(struct line_ref *rest, struct line_pair *pair)
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

static bool pair_before(const struct line_pair *a, const struct line_pair *b)
{
	return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static bool join_pairs(struct line_ref a, struct line_ref b, struct text *to)
{
	struct line_pair left, right;
	bool more_left = a.size, more_right = b.size;

	if ((more_left && !next_pair(&a, &left)) || (more_right && !next_pair(&b, &right)))
		return false;
	for (int i = 0; i < CELL_EXAMPLES && (more_left || more_right); i++) {
		bool from_left = more_left && (!more_right || !pair_before(&right, &left));
		struct line_pair *pair = from_left ? &left : &right;

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
