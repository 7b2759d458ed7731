// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/track.h"

#include <errno.h>

#include "observe/capture/ends.h"
#include "observe/capture/side.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"

void track_init(struct track *track, struct kernel *kernel, struct probes *probes,
		struct file_writer *writer)
{
	*track = (struct track){ .kernel = kernel, .probes = probes, .writer = writer };
}

void track_release(struct track *track)
{
	for (size_t i = 0; i < track->processes.len; i++)
		vec_release(&track->processes.data[i].libraries);
	vec_release(&track->processes);
	vec_release(&track->dirty);
	vec_release(&track->scanned);
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

static void mark_dirty(struct track *track, struct tracked *tracked, uint64_t time)
{
	if (tracked->dirty)
		return;
	tracked->dirty = true;
	tracked->dirty_since = time;
	vec_push(&track->dirty, (size_t)(tracked - track->processes.data));
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
	*tracked = (struct tracked){ .tgid = tgid, .from_start = from_start, .alive = true };
	mark_dirty(track, tracked, time);
	*map_insert(&track->latest, tgid, 0, NULL) = index + 1;
	track->alive++;
	return tracked;
}

static void end_entry(struct track *track, struct tracked *tracked)
{
	if (!tracked || !tracked->alive)
		return;
	tracked->alive = false;
	track->alive--;
	ends_forget(track, tracked);
	map_remove(&track->latest, tracked->tgid, 0);
	if (tracked->announced)
		track->with_ucx--;
	else if (!tracked->dirty)
		vec_push(&track->free, (size_t)(tracked - track->processes.data));
}

int track_add(struct track *track, pid_t tgid, bool from_start)
{
	int err = process_is_32bit(tgid);

	if (track_find(track, tgid))
		return -EEXIST;
	if (err)
		return err < 0 ? err : -EOPNOTSUPP;
	if (proc_status_number(tgid, "Tgid:") != tgid)
		return -EINVAL;
	add_entry(track, tgid, from_start, side_now());
	return 0;
}

int track_begin(struct track *track, pid_t tgid)
{
	return kernel_trace_process(track->kernel, tgid);
}

/*
 * Rings are drained one CPU after the other and by several threads, so a child's exit may be read
 * before its fork: the kernel's own list says who is still there.
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

/* What the new program maps may have been seen before this record: then it is told of twice. */
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

void track_mapped(struct track *track, pid_t tgid, uint64_t time)
{
	struct tracked *tracked = track_find(track, tgid);

	if (!tracked) { /* its fork record may still be in a ring */
		add_living(track, tgid, time);
		return;
	}
	tracked->copy = false;
	mark_dirty(track, tracked, time);
}

void track_reap(struct track *track)
{
	for (size_t i = 0; i < track->processes.len; i++) {
		struct tracked *tracked = &track->processes.data[i];

		if (tracked->alive && !kernel_is_traced(track->kernel, tracked->tgid))
			end_entry(track, tracked);
	}
}

void track_rescan(struct track *track)
{
	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].alive)
			mark_dirty(track, &track->processes.data[i], side_now());
}

static bool is_mpi_alone(const struct tracked *tracked)
{
	unsigned int roles = 0;

	for (size_t i = 0; i < tracked->libraries.len; i++)
		roles |= tracked->libraries.data[i]->roles;
	return roles & LIB_MPI && !(roles & (LIB_UCP | LIB_UCT));
}

unsigned int track_without_ucx(const struct track *track)
{
	unsigned int count = 0;

	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];

		count += !tracked->copy && !tracked->replaced && is_mpi_alone(tracked);
	}
	return count;
}

const struct library *track_ucp(struct track *track, pid_t tgid)
{
	const struct tracked *tracked = track_find(track, tgid);

	for (size_t i = 0; tracked && i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i]->roles & LIB_UCP)
			return tracked->libraries.data[i];
	return NULL;
}
