// SPDX-License-Identifier: BSD-3-Clause
/*
 * Libraries that are rewritten in place: the trace loses their probes, and fields of their layout.
 */
#include <string.h>

#include "base/log.h"
#include "observe/capture/addresses.h"
#include "observe/capture/side.h"
#include "observe/capture/track_private.h"
#include "observe/process/layout.h"

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

/* Libraries that lost their probes (keys), although their own files are as they were. */
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
	/* files that only use a rewritten layout are themselves unchanged */
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

void track_rewritten_unseen(struct track *track, const struct library *library)
{
	struct map keys = { 0 };

	map_insert(&keys, library_key(library), 0, NULL);
	track_rewritten(track, &keys);
	log_warn(REWRITTEN, library->path);
	map_release(&keys);
}

static bool same_layout(const struct layout *a, const struct layout *b)
{
	return a == b || (a && b && !memcmp(&a->wire, &b->wire, sizeof(a->wire)));
}

bool track_has_old_layout(const struct track *track, const struct library *library,
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
