// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/outlet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAM_BUFFER (256u << 10)

/* stdio forgets why a write failed; this remembers the first reason. */
static ssize_t put(void *cookie, const char *data, size_t size)
{
	struct outlet *outlet = cookie;
	size_t done = 0;

	while (!outlet->err && done < size) {
		ssize_t n = write(outlet->fd, data + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			outlet->err = -errno;
	}
	errno = -outlet->err;
	return outlet->err ? 0 : (ssize_t)size;
}

static int open_stream(struct outlet *outlet)
{
	outlet->file = fopencookie(outlet, "w", (cookie_io_functions_t){ .write = put });
	if (!outlet->file)
		return -ENOMEM;
	setvbuf(outlet->file, NULL, _IOFBF, STREAM_BUFFER);
	return 0;
}

static mode_t may(mode_t all)
{
	mode_t mask = umask(0);

	umask(mask);
	return all & ~mask;
}

/* Through symbolic links to files: what they lead to is replaced, not they. */
static char *resolve(const char *path)
{
	struct stat file;
	char *real = stat(path, &file) || S_ISREG(file.st_mode) ? realpath(path, NULL) : NULL;

	return real ? real : strdup(path);
}

static char *part_of(const char *place)
{
	char *path;

	return asprintf(&path, "%s.part-XXXXXX", place) < 0 ? NULL : path;
}

/* The new file gets the rights of the one that it replaces. */
static int open_part(struct outlet *outlet, const struct stat *old)
{
	outlet->path = part_of(outlet->place);
	if (!outlet->path)
		return -ENOMEM;
	outlet->fd = mkostemp(outlet->path, O_CLOEXEC);
	if (outlet->fd < 0) {
		free(outlet->path);
		outlet->path = NULL;
		return -errno;
	}
	return fchmod(outlet->fd, old ? old->st_mode & 0777 : may(0666)) ? -errno : 0;
}

static int open_file(struct outlet *outlet, const char **why)
{
	struct stat old;
	bool there = !stat(outlet->place, &old);

	if (there && S_ISDIR(old.st_mode)) {
		*why = "is a directory, and this format is one file";
		return -EISDIR;
	}
	if (!there || S_ISREG(old.st_mode))
		return open_part(outlet, there ? &old : NULL);
	if (outlet->kind == EXPORT_FILE) {
		*why = "is no plain file, which this format needs";
		return -EINVAL;
	}
	outlet->fd = open(outlet->place, O_WRONLY | O_CLOEXEC);
	return outlet->fd < 0 ? -errno : 0;
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	bool empty = dir != NULL;

	for (struct dirent *entry; empty && (entry = readdir(dir));)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

static int open_directory(struct outlet *outlet, const char **why)
{
	size_t len = strlen(outlet->place);
	struct stat old;

	while (len > 1 && outlet->place[len - 1] == '/')
		outlet->place[--len] = '\0';
	if (!stat(outlet->place, &old) && !(S_ISDIR(old.st_mode) && is_empty(outlet->place))) {
		*why = "is there already: name a new or empty directory";
		return -EEXIST;
	}
	outlet->path = part_of(outlet->place);
	if (!outlet->path)
		return -ENOMEM;
	if (!mkdtemp(outlet->path)) {
		free(outlet->path);
		outlet->path = NULL;
		return -errno;
	}
	return chmod(outlet->path, may(0777)) ? -errno : 0;
}

int outlet_open(struct outlet *outlet, const char *path, enum export_place kind, const char **why)
{
	int err = 0;

	*outlet = (struct outlet){ .kind = kind, .fd = -1 };
	if (!path) {
		outlet->fd = STDOUT_FILENO;
		return open_stream(outlet);
	}
	outlet->place = resolve(path);
	if (!outlet->place)
		return -ENOMEM;
	err = kind == EXPORT_DIRECTORY ? open_directory(outlet, why) : open_file(outlet, why);
	return !err && kind == EXPORT_STREAM ? open_stream(outlet) : err;
}

static void close_all(struct outlet *outlet)
{
	if (outlet->file && fclose(outlet->file) && !outlet->err)
		outlet->err = errno ? -errno : -EIO;
	outlet->file = NULL;
	if (outlet->fd >= 0 && outlet->fd != STDOUT_FILENO && close(outlet->fd) && !outlet->err)
		outlet->err = -errno;
	outlet->fd = -1;
}

int outlet_keep(struct outlet *outlet)
{
	close_all(outlet);
	if (!outlet->err && outlet->path && rename(outlet->path, outlet->place))
		outlet->err = -errno;
	if (!outlet->err) {
		free(outlet->path);
		outlet->path = NULL;
	}
	return outlet->err;
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *at)
{
	(void)file;
	(void)type;
	(void)at;
	return remove(path);
}

void export_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void outlet_release(struct outlet *outlet)
{
	close_all(outlet);
	if (outlet->path)
		export_remove(outlet->path);
	free(outlet->path);
	free(outlet->place);
	outlet->path = outlet->place = NULL;
}
