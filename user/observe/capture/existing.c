// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/existing_private.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/log.h"
#include "base/vec.h"
#include "observe/capture/side.h"
#include "observe/process/bounds.h"
#include "observe/process/proc.h"
#include "observe/process/snapshot.h"

#define MAX_WORKERS 64

void existing_init(struct existing *existing, struct track *track, struct file_writer *writer)
{
	*existing = (struct existing){ .track = track,
				       .writer = writer,
				       .quota = { "UCX objects", BOUNDS_OBJECTS },
				       .workers_quota = { "workers", BOUNDS_WORKERS } };
	pthread_mutex_init(&existing->lock, NULL);
	pthread_cond_init(&existing->more, NULL);
}

void existing_forget_unread(struct existing *existing)
{
	for (size_t i = 0; i < existing->unread.len; i++)
		vec_release(&existing->unread.data[i].mapped);
	existing->unread.len = 0;
	existing->next = 0;
}

void existing_release(struct existing *existing)
{
	map_release(&existing->known);
	map_release(&existing->pauses);
	quota_release(&existing->quota);
	vec_release(&existing->strangers);
	map_release(&existing->workers);
	map_release(&existing->layouts);
	quota_release(&existing->workers_quota);
	existing_forget_unread(existing);
	vec_release(&existing->unread);
	pthread_cond_destroy(&existing->more);
	pthread_mutex_destroy(&existing->lock);
}

/* The entry of an object among the known ones, new if need be. NULL: the process has too many. */
static uint64_t *object_slot(struct existing *existing, pid_t tgid, uint64_t pointer, bool *fresh)
{
	uint64_t *known = map_find(&existing->known, tgid, pointer);

	*fresh = !known;
	if (known || !quota_take(&existing->quota, tgid))
		return known;
	return map_insert(&existing->known, tgid, pointer, NULL);
}

/* An object at this address begins or ends: its next side record is about another one. */
static void note_life(struct existing *existing, pid_t tgid, uint64_t pointer)
{
	bool fresh;
	uint64_t *known = object_slot(existing, tgid, pointer, &fresh);

	if (known)
		*known = 0;
}

/*
 * Records come in any order, and another worker may get the same address: the latest event counts.
 */
static void note_worker(struct existing *existing, pid_t tgid, uint64_t worker,
			const struct layout *layout, uint64_t ts, bool lives)
{
	uint64_t *seen = map_find(&existing->workers, (uint64_t)tgid, worker);

	if (!seen && !quota_take(&existing->workers_quota, tgid))
		return;
	seen = map_insert(&existing->workers, (uint64_t)tgid, worker, NULL);
	if (ts < *seen / 2)
		return;
	*seen = 2 * ts + lives;
	*map_insert(&existing->layouts, (uint64_t)tgid, worker, NULL) = (uintptr_t)layout;
}

/* A process may have copies of UCX that differ: each record names the layout of its own. */
static const struct layout *layout_of(const struct existing *existing, const struct ub_hdr *record)
{
	return record->layout ? existing->track->probes->slots[record->layout] : NULL;
}

bool existing_is_in_use(const struct existing *existing, const struct layout *layout)
{
	const struct probes *probes = existing->track->probes;

	for (int slot = 1; layout && slot < UB_MAX_LAYOUTS; slot++)
		if (probes->slots[slot] == layout)
			return true;
	return false;
}

/* The object that a record names: a stranger if nothing is known of it. */
static void note_named(struct existing *existing, const struct ub_hdr *record, uint64_t pointer,
		       bool is_iface)
{
	const struct layout *layout = layout_of(existing, record);
	bool fresh;

	if (!pointer || !layout)
		return;
	if (object_slot(existing, record->tgid, pointer, &fresh) && fresh)
		vec_push(&existing->strangers, ((struct stranger){ .tgid = record->tgid,
								   .pointer = pointer,
								   .layout = layout,
								   .is_iface = is_iface }));
}

