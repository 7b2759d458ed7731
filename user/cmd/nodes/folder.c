// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/nodes/folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/newfile.h"
#include "cmd/trace/capture_name.h"

/*
 * Refuses a folder that is not empty: captures of an earlier run would be taken for parts of this
 * job.
 */
static int is_empty(int fd)
{
	DIR *folder = fdopendir(fd);
	struct dirent *entry;
	int err = folder ? 0 : -errno;

	while (folder && !err && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			err = -EEXIST;
	if (folder)
		closedir(folder);
	else
		close(fd);
	return err;
}

/* In a folder of another user, links could lead this process to any file that it may write. */
static bool is_shared(int fd)
{
	const mode_t others = geteuid() ? S_IWOTH : S_IWGRP | S_IWOTH;
	struct stat folder;

	return fstat(fd, &folder) || newfile_foreign(&folder) || folder.st_mode & others;
}

static int make(const char *path)
{
	const bool there = mkdir(path, 0700);
	int fd;

	if (there && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (is_shared(fd)) {
		close(fd);
		return -EUSERS;
	}
	if (there)
		return is_empty(fd);
	newfile_hand_over(fd, newfile_mode(0777));
	close(fd);
	return 0;
}

static char *default_folder(const char *job)
{
	char *template, *name;

	for (const char *at = job; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			job = NULL;
	template = xasprintf("ucxbpf.%s%s%%t", job ? job : "", job ? "." : "");
	name = capture_name(template);
	free(template);
	return name;
}

int folder_make(const char *given, const char *job, char **folder)
{
	int err;

	*folder = given ? xstrdup(given) : default_folder(job);
	err = make(*folder);
	if (err == -EEXIST)
		log_error("%s: holds files already, name a new folder with -o", *folder);
	else if (err == -EUSERS)
		log_error("%s: other users may write there, name a new folder with -o", *folder);
	else if (err == -ENOTDIR)
		log_error("%s: is no folder, name a new one with -o", *folder);
	else if (err)
		log_error("%s: %s", *folder, newfile_why(err));
	return err;
}
