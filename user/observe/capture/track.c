// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/track.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/capture/addresses.h"
#include "observe/capture/side.h"
#include "observe/process/layout.h"
#include "observe/process/record.h"
#include "observe/process/library.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"

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

/* The process has ended or has a new program. */
static void ends_forget(struct track *track, const struct tracked *tracked)
{
	if (tracked->no_ends)
		kernel_allow_call_ends(track->kernel, tracked->tgid, true);
}

/* ---- mapped libraries: probes and side records ---- */

static void mark_dirty(struct track *track, struct tracked *tracked, uint64_t time)
{
	if (time > tracked->mapped_at)
		tracked->mapped_at = time;
	if (tracked->dirty)
		return;
	tracked->dirty = true;
	tracked->dirty_since = time;
	vec_push(&track->dirty, (size_t)(tracked - track->processes.data));
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
	if (probed && probed->placed)
		note_gap(track, tracked, probed);
}

static void note_rewritten(struct track *track, const struct map *keys)
{
	for (size_t i = 0; i < track->libraries.all.len; i++) {
		const struct library *library = track->libraries.all.data[i];

		if (library->rewritten || !map_find(keys, library_key(library), 0))
			continue;
		side_write(track->writer, side_note(REWRITTEN, library->path));
		map_remove(&track->ends_refused, library->dev, library->ino);
	}
}

/* Their files are those in the one map, but not in the other. */
static void note_users_of_layout(struct track *track, const struct map *keys,
				 const struct map *rewritten)
{
	for (size_t i = 0; i < track->libraries.all.len; i++) {
		const struct library *library = track->libraries.all.data[i];
		const uint64_t key = library_key(library);

		if (library->rewritten || !map_find(keys, key, 0) || map_find(rewritten, key, 0))
			continue;
		side_warn(track->writer,
			  "%s has lost its probes, as the libucp it works with was rewritten in "
			  "place: its calls are missing until a process that maps it is inspected",
			  library->path);
	}
}

static void note_unlearnt(struct track *track, pid_t tgid)
{
	side_write(track->writer,
		   side_note("process %d has lost its probes at completion functions, as a file "
			     "that it maps was rewritten in place: those in other files come back "
			     "when a function is used again",
			     tgid));
	vec_push(&track->unlearnt, tgid);
}

void track_rewritten(struct track *track, struct map *keys)
{
	struct map rewritten = { 0 }, unlearnt = { 0 };
	struct map_slot *slot;
	size_t at = 0;

	if (!keys->used)
		return;
	note_rewritten(track, keys);
	while ((slot = map_next(keys, &at)))
		map_insert(&rewritten, slot->a, 0, NULL);
	/* the users of its layout keep their content */
	probes_rewritten(track->probes, keys, &unlearnt);
	note_users_of_layout(track, keys, &rewritten);
	library_set_rewritten(&track->libraries, &rewritten);
	addresses_rewritten(track->addresses, &rewritten);
	at = 0;
	while ((slot = map_next(&unlearnt, &at)))
		note_unlearnt(track, (pid_t)slot->a);
	map_release(&unlearnt);
	map_release(&rewritten);
}

/* Lists its libraries anew; a gap still begins where the process was first noticed to map them. */
static void scan_again(struct track *track, struct tracked *tracked)
{
	const uint64_t since = tracked->dirty_since;

	mark_dirty(track, tracked, side_now());
	tracked->dirty_since = since;
}

/* While it was not watched; the process, which is scanned anew, may have breakpoints already. */
static void drop_rewritten(struct track *track, struct tracked *tracked,
			   const struct library *library)
{
	struct map keys = { 0 };

	map_insert(&keys, library_key(library), 0, NULL);
	track_rewritten(track, &keys);
	log_warn(REWRITTEN, library->path);
	map_release(&keys);
	scan_again(track, tracked);
}

static bool same_layout(const struct layout *a, const struct layout *b)
{
	return a == b || (a && b && !memcmp(&a->wire, &b->wire, sizeof(a->wire)));
}

/*
 * Requests of a process that lives may have the layout that the libucp had before it was rewritten,
 * and the probes of a file are the same for all processes.
 */
