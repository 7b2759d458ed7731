// SPDX-License-Identifier: BSD-3-Clause
/* Capture files as sources of records. */
#include <errno.h>
#include <string.h>

#include "file/file.h"
#include "explain/match/analysis.h"

struct file_source {
	char *path;
	struct file_reader *reader, *first; /* first: owns the side records */
};

static int file_next(void *ctx, const struct ub_hdr **record)
{
	return file_reader_next(((struct file_source *)ctx)->reader, record);
}

static int file_rewind(void *ctx)
{
	struct file_source *source = ctx;
	const char *why;

	if (source->reader != source->first)
		file_reader_free(source->reader);
	source->reader = NULL;
	return file_reader_again(&source->reader, source->path, &why);
}

static uint64_t file_damage(void *ctx)
{
	const struct file_source *source = ctx;

	return source->reader ? file_reader_damaged(source->reader) : 0;
}

static void file_release(void *ctx)
{
	struct file_source *source = ctx;

	if (source->reader != source->first)
		file_reader_free(source->reader);
	file_reader_free(source->first);
	free(source->path);
	free(source);
}

int analysis_add_file(struct analysis *analysis, const char *path, const char **why)
{
	struct file_source *file = calloc(1, sizeof(*file));
	struct record_source source = {
		.ctx = file,
		.next = file_next,
		.rewind = file_rewind,
		.damage = file_damage,
		.release = file_release,
	};
	int err;

	if (!file)
		return -ENOMEM;
	err = file_reader_open(&file->first, path, why);
	if (err < 0) {
		free(file);
		return err;
	}
	if (analysis_overlaps(analysis, file_reader_sides(file->first))) {
		*why = "it has the same processes at the same time as another one, left out";
		file_reader_free(file->first);
		free(file);
		return -EEXIST;
	}
	file->reader = file->first;
	file->path = strdup(path);
	if (!file->path)
		abort();
	source.sides = file_reader_sides(file->first);
	source.stats = *file_reader_stats(file->first);
	source.damaged = file_reader_damaged(file->first);
	source.refused = file_reader_refused(file->first);
	if (file_reader_complete(file->first, why))
		*why = NULL;
	source.incomplete = *why;
	analysis_add_source(analysis, &source);
	return 0;
}
