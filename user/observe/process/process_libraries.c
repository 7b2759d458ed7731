// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "observe/process/elf.h"
#include "observe/process/library.h"
#include "observe/process/maps.h"
#include "observe/process/process.h"

struct search {
	pid_t pid;
	struct library_set *set;
	mapped_libraries *out;
};

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
		error = mapping_open_path(search->pid, mapping, open_path, sizeof(open_path));
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
