/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Side records that capture itself makes (docs/side-records.md).
 */
#ifndef UCXBPF_CAPTURE_SIDE_H
#define UCXBPF_CAPTURE_SIDE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/capture/cost.h"
#include "observe/capture/drain.h"
#include "observe/capture/windows.h"
#include "file/file.h"

/* CLOCK_MONOTONIC, ns. */
uint64_t side_now(void);

/*
 * Writes and frees the record; NULL is ignored. A malformed record causes a warning; a write error
 * is kept by the writer.
 */
void side_write(struct file_writer *writer, json_t *record);

json_t *side_capture(const char *level, const char *mode, char *const *command, bool count);
json_t *side_clock(void);
json_t *side_site(unsigned int row);
/* A process that had ended by that time, before its last mappings could be read. */
json_t *side_unread(pid_t tgid, uint64_t ended);
/* A process that was not recorded from that time until its end, or until records began. */
json_t *side_unseen(pid_t tgid, uint64_t from, uint64_t to, bool ended);
json_t *side_gap(pid_t tgid, const char *what, const char *path, uint64_t from, uint64_t to);
/* Threads and rings of the draining side. */
json_t *side_consumer(const struct drain_report *report);
/* The cost of the capture so far. */
json_t *side_self(struct file_writer *writer, const struct cost_report *cost);
/* At its start, to = 0, and again, whole, at its end. */
json_t *side_window(const struct windows *windows, uint64_t to);
json_t *side_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A warning that is a note in the capture, too. */
void side_warn(struct file_writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* stopped: when the last record may have been made, ns. */
json_t *side_end(const char *reason, uint64_t stopped, const struct ub_stats *stats);

#endif
