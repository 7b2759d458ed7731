// SPDX-License-Identifier: BSD-3-Clause
#include "target/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool parse(char *line, struct mapping *mapping)
{
	unsigned int major_number, minor_number;
	uint64_t inode;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, flags, &mapping->offset, &major_number,
		   &minor_number, &inode, &path) != 7)
		return false;
	line[strcspn(line, "\n")] = '\0';
	mapping->readable = flags[0] == 'r';
	mapping->writable = flags[1] == 'w';
	mapping->executable = flags[2] == 'x';
	mapping->dev = makedev(major_number, minor_number);
	mapping->ino = inode;
	mapping->path = line + path;
	return true;
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

int process_each_mapping(pid_t pid, int (*fn)(void *arg, const struct mapping *mapping), void *arg)
{
	size_t capacity = 0, lines = 0;
	struct mapping mapping;
	char *line = NULL;
	FILE *maps;
	int stop = open_maps(pid, &maps);

	if (stop)
		return stop;
	while (!stop && getline(&line, &capacity, maps) > 0) {
		lines++;
		if (parse(line, &mapping))
			stop = fn(arg, &mapping);
	}
	free(line);
	fclose(maps);
	/* a process that has exited has no mappings left */
	return stop ? stop : lines ? 0 : -ESRCH;
}

int mapping_open_path(pid_t pid, const struct mapping *mapping, char *path, size_t size)
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
