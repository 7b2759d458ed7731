// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/rewrites.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "observe/process/remote.h"

static void cannot_watch(const char *path, int error)
{
	static bool warned;

	if (!warned)
		log_warn("cannot watch %s for writes: %s; a probed library that is rewritten in "
			 "place can crash programs: replace libraries by rename",
			 path, strerror(error));
	warned = true;
}

void rewrites_init(struct rewrites *rewrites)
{
	*rewrites = (struct rewrites){ .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
	if (rewrites->fd < 0)
		cannot_watch("files", errno);
}

static void drop(struct rewrites *rewrites, size_t i)
{
	free(rewrites->files.data[i].path);
	free(rewrites->files.data[i].open_path);
	rewrites->files.data[i] = rewrites->files.data[--rewrites->files.len];
}

void rewrites_release(struct rewrites *rewrites)
{
	if (rewrites->fd >= 0)
		close(rewrites->fd);
	while (rewrites->files.len)
		drop(rewrites, 0);
	vec_release(&rewrites->files);
	rewrites_warn(rewrites);
	vec_release(&rewrites->written);
	rewrites->fd = -1;
}

static bool is_watched(const struct rewrites *rewrites, int watch)
{
	for (size_t i = 0; i < rewrites->files.len; i++)
		if (rewrites->files.data[i].watch == watch)
			return true;
	return false;
}

/*
 * Pages of tmpfs and ramfs that a mapping has read are written to without a fault, and so without a
 * change of times.
 */
static bool is_timed(const struct library *library)
{
	struct statfs fs;

	return !fstatfs(elf_fd(library->elf), &fs) && fs.f_type != TMPFS_MAGIC &&
	       fs.f_type != RAMFS_MAGIC;
}

static void add_watch(struct rewrites *rewrites, const struct library *library)
{
	const uint64_t file = library_key(library);
	const char *path = library->path ? library->path : library->open_path;
	int watch;

	if (rewrites->fd < 0 || !elf_file(library->elf)->local)
		return;
	/*
	 * The kernel returns the same watch for the same file, whereas a new file may have the
	 * inode number of a deleted one. A writer through a mapping is noticed when it closes the
	 * file.
	 */
	watch = inotify_add_watch(rewrites->fd, library->open_path, IN_MODIFY | IN_CLOSE_WRITE);
	if (watch < 0)
		cannot_watch(path, errno);
	else if (!is_watched(rewrites, watch))
		vec_push(&rewrites->files, ((struct watched_file){
						   .watch = watch,
						   .file = file,
						   .path = xstrdup(path),
						   .open_path = xstrdup(library->open_path),
						   .st = elf_file(library->elf)->st,
						   .timed = is_timed(library),
					   }));
}

int rewrites_watch(struct rewrites *rewrites, const struct library *library)
{
	add_watch(rewrites, library);
	return library_is_rewritten(library) ? -ESTALE : 0;
}

static void end_watch(struct rewrites *rewrites, size_t i)
{
	inotify_rm_watch(rewrites->fd, rewrites->files.data[i].watch);
	drop(rewrites, i);
}

static bool is_at(const struct watched_file *file, const char *path, struct stat *st)
{
	return !remote_stat(path, st) && file_key(st->st_dev, st->st_ino) == file->file;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Whether the file may have changed since it was examined. A write through a mapping changes mtime,
 * and setting that back changes ctime. A file that is not found counts as changed.
 */
static bool may_have_changed(const struct watched_file *file)
{
	struct stat st;

	if (!file->timed)
		return true;
	if (!is_at(file, file->open_path, &st) && !is_at(file, file->path, &st))
		return true;
	return !same_time(&st.st_mtim, &file->st.st_mtim) ||
	       !same_time(&st.st_ctim, &file->st.st_ctim) || st.st_size != file->st.st_size;
}

/*
 * An event of one file, or of all where the kernel has lost events. IN_IGNORED: the kernel has
 * ended the watch, as the file was deleted and is neither open nor mapped, or its file system was
 * unmounted.
 */
static void take(struct rewrites *rewrites, const struct inotify_event *event, struct map *files)
{
	for (size_t i = rewrites->files.len; i-- > 0;) {
		const struct watched_file *file = &rewrites->files.data[i];

		if (!(event->mask & IN_Q_OVERFLOW) && event->wd != file->watch)
			continue;
		if (event->mask & IN_IGNORED) {
			drop(rewrites, i);
			continue;
		}
		if (!(event->mask & (IN_Q_OVERFLOW | IN_MODIFY | IN_CLOSE_WRITE)))
			continue;
		if (!(event->mask & IN_MODIFY) && !may_have_changed(file))
			continue;
		vec_push(&rewrites->written, xstrdup(file->path));
		map_insert(files, file->file, 0, NULL);
		end_watch(rewrites, i);
	}
}

void rewrites_read(struct rewrites *rewrites, struct map *files)
{
	_Alignas(struct inotify_event) char events[4096];
	ssize_t got;

	while (rewrites->fd >= 0 && (got = read(rewrites->fd, events, sizeof(events))) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *event = (const void *)(events + at);

			take(rewrites, event, files);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
}

void rewrites_warn(struct rewrites *rewrites)
{
	for (size_t i = 0; i < rewrites->written.len; i++) {
		log_warn(REWRITTEN, rewrites->written.data[i]);
		free(rewrites->written.data[i]);
	}
	rewrites->written.len = 0;
}

void rewrites_forget(struct rewrites *rewrites, const struct map *files)
{
	for (size_t i = rewrites->files.len; i-- > 0;)
		if (map_find(files, rewrites->files.data[i].file, 0))
			end_watch(rewrites, i);
}
