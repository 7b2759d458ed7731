// SPDX-License-Identifier: BSD-3-Clause
#include "capture/track.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "capture/side.h"
#include "target/library_owner.h"
#include "target/process.h"

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
	map_release(&track->latest);
	library_set_release(&track->libraries);
}

struct tracked *track_find(const struct track *track, pid_t tgid)
{
	const uint64_t *index = map_find(&track->latest, tgid, 0);

	return index && *index ? &track->processes.data[*index - 1] : NULL;
}

static struct tracked *add_entry(struct track *track, pid_t tgid, bool from_start, uint64_t time)
{
	struct tracked *tracked = vec_add(&track->processes);

	tracked->tgid = tgid;
	tracked->from_start = from_start;
	tracked->alive = true;
	tracked->dirty = true;
	tracked->dirty_since = time;
	*map_insert(&track->latest, tgid, 0, NULL) = track->processes.len;
	track->alive++;
	return tracked;
}

static void end_entry(struct track *track, struct tracked *tracked)
{
	if (!tracked || !tracked->alive)
		return;
	tracked->alive = false;
	track->alive--;
	if (tracked->announced)
		track->with_ucx--;
	*map_insert(&track->latest, tracked->tgid, 0, NULL) = 0;
}

int track_add(struct track *track, pid_t tgid, bool from_start)
{
	struct tracked *known = track_find(track, tgid);
	int err = process_is_32bit(tgid);

	if (known && known->alive)
		return 0;
	if (err)
		return err < 0 ? err : -EOPNOTSUPP;
	err = kernel_trace_process(track->kernel, tgid);
	if (!err)
		add_entry(track, tgid, from_start, side_now());
	return err;
}

void track_task(struct track *track, const struct ub_task *task)
{
	struct tracked *tracked = track_find(track, task->h.tgid);

	switch (task->what) {
	case UB_FORK:
		if (!track_find(track, task->other))
			add_entry(track, task->other, true, task->h.ts);
		break;
	case UB_EXEC:
		end_entry(track, tracked);
		add_entry(track, task->h.tgid, true, task->h.ts);
		break;
	case UB_EXIT:
		end_entry(track, tracked);
		break;
	}
}

void track_mapped(struct track *track, pid_t tgid, uint64_t time)
{
	struct tracked *tracked = track_find(track, tgid);

	if (!tracked) {
		/* its fork record may still be in a ring */
		if (!kernel_is_traced(track->kernel, tgid))
			return;
		tracked = add_entry(track, tgid, true, time);
	}
	if (!tracked->dirty) {
		tracked->dirty = true;
		tracked->dirty_since = time;
	}
}

static bool is_announced(const struct tracked *tracked, const struct library *library)
{
	for (size_t i = 0; i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i] == library)
			return true;
	return false;
}

/* Open MPI or MPICH, as the first MPI library among the mapped ones says. */
static const char *mpi_version(const mapped_libraries *mapped)
{
	for (size_t i = 0; i < mapped->len; i++)
		if (mapped->data[i].library->roles & LIB_MPI)
			return mapped->data[i].library->mpi_version;
	return "";
}

static void announce_process(struct track *track, struct tracked *tracked,
			     const mapped_libraries *mapped)
{
	struct process process;

	if (tracked->announced || process_init(&process, tracked->tgid))
		return;
	process_rank_from_memory(&process, mapped);
	side_write(track->writer,
		   process_side_record(&process, mpi_version(mapped),
				       tracked->from_start ? "start" : "attach", side_now()));
	process_release(&process);
	tracked->announced = true;
	track->announced++;
	track->with_ucx++;
}

static void announce_library(struct track *track, struct tracked *tracked,
			     const struct mapped_library *mapped, bool was_probed)
{
	const struct probed *probed = probes_find(track->probes, mapped->library);
	struct library_probes counts = { 0 };
	json_t *record;

	if (probed)
		counts =
			(struct library_probes){ probed->placed, probed->missing, probed->stepped };
	record = library_side_record(tracked->tgid, mapped, &counts, side_now());
	json_object_set_new(record, "slot", json_integer(probed ? probed->slot : 0));
	side_write(track->writer, record);
	vec_push(&tracked->libraries, mapped->library);
	if (!was_probed && tracked->from_start && probed && probed->placed)
		side_write(track->writer, side_gap(tracked->tgid, "library", mapped->library->path,
						   tracked->dirty_since, side_now()));
}

static void scan_library(struct track *track, struct tracked *tracked,
			 const mapped_libraries *mapped, size_t i)
{
	const struct library *library = mapped->data[i].library;
	bool was_probed = probes_find(track->probes, library);
	int err = was_probed ? 0
			     : probes_attach(track->probes, library,
					     library_owner_ucp(mapped, library));

	if (err)
		log_warn("cannot probe '%s': %s", library->path, strerror(-err));
	announce_process(track, tracked, mapped);
	if (!is_announced(tracked, library))
		announce_library(track, tracked, &mapped->data[i], was_probed);
}

/*
 * Probes take milliseconds to place. Causes get theirs before their effects: MPI_Init is called
 * soon after its library is mapped, and a transfer that is seen has a call and an operation.
 */
static unsigned int probing_turn(const struct library *library)
{
	return library->roles & LIB_MPI ? 0 : library->roles & LIB_UCP ? 1 : 2;
}

static void scan_one(struct track *track, struct tracked *tracked)
{
	mapped_libraries mapped = { 0 };
	int err = process_libraries(tracked->tgid, &track->libraries, &mapped);

	tracked->dirty = false;
	if (err)
		log_debug("process %d: %s", tracked->tgid, strerror(-err));
	for (unsigned int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < mapped.len; i++)
			if (probing_turn(mapped.data[i].library) == turn)
				scan_library(track, tracked, &mapped, i);
	vec_release(&mapped);
}

void track_scan(struct track *track)
{
	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].dirty && track->processes.data[i].alive)
			scan_one(track, &track->processes.data[i]);
}

bool track_consider(struct track *track, pid_t tgid)
{
	mapped_libraries mapped = { 0 };
	bool added = !track_find(track, tgid) &&
		     !process_libraries(tgid, &track->libraries, &mapped) && mapped.len &&
		     !track_add(track, tgid, false);

	vec_release(&mapped);
	return added;
}

const struct library *track_ucp(struct track *track, pid_t tgid)
{
	const struct tracked *tracked = track_find(track, tgid);

	for (size_t i = 0; tracked && i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i]->roles & LIB_UCP)
			return tracked->libraries.data[i];
	return NULL;
}
