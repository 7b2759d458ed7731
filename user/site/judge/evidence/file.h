/* SPDX-License-Identifier: BSD-3-Clause */
/* Evidence files as streams of lines, in memory that does not depend on their size. */
#ifndef UCXBPF_JUDGE_EVIDENCE_FILE_H
#define UCXBPF_JUDGE_EVIDENCE_FILE_H

#include "site/judge/evidence/evidence.h"
#include "site/judge/evidence/lines.h"

/* Returns err, with a sentence in error. */
int evidence_fail(struct evidence_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- reading ---- */

struct evidence_input;

/* Borrows the file, which is read from its beginning on. *head: what follows the schema. */
int evidence_input_open(struct evidence_input **input, int file, struct line_ref *head,
			struct evidence_error *error);
void evidence_input_free(struct evidence_input *input);

/*
 * Returns 1 and the next line, which stays until the next call; 0: no more, the file was
 * whole; -errno. Lines come in ascending order, each key once, or it is -EBADMSG.
 */
int evidence_input_next(struct evidence_input *input, struct line_ref *line,
			struct evidence_error *error);

/* ---- writing ---- */

struct evidence_output;

/* Borrows the file. head: as above. */
int evidence_output_open(struct evidence_output **output, int file, struct line_ref head,
			 struct evidence_error *error);

/* Lines in ascending order go in, those of one key come out as one. */
struct evidence_joiner {
	struct evidence_output *output;
	const struct evidence_kind *kind; /* of the line that waits; NULL: none does */
	size_t key; /* bytes of its key */
	struct text line, joined;
};

/* The line's kind is known. */
int joiner_take(struct evidence_joiner *joiner, struct line_ref line, struct evidence_error *error);

/* Closes the output, frees; err: what went wrong before, then the output is left as it is. */
int joiner_end(struct evidence_joiner *joiner, int err, struct evidence_error *error);

#endif
