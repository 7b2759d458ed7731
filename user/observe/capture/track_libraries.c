// SPDX-License-Identifier: BSD-3-Clause
/* The libraries that traced processes map: their probes, and side records of both. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "observe/capture/addresses.h"
#include "observe/capture/side.h"
#include "observe/capture/track_private.h"
#include "observe/process/library.h"
#include "observe/process/process.h"
#include "observe/process/record.h"

static void refuse(struct track *track, const char *what, const char *runtime)
{
	side_warn(track->writer,
		  "no exact ends of MPI calls in %s: it uses %s, whose user-level threads switch "
		  "stacks, and a return probe there would end the program",
		  what, runtime);
}

/* Whether an MPI library's calls may get return probes; if not, warns and notes why, once. */
static void ends_library(struct track *track, const struct probed *probed)
{
	bool fresh = false;

	if (probed->user_threads)
		map_insert(&track->ends_refused, probed->library->dev, probed->library->ino,
			   &fresh);
	if (fresh)
		refuse(track, probed->library->path, probed->user_threads);
}

/* A process's mapped libraries are known: to be called before anything new of it is probed. */
static void ends_process(struct track *track, struct tracked *tracked,
			 const mapped_libraries *mapped)
{
	const char *runtime =
		track->probes->call_ends && !tracked->no_ends ? user_threads_mapped(mapped) : NULL;
	char name[40];

	if (!runtime)
		return;
	tracked->no_ends = true;
	kernel_allow_call_ends(track->kernel, tracked->tgid, false);
	if (track->probes->links.mechanism != LINK_SESSION) {
		kernel_end_call_ends(track->kernel);
		hot_drop_call_returns(&track->probes->hot);
		track->probes->call_ends = false;
	}
	snprintf(name, sizeof(name), "process %d%s", tracked->tgid,
		 track->probes->call_ends ? "" : " and all others");
	refuse(track, name, runtime);
}

static bool is_announced(const struct tracked *tracked, const struct library *library)
{
	for (size_t i = 0; i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i] == library)
			return true;
	return false;
}

/* Open MPI or MPICH, from the first MPI library among the mapped ones. */
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
	struct os_process process;

	if (tracked->announced || process_init(&process, tracked->tgid))
		return;
	process_rank_from_memory(&process, mapped);
	track->environments_refused += process.environment_refused;
	if (!track->arguments)
		record_cut(process.cmdline);
	side_write(track->writer,
		   process_side_record(&process, mpi_version(mapped),
				       tracked->from_start ? "start" : "attach", side_now()));
	process_release(&process);
	tracked->announced = true;
	track->announced++;
	track->with_ucx++;
}

static void announce_shmem(struct track *track)
{
	for (unsigned int row = 1; !track->knows_shmem && row < site_count(); row++)
		if (site_of_shmem(row))
			side_write(track->writer, side_site(row));
	track->knows_shmem = true;
}

/* An attached process has no gap before its records begin. */
static void note_gap(struct track *track, struct tracked *tracked, const struct probed *probed)
{
	uint64_t from = tracked->dirty_since;

	if (!tracked->from_start && !tracked->begun)
		return;
	if (!tracked->from_start && from < tracked->begun)
		from = tracked->begun;
	if (probed->since <= from)
		return;
	side_write(track->writer,
		   side_gap(tracked->tgid, "library", probed->library->path, from, probed->since));
	tracked->late = true;
}

static void announce_library(struct track *track, struct tracked *tracked,
			     const struct mapped_library *mapped)
{
	const struct probed *probed = probes_find(track->probes, mapped->library);
	struct library_probes counts = { 0 };
	json_t *record;

	if (probed)
		counts = (struct library_probes){ probed->placed, probed->missing, probed->stepped,
						  probed->refused };
	record = library_side_record(tracked->tgid, mapped, &counts, side_now());
	json_object_set_new(record, "slot", json_integer(probed ? probed->slot : 0));
	side_write(track->writer, record);
	vec_push(&tracked->libraries, mapped->library);
	if (probed)
		ends_library(track, probed);
	if (mapped->library->roles & LIB_MPI_CODE)
		cells_mpi_text(track->cells, tracked->tgid, mapped->base,
			       mapped->base + elf_reach(mapped->library->elf));
	if (mapped->library->roles & LIB_SHMEM)
		announce_shmem(track);
	if (mapped->library->roles & LIB_UCP)
		tracked->uses_ucp = true;
	if (probed && probed->lacks_error)
		side_write(track->writer,
			   side_note("errors of %s are not all counted: it has no %s",
				     mapped->library->path, probed->lacks_error));
	if (probed && probed->placed)
		note_gap(track, tracked, probed);
}

