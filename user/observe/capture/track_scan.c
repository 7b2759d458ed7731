// SPDX-License-Identifier: BSD-3-Clause
/* What processes map: probes for it, and the side records that say so. */
#include <string.h>

#include "base/log.h"
#include "observe/capture/ends.h"
#include "observe/capture/side.h"
#include "observe/capture/track.h"
#include "observe/process/library.h"
#include "observe/process/process.h"

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
	if (probed)
		ends_library(track, probed);
	if (mapped->library->roles & LIB_MPI)
		cells_mpi_text(track->cells, tracked->tgid, mapped->base,
			       mapped->base + elf_reach(mapped->library->elf));
	if (mapped->library->roles & LIB_UCP)
		tracked->uses_ucp = true;
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

/* A runtime of user-level threads and a GPU's library are nothing to trace by themselves. */
static bool matters(const struct library *library)
{
	return library->roles & ~(LIB_USER_THREADS | LIB_GPU);
}

static bool any_matters(const mapped_libraries *mapped)
{
	for (size_t i = 0; i < mapped->len; i++)
		if (matters(mapped->data[i].library))
			return true;
	return false;
}

/* Beside a library that matters, memory does as well. */
static bool is_scanned(const struct library *library, bool beside)
{
	return matters(library) || (beside && library->roles & LIB_GPU);
}

static void scan_one(struct track *track, struct tracked *tracked)
{
	mapped_libraries mapped = { 0 };
	int err = process_libraries(tracked->tgid, &track->libraries, &mapped);
	bool beside;

	if (err)
		log_debug("process %d: %s", tracked->tgid, strerror(-err));
	ends_process(track, tracked, &mapped);
	beside = any_matters(&mapped);
	for (unsigned int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < mapped.len; i++)
			if (is_scanned(mapped.data[i].library, beside) &&
			    probing_turn(mapped.data[i].library) == turn)
				scan_library(track, tracked, &mapped, i);
	if (tracked->announced)
		vec_push(&track->scanned, tracked->tgid);
	vec_release(&mapped);
}

void track_scan(struct track *track)
{
	while (track->dirty.len) {
		size_t index = track->dirty.data[--track->dirty.len];
		struct tracked *tracked = &track->processes.data[index];

		tracked->dirty = false;
		if (tracked->alive)
			scan_one(track, tracked);
		else if (!tracked->announced)
			vec_push(&track->free, index);
	}
}

bool track_consider(struct track *track, pid_t tgid)
{
	mapped_libraries mapped = { 0 };
	bool added = !track_find(track, tgid) &&
		     !process_libraries(tgid, &track->libraries, &mapped) && any_matters(&mapped) &&
		     !track_add(track, tgid, false);

	vec_release(&mapped);
	return added;
}
