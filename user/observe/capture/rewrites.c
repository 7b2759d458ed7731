// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/rewrites.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

static void cannot_watch(const char *path, int error)
{
	static bool told;

	if (!told)
		log_warn("cannot watch %s for writes: %s; a probed library that is rewritten in "
			 "place can crash programs: replace libraries by rename",
			 path, strerror(error));
	told = true;
}

void rewrites_init(struct rewrites *rewrites)
{
	*rewrites = (struct rewrites){ .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
	if (rewrites->fd < 0)
		cannot_watch("files", errno);
}

void rewrites_release(struct rewrites *rewrites)
{
	if (rewrites->fd >= 0)
		close(rewrites->fd);
	for (size_t i = 0; i < rewrites->files.len; i++)
		free(rewrites->files.data[i].path);
	vec_release(&rewrites->files);
	rewrites_tell(rewrites);
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

static void add_watch(struct rewrites *rewrites, const struct library *library)
{
	const uint64_t file = library_key(library);
	const char *path = library->path ? library->path : library->open_path;
	int watch;

	if (rewrites->fd < 0 || !elf_file(library->elf)->local)
		return;
	/*
	 * The kernel returns the same watch for the same file, whereas a new file may have the
	 * inode number of a deleted one. One that writes through a mapping is noticed when it
	 * closes the file.
	 */
	watch = inotify_add_watch(rewrites->fd, library->open_path, IN_MODIFY | IN_CLOSE_WRITE);
	if (watch < 0)
		cannot_watch(path, errno);
	else if (!is_watched(rewrites, watch))
		vec_push(&rewrites->files, ((struct watched_file){ watch, file, xstrdup(path) }));
}

int rewrites_watch(struct rewrites *rewrites, const struct library *library)
{
	add_watch(rewrites, library);
	return library_is_rewritten(library) ? -ESTALE : 0;
}

static void drop(struct rewrites *rewrites, size_t i)
{
	free(rewrites->files.data[i].path);
	rewrites->files.data[i] = rewrites->files.data[--rewrites->files.len];
}

static void end_watch(struct rewrites *rewrites, size_t i)
{
	inotify_rm_watch(rewrites->fd, rewrites->files.data[i].watch);
	drop(rewrites, i);
}

/*
 * All files, where the kernel has lost events. It ends the watch of a file that is deleted and that
 * nobody has open or mapped, or whose file system is unmounted.
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

void rewrites_tell(struct rewrites *rewrites)
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