/* Lists its libraries anew; a gap still begins where the process was first noticed to map them. */
static void scan_again(struct track *track, struct tracked *tracked)
{
	const uint64_t since = tracked->dirty_since;

	track_mark_dirty(track, tracked, side_now());
	tracked->dirty_since = since;
}

/* Whether a library that has no probes may get some; if not, names it, once. */
static bool is_allowed(struct track *track, const struct tracked *tracked, struct library *library)
{
	const int err = library->by_user ? -EPERM
					 : probes_allow(track->probes, elf_file(library->elf),
							tracked->tgid);

	if (err == -EPERM && !library->by_user)
		side_warn(
			track->writer,
			"%s, mapped by process %d, is not probed: a user has mounted its file "
			"system, whose server could hold up the node; name its processes with -p, "
			"or its job with --job",
			library->path, tracked->tgid);
	library->by_user = err == -EPERM;
	return !err;
}

/* Private fields are read by the layout of the library's libucp, unless that is uncertain. */
static int probe_library(struct track *track, const struct tracked *tracked,
			 struct library *library, const struct library *ucp)
{
	if (!probes_find(track->probes, library) && !is_allowed(track, tracked, library))
		return 0;
	if (ucp && ucp->layout && !probes_find(track->probes, library) &&
	    track_has_old_layout(track, library, ucp->layout)) {
		side_warn(track->writer,
			  "private fields are not read in %s: a process runs that had mapped it "
			  "before its libucp was rewritten in place",
			  library->path);
		ucp = NULL;
	}
	return probes_attach(track->probes, library, ucp);
}

/* The file was rewritten while nobody watched it; the process may hit breakpoints there already. */
static bool is_rewritten_unseen(const struct track *track, const struct tracked *tracked,
				const struct library *library)
{
	return !is_announced(tracked, library) && probes_find(track->probes, library) &&
	       library_is_rewritten(library);
}

static void scan_library(struct track *track, struct tracked *tracked,
			 const mapped_libraries *mapped, size_t i)
{
	struct library *library = mapped->data[i].library;
	const struct library *ucp = library_owner_ucp(mapped, library);
	int err;

	/* found in this scan, after the mappings were read */
	if (library->rewritten || (ucp && ucp->rewritten)) {
		scan_again(track, tracked);
		return;
	}
	err = is_rewritten_unseen(track, tracked, library)
		      ? -ESTALE
		      : probe_library(track, tracked, library, ucp);
	if (err == -ESTALE) {
		track_rewritten_unseen(track, library);
		scan_again(track, tracked);
		return;
	}
	if (err)
		log_warn("cannot probe '%s': %s", library->path, strerror(-err));
	if (!is_announced(tracked, library))
		announce_library(track, tracked, &mapped->data[i]);
}

/*
 * Probes take milliseconds to place. Causes get theirs before their effects: MPI_Init is called
 * soon after its library is mapped, and a transfer that is seen has a call and an operation.
 */
#define PROBING_TURNS 3

static unsigned int probing_turn(const struct library *library)
{
	return library->roles & (LIB_MPI | LIB_SHMEM) ? 0 : library->roles & LIB_UCP ? 1 : 2;
}

/* A runtime of user-level threads or a GPU library alone is no reason to trace. */
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

/* Libraries to probe in a process that is traced: a GPU library counts here. */
static bool is_scanned(const struct library *library)
{
	return matters(library) || library->roles & LIB_GPU;
}

/* A process that has mapped something, and all that it maps. */
struct scan {
	size_t index;
	mapped_libraries mapped;
	bool matters;
};

/*
 * Reads the libraries and the identity, before anything is probed: a short program may have ended
 * by then.
 */
