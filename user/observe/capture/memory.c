// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/log.h"
#include "observe/capture/side.h"
#include "observe/process/bounds.h"
#include "observe/process/gpus.h"

#define MS 1000000ull /* ns */
#define PAUSE_MS 10 /* between two looks at a process, */
#define PAUSE_TIMES 20 /* and so many times the time of a CPU that the last one took */
#define LOOKS_MAX 2000 /* at one process */
#define PART_SHIFT 21 /* a look for one address also serves those around it, */
#define PAGE_SHIFT 12 /* or for its page alone, where the kind is still not certain */
#define BY_PAGE (1ull << 63) /* so that a page's key is no part's */

void memory_watch_init(struct memory_watch *watch, struct track *track, struct file_writer *writer)
{
	*watch = (struct memory_watch){ .track = track,
					.writer = writer,
					.on = true,
					.quota = { "places of unknown memory", BOUNDS_PARTS } };
}

static void release_watched(struct memory_watched *watched)
{
	memory_map_release(&watched->map);
	ucx_memory_release(&watched->ucx);
}

void memory_watch_release(struct memory_watch *watch)
{
	for (size_t i = 0; i < watch->watched.len; i++)
		release_watched(&watch->watched.data[i]);
	vec_release(&watch->watched);
	vec_release(&watch->files);
	nvml_close(watch->nvml);
	map_release(&watch->index);
	map_release(&watch->met);
	quota_release(&watch->quota);
}

void memory_watch_host(const struct memory_watch *watch)
{
	json_t *records = gpus_side_records("", side_now()), *record;
	size_t i;

	json_array_foreach(records, i, record) side_write(watch->writer, json_incref(record));
	json_decref(records);
}

static struct memory_watched *find(const struct memory_watch *watch, pid_t tgid)
{
	const uint64_t *index = map_find(&watch->index, tgid, 0);

	return index ? &watch->watched.data[*index - 1] : NULL;
}

/* UCX asks the GPU's library once and caches the answer, which is complete from then on. */
static bool known_to_ucx(const struct memory_watched *watched, uint64_t address)
{
	const struct ucx_region *region = ucx_memory_find(&watched->ucx, address);

	return region && region->type <= UCX_ROCM_MANAGED;
}

static void meet(struct memory_watch *watch, struct memory_watched *watched, uint64_t address)
{
	enum map_class class = memory_map_find(&watched->map, address);
	bool certain = class != MAP_NONE && class != MAP_RESERVED;
	uint64_t key = address >> PART_SHIFT;

	if (!address || certain || known_to_ucx(watched, address))
		return;
	if (class == MAP_RESERVED)
		key = address >> PAGE_SHIFT | BY_PAGE;
	if (map_find(&watch->met, (uint64_t)watched->tgid, key) ||
	    !quota_take(&watch->quota, watched->tgid))
		return;
	map_insert(&watch->met, (uint64_t)watched->tgid, key, NULL);
	watched->met = true;
}

void memory_watch_record(struct memory_watch *watch, const struct ub_hdr *record)
{
	struct memory_watched *watched;

	if (!watch->watched.len || record->kind > UB_OBJ)
		return;
	watched = find(watch, record->tgid);
	if (!watched || watched->gone)
		return;
	if (record->kind == UB_OP)
		meet(watch, watched, ((const struct ub_op *)record)->buffer);
	if (record->kind == UB_XFER)
		meet(watch, watched, ((const struct ub_xfer *)record)->laddr);
	/* UCX can answer once it is initialised */
	if (record->kind == UB_OBJ && watched->looks == 1)
		watched->met = true;
}

/* The GPUs of memory that the process allocated untraced; NULL: unknown. */
static json_t *gpus_of(struct memory_watch *watch, pid_t tgid)
{
	if (!watch->asked)
		watch->nvml = nvml_open();
	watch->asked = true;
	return watch->nvml ? nvml_gpus_of(watch->nvml, tgid) : NULL;
}

