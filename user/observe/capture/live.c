// SPDX-License-Identifier: BSD-3-Clause
/* A live view takes sums, and a look at threads, once an interval. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"

static void take_looks(struct capture_session *capture, struct file_writer *writer)
{
	call_stacks stacks = { 0 };

	existing_read_started(&capture->existing, true);
	threads_look(&capture->track, &capture->addresses, writer, &stacks, false,
		     deadline_in(BOUNDS_LOOK_NS));
	existing_queues(&capture->existing, &stacks, writer);
	vec_release(&stacks);
}

static void fill_interval(struct capture_session *capture, const struct ub_stats *stats,
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
		.missed = capture->missed.count,
		.watched = pace.watched,
		.away = pace.away,
		.paid = pace.paid,
		.trap_ns = capture->pace.trap.entry,
	};
}

/* ---- the ended are forgotten ---- */

/* Bytes that the file may grow by; more where it had more after the last time. */
#define TRIM_AT (64u << 10)

struct trimming {
	const struct track *track;
	const struct addresses *addresses;
	struct map ended; /* tgid of processes that have ended since the last interval */
	bool clock; /* the first one is kept */
};

/* ts 0: unknown. Before that time the pid may have been another process's. */
static bool is_kept(const struct trimming *trimming, pid_t tgid, uint64_t ts)
{
	const struct tracked *tracked = track_find(trimming->track, tgid);

	return (tracked && (!ts || ts >= tracked->since)) ||
	       map_find(&trimming->ended, (uint64_t)tgid, 0);
}

static bool keeps_side(void *arg, const json_t *side)
{
	const json_t *tgid = json_object_get(side, "tgid"), *ts = json_object_get(side, "ts");
	struct trimming *trimming = arg;
	const char *type = json_string_value(json_object_get(side, "t"));
	const bool clock = !strcmp(type, "clock");

	if (!strcmp(type, "module"))
		return addresses_has_module(
			trimming->addresses,
			(uint64_t)json_integer_value(json_object_get(side, "id")));
	if (clock && trimming->clock)
		return false;
	trimming->clock |= clock;
	return !json_is_integer(tgid) ||
	       is_kept(trimming, (pid_t)json_integer_value(tgid), (uint64_t)json_integer_value(ts));
}

/* A launcher starts children for as long as it lives: the forks of ended ones are dropped. */
static bool keeps_record(void *arg, const struct ub_hdr *record)
{
	const struct ub_task *task = (const struct ub_task *)record;

	if (record->kind == UB_TASK && task->what == UB_FORK)
		return is_kept(arg, (pid_t)task->other, 0);
	return is_kept(arg, (pid_t)record->tgid, record->ts);
}

static void forget_ended(struct capture_session *capture)
{
	const struct track *track = &capture->track;

	for (size_t i = 0; i < track->processes.len; i++) {
		const struct tracked *tracked = &track->processes.data[i];

		if (track_is_over(tracked, capture->taken))
			addresses_ended(&capture->addresses, tracked->tgid, tracked->ended);
	}
	track_forget_ended(&capture->track, capture->taken);
	if (!track->dirty.len)
		track_forget_libraries(&capture->track);
	addresses_sweep(&capture->addresses);
}

static int trim(struct capture_session *capture)
{
	const struct track *track = &capture->track;
	struct trimming trimming = { .track = track, .addresses = &capture->addresses };
	const struct file_kept kept = { keeps_side, keeps_record, &trimming };
	int err;

	/* only these are left of the announced ones that have ended */
	for (size_t i = 0; i < track->processes.len; i++)
		if (!track->processes.data[i].alive && track->processes.data[i].announced)
			map_insert(&trimming.ended, (uint64_t)track->processes.data[i].tgid, 0,
				   NULL);
	err = file_writer_trim(capture->writer, &kept);
	map_release(&trimming.ended);
	return err;
}

bool capture_trim(struct capture_session *capture)
{
	const uint64_t most =
		capture->trimmed + (capture->trimmed > TRIM_AT ? capture->trimmed : TRIM_AT);
	int err;

	forget_ended(capture);
	if (file_writer_bytes(capture->writer) < most)
		return false;
	err = trim(capture);
	if (err)
		log_warn("cannot trim '%s': %s", capture->options.output, strerror(-err));
	/* also if nothing could be removed: the next try waits until the file has grown again */
	capture->trimmed = file_writer_bytes(capture->writer);
	return !err;
}

/* Nothing with UCX runs, nor has any ended since the last interval. */
static bool is_quiet(struct capture_session *capture)
{
	const struct track *track = &capture->track;
	const uint64_t before = capture->taken_records;

	capture->taken_records = file_writer_records(capture->writer);
	if (!capture->takes++ || capture->taken_records != before || track->dirty.len)
		return false;
	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].announced)
			return false;
	return true;
}

int capture_take(struct capture_session *capture, const char *path,
		 struct capture_interval *interval)
{
	struct file_writer *writer;
	struct ub_stats stats = { 0 };
	int err, kept;

	/* the file of the previous interval, which would be kept as an earlier capture */
	unlink(path);
	if (is_quiet(capture)) {
		kernel_stats(capture->kernel, &stats);
		fill_interval(capture, &stats, interval);
		interval->quiet = true;
		capture->taken = interval->to;
		return capture->error;
	}
	err = file_writer_open(&writer, path);
	if (err) {
		log_error("cannot write '%s': %s", path, strerror(-err));
		return err;
	}
	file_writer_hold_nothing(writer);
	take_looks(capture, writer);
	/* the file has the objects that the sums name, and the ends of processes that have ended */
	drain_collect(capture->drain, session_record, capture);
	/* and the processes that have made their first calls meanwhile */
	session_follow(capture);
	drain_end_chunks(capture->drain);
	session_flush(capture);
	kernel_stats(capture->kernel, &stats);
	fill_interval(capture, &stats, interval);
	cells_take(&capture->cells, writer);
	capture->taken = interval->to;
	kept = capture->error;
	err = file_writer_close(writer, &stats);
	if (err)
		log_error("cannot write '%s': %s", path, strerror(-err));
	return kept ? kept : err;
}