static void object_record(struct existing *existing, const struct ub_obj *object)
{
	const int what = site_row(object->h.site)->wire.what;

	note_life(existing, object->h.tgid, object->obj);
	if (what == UB_OBJ_WORKER_CREATE || what == UB_OBJ_WORKER_DESTROY)
		note_worker(existing, object->h.tgid, object->obj, layout_of(existing, &object->h),
			    object->h.ts, what == UB_OBJ_WORKER_CREATE);
}

void existing_record(struct existing *existing, const struct ub_hdr *record)
{
	switch (record->kind) {
	case UB_OBJ:
		object_record(existing, (const struct ub_obj *)record);
		break;
	case UB_XFER:
		note_named(existing, record, ((const struct ub_xfer *)record)->iface, true);
		break;
	case UB_OP:
		/* a worker is found by its ifaces and endpoints */
		if (!site_row(record->site)->on_worker)
			note_named(existing, record, ((const struct ub_op *)record)->obj, false);
		break;
	}
}

void existing_forget(struct existing *existing, pid_t tgid)
{
	map_remove_all(&existing->known, tgid);
	map_remove(&existing->pauses, (uint64_t)tgid, 0);
	quota_forget(&existing->quota, tgid);
	map_remove_all(&existing->workers, (uint64_t)tgid);
	quota_forget(&existing->workers_quota, tgid);
	map_remove_all(&existing->layouts, (uint64_t)tgid);
}

struct emitting {
	struct existing *existing;
	pid_t tgid;
	bool again; /* its worker was read before, or is read because of one object */
};

/* A hash of all members but the time. */
static uint64_t hash_of(const json_t *record)
{
	json_t *copy = json_copy((json_t *)record);
	uint64_t hash;
	char *text;

	json_object_del(copy, "ts");
	text = json_dumps(copy, JSON_COMPACT);
	hash = map_text(text);
	free(text);
	json_decref(copy);
	return hash ? hash : 1;
}

/* Whether the record has to be written: it differs from the last one, and is within the quota. */
static bool is_news(const struct emitting *emitting, const json_t *record)
{
	/* a record has its object's address as the member of its own type */
	const char *type = json_string_value(json_object_get(record, "t"));
	const char *text = json_string_value(json_object_get(record, type));
	const uint64_t hash = hash_of(record);
	struct existing *existing = emitting->existing;
	uint64_t *known, before;
	bool fresh;

	if (!text)
		return true;
	known = object_slot(existing, emitting->tgid, strtoull(text, NULL, 16), &fresh);
	before = known ? *known : 0;
	if (known)
		*known = hash;
	if (!emitting->again)
		return true;
	if (before == hash)
		return false;
	return known && (fresh || !before || quota_take(&existing->quota, emitting->tgid));
}

static void emit_side(void *arg, const json_t *record)
{
	const struct emitting *emitting = arg;
	bool news;

	pthread_mutex_lock(&emitting->existing->lock);
	news = is_news(emitting, record);
	pthread_mutex_unlock(&emitting->existing->lock);
	if (news)
		file_writer_side(emitting->existing->writer, record);
}

/* found: a search has found it, so it is a worker even if it cannot be read. */
static void read_worker(struct existing *existing, struct snapshot *snapshot, uint64_t worker,
			bool found)
{
	struct emitting emitting = { existing, snapshot->pid, !found };
	const uint64_t ts = side_now();
	int err = snapshot_worker(snapshot, worker, emit_side, &emitting);

	if (!err || found) {
		pthread_mutex_lock(&existing->lock);
		note_worker(existing, snapshot->pid, worker, snapshot->layout, ts, true);
		pthread_mutex_unlock(&existing->lock);
	}
	if (err)
		log_debug("worker %#" PRIx64 " of process %d: %s: %s", worker, snapshot->pid,
			  strerror(-err), snapshot->reason ? snapshot->reason : "");
}

/* Returns how many workers it has, or a negative error. */
static int read_process(struct existing *existing, const struct unread *unread)
{
	uint64_t workers[MAX_WORKERS];
	struct snapshot snapshot;
	int count;

	snapshot_init(&snapshot, unread->tgid, unread->layout, BOUNDS_PROCESS_MS);
	count = snapshot_find_workers(&snapshot, &unread->mapped, workers, MAX_WORKERS);
	log_debug("process %d: %d workers found", unread->tgid, count);
	for (int i = 0; i < count; i++)
		read_worker(existing, &snapshot, workers[i], true);
	snapshot_release(&snapshot);
	return count;
}

