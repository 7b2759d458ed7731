// SPDX-License-Identifier: BSD-3-Clause
#include "base/readable.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"

static int check(int fd)
{
	struct statfs fs;
	struct stat file;

	if (fstat(fd, &file))
		return errno;
	if (S_ISFIFO(file.st_mode) && (fstatfs(fd, &fs) || fs.f_type != PIPEFS_MAGIC))
		return ESPIPE;
	return fcntl(fd, F_SETFL, 0) ? errno : 0;
}

FILE *readable_open(const char *path)
{
	/* waits for no writer */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;
	FILE *file;

	if (fd < 0)
		return NULL;
	err = check(fd);
	file = err ? NULL : fdopen(fd, "r");
	if (!file) {
		err = err ? err : errno;
		if (err == ENOMEM)
			alloc_failed();
		close(fd);
		errno = err;
	}
	return file;
}

const char *readable_why(int err)
{
	switch (err) {
	case -ENOENT:
		return "no such file";
	case -EACCES:
		return "may not be read by this user";
	case -EISDIR:
		return "is a directory, name a file";
	case -ESPIPE:
		return "is a named pipe, name a file";
	default:
		return strerror(-err);
	}
}
