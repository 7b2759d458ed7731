// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/track_private.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "observe/capture/side.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"

void track_mark_dirty(struct track *track, struct tracked *tracked, uint64_t time)
{
	if (time > tracked->mapped_at)
		tracked->mapped_at = time;
	if (tracked->dirty)
		return;
	tracked->dirty = true;
	tracked->dirty_since = time;
	vec_push(&track->dirty, (size_t)(tracked - track->processes.data));
}

void track_init(struct track *track, struct kernel *kernel, struct probes *probes,
		struct file_writer *writer)
{
	*track = (struct track){ .kernel = kernel, .probes = probes, .writer = writer };
}

static void close_pidfd(struct tracked *tracked)
{
	if (tracked->pidfd >= 0)
		close(tracked->pidfd);
	tracked->pidfd = -1;
}

void track_release(struct track *track)
{
	for (size_t i = 0; i < track->processes.len; i++) {
		close_pidfd(&track->processes.data[i]);
		vec_release(&track->processes.data[i].libraries);
	}
	vec_release(&track->processes);
	vec_release(&track->dirty);
	vec_release(&track->scanned);
	vec_release(&track->unlearnt);
	vec_release(&track->free);
	map_release(&track->latest);
	map_release(&track->ends_refused);
	library_set_release(&track->libraries);
}

struct tracked *track_find(const struct track *track, pid_t tgid)
{
	const uint64_t *index = map_find(&track->latest, tgid, 0);

	return index && *index ? &track->processes.data[*index - 1] : NULL;
}

bool track_knows(const struct track *track, pid_t tgid, uint64_t time)
{
	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];

		if (tracked->tgid == tgid && tracked->announced &&
		    (tracked->alive || time <= tracked->ended))
			return true;
	}
	return false;
}

static struct tracked *add_entry(struct track *track, pid_t tgid, bool from_start, uint64_t time)
{
	size_t index = track->processes.len;
	struct tracked *tracked;

	if (track->free.len)
		index = track->free.data[--track->free.len];
	else
		vec_add(&track->processes);
	tracked = &track->processes.data[index];
	*tracked = (struct tracked){
		.tgid = tgid,
		.pidfd = -1,
		.from_start = from_start,
		.alive = true,
		.since = time,
	};
	track_mark_dirty(track, tracked, time);
	*map_insert(&track->latest, tgid, 0, NULL) = index + 1;
	track->alive++;
	return tracked;
}

static void end_entry(struct track *track, struct tracked *tracked)
{
	if (!tracked || !tracked->alive)
		return;
	tracked->alive = false;
	tracked->ended = side_now();
	track->alive--;
	close_pidfd(tracked);
	if (tracked->no_ends) /* its number may become another process's */
		kernel_allow_call_ends(track->kernel, tracked->tgid, true);
	map_remove(&track->latest, tracked->tgid, 0);
	if (tracked->announced)
		track->with_ucx--;
	else if (!tracked->dirty)
		vec_push(&track->free, (size_t)(tracked - track->processes.data));
}

int track_add(struct track *track, pid_t tgid, bool from_start)
{
	int err = process_is_32bit(tgid), pidfd;

	if (track_find(track, tgid))
		return -EEXIST;
	if (err)
		return err < 0 ? err : -EOPNOTSUPP;
	if (proc_status_number(tgid, "Tgid:") != tgid)
		return -EINVAL;
	pidfd = (int)syscall(SYS_pidfd_open, tgid, 0);
	if (pidfd < 0)
		return -errno;
	add_entry(track, tgid, from_start, side_now())->pidfd = pidfd;
	return 0;
}