/* Waits for more, unless the list is complete. */
static bool take(struct existing *existing, size_t *index, struct unread *unread)
{
	while (existing->next == existing->unread.len && !existing->complete)
		pthread_cond_wait(&existing->more, &existing->lock);
	if (existing->next == existing->unread.len)
		return false;
	*index = existing->next++;
	*unread = existing->unread.data[*index];
	return true;
}

static void *read_some(void *arg)
{
	struct existing *existing = arg;
	struct unread unread;
	size_t index;

	pthread_mutex_lock(&existing->lock);
	while (take(existing, &index, &unread)) {
		pthread_mutex_unlock(&existing->lock);
		unread.workers = read_process(existing, &unread);
		pthread_mutex_lock(&existing->lock);
		existing->unread.data[index].workers = unread.workers;
	}
	pthread_mutex_unlock(&existing->lock);
	return NULL;
}

/* A thread that cannot be created is not missed: the session's own thread reads as well. */
static void add_thread(struct existing *existing)
{
	size_t useful = existing->unread.len;
	cpu_set_t cpus;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus) && useful > (size_t)CPU_COUNT(&cpus))
		useful = (size_t)CPU_COUNT(&cpus);
	if (existing->threads_count + 1 < useful &&
	    existing->threads_count < EXISTING_THREADS_MAX &&
	    !pthread_create(&existing->threads[existing->threads_count], NULL, read_some, existing))
		existing->threads_count++;
}

/* The copies of UCX that have this layout. */
static void add_unread(struct existing *existing, pid_t tgid, const struct layout *layout,
		       const mapped_libraries *mapped)
{
	struct unread unread = { .tgid = tgid, .layout = layout };
	const struct elf_ops_table *tables;

	for (size_t i = 0; i < mapped->len; i++) {
		struct library *library = mapped->data[i].library;
		const struct library *ucp = library_owner_ucp(mapped, library);

		if (ucp && ucp->layout != layout)
			continue;
		vec_push(&unread.mapped, mapped->data[i]);
		/* found here, since the threads must not change a library */
		if (library->roles & (LIB_UCT | LIB_UCT_MODULE))
			library_ops(library, &tables);
	}
	pthread_mutex_lock(&existing->lock);
	vec_push(&existing->unread, unread);
	pthread_cond_signal(&existing->more);
	add_thread(existing);
	pthread_mutex_unlock(&existing->lock);
}

void existing_process(struct existing *existing, pid_t tgid)
{
	mapped_libraries mapped = { 0 };
	struct map layouts = { 0 };
	bool fresh;

	if (!process_libraries(tgid, &existing->track->libraries, &mapped))
		for (size_t i = 0; i < mapped.len; i++) {
			const struct library *library = mapped.data[i].library;

			if (!(library->roles & LIB_UCP) || !library->layout)
				continue;
			map_insert(&layouts, (uintptr_t)library->layout, 0, &fresh);
			if (fresh)
				add_unread(existing, tgid, library->layout, &mapped);
		}
	map_release(&layouts);
	vec_release(&mapped);
}

void existing_read_all(struct existing *existing)
{
	pthread_mutex_lock(&existing->lock);
	existing->complete = true;
	pthread_cond_broadcast(&existing->more);
	pthread_mutex_unlock(&existing->lock);
	read_some(existing);
	while (existing->threads_count)
		pthread_join(existing->threads[--existing->threads_count], NULL);
	existing->complete = false;
}

void existing_read(struct existing *existing)
{
	existing_read_all(existing);
	existing_forget_unread(existing);
}

void existing_abandon(struct existing *existing)
{
	pthread_mutex_lock(&existing->lock);
	existing->next = existing->unread.len;
	pthread_mutex_unlock(&existing->lock);
	existing_read(existing);
}

