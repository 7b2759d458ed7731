// SPDX-License-Identifier: BSD-3-Clause
#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"

static bool number(const char *name, unsigned int *out)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*out = (unsigned int)value;
	/* -1 is nobody's: to chown() it means no change */
	return !errno && !*end && value < UINT_MAX;
}

/* Who had root start this process. Anybody may set the variables, but not as root. */
static bool behind_sudo(uid_t *uid, gid_t *gid)
{
	return !geteuid() && number("SUDO_UID", uid) && number("SUDO_GID", gid);
}

bool newfile_foreign(const struct stat *file)
{
	uid_t uid;
	gid_t gid;

	return file->st_uid && file->st_uid != geteuid() &&
	       !(behind_sudo(&uid, &gid) && file->st_uid == uid);
}

void newfile_hand_over(int fd, mode_t mode)
{
	uid_t uid;
	gid_t gid;

	/* where this fails it stays its owner's alone */
	fchmod(fd, mode);
	/* on a file system without owners, or whose server has another root, it stays as it is */
	if (behind_sudo(&uid, &gid) && fchown(fd, uid, gid))
		errno = 0;
}

mode_t newfile_mode(mode_t most)
{
	mode_t mask = umask(0);

	umask(mask);
	return most & (geteuid() ? ~mask : 0700);
}

char *newfile_place(const char *path)
{
	struct stat file;
	char *real;

	if (!lstat(path, &file) && S_ISLNK(file.st_mode) && newfile_foreign(&file))
		return NULL;
	real = stat(path, &file) || S_ISREG(file.st_mode) ? realpath(path, NULL) : NULL;
	return real ? real : xstrdup(path);
}

const char *newfile_why(int err)
{
	switch (err) {
	case -ELOOP:
		return "is another user's symbolic link, which is refused: name what it leads to";
	case -EUSERS:
		return "is another user's, name a new file";
	case -ENOENT:
		return "cannot be created, its directory does not exist";
	case -EACCES:
		return "may not be written by this user";
	case -EISDIR:
		return "is a directory, name a file";
	default:
		return strerror(-err);
	}
}

static char *part_of(const char *place)
{
	return xasprintf("%s.part-XXXXXX", place);
}

static int no_part(char **part)
{
	int err = -errno;

	free(*part);
	*part = NULL;
	return err;
}

int newfile_open(const char *place, enum newfile_readers readers, char **part)
{
	mode_t mode = readers == NEWFILE_PUBLIC ? 0644 : newfile_mode(0666);
	struct stat old;
	bool keep = !lstat(place, &old) && S_ISREG(old.st_mode) && !newfile_foreign(&old);
	int fd;

	*part = part_of(place);
	fd = mkostemp(*part, O_CLOEXEC);
	if (fd < 0)
		return no_part(part);
	newfile_hand_over(fd, keep ? old.st_mode & 0777 : mode);
	return fd;
}

int newfile_directory(const char *place, char **part)
{
	int fd;

	*part = part_of(place);
	if (!mkdtemp(*part))
		return no_part(part);
	fd = open(*part, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	newfile_hand_over(fd, newfile_mode(0777));
	close(fd);
	return 0;
}

int newfile_keep(const char *part, const char *place)
{
	/* a umask may forbid even its owner to read it */
	const int fd = open(part, O_RDONLY | O_CLOEXEC);
	int err = fd >= 0 && fsync(fd) ? errno : 0;

	/* a file system without fsync(2) */
	if (err == EINVAL || err == ENOSYS || err == EOPNOTSUPP)
		err = 0;
	if (fd >= 0)
		close(fd);
	return err ? -err : rename(part, place) ? -errno : 0;
}

/* In a sticky folder, a file can be renamed by its owner and by the folder's owner alone. */
static int check_folder(const char *path)
{
	struct stat folder;

	if (stat(path, &folder))
		return -errno;
	if (newfile_foreign(&folder) ||
	    (folder.st_mode & (S_IWGRP | S_IWOTH) && !(folder.st_mode & S_ISVTX)))
		return -EUSERS;
	return 0;
}

/* path, without links and dots, is cut from its end on. */
static int check_folders(char *path)
{
	char *end;
	int err = check_folder(path);

	while (!err && (end = strrchr(path, '/')) && end[1]) {
		end[end == path] = '\0';
		err = check_folder(path);
	}
	return err;
}

char *newfile_scratch(const char *name, int *err)
{
	const char *folder = getenv("TMPDIR");
	char *real = realpath(folder && *folder ? folder : "/tmp", NULL), *path;

	if (!real) {
		*err = -errno;
		return NULL;
	}
	path = xasprintf("%s/%s-XXXXXX", real, name);
	*err = check_folders(real);
	if (!*err && !mkdtemp(path))
		*err = -errno;
	free(real);
	if (!*err)
		return path;
	free(path);
	return NULL;
}

#define LINKS_MOST 8

/* The folder of a path with the target of a link there. */
static char *beside(const char *path, const char *target)
{
	const char *name = strrchr(path, '/');

	if (*target == '/' || !name)
		return xstrdup(target);
	return xasprintf("%.*s/%s", (int)(name - path), path, target);
}

/* Links of the kernel, such as /proc/self/fd/1, have no path. */
static bool is_kernels(int link)
{
	struct statfs fs;

	return !fstatfs(link, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Pins what a path leads to, which can no longer be exchanged then. Links are followed one by one,
 * none of another user. Returns a descriptor of O_PATH, or -errno.
 */
static int pin_special(const char *place)
{
	char *path = xstrdup(place), *next, target[PATH_MAX];
	int fd = -ELOOP;

	for (int links = 0; links < LINKS_MOST; links++) {
		struct stat there;
		ssize_t size;
		int pin = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (pin < 0) {
			fd = -errno;
			break;
		}
		if (fstat(pin, &there) || !S_ISLNK(there.st_mode)) {
			fd = pin; /* the caller examines it */
			break;
		}
		if (is_kernels(pin)) {
			close(pin);
			pin = open(path, O_PATH | O_CLOEXEC);
			fd = pin < 0 ? -errno : pin;
			break;
		}
		size = newfile_foreign(&there) ? -1
					       : readlinkat(pin, "", target, sizeof(target) - 1);
		close(pin);
		if (size < 0)
			break;
		target[size] = '\0';
		next = beside(path, target);
		free(path);
		path = next;
	}
	free(path);
	return fd;
}

int newfile_open_special(const char *place)
{
	int pin = pin_special(place), fd;
	struct stat there;
	char path[32];

	if (pin < 0)
		return pin;
	if (fstat(pin, &there) || S_ISREG(there.st_mode) || newfile_foreign(&there)) {
		close(pin);
		return -EUSERS;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pin);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	close(pin);
	return fd;
}

int newfile_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0)
		return fd;
	/* not every file system has files without a name from the start */
	path = xasprintf("%s/.ucxbpf-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	else
		fd = -errno;
	free(path);
	return fd;
}
