// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/sweep/units.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "cmd/input/gather.h"
#include "cmd/input/unread.h"
#include "site/judge/evidence/evidence.h"

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int by_unit(const void *left, const void *right)
{
	const struct unit *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static void add_file(struct unit *unit, const char *path)
{
	vec_push(&unit->files, strdup(path));
}

/* What is damaged so that it does not look like any of ours any more is known by its place. */
static bool is_wanted(const char *path)
{
	char *node;
	bool known;

	if (gather_has(path))
		return true;
	node = unread_node(path);
	known = node;
	free(node);
	return known;
}

static int add_folder(struct units *units, const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct unit *unit = vec_add(&units->list);
	FTSENT *entry;

	unit->name = path;
	while (walk && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F && is_wanted(entry->fts_path))
			add_file(unit, entry->fts_path);
		if (entry->fts_info != FTS_DNR && entry->fts_info != FTS_ERR)
			continue;
		log_error("%s: %s", entry->fts_path, strerror(entry->fts_errno));
		fts_close(walk);
		return -entry->fts_errno;
	}
	if (walk)
		fts_close(walk);
	if (unit->files.len)
		qsort(unit->files.data, unit->files.len, sizeof(char *), by_name);
	return walk ? 0 : -errno;
}

static void add_evidence(struct units *units, const char *path)
{
	struct unit *unit = vec_add(&units->list);

	unit->name = path;
	add_file(unit, path);
}

int units_find(struct units *units, char *const *names, size_t count)
{
	struct unit single = { 0 };
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct stat file;

		if (stat(names[i], &file)) {
			err = -errno;
			log_error("%s: %s", names[i], strerror(errno));
		} else if (S_ISDIR(file.st_mode)) {
			err = add_folder(units, names[i]);
		} else if (evidence_is(names[i])) {
			add_evidence(units, names[i]);
		} else {
			add_file(&single, names[i]);
		}
	}
	if (single.files.len) {
		qsort(single.files.data, single.files.len, sizeof(char *), by_name);
		single.name = single.files.data[0];
		vec_push(&units->list, single);
	}
	if (units->list.len)
		qsort(units->list.data, units->list.len, sizeof(struct unit), by_unit);
	return err;
}

void units_release(struct units *units)
{
	for (size_t i = 0; i < units->list.len; i++) {
		for (size_t k = 0; k < units->list.data[i].files.len; k++)
			free(units->list.data[i].files.data[k]);
		vec_release(&units->list.data[i].files);
	}
	vec_release(&units->list);
}

/* ---- shards ---- */

static bool number(const char *text, char end, unsigned long *to, const char **rest)
{
	char *stop;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*to = strtoul(text, &stop, 10);
	*rest = stop + 1;
	return !errno && *stop == end;
}

/* An array may begin anywhere: 1-16, or 5-20. */
static unsigned long first_of(const char *variable)
{
	const char *text = variable ? getenv(variable) : NULL, *rest;
	unsigned long first;

	return number(text, '\0', &first, &rest) ? first : 0;
}

static bool from_environment(struct shard *shard)
{
	static const struct {
		const char *index, *count, *first;
	} launchers[] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL },
		{ "PMI_RANK", "PMI_SIZE", NULL },
		{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN" },
		{ "SLURM_PROCID", "SLURM_NTASKS", NULL },
	};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *rest;

		if (!number(getenv(launchers[i].index), '\0', &shard->index, &rest) ||
		    !number(getenv(launchers[i].count), '\0', &shard->count, &rest))
			continue;
		shard->index -= first_of(launchers[i].first);
		return true;
	}
	return false;
}

bool shard_parse(struct shard *shard, const char *text)
{
	const char *rest;
	bool known = !strcmp(text, "auto") ? from_environment(shard)
					   : number(text, '/', &shard->index, &rest) &&
						     number(rest, '\0', &shard->count, &rest);

	return known && shard->count && shard->index < shard->count;
}