void existing_read_started(struct existing *existing, bool late)
{
	struct track *track = existing->track;

	for (size_t i = 0; i < track->processes.len; i++) {
		struct tracked *tracked = &track->processes.data[i];

		if (tracked->alive && tracked->uses_ucp && tracked->from_start && !tracked->read &&
		    (tracked->late || !late))
			existing_process(existing, tracked->tgid);
	}
	existing_read_all(existing);
	for (size_t i = 0; i < existing->unread.len; i++)
		if (existing->unread.data[i].workers > 0)
			track_find(track, existing->unread.data[i].tgid)->read = true;
	existing_forget_unread(existing);
}

static uint64_t worker_of(const struct stranger *stranger)
{
	const struct ub_layout *wire = &stranger->layout->wire;
	uint64_t at =
		stranger->pointer + (stranger->is_iface ? wire->iface_worker : wire->ep_worker);
	uint64_t worker = 0;

	if (proc_read_memory(stranger->tgid, at, &worker, sizeof(worker)) != sizeof(worker))
		return 0;
	return worker;
}

struct strangers_round {
	struct existing *existing;
	struct map done; /* (tgid, worker): read once for all unknown objects of this round */
	struct map spent; /* tgid -> ns */
};

/* False: its process has no more time. */
static bool read_stranger(struct strangers_round *round, const struct stranger *stranger)
{
	struct existing *existing = round->existing;
	uint64_t *spent = map_insert(&round->spent, (uint64_t)stranger->tgid, 0, NULL);
	const uint64_t begin = side_now();
	struct snapshot snapshot;
	bool fresh = false;
	uint64_t worker;

	if (*spent >= BOUNDS_PROCESS_NS)
		return false;
	worker = existing_is_in_use(existing, stranger->layout) ? worker_of(stranger) : 0;
	if (worker)
		map_insert(&round->done, (uint64_t)stranger->tgid, worker, &fresh);
	if (fresh) {
		snapshot_init(&snapshot, stranger->tgid, stranger->layout,
			      (unsigned int)((BOUNDS_PROCESS_NS - *spent) / BOUNDS_MS) + 1);
		read_worker(existing, &snapshot, worker, false);
		snapshot_release(&snapshot);
	}
	*spent += side_now() - begin;
	return true;
}

/* If its process pauses, sets stranger->next to the end of the pause. */
static bool is_paused(const struct existing *existing, struct stranger *stranger, uint64_t now)
{
	const uint64_t *pause;

	if (now < stranger->next)
		return true;
	pause = map_find(&existing->pauses, (uint64_t)stranger->tgid, 0);
	stranger->next = pause ? *pause : 0;
	return now < stranger->next;
}

static void end_round(struct strangers_round *round)
{
	const struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&round->spent, &pos)))
		*map_insert(&round->existing->pauses, slot->a, 0, NULL) =
			deadline_pause(slot->value);
	map_release(&round->done);
	map_release(&round->spent);
}

/*
 * Strangers that had no turn come first the next time, so that those of one process cannot hold up
 * all others.
 */
void existing_apply(struct existing *existing, uint64_t deadline)
{
	struct strangers_round round = { .existing = existing };
	const uint64_t now = side_now();
	VEC(struct stranger) later = { 0 };
	size_t done;

	for (done = 0; done < existing->strangers.len && !deadline_over(deadline); done++) {
		struct stranger *stranger = &existing->strangers.data[done];

		if (is_paused(existing, stranger, now) || !read_stranger(&round, stranger))
			vec_push(&later, *stranger);
	}
	vec_requeue(&existing->strangers, done, &later);
	end_round(&round);
}

void existing_finish(struct existing *existing, uint64_t deadline)
{
	map_release(&existing->pauses);
	for (size_t i = 0; i < existing->strangers.len; i++)
		existing->strangers.data[i].next = 0;
	existing_apply(existing, deadline);
	quota_note(&existing->quota, existing->writer);
	quota_note(&existing->workers_quota, existing->writer);
	if (!existing->strangers.len)
		return;
	side_write(existing->writer,
		   side_note("%zu UCX objects that predate the trace were not read for want of "
			     "time",
			     existing->strangers.len));
}
