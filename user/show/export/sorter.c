// SPDX-License-Identifier: BSD-3-Clause
/* Sorted runs, merged with a heap of their heads. */
#include "show/export/sorter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/newfile.h"
#include "base/order.h"
#include "base/vec.h"

#define RUN_BYTES (24u << 20)
#define PART_BYTES (256u << 10) /* read buffer of a run */

struct sorter_run {
	off_t at, end; /* unread part of the file */
	char *part;
	size_t next, len; /* bytes in part */
};

struct sorter {
	size_t size;
	int (*compare)(const void *, const void *);
	char *records; /* the run being filled; the only one if there is no file */
	size_t room, count, next;
	int fd; /* -1: everything fits in memory so far */
	off_t written;
	VEC(struct sorter_run) runs;
	size_t *heap, heap_len; /* numbers of runs, the one with the least head first */
	bool started; /* whether the heap's first record was returned */
};

struct sorter *sorter_new(size_t size, int (*compare)(const void *, const void *))
{
	struct sorter *sorter = xcalloc(1, sizeof(*sorter));

	sorter->size = size;
	sorter->compare = compare;
	sorter->room = RUN_BYTES / size;
	sorter->fd = -1;
	sorter->records = xmalloc(sorter->room * size);
	return sorter;
}

void sorter_free(struct sorter *sorter)
{
	if (!sorter)
		return;
	for (size_t i = 0; i < sorter->runs.len; i++)
		free(sorter->runs.data[i].part);
	vec_release(&sorter->runs);
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter->heap);
	free(sorter->records);
	free(sorter);
}

static int open_file(void)
{
	const char *dir = getenv("TMPDIR");

	return newfile_nameless(dir && *dir ? dir : "/var/tmp");
}

static int write_all(int fd, const char *data, size_t len, off_t at)
{
	while (len) {
		ssize_t done = pwrite(fd, data, len, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		at += done;
		len -= (size_t)done;
	}
	return 0;
}

static int write_run(struct sorter *sorter)
{
	size_t len = sorter->count * sorter->size;
	int err;

	if (sorter->fd < 0)
		sorter->fd = open_file();
	if (sorter->fd < 0)
		return sorter->fd;
	qsort(sorter->records, sorter->count, sorter->size, sorter->compare);
	err = write_all(sorter->fd, sorter->records, len, sorter->written);
	if (err)
		return err;
	vec_push(&sorter->runs, ((struct sorter_run){ .at = sorter->written,
						      .end = sorter->written + (off_t)len }));
	sorter->written += (off_t)len;
	sorter->count = 0;
	return 0;
}

int sorter_add(struct sorter *sorter, const void *record)
{
	int err = sorter->count == sorter->room ? write_run(sorter) : 0;

	if (err)
		return err;
	memcpy(sorter->records + sorter->count++ * sorter->size, record, sorter->size);
	return 0;
}

/* Returns 1, 0: the run is over, or -errno. */
static int run_fill(struct sorter *sorter, struct sorter_run *run)
{
	size_t want = PART_BYTES / sorter->size * sorter->size;

	if ((off_t)want > run->end - run->at)
		want = (size_t)(run->end - run->at);
	run->next = run->len = 0;
	while (run->len < want) {
		ssize_t got = pread(sorter->fd, run->part + run->len, want - run->len, run->at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		run->len += (size_t)got;
		run->at += got;
	}
	return want != 0;
}

static const char *head(const struct sorter *sorter, size_t number)
{
	const struct sorter_run *run = &sorter->runs.data[number];

	return run->part + run->next;
}

static void sink(struct sorter *sorter, size_t at)
{
#define before(a, b) (sorter->compare(head(sorter, *(a)), head(sorter, *(b))) < 0)
	heap_sink(sorter->heap, sorter->heap_len, at, before);
#undef before
}

static int open_runs(struct sorter *sorter)
{
	int err = write_run(sorter);

	/* the buffer of the last run is no longer needed */
	free(sorter->records);
	sorter->records = NULL;
	sorter->heap = xcalloc(sorter->runs.len, sizeof(*sorter->heap));
	for (size_t i = 0; i < sorter->runs.len && err >= 0; i++) {
		struct sorter_run *run = &sorter->runs.data[i];

		run->part = xmalloc(PART_BYTES);
		err = run_fill(sorter, run);
		sorter->heap[sorter->heap_len++] = i;
	}
	for (size_t i = sorter->heap_len; err >= 0 && i-- > 0;)
		sink(sorter, i);
	return err < 0 ? err : 0;
}

int sorter_finish(struct sorter *sorter)
{
	if (sorter->fd >= 0)
		return open_runs(sorter);
	qsort(sorter->records, sorter->count, sorter->size, sorter->compare);
	return 0;
}

/* Skips the record returned last. */
static int step(struct sorter *sorter)
{
	struct sorter_run *run = &sorter->runs.data[sorter->heap[0]];
	int more = 1;

	run->next += sorter->size;
	if (run->next == run->len)
		more = run_fill(sorter, run);
	if (more < 0)
		return more;
	if (!more)
		sorter->heap[0] = sorter->heap[--sorter->heap_len];
	sink(sorter, 0);
	return 0;
}

int sorter_next(struct sorter *sorter, const void **record)
{
	int err = 0;

	if (sorter->fd < 0) {
		if (sorter->next == sorter->count)
			return 0;
		*record = sorter->records + sorter->next++ * sorter->size;
		return 1;
	}
	if (sorter->started && sorter->heap_len)
		err = step(sorter);
	sorter->started = true;
	if (err || !sorter->heap_len)
		return err;
	*record = head(sorter, sorter->heap[0]);
	return 1;
}
