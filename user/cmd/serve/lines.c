// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/serve/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/newfile.h"
#include "show/line/line.h"

static struct job_line line_of(const struct live_job *job)
{
	const struct job_sums sums = job_unreported(job);
	struct job_line line = {
		.job = job->id,
		.step = *job->step ? job->step : NULL,
		.ranks = sums.ranks,
		.seconds = (job->seen - job->began) / 1e9,
		.unwatched = sums.unwatched / 1e9,
		.calls = sums.calls,
		.sends = sums.sends,
		.bytes = sums.bytes,
		.lost = sums.lost,
		.why = sums.unprobed    ? "late-probes"
		       : sums.unwatched ? "budget"
					: NULL,
	};
	const struct job_path *top = job_top(job, &line.most, &line.data);

	if (!*job->id)
		line.job = NULL;
	if (top && *top->transport)
		line.transport = top->transport;
	if (top && *top->device)
		line.device = top->device;
	return line;
}

/*
 * The folder may be another user's: appends to no file of another user, nor to one that has a
 * second name.
 */
static int check(int fd)
{
	struct stat file;

	if (fstat(fd, &file))
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	if (newfile_foreign(&file))
		return -EUSERS;
	return file.st_nlink > 1 ? -EMLINK : 0;
}

/* The file may have been moved away since the last time. */
static int open_lines(const char *path)
{
	const int fd = open(
		path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640);
	const int err = fd >= 0 ? check(fd) : errno == ELOOP ? -EINVAL : -errno;

	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

int lines_check(const char *path)
{
	const int fd = open_lines(path);

	return fd < 0 ? fd : close(fd) ? -errno : 0;
}

/* Writes a whole line, or nothing. */
static int append(const char *path, const char *text)
{
	const int fd = open_lines(path);
	const off_t before = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	const ssize_t size = (ssize_t)strlen(text), put = fd < 0 ? -1 : write(fd, text, size);
	int err = fd < 0 ? fd : put == size ? 0 : put < 0 ? -errno : -ENOSPC;

	if (err && put > 0 && ftruncate(fd, before))
		log_debug("'%s' keeps a part of a line", path);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

void lines_append(const char *path, const struct jobs *jobs, bool last,
		  void (*done)(void *arg, int err), void *arg)
{
	struct live_job *const *all;
	const size_t count = jobs_all(jobs, &all);

	for (size_t i = 0; i < count; i++) {
		char text[LINE_ROOM];
		struct job_line line;
		int err;

		if (!all[i]->line && !(last && all[i]->alive))
			continue;
		line = line_of(all[i]);
		line_text(&line, text);
		strcat(text, "\n");
		err = append(path, text);
		if (!err)
			job_mark_reported(all[i]);
		done(arg, err);
	}
}
