/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names come from other people's programs and may hold any bytes: markup, newlines, escape
 * sequences, invalid UTF-8. They must pass through these functions before output.
 */
#ifndef UCXBPF_BASE_TEXT_H
#define UCXBPF_BASE_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Length in bytes of the UTF-8 character that text begins with (RFC 3629: the shortest form, no
 * surrogates), 0 if it is invalid. *code is its code point. At the end of text, 1 and code 0.
 */
size_t text_character(const char *text, unsigned int *code);

/*
 * Whether a character steers a terminal instead of being shown: C0, C1, DEL, the line and paragraph
 * separators, and characters that change the direction of writing.
 */
bool text_steers(unsigned int code);

/* A copy with ? for each byte that is not UTF-8; the caller frees it. */
char *text_utf8(const char *text);

/* Likewise, and ? for each character that steers: one line, harmless to a terminal. */
char *text_plain(const char *text);

/*
 * Writes a value as JSON, laid out by Jansson's flags, with an escape sequence of JSON for each
 * character of its strings that steers: JSON encoders do not escape DEL, C1 and direction changes,
 * and terminals act on them. Errors are the stream's.
 */
void text_put_json(const json_t *value, size_t flags, FILE *out);

/* The same text; the caller frees it. */
char *text_json(const json_t *value, size_t flags);

/* Whether text begins, or ends, with a part; NULL has none. */
static inline bool text_begins(const char *text, const char *part)
{
	if (!text)
		return false;
	while (*part && *text == *part)
		text++, part++;
	return !*part;
}

bool text_ends(const char *text, const char *part);

/* Flushes what was written: 0, or -errno of any write that failed. */
int text_finish(FILE *out);

#endif
