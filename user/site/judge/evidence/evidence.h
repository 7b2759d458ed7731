/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The evidence file (docs/evidence.md): the input of a judge as lines in canonical order, so that
 * parts of it can be gathered anywhere and merged in any order. Kinds of lines are rows of
 * evidence.c.
 */
#ifndef UCXBPF_JUDGE_EVIDENCE_EVIDENCE_H
#define UCXBPF_JUDGE_EVIDENCE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/judge/judge.h"

#define EVIDENCE_SCHEMA "ucxbpf.evidence/1"

/*
 * Whether a file is compressed with zstd, as no other file is that a judge takes; false as well
 * where it cannot be read.
 */
bool evidence_is(const char *path);

/* One line of error text without the file's name, in the caller's buffer. */
struct evidence_error {
	char text[256];
	const char *file; /* of those given to a merge, the one at fault; NULL: the one in hand */
};

/*
 * All below return 0 or -errno. -EBADMSG: no evidence, or damaged; -EINVAL: it does not go together
 * with the rest (the same capture twice, other sizes); -EPROTONOSUPPORT: of a newer version.
 */

/* Reads all of it: a file that is damaged only at its end would have been used in part. */
int evidence_check(int file, struct evidence_error *error);

/* Before judge_finish() or judge_evidence_write(): feeds all that the file holds. */
int judge_evidence_read(struct judge *judge, int file, struct evidence_error *error);

/*
 * Instead of judge_finish(): writes all that was fed to a file, open for writing and empty. totals
 * are those of the captures that were fed as facts.
 */
int judge_evidence_write(struct judge *judge, const struct fact_totals *totals, int file,
			 struct evidence_error *error);

/* ---- merging, of any number of files ---- */

struct evidence_merge;

/* folder: where steps in between are kept, in files without a name. */
struct evidence_merge *evidence_merge_new(const char *folder);
void evidence_merge_free(struct evidence_merge *merge);

/*
 * Takes an open file over, to be read from its beginning: as late as with the last one, so that
 * errors of all may show at any of these calls. name, for errors, is borrowed until
 * evidence_merge_free().
 */
int evidence_merge_add(struct evidence_merge *merge, int file, const char *name,
		       struct evidence_error *error);

/* A file for judge_evidence_write(), without a name, to be added; -errno. */
int evidence_merge_room(const struct evidence_merge *merge);

/* Writes what all of them hold. */
int evidence_merge_write(struct evidence_merge *merge, int file, struct evidence_error *error);

#endif