static struct scan scan_identity(struct track *track, size_t index)
{
	struct tracked *tracked = &track->processes.data[index];
	const bool holds = process_maps_hold(tracked->tgid);
	const uint64_t before = side_now();
	struct scan scan = { .index = index };
	int err = process_libraries(tracked->tgid, &track->libraries, &scan.mapped);

	if (err)
		log_debug("process %d: %s", tracked->tgid, strerror(-err));
	else if (scan.mapped.len || !tracked->announced) /* none: it is about to end */
		tracked->read_at = before;
	scan.matters = any_matters(&scan.mapped);
	ends_process(track, tracked, &scan.mapped);
	tracked->user_threads = tracked->user_threads || user_threads_mapped(&scan.mapped);
	if (scan.matters)
		announce_process(track, tracked, &scan.mapped);
	if (tracked->announced) {
		addresses_process(track->addresses, tracked->tgid);
		vec_push(&track->scanned, tracked->tgid);
	}
	if (holds)
		process_maps_drop();
	return scan;
}

static void scan_probes(struct track *track, const struct scan *scan, unsigned int turn)
{
	const mapped_libraries *mapped = &scan->mapped;

	for (size_t i = 0; scan->matters && i < mapped->len; i++)
		if (is_scanned(mapped->data[i].library) &&
		    probing_turn(mapped->data[i].library) == turn)
			scan_library(track, &track->processes.data[scan->index], mapped, i);
}

void track_scan(struct track *track)
{
	VEC(struct scan) scans = { 0 };

	for (size_t i = 0; i < track->dirty.len; i++) {
		size_t index = track->dirty.data[i];
		struct tracked *tracked = &track->processes.data[index];

		tracked->dirty = false;
		if (tracked->alive)
			vec_push(&scans, scan_identity(track, index));
		else if (!tracked->announced)
			vec_push(&track->free, index);
	}
	track->dirty.len = 0;
	for (unsigned int turn = 0; turn < PROBING_TURNS; turn++)
		for (size_t i = 0; i < scans.len; i++)
			scan_probes(track, &scans.data[i], turn);
	for (size_t i = 0; i < scans.len; i++)
		vec_release(&scans.data[i].mapped);
	vec_release(&scans);
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

/* Unused libraries that are kept: later jobs may use their probes, but each costs memory and
 * descriptors. */
#define LIBRARIES_MOST 512

static uint64_t address_of(const struct library *library)
{
	return (uintptr_t)library;
}

/* Keys of all libraries that a traced process maps, or had mapped before they were rewritten. */
static struct map used_libraries(const struct track *track,
				 uint64_t (*key)(const struct library *library))
{
	struct map used = { 0 };

	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];

		for (size_t k = 0; k < tracked->libraries.len; k++)
			map_insert(&used, key(tracked->libraries.data[k]), 0, NULL);
	}
	return used;
}

/* Keys of the libraries to free. */
static struct map unused_libraries(const struct track *track)
{
	const bool many = track->libraries.all.len > LIBRARIES_MOST;
	struct map used = used_libraries(track, library_key), unused = { 0 };

	for (size_t i = 0; i < track->libraries.all.len; i++) {
		const struct library *library = track->libraries.all.data[i];

		if (!map_find(&used, library_key(library), 0) &&
		    (many || library_is_deleted(library)))
			map_insert(&unused, library_key(library), 0, NULL);
	}
	map_release(&used);
	return unused;
}

void track_forget_libraries(struct track *track)
{
	struct map used = used_libraries(track, address_of), unused = unused_libraries(track);

	library_set_forget_rewritten(&track->libraries, &used);
	if (unused.used) {
		log_debug("%zu libraries are forgotten, as no process maps them", unused.used);
		probes_forget(track->probes, &unused);
		for (size_t i = 0; i < track->libraries.all.len; i++) {
			const struct library *library = track->libraries.all.data[i];

			if (map_find(&unused, library_key(library), 0))
				map_remove(&track->ends_refused, library->dev, library->ino);
		}
		library_set_forget(&track->libraries, &unused);
	}
	map_release(&unused);
	map_release(&used);
}
