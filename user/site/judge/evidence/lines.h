/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of evidence as text: fields put together, taken apart, two of one key made one. */
#ifndef UCXBPF_JUDGE_EVIDENCE_LINES_H
#define UCXBPF_JUDGE_EVIDENCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct evidence_kind;

struct text {
	VEC(char) bytes;
};

void text_add(struct text *text, const void *bytes, size_t size);

/* ---- lines to be written ---- */

struct evidence_lines {
	struct text text; /* each ends with a newline */
	VEC(size_t) starts;
};

void evidence_lines_release(struct evidence_lines *lines);

/* Begins a line; fields follow. */
void line_begin(struct evidence_lines *lines, const char *kind);
void line_word(struct evidence_lines *lines, const char *word); /* NULL: not known */
void line_number(struct evidence_lines *lines, uint64_t number);
/* Not known where it is negative. */
void line_index(struct evidence_lines *lines, int64_t number);

/* A line, without its newline; it lies in the lines' text. */
struct line_ref {
	const char *text;
	size_t size;
};

/* All of them in the order of their bytes; the caller frees. */
struct line_ref *evidence_lines_sorted(struct evidence_lines *lines);

/* Byte order; where one begins the other, the shorter one is first. */
int line_compare(struct line_ref a, struct line_ref b);

/* ---- lines that were read ---- */

#define LINE_MAX_FIELDS 32

/* Finds the fields behind the kind's name; false: not as many as the kind has. */
bool line_fields(const struct evidence_kind *kind, struct line_ref line,
		 struct line_ref fields[LINE_MAX_FIELDS]);

/* The part of a line up to the end of its key. */
struct line_ref line_key(const struct evidence_kind *kind, struct line_ref line);

/* A field as the word it stands for, in room; NULL: not known. room must hold the field. */
const char *field_word(struct line_ref field, char *room);
bool field_number(struct line_ref field, uint64_t *number);

/*
 * Merges two lines of the same key into *to, without a newline. Returns NULL or a static error
 * text.
 */
const char *line_join(const struct evidence_kind *kind, struct line_ref a, struct line_ref b,
		      struct text *to);

#endif
