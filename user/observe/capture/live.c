// SPDX-License-Identifier: BSD-3-Clause
/* A live view takes sums, and a look at threads, once an interval. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"

static void take_looks(struct capture_session *capture, struct file_writer *writer)
{
	call_stacks stacks = { 0 };

	existing_read_started(&capture->existing, true);
	threads_look(&capture->track, &capture->addresses, writer, &stacks, false);
	existing_queues(&capture->existing, &stacks, writer);
	vec_release(&stacks);
}

static void tell(struct capture_session *capture, const struct ub_stats *stats,
		 struct capture_interval *interval)
{
	const struct cost_report cost =
		cost_report(&capture->cost, stats->hits + cells_count(&capture->cells));
	const struct pace_report pace = pace_take(capture);
	uint64_t lost = 0;

	kernel_lost(capture->kernel, &lost);
	*interval = (struct capture_interval){
		.from = capture->taken,
		.to = side_now(),
		.real = clock_ns(CLOCK_REALTIME),
		.alive = capture->track.alive,
		.cpu_ns = cost.cpu_ns,
		.memory = cost.memory,
		.kernel_known = !cost.kernel_unknown,
		.kernel_ns = cost.kernel_ns,
		.hits = cost.hits,
		.lost = lost,
		.watched = pace.watched,
		.away = pace.away,
		.paid = pace.paid,
		.trap_ns = capture->pace.trap.entry,
	};
}

int capture_take(struct capture_session *capture, const char *path,
		 struct capture_interval *interval)
{
	struct file_writer *writer;
	struct ub_stats stats = { 0 };
	int err, kept;

	/* the interval before, which would be kept as an earlier capture */
	unlink(path);
	err = file_writer_open(&writer, path);
	if (err) {
		log_error("cannot write '%s': %s", path, strerror(-err));
		return err;
	}
	take_looks(capture, writer);
	/* the file has the objects that the sums name */
	drain_collect(capture->drain, session_record, capture);
	session_flush(capture);
	kernel_stats(capture->kernel, &stats);
	tell(capture, &stats, interval);
	cells_take(&capture->cells, writer);
	capture->taken = interval->to;
	kept = capture->error;
	err = file_writer_close(writer, &stats);
	if (err)
		log_error("cannot write '%s': %s", path, strerror(-err));
	return kept ? kept : err;
}
