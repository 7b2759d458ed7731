// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/vec.h"

#define READ_SIZE 4096 /* bytes; the kernel hands out no more at once */

struct mappings {
	pid_t pid; /* 0: none */
	char *text; /* of /proc/PID/maps, cut into lines and paths */
	VEC(struct mapping) all;
};

/* The list that process_maps_hold() has read. */
static __thread struct mappings held;

static bool number(const char **at, int base, char behind, uint64_t *value)
{
	char *end;

	*value = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE    PATH" */
static bool parse(const char *line, struct mapping *mapping)
{
	uint64_t major_number, minor_number, ino;
	const char *flags;
	char *end;

	if (!number(&line, 16, '-', &mapping->start) || !number(&line, 16, ' ', &mapping->end) ||
	    strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	flags = line;
	line += 5;
	if (!number(&line, 16, ' ', &mapping->offset) || !number(&line, 16, ':', &major_number) ||
	    !number(&line, 16, ' ', &minor_number))
		return false;
	ino = strtoull(line, &end, 10);
	if (end == line)
		return false;
	mapping->readable = flags[0] == 'r';
	mapping->writable = flags[1] == 'w';
	mapping->executable = flags[2] == 'x';
	mapping->dev = makedev((unsigned int)major_number, (unsigned int)minor_number);
	mapping->ino = ino;
	mapping->path = end + strspn(end, " ");
	return true;
}

/* Appends what is in the file; the caller frees *text. */
static int read_all(int fd, char **text)
{
	size_t size = 0, room = 0;
	ssize_t got;

	do {
		if (room - size < 2 * READ_SIZE) {
			char *more = realloc(*text, room = 2 * room + 16 * READ_SIZE);

			if (!more)
				return -ENOMEM;
			*text = more;
		}
		got = read(fd, *text + size, room - size - 1);
		size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	(*text)[size] = '\0';
	return got < 0 ? -errno : 0;
}

static void mappings_release(struct mappings *mappings)
{
	vec_release(&mappings->all);
	free(mappings->text);
	*mappings = (struct mappings){ 0 };
}

static int mappings_read(struct mappings *mappings, pid_t pid)
{
	char path[64], *rest, *line;
	struct mapping mapping;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : errno == EPERM ? -EACCES : -errno;
	err = read_all(fd, &mappings->text);
	close(fd);
	rest = mappings->text;
	while (!err && (line = strsep(&rest, "\n")))
		if (parse(line, &mapping))
			vec_push(&mappings->all, mapping);
	/* a process that has exited has no mappings left */
	if (!err && !mappings->all.len)
		err = -ESRCH;
	mappings->pid = pid;
	if (err)
		mappings_release(mappings);
	return err;
}

void process_maps_hold(pid_t pid)
{
	process_maps_drop();
	mappings_read(&held, pid);
}

void process_maps_drop(void)
{
	mappings_release(&held);
}

int process_each_mapping(pid_t pid, int (*fn)(void *arg, const struct mapping *mapping), void *arg)
{
	struct mappings own = { 0 };
	const struct mappings *mappings = held.pid == pid ? &held : &own;
	int stop = mappings == &own ? mappings_read(&own, pid) : 0;

	for (size_t i = 0; !stop && i < mappings->all.len; i++)
		stop = fn(arg, &mappings->all.data[i]);
	mappings_release(&own);
	return stop;
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
