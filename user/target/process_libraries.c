// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "target/elf_symbols.h"
#include "target/library.h"
#include "target/maps.h"
#include "target/process.h"

struct search {
	pid_t pid;
	struct library_set *set;
	mapped_libraries *out;
};

/*
 * The file as mapped, even when it was deleted or replaced since; needs CAP_CHECKPOINT_RESTORE.
 * Without it, the path in the process's own root, if that is still the same file.
 */
static int open_path_of(pid_t pid, const struct mapping *mapping, char *path, size_t size)
{
	struct stat st;

	snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	if (!stat(path, &st))
		return 0;
	snprintf(path, size, "/proc/%d/root%s", pid, mapping->path);
	if (stat(path, &st))
		return -errno;
	return st.st_dev == mapping->dev && st.st_ino == mapping->ino ? 0 : -ESTALE;
}

static void add_mapped(mapped_libraries *out, struct library *library,
		       const struct mapping *mapping)
{
	uint64_t base;

	if (elf_load_bias(library->elf, mapping->start, mapping->offset, &base))
		return;
	/* a text segment is several mappings where its protection was changed in part */
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i].library == library && out->data[i].base == base)
			return;
	vec_push(out, ((struct mapped_library){ library, base }));
}

/* A file that cannot be read is named once; one that vanished under us may well come back. */
static void give_up(const struct search *search, const struct mapping *mapping, int error)
{
	bool vanished = error == -ENOENT || error == -ESRCH || error == -ESTALE;

	log_printf(vanished ? LOG_DEBUG : LOG_WARN, "cannot read %s, mapped by process %d: %s",
		   mapping->path, search->pid, strerror(-error));
	if (!vanished)
		map_insert(&search->set->seen, mapping->dev, mapping->ino, NULL);
}

static int look_at(void *arg, const struct mapping *mapping)
{
	struct search *search = arg;
	struct library *library = NULL;
	char open_path[4096] = "";
	uint64_t *seen;
	int error = 0;

	if (!mapping->executable || !mapping->ino)
		return 0;
	seen = map_find(&search->set->seen, mapping->dev, mapping->ino);
	if (seen && !*seen)
		return 0;
	if (!seen)
		error = open_path_of(search->pid, mapping, open_path, sizeof(open_path));
	if (!error)
		library = library_set_get(search->set, mapping->dev, mapping->ino, mapping->path,
					  open_path, &error);
	if (error)
		give_up(search, mapping, error);
	if (library)
		add_mapped(search->out, library, mapping);
	return 0;
}

int process_libraries(pid_t pid, struct library_set *set, mapped_libraries *out)
{
	struct search search = { pid, set, out };
	int bits = process_is_32bit(pid);

	if (bits)
		return bits > 0 ? -EOPNOTSUPP : bits;
	return process_each_mapping(pid, look_at, &search);
}
