// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/missed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "observe/capture/addresses.h"
#include "observe/process/remote.h"

struct missed_mapping {
	pid_t tgid; /* 0: the mapping was handled */
	uint64_t time; /* CLOCK_MONOTONIC ns */
	dev_t dev;
	ino_t ino;
	char *path; /* owned */
	bool recorded; /* its process was, from its start; as far as was known then */
	bool gone; /* its process was, at the last look */
};

void missed_release(struct missed *missed)
{
	for (size_t i = 0; i < missed->mappings.len; i++)
		free(missed->mappings.data[i].path);
	vec_release(&missed->mappings);
}

void missed_mapped(struct missed *missed, pid_t tgid, bool recorded, const struct mapping *mapping,
		   uint64_t time)
{
	if (mapping->executable && mapping->ino)
		vec_push(&missed->mappings,
			 ((struct missed_mapping){ .tgid = tgid,
						   .time = time,
						   .dev = mapping->dev,
						   .ino = mapping->ino,
						   .path = xstrdup(mapping->path),
						   .recorded = recorded }));
}

void missed_child(struct missed *missed, const struct strays *strays, pid_t tgid, uint64_t time)
{
	for (size_t i = 0; strays->all && i < STRAYS_MOST; i++) {
		const struct stray *stray = &strays->all[i];

		if (stray->tgid == tgid && stray->time > time)
			missed_mapped(missed, tgid, true, &stray->mapping, stray->time);
	}
}

/* The process may have had another root: the path must lead to the same file. */
static bool is_at_path(const struct missed_mapping *mapping)
{
	struct stat st;

	return !remote_stat(mapping->path, &st) && S_ISREG(st.st_mode) &&
	       st.st_dev == mapping->dev && st.st_ino == mapping->ino;
}

/* By the name alone, for a file that can no longer be read. */
static bool is_named_ucx(const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	const size_t length = library_stem(file);

	return length == strlen("libucp") &&
	       (!strncmp(file, "libucp", length) || !strncmp(file, "libuct", length));
}

static bool is_ucx(struct library_set *libraries, const struct missed_mapping *mapping)
{
	const struct mapping file = { .dev = mapping->dev,
				      .ino = mapping->ino,
				      .path = mapping->path };
	const struct library *library = library_set_find(libraries, file.dev, file.ino);
	int error = 0;

	if (library_set_ignores(libraries, &file))
		return false;
	if (!library && !is_at_path(mapping))
		return is_named_ucx(mapping->path);
	if (!library)
		library = library_set_get(libraries, file.dev, file.ino, file.path, file.path,
					  &error);
	return error ? is_named_ucx(mapping->path)
		     : library && library->roles & (LIB_UCP | LIB_UCT);
}

/* Its file had probes, and the process was recorded from its start: its sends are in the sums. */
static bool is_counted(struct track *track, const struct missed_mapping *mapping)
{
	const struct library *library =
		library_set_find(&track->libraries, mapping->dev, mapping->ino);
	const struct probed *probed = library ? probes_find(track->probes, library) : NULL;

	return probed && probed->placed && probed->since < mapping->time &&
	       (mapping->recorded || origins_forked(&track->addresses->origins, mapping->tgid));
}

static void let_go(struct missed_mapping *mapping)
{
	free(mapping->path);
	mapping->path = NULL;
	mapping->tgid = 0;
}

void missed_apply(struct missed *missed, struct track *track)
{
	struct map counted = { 0 };
	size_t kept = 0;
	bool fresh;

	for (size_t i = 0; i < missed->mappings.len; i++) {
		struct missed_mapping *mapping = &missed->mappings.data[i];

		if (track_knows(track, mapping->tgid, mapping->time) ||
		    !is_ucx(&track->libraries, mapping) || is_counted(track, mapping))
			let_go(mapping);
		else if (mapping->gone)
			map_insert(&counted, (uint64_t)mapping->tgid, 0, &fresh);
		else
			mapping->gone = !track_find(track, mapping->tgid);
	}
	missed->count += counted.used;
	for (size_t i = 0; i < missed->mappings.len; i++) {
		struct missed_mapping *mapping = &missed->mappings.data[i];

		if (mapping->tgid && map_find(&counted, (uint64_t)mapping->tgid, 0))
			let_go(mapping);
		if (mapping->tgid)
			missed->mappings.data[kept++] = *mapping;
	}
	missed->mappings.len = kept;
	map_release(&counted);
}
