// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/windows.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"

/* Windows open at the same time on all hosts, so that both ends of a message can be recorded. */
static uint64_t on_the_grid(uint64_t after, uint64_t period, uint64_t to_real)
{
	return (after + to_real + period - 1) / period * period - to_real;
}

/* Clocks may be set by up to half a period. */
uint64_t windows_due(const struct windows *windows, uint64_t now, uint64_t to_real)
{
	uint64_t after =
		windows->count ? windows->due + windows->period / 2 : now + windows->period;
	uint64_t due;

	do {
		due = on_the_grid(after, windows->period, to_real);
		after = due + 1;
	} while (due <= now + windows->length);
	return due;
}

void windows_schedule(struct windows *windows)
{
	uint64_t now = side_now();

	windows->due = windows_due(windows, now, clock_ns(CLOCK_REALTIME) - now);
}

/* A budget that removes nothing is not reported. */
static bool is_reported(const struct windows *windows)
{
	return !windows->governed || windows->count > 1 || windows->length != WINDOWS_ENDLESS ||
	       strcmp(windows->step, governor_step_name(STEP_UCT)) != 0;
}

static void opened(struct capture_session *capture, uint64_t now)
{
	struct windows *windows = &capture->windows;

	if (!windows->governed)
		windows->due = windows_due(windows, now, clock_ns(CLOCK_REALTIME) - side_now());
	windows->open = true;
	windows->opened = now;
	windows->count++;
	if (is_reported(windows))
		side_write(capture->writer, side_window(windows, 0));
}

void windows_begin(struct capture_session *capture)
{
	struct windows *windows = &capture->windows;
	uint64_t now = side_now();

	if (!windows->length || windows->count)
		return;
	opened(capture, now);
}

/* The first group that is missing, in words. */
static const char *group_words(unsigned int groups)
{
	static const char *const words[] = { "MPI calls", "operations", "transfers", "objects" };

	return words[__builtin_ctz(groups)];
}

bool windows_place(struct capture_session *capture, unsigned int groups)
{
	struct windows *windows = &capture->windows;
	struct hot *hot = &capture->probes.hot;
	unsigned int come = groups & ~hot->placed;
	size_t refused;
	int err = hot_place(hot, groups, &refused);

	kernel_set_groups(capture->kernel, hot->placed);
	derive_placed(capture);
	if (err && err != windows->error)
		side_warn(capture->writer, "probes of %s could not be placed: %s",
			  group_words(groups & ~hot->placed), strerror(-err));
	if (refused)
		side_warn(capture->writer, "the kernel refused probes: %zu", refused);
	if (come)
		windows->error = err;
	return !err;
}

void windows_close(struct capture_session *capture, unsigned int keep)
{
	struct windows *windows = &capture->windows;

	kernel_pause(capture->kernel);
	windows->open = false;
	windows->collected = keep != 0;
	windows->closed = side_now();
	side_write(capture->writer, side_window(windows, windows->closed));
	windows_place(capture, capture->probes.hot.placed & keep);
	log_debug("window %u: recorded for %.3f ms", windows->count,
		  (windows->closed - windows->opened) / 1e6);
}

#define COLLECT_AFTER 100000000ull /* ns; probes and running programs have ended by then */

static void collect(struct capture_session *capture)
{
	uint64_t took = hot_settle(&capture->probes.hot);

	drain_collect(capture->drain, session_record, capture);
	capture->windows.collected = true;
	log_debug("window %u: detached in %.3f ms", capture->windows.count, took / 1e6);
}

bool windows_open(struct capture_session *capture, unsigned int groups)
{
	struct windows *windows = &capture->windows;
	uint64_t now;

	existing_read_started(&capture->existing, false);
	if (!windows->collected && windows->count)
		collect(capture);
	now = side_now();
	if (!windows_place(capture, groups))
		return false;
	windows->placing = side_now() - now;
	if (windows->governed && windows->length != WINDOWS_ENDLESS)
		budget_window_opens(capture);
	/* every record is later than this, and the kernel's start is not */
	now = side_now();
	kernel_begin_positions(capture->kernel, now);
	kernel_resume(capture->kernel);
	opened(capture, now);
	log_debug("window %u: attached in %.3f ms", windows->count, windows->placing / 1e6);
	return true;
}

static uint64_t ends_at(const struct windows *windows)
{
	return windows->length == WINDOWS_ENDLESS ? UINT64_MAX : windows->opened + windows->length;
}

/* Whether windows come and go by time. */
static bool is_timed(const struct windows *windows)
{
	return windows->count || (windows->governed && windows->due);
}

uint64_t windows_next(const struct windows *windows)
{
	uint64_t collect_at = windows->closed + COLLECT_AFTER;

	if (!is_timed(windows))
		return UINT64_MAX;
	if (windows->open)
		return ends_at(windows);
	return !windows->collected && collect_at < windows->due ? collect_at : windows->due;
}

void windows_step(struct capture_session *capture)
{
	struct windows *windows = &capture->windows;
	uint64_t now = side_now();

	if (!is_timed(windows))
		return;
	if (windows->open && now >= ends_at(windows)) {
		windows_close(capture, 0);
		if (windows->governed)
			budget_window_closed(capture);
	} else if (!windows->open && now >= windows->due) {
		if (!windows_open(capture, HOT_ALL)) {
			windows_place(capture, 0);
			windows_schedule(windows);
		}
	} else if (!windows->open && !windows->collected &&
		   now >= windows->closed + COLLECT_AFTER) {
		collect(capture);
	}
}

bool windows_recording(const struct windows *windows)
{
	return windows->open || !windows->length;
}

bool windows_settled(const struct windows *windows)
{
	return windows_recording(windows) || windows->collected || !windows->count;
}

void windows_end(struct capture_session *capture)
{
	struct windows *windows = &capture->windows;

	if (windows->open && is_reported(windows))
		side_write(capture->writer, side_window(windows, side_now()));
	windows->open = false;
}

void windows_state(const struct windows *windows, char *text, unsigned int size)
{
	uint64_t now = side_now();

	text[0] = '\0';
	if (windows->open && windows->length == WINDOWS_ENDLESS)
		snprintf(text, size, windows->count > 1 ? ", level %s" : "", windows->step);
	else if (windows->open)
		snprintf(text, size, ", window %u", windows->count);
	else if (windows->count)
		snprintf(text, size, ", window %u in %.1f s", windows->count + 1,
			 windows->due > now ? (windows->due - now) / 1e9 : 0.0);
}
