// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files read side by side. More than may be open at a time are merged in steps: as soon as a level
 * is full, its files become one of the next level.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "site/judge/evidence/file.h"
#include "base/alloc.h"
#include "base/newfile.h"
#include "base/order.h"
#include "site/judge/evidence/kinds.h"

#define AT_A_TIME 64
#define LEVELS 8

struct files {
	int list[AT_A_TIME];
	const char *names[AT_A_TIME]; /* borrowed; NULL: one of our own */
	size_t count;
};

struct evidence_merge {
	char *folder;
	struct files levels[LEVELS];
};

struct evidence_merge *evidence_merge_new(const char *folder)
{
	struct evidence_merge *merge = xcalloc(1, sizeof(*merge));

	merge->folder = xstrdup(folder);
	return merge;
}

static void close_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		close(files->list[i]);
	files->count = 0;
}

void evidence_merge_free(struct evidence_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < LEVELS; i++)
		close_files(&merge->levels[i]);
	free(merge->folder);
	free(merge);
}

int evidence_merge_room(const struct evidence_merge *merge)
{
	return newfile_nameless(merge->folder);
}

/* ---- the lines of several files as one ascending row ---- */

struct source {
	struct evidence_input *input;
	const char *name;
	struct line_ref line; /* its next one */
};

struct row {
	struct source heap[AT_A_TIME]; /* no line comes before that of its parent */
	size_t count;
};

static bool before(const struct source *a, const struct source *b)
{
	return line_compare(a->line, b->line) < 0;
}

static int next_line(struct source *source, struct evidence_error *error)
{
	int got = evidence_input_next(source->input, &source->line, error);

	if (got < 0)
		error->file = source->name;
	return got;
}

/* Reads the next line of the first file, which leaves when it has none. */
static int advance(struct row *row, struct evidence_error *error)
{
	int got = next_line(&row->heap[0], error);

	if (got < 0)
		return got;
	if (!got) {
		evidence_input_free(row->heap[0].input);
		row->heap[0] = row->heap[--row->count];
	}
	heap_sink(row->heap, row->count, 0, before);
	return 0;
}

static void row_release(struct row *row)
{
	for (size_t i = 0; i < row->count; i++)
		evidence_input_free(row->heap[i].input);
	row->count = 0;
}

/* The heads of all files must be the same one. */
static int check_head(struct text *head, struct line_ref own, bool first,
		      struct evidence_error *error)
{
	const struct line_ref wanted = { head->bytes.data, head->bytes.len };

	if (first)
		text_add(head, own.text, own.size);
	else if (line_compare(wanted, own))
		return evidence_fail(error, -EINVAL,
				     "messages were told apart by other sizes: gather all parts "
				     "with the same policy (-P)");
	return 0;
}

static int row_open(struct row *row, const struct files *files, struct text *head,
		    struct evidence_error *error)
{
	int err = 0;

	for (size_t i = 0; i < files->count && !err; i++) {
		struct source *source = &row->heap[row->count];
		struct line_ref own;

		err = evidence_input_open(&source->input, files->list[i], &own, error);
		source->name = files->names[i];
		row->count += !err;
		err = err ? err : check_head(head, own, !i, error);
		if (err)
			error->file = source->name;
	}
	for (size_t i = row->count; i-- > 0 && !err;) {
		int got = next_line(&row->heap[i], error);

		err = got < 0 ? got : 0;
		if (got)
			continue;
		evidence_input_free(row->heap[i].input);
		row->heap[i] = row->heap[--row->count];
	}
	for (size_t i = row->count; i-- > 0 && !err;)
		heap_sink(row->heap, row->count, i, before);
	return err;
}

static int write_row(struct row *row, int file, const struct text *head,
		     struct evidence_error *error)
{
	const struct line_ref line = { head->bytes.data, head->bytes.len };
	struct evidence_joiner joiner = { 0 };
	int err = evidence_output_open(&joiner.output, file, line, error);

	if (err)
		return err;
	while (row->count && !err) {
		err = joiner_take(&joiner, row->heap[0].line, error);
		err = err ? err : advance(row, error);
	}
	return joiner_end(&joiner, err, error);
}

static int merge_files(const struct files *files, int file, struct evidence_error *error)
{
	struct row row = { 0 };
	struct text head = { 0 };
	int err = row_open(&row, files, &head, error);

	if (!err)
		err = write_row(&row, file, &head, error);
	row_release(&row);
	vec_release(&head.bytes);
	return err;
}

/* ---- levels ---- */

static int add(struct evidence_merge *merge, size_t level, int file, const char *name,
	       struct evidence_error *error);

/* A level's files become one of the next. */
static int collapse(struct evidence_merge *merge, size_t level, struct evidence_error *error)
{
	struct files *files = &merge->levels[level];
	int file = evidence_merge_room(merge), err;

	if (file < 0)
		return evidence_fail(error, file, "%s: %s", merge->folder, strerror(-file));
	err = merge_files(files, file, error);
	if (err) {
		close(file);
		return err;
	}
	close_files(files);
	return add(merge, level + 1, file, NULL, error);
}

static int add(struct evidence_merge *merge, size_t level, int file, const char *name,
	       struct evidence_error *error)
{
	struct files *files = &merge->levels[level];

	files->names[files->count] = name;
	files->list[files->count++] = file;
	return files->count == AT_A_TIME && level + 1 < LEVELS ? collapse(merge, level, error) : 0;
}

int evidence_merge_add(struct evidence_merge *merge, int file, const char *name,
		       struct evidence_error *error)
{
	return add(merge, 0, file, name, error);
}

static bool is_top(const struct evidence_merge *merge, size_t level)
{
	for (size_t i = level + 1; i < LEVELS; i++)
		if (merge->levels[i].count)
			return false;
	return true;
}

int evidence_merge_write(struct evidence_merge *merge, int file, struct evidence_error *error)
{
	size_t level = 0;
	int err = 0;

	for (; !err && !is_top(merge, level); level++)
		if (merge->levels[level].count)
			err = collapse(merge, level, error);
	return err ? err : merge_files(&merge->levels[level], file, error);
}
