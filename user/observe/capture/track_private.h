/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of track.h: track.c knows the processes, track_libraries.c the libraries that they map,
 * track_rewritten.c the libraries whose files were rewritten in place.
 */
#ifndef UCXBPF_CAPTURE_TRACK_PRIVATE_H
#define UCXBPF_CAPTURE_TRACK_PRIVATE_H

#include "observe/capture/track.h"

/* The process mapped something at that time: track_scan() lists its libraries. */
void track_mark_dirty(struct track *track, struct tracked *tracked, uint64_t time);

/* As track_rewritten(), for a file that was not watched as it was rewritten; warns. */
void track_rewritten_unseen(struct track *track, const struct library *library);

/*
 * Whether a process lives that maps the library, and had mapped its libucp with another layout
 * before that was rewritten. Requests of the process may have the old layout, and the probes of a
 * file are the same for all processes.
 */
bool track_has_old_layout(const struct track *track, const struct library *library,
			  const struct layout *layout);

#endif