static void write_look(struct memory_watch *watch, const struct memory_watched *watched,
		       uint64_t ts, bool ucx)
{
	json_t *record =
		json_pack("{s:s, s:i, s:I, s:o}", "t", "memory", "tgid", (int)watched->tgid, "ts",
			  (json_int_t)ts, "maps", memory_map_json(&watched->map));

	if (ucx)
		json_object_set_new(record, "ucx", ucx_memory_json(&watched->ucx));
	if (watched->joined && watched->looks == 1)
		json_object_set_new(record, "gpus", gpus_of(watch, watched->tgid));
	side_write(watch->writer, record);
}

/* ts is taken first: memory found existed then, or came later. */
static void look(struct memory_watch *watch, struct memory_watched *watched)
{
	uint64_t ts = side_now(), cost = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int err = memory_map_read(&watched->map, watched->tgid), ucx;

	watched->met = false;
	watched->looks++;
	if (err) {
		watched->gone = true;
		log_debug("mappings of process %d: %s", watched->tgid, strerror(-err));
		return;
	}
	ucx = ucx_memory_read(&watched->ucx, &watch->files, &watch->track->libraries, watched->tgid,
			      deadline_in(BOUNDS_PROCESS_NS));
	if (watched->ucx.reason)
		log_debug("process %d: %s", watched->tgid, watched->ucx.reason);
	write_look(watch, watched, ts, !ucx);
	/*
	 * CPU time, not wall time: waiting costs nothing, and a long pause may outlast the process
	 */
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost;
	watched->next = side_now() + PAUSE_MS * MS + PAUSE_TIMES * cost;
}

static bool has_gpu_library(const struct tracked *tracked)
{
	for (size_t i = 0; i < tracked->libraries.len; i++)
		if (tracked->libraries.data[i]->roles & LIB_CUDA)
			return true;
	return false;
}

static void add_new(struct memory_watch *watch, uint64_t deadline)
{
	for (size_t i = 0; i < watch->track->processes.len && !deadline_over(deadline); i++) {
		struct tracked *tracked = &watch->track->processes.data[i];

		if (!tracked->alive || tracked->memory_watched || !has_gpu_library(tracked))
			continue;
		tracked->memory_watched = true;
		vec_push(&watch->watched,
			 ((struct memory_watched){ .tgid = tracked->tgid,
						   .joined = !tracked->from_start }));
		*map_insert(&watch->index, tracked->tgid, 0, NULL) = watch->watched.len;
		look(watch, &watch->watched.data[watch->watched.len - 1]);
	}
}

void memory_watch_apply(struct memory_watch *watch, uint64_t deadline)
{
	uint64_t now;

	if (!watch->on)
		return;
	add_new(watch, deadline);
	if (!watch->watched.len)
		return;
	now = side_now();
	for (size_t i = 0; i < watch->watched.len; i++) {
		struct memory_watched *watched = &watch->watched.data[i];

		if (watched->gone || !watched->met || now < watched->next)
			continue;
		/*
		 * a process that takes long then pauses, so the others come first in the next call
		 */
		if (deadline_over(deadline))
			return;
		if (watched->looks < LOOKS_MAX)
			look(watch, watched);
		else
			watch->left_out++;
		watched->met = false;
	}
}

void memory_watch_finish(struct memory_watch *watch, uint64_t deadline)
{
	for (size_t i = 0; watch->on && i < watch->watched.len; i++)
		if (!watch->watched.data[i].gone && !deadline_over(deadline))
			look(watch, &watch->watched.data[i]);
		else
			watch->left_out += !watch->watched.data[i].gone;
	quota_note(&watch->quota, watch->writer);
	if (!watch->left_out)
		return;
	side_write(watch->writer, side_note("%" PRIu64 " looks at processes' memory were left out",
					    watch->left_out));
}

void memory_watch_forget(struct memory_watch *watch, pid_t tgid)
{
	struct memory_watched *watched = find(watch, tgid);

	if (!watched)
		return;
	release_watched(watched);
	watched->gone = true;
	map_remove(&watch->index, tgid, 0);
	map_remove_all(&watch->met, tgid);
	quota_forget(&watch->quota, tgid);
}