static bool has_old_layout(const struct track *track, const struct library *library,
			   const struct layout *layout)
{
	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];
		bool maps = false, had = false;

		for (size_t k = 0; tracked->alive && k < tracked->libraries.len; k++) {
			const struct library *old = tracked->libraries.data[k];

			maps = maps || library_key(old) == library_key(library);
			had = had || (old->rewritten && old->roles & LIB_UCP &&
				      !same_layout(old->layout, layout));
		}
		if (maps && had)
			return true;
	}
	return false;
}

static int probe_library(struct track *track, const struct library *library,
			 const struct library *ucp)
{
	if (ucp && ucp->layout && !probes_find(track->probes, library) &&
	    has_old_layout(track, library, ucp->layout)) {
		side_warn(track->writer,
			  "private fields are not read in %s: a process runs that had mapped it "
			  "before its libucp was rewritten in place",
			  library->path);
		ucp = NULL;
	}
	return probes_attach(track->probes, library, ucp);
}

static void scan_library(struct track *track, struct tracked *tracked,
			 const mapped_libraries *mapped, size_t i)
{
	const struct library *library = mapped->data[i].library;
	const struct library *ucp = library_owner_ucp(mapped, library);
	int err;

	/* that was found in this scan, after the mappings were read */
	if (library->rewritten || (ucp && ucp->rewritten)) {
		scan_again(track, tracked);
		return;
	}
	if (!is_announced(tracked, library) && probes_find(track->probes, library) &&
	    library_is_rewritten(library)) {
		drop_rewritten(track, tracked, library);
		return;
	}
	err = probe_library(track, library, ucp);
	if (err == -ESTALE) {
		drop_rewritten(track, tracked, library);
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

/* In a process that has a library that matters: its memory does as well. */
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

/* Who it is: a short program may have ended by the time anything is probed. */
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
	tracked->ended = side_now();
	track->alive--;
	close_pidfd(tracked);
	ends_forget(track, tracked);
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
 * All of its threads are on their way out. Our programs may have seen that before, and it may take
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
 * While it lives nobody else has its number, and the kernel forgets it when it ends: what counts is
 * that it lives once the kernel knows of it. Asked before as well, so that somebody else who has
 * the number by then is not recorded for a moment.
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

/* Mappings and ends come by different rings. */
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

	if (!tracked) { /* its fork record may still be in a ring, or it has ended */
		ended = add_living(track, tgid, time) ? NULL : ended_since(track, tgid, time);
		if (ended && time > ended->mapped_at)
			ended->mapped_at = time;
		return;
	}
	tracked->copy = false;
	mark_dirty(track, tracked, time);
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

/* A place for probes of jobs to come is worth keeping; each costs memory and descriptors. */
#define LIBRARIES_MOST 512

/* Keys of the libraries to take away. */
static struct map unused_libraries(const struct track *track)
{
	const bool many = track->libraries.all.len > LIBRARIES_MOST;
	struct map used = { 0 }, unused = { 0 };

	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];

		for (size_t k = 0; k < tracked->libraries.len; k++)
			map_insert(&used, library_key(tracked->libraries.data[k]), 0, NULL);
	}
	for (size_t i = 0; i < track->libraries.all.len; i++) {
		const struct library *library = track->libraries.all.data[i];

		if (!map_find(&used, library_key(library), 0) &&
		    (many || library_is_deleted(library)))
			map_insert(&unused, library_key(library), 0, NULL);
	}
	map_release(&used);
	return unused;
}

/* Frees rewritten libraries that no process here had mapped before. */
static void forget_rewritten(struct track *track)
{
	struct map used = { 0 };

	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];

		for (size_t k = 0; k < tracked->libraries.len; k++)
			map_insert(&used, (uintptr_t)tracked->libraries.data[k], 0, NULL);
	}
	library_set_forget_rewritten(&track->libraries, &used);
	map_release(&used);
}

void track_forget_libraries(struct track *track)
{
	struct map unused = unused_libraries(track);

	forget_rewritten(track);

	if (unused.used) {
		log_debug("%zu libraries that nobody maps are let go", unused.used);
		probes_forget(track->probes, &unused);
		for (size_t i = 0; i < track->libraries.all.len; i++) {
			const struct library *library = track->libraries.all.data[i];

			if (map_find(&unused, library_key(library), 0))
				map_remove(&track->ends_refused, library->dev, library->ino);
		}
		library_set_forget(&track->libraries, &unused);
	}
	map_release(&unused);
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