static bool has_ended(const struct tracked *tracked)
{
	struct pollfd end = { .fd = tracked->pidfd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

static int stays(void *arg, pid_t tid)
{
	struct proc_stat stat;

	return !proc_stat(*(const pid_t *)arg, tid, &stat) && !stat.exiting;
}

/*
 * All of its threads are exiting. Our programs may have seen the exit already, although it may take
 * long until the process has ended.
 */
static bool is_ending(pid_t tgid)
{
	struct proc_stat stat;

	/* most often its first thread says no */
	if (!proc_stat(tgid, 0, &stat) && !stat.exiting)
		return false;
	return proc_threads(tgid, stays, &tgid) <= 0;
}

/*
 * While a process lives, no other has its pid, and our programs forget it when it ends. So it must
 * live after they have learnt of it. It must live before as well, lest another process with its pid
 * be recorded for a moment.
 */
int track_begin(struct track *track, pid_t tgid)
{
	struct tracked *tracked = track_find(track, tgid);
	bool ended = !tracked || has_ended(tracked);
	int err = ended ? -ESRCH : kernel_trace_process(track->kernel, tgid);

	if (!err && (has_ended(tracked) || is_ending(tgid))) {
		kernel_forget_process(track->kernel, tgid);
		err = -ESRCH;
	}
	if (err == -ESRCH)
		end_entry(track, tracked);
	else
		close_pidfd(tracked);
	if (!err)
		tracked->begun = side_now();
	return err;
}

/*
 * Rings are drained one CPU after the other and by several threads, so a child's exit may be read
 * before its fork: the kernel's own list decides which processes are alive.
 */
static struct tracked *add_living(struct track *track, pid_t tgid, uint64_t time)
{
	return kernel_is_traced(track->kernel, tgid) ? add_entry(track, tgid, true, time) : NULL;
}

static void add_child(struct track *track, pid_t tgid, uint64_t time)
{
	struct tracked *child = track_find(track, tgid) ? NULL : add_living(track, tgid, time);

	if (child)
		child->copy = true;
}

/* The new program's mappings may have been seen before this record: then they are reported twice.
 */
static void become_another(struct track *track, struct tracked *tracked, const struct ub_task *task)
{
	if (tracked)
		tracked->replaced = true;
	end_entry(track, tracked);
	add_living(track, task->h.tgid, task->h.ts);
}

void track_task(struct track *track, const struct ub_task *task)
{
	struct tracked *tracked = track_find(track, task->h.tgid);

	switch (task->what) {
	case UB_FORK:
		add_child(track, task->other, task->h.ts);
		break;
	case UB_EXEC:
		become_another(track, tracked, task);
		break;
	case UB_EXIT:
		end_entry(track, tracked);
		break;
	}
}

/*
 * The process that had the pid at that time and has ended since: mappings and ends come by
 * different rings.
 */
static struct tracked *ended_since(struct track *track, pid_t tgid, uint64_t time)
{
	for (size_t i = 0; i < track->processes.len; i++) {
		struct tracked *tracked = &track->processes.data[i];

		if (tracked->tgid == tgid && tracked->announced && !tracked->alive &&
		    tracked->since <= time && time <= tracked->ended)
			return tracked;
	}
	return NULL;
}

void track_mapped(struct track *track, pid_t tgid, uint64_t time)
{
	struct tracked *tracked = track_find(track, tgid), *ended;

	if (!tracked) { /* the record of its fork is still in a ring, or it has ended */
		ended = add_living(track, tgid, time) ? NULL : ended_since(track, tgid, time);
		if (ended && time > ended->mapped_at)
			ended->mapped_at = time;
		return;
	}
	tracked->copy = false;
	track_mark_dirty(track, tracked, time);
}

void track_reap(struct track *track)
{
	const uint64_t now = side_now();

	for (size_t i = 0; i < track->processes.len; i++) {
		struct tracked *tracked = &track->processes.data[i];

		if (!tracked->alive || kernel_is_traced(track->kernel, tracked->tgid))
			continue;
		tracked->reaped = true;
		end_entry(track, tracked);
		cells_process_ended(track->cells, tracked->tgid, now);
	}
}

#define REAPED_NS (30ull * 1000000000)

bool track_is_over(const struct tracked *tracked, uint64_t by)
{
	const uint64_t late = tracked->reaped ? REAPED_NS : 0;

	return !tracked->alive && tracked->announced && !tracked->dirty &&
	       tracked->ended + late < by;
}

static bool is_unread(const struct tracked *tracked)
{
	return tracked->announced && !tracked->alive && tracked->mapped_at > tracked->read_at;
}

static void note_unread(struct track *track, const struct tracked *tracked)
{
	if (is_unread(tracked))
		side_write(track->writer, side_unread(tracked->tgid, tracked->ended));
}

void track_forget_ended(struct track *track, uint64_t by)
{
	for (size_t i = 0; i < track->processes.len; i++) {
		struct tracked *tracked = &track->processes.data[i];

		if (!track_is_over(tracked, by))
			continue;
		note_unread(track, tracked);
		vec_release(&tracked->libraries);
		tracked->announced = false;
		vec_push(&track->free, i);
	}
}

void track_rescan(struct track *track)
{
	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].alive)
			track_mark_dirty(track, &track->processes.data[i], side_now());
}

static bool is_mpi_alone(const struct tracked *tracked)
{
	unsigned int roles = 0;

	for (size_t i = 0; i < tracked->libraries.len; i++)
		roles |= tracked->libraries.data[i]->roles;
	return roles & LIB_MPI && !(roles & (LIB_UCP | LIB_UCT));
}

struct mpi_alone track_finish(struct track *track)
{
	struct mpi_alone count = { 0 };

	for (size_t i = 0; i < track->processes.len; i++) {
		struct tracked *tracked = &track->processes.data[i];

		note_unread(track, tracked);
		if (tracked->copy || tracked->replaced || !is_mpi_alone(tracked))
			continue;
		count.without_ucx += !is_unread(tracked);
		count.unknown += is_unread(tracked);
	}
	return count;
}
