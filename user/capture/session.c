// SPDX-License-Identifier: BSD-3-Clause
#include "capture/session.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "capture/side.h"

#define MS 1000000ull /* ns */
#define STACKS_NS 5000000 /* of unwinding rows between two looks at the rings */

/*
 * Never a wake-up per record: the rings are looked at as rarely as their size allows, since each
 * look takes one of the job's cores away for a moment. A ring is half full by then at the most.
 */
#define DRAIN_MS_MIN 2
#define DRAIN_MS_MAX 10
#define FILL_PER_MS (400 << 10) /* bytes; a CPU that does nothing but make records takes longer */

bool capture_has_records(const struct capture *capture)
{
	return capture->seen_records > 0 || cells_count(&capture->cells) > 0;
}

/* A capture that counts grows only when there is something new. */
static bool has_news(struct capture *capture)
{
	uint64_t records = file_writer_records(capture->writer);
	bool news = !capture->options.count || records != capture->flushed ||
		    cells_due(&capture->cells);

	capture->flushed = records;
	return news;
}

/* Programs that count leave their hits to the cells. */
static int read_stats(struct capture *capture, struct ub_stats *stats)
{
	int err = kernel_stats(capture->kernel, stats);

	stats->hits += cells_count(&capture->cells);
	return err;
}

/* With what they are about: lives of objects, which threads may have kept back. */
static void write_cells(struct capture *capture)
{
	if (!kernel_collect(capture->kernel))
		kernel_drain(capture->kernel);
	cells_write(&capture->cells, capture->writer, false);
}

static void flush(struct capture *capture)
{
	struct cost_report cost;
	struct ub_stats stats;
	int err = 0;

	track_reap(&capture->track);
	if (read_stats(capture, &stats))
		return;
	windows_state(&capture->windows, capture->progress.state, sizeof(capture->progress.state));
	if (has_news(capture)) {
		if (cells_due(&capture->cells))
			write_cells(capture);
		side_write(capture->writer, side_clock());
		err = file_writer_flush(capture->writer, &stats);
	}
	if (err && !capture->error)
		capture->error = err;
	cost = cost_report(&capture->cost, stats.hits);
	progress_show(&capture->progress, capture->track.with_ucx, capture->writer, &stats, &cost);
}

static void follow(struct capture *capture)
{
	uint64_t lost = capture->maps_lost;

	watch_read(capture->watch, &capture->maps_lost);
	if (capture->maps_lost != lost)
		track_rescan(&capture->track);
	session_consider_newcomers(capture);
	track_scan(&capture->track);
	learn_apply(&capture->learn, &capture->probes);
	session_follow_stacks(capture, STACKS_NS);
	live_apply(&capture->live);
	memory_watch_apply(&capture->memory);
	places_apply(&capture->places);
}

/* The job is as it was before from here on. */
static void stop(struct capture *capture)
{
	if (capture->stopped)
		return;
	cost_end(&capture->cost);
	kernel_stop(capture->kernel);
	windows_end(capture);
	probes_release(&capture->probes);
	/* twice: what found no room the first time is told of the second time */
	for (int i = 0; i < 2; i++) {
		kernel_drain(capture->kernel);
		if (kernel_collect(capture->kernel))
			log_warn("cannot collect the last records of each thread");
	}
	capture->stopped = true;
}

static uint64_t drain_pause(size_t ring_bytes)
{
	uint64_t ms = ring_bytes / 2 / FILL_PER_MS;

	if (ms < DRAIN_MS_MIN)
		ms = DRAIN_MS_MIN;
	return (ms < DRAIN_MS_MAX ? ms : DRAIN_MS_MAX) * MS;
}

/* Until the rings or a window are due, or a process maps something. */
static void wait_for_work(struct capture *capture)
{
	uint64_t now = side_now(), next = windows_next(&capture->windows);

	if (next > capture->next_drain)
		next = capture->next_drain;
	poll(capture->polls, watch_fd_count(capture->watch),
	     next > now ? (int)((next - now + MS - 1) / MS) : 0);
}

int capture_work(struct capture *capture, int ms)
{
	uint64_t pause = drain_pause(capture->options.ring_bytes);
	uint64_t end = side_now() + ms * MS;

	do {
		wait_for_work(capture);
		capture->next_drain = side_now() + pause;
		kernel_drain(capture->kernel);
		follow(capture);
		windows_step(capture);
		cost_step(&capture->cost);
		if (side_now() >= capture->next_flush) {
			flush(capture);
			capture->next_flush = side_now() + FLUSH_NS;
		}
	} while (!capture->error && side_now() < end);
	if (capture->error && !capture->stopped) {
		log_error("cannot write '%s': %s; 'ucxbpf replay' reads what was "
			  "written before",
			  capture->options.output, strerror(-capture->error));
		stop(capture);
	}
	return capture->error;
}

void capture_abandon(struct capture *capture)
{
	stop(capture);
	file_writer_abandon(capture->writer);
	session_release(capture);
}

/* The first trap: Debian's and Ubuntu's Open MPI avoids UCX unless told otherwise. */
static void note_without_ucx(struct capture *capture)
{
	unsigned int count = track_without_ucx(&capture->track);
	char text[180];

	if (!count)
		return;
	snprintf(
		text, sizeof(text),
		"%u process%s loaded MPI but no UCX, and cannot be followed: 'ucxbpf doctor -p PID' "
		"says why, while they run",
		count, count == 1 ? "" : "es");
	log_warn("%s", text);
	side_write(capture->writer, side_note(text));
}

int capture_close(struct capture *capture, const char *reason)
{
	struct ub_stats stats = { 0 };
	struct cost_report cost;
	int err;

	if (!capture->stopped) {
		kernel_drain(capture->kernel);
		follow(capture);
	}
	stop(capture);
	kernel_drain(capture->kernel);
	live_apply(&capture->live);
	memory_watch_finish(&capture->memory);
	places_finish(&capture->places);
	cells_write(&capture->cells, capture->writer, true);
	read_stats(capture, &stats);
	if (capture->maps_lost)
		side_write(capture->writer,
			   side_note("the kernel lost mmap events: a library may have been used "
				     "before it was probed"));
	note_without_ucx(capture);
	side_write(capture->writer, side_clock());
	/* so that what the capture says of its size lacks this last bit only */
	file_writer_flush(capture->writer, &stats);
	cost = cost_report(&capture->cost, stats.hits);
	side_write(capture->writer, side_self(capture->writer, &cost));
	side_write(capture->writer, side_end(reason, &stats));
	err = file_writer_close(capture->writer, &stats);
	if (err && !capture->error)
		log_error("cannot complete '%s': %s", capture->options.output, strerror(-err));
	if (!err)
		err = capture->error;
	session_release(capture);
	return err;
}
