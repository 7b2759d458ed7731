// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "target/elf_symbols.h"
#include "target/library.h"
#include "target/process.h"

/* One line of /proc/PID/maps that maps a file executable. */
struct mapping {
	uint64_t start, end, offset;
	dev_t dev;
	ino_t ino;
	const char *path; /* "" where the file has none */
};

static bool parse_mapping(char *line, struct mapping *mapping)
{
	unsigned int major_number, minor_number;
	uint64_t inode;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, flags, &mapping->offset, &major_number,
		   &minor_number, &inode, &path) != 7)
		return false;
	if (flags[2] != 'x' || !inode)
		return false;
	line[strcspn(line, "\n")] = '\0';
	mapping->dev = makedev(major_number, minor_number);
	mapping->ino = inode;
	mapping->path = line + path;
	return true;
}

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

static void look_at(pid_t pid, struct library_set *set, const struct mapping *mapping,
		    mapped_libraries *out)
{
	uint64_t *seen = map_find(&set->seen, mapping->dev, mapping->ino);
	char open_path[4096] = "";
	struct library *library = NULL;
	int error = 0;

	if (seen && !*seen)
		return;
	if (!seen)
		error = open_path_of(pid, mapping, open_path, sizeof(open_path));
	if (!error)
		library = library_set_get(set, mapping->dev, mapping->ino, mapping->path, open_path,
					  &error);
	if (error)
		log_warn("cannot read %s, mapped by process %d: %s", mapping->path, pid,
			 strerror(-error));
	if (library)
		add_mapped(out, library, mapping);
}

static int open_maps(pid_t pid, FILE **maps)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	*maps = fopen(path, "re");
	if (*maps)
		return 0;
	return errno == ENOENT ? -ESRCH : errno == EPERM ? -EACCES : -errno;
}

int process_libraries(pid_t pid, struct library_set *set, mapped_libraries *out)
{
	struct mapping mapping;
	size_t capacity = 0, lines = 0;
	char *line = NULL;
	int error, bits = process_is_32bit(pid);
	FILE *maps;

	if (bits)
		return bits > 0 ? -EOPNOTSUPP : bits;
	error = open_maps(pid, &maps);
	if (error)
		return error;
	while (getline(&line, &capacity, maps) > 0) {
		lines++;
		if (parse_mapping(line, &mapping))
			look_at(pid, set, &mapping, out);
	}
	free(line);
	fclose(maps);
	/* a process that has exited has no mappings left */
	return lines ? 0 : -ESRCH;
}
