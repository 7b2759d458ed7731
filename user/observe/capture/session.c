// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/session.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/confine.h"
#include "base/log.h"
#include "observe/capture/side.h"
#include "observe/process/reader.h"
#include "observe/process/record.h"
#include "observe/process/remote.h"

#define MS 1000000ull /* ns */
#define STACKS_NS 5000000 /* of unwinding rows between two looks at the rings */

/*
 * Between two steps of the session. At the instants of the draining threads (drain.h), so that a
 * rank that this thread preempts is preempted together with the others.
 */
#define STEP_NS (8 * MS)
#define IDLE_STEP_NS (250 * MS) /* of a view that nothing runs under */
#define IDLE_MOST_NS (1000 * MS) /* of one that sleeps: ends of processes wait in a ring */
#define IDLE_LEAST_NS (25 * MS) /* a node where programs come and go maps files all the time */
#define IDLE_FLUSH_NS (5000 * MS)
#define PLACING_NS (5000 * MS) /* ranks may be bound anew */

/* Frees everything; the file is closed or abandoned already. */
static void session_release(struct capture_session *capture)
{
	progress_end(&capture->progress);
	if (!capture->stopped)
		probes_release(&capture->probes);
	vec_release(&capture->newcomers);
	budget_release(&capture->budget);
	pace_release(&capture->pace);
	derive_release(&capture->derive);
	stacks_release(&capture->stacks);
	addresses_release(&capture->addresses);
	memory_watch_release(&capture->memory);
	existing_release(&capture->existing);
	cells_release(&capture->cells);
	completions_release(&capture->completions);
	missed_release(&capture->missed);
	track_release(&capture->track);
	watch_free(capture->watch);
	kernel_free(capture->kernel);
	free(capture->polls);
	free(capture);
}

bool capture_has_records(const struct capture_session *capture)
{
	return drain_others(capture->drain) > 0 || cells_count(&capture->cells) > 0;
}

/* With --count the file grows only if there is something new. */
static bool has_news(struct capture_session *capture)
{
	uint64_t records = file_writer_records(capture->writer);
	bool news = !capture->options.count || records != capture->flushed ||
		    cells_due(&capture->cells);

	capture->flushed = records;
	return news;
}

/*
 * With --count, hits are counted in the cells. Records that were added to cells ("folded",
 * bpf/fold.bpf.h) count only if the file has these cells.
 */
static int read_stats(struct capture_session *capture, struct ub_stats *stats)
{
	int err = kernel_stats(capture->kernel, stats);

	stats->hits += cells_count(&capture->cells);
	memcpy(stats->folded, capture->folded, sizeof(stats->folded));
	return err;
}

/* Counts as folded only sums that are in the file, in case the tracer is killed. */
static void put_cells(struct capture_session *capture, bool last)
{
	struct ub_stats before;
	int err = kernel_stats(capture->kernel, &before);

	if (cells_write(&capture->cells, capture->writer, last) && !err)
		memcpy(capture->folded, before.folded, sizeof(capture->folded));
}

/* Detail is thinned before records find no room. */
static void watch_detail(struct capture_session *capture)
{
	uint64_t lost;

	if (!capture->options.count && !kernel_lost(capture->kernel, &lost))
		detail_step(&capture->detail, drain_fill(capture->drain), lost);
}

/* The rest of the disk is for the records that are still in rings, and for the sums at the end. */
static void watch_disk(struct capture_session *capture)
{
	static const char full[] = "the disk is nearly full: from here on calls, operations and "
				   "transfers are added up, not recorded";

	if (capture->scarce || !file_writer_scarce(capture->writer))
		return;
	capture->scarce = true;
	if (capture->options.count) {
		log_warn("%s: the disk is nearly full: sums are written at the end",
			 capture->options.output);
		return;
	}
	log_warn("%s: %s", capture->options.output, full);
	side_write(capture->writer, side_note("%s", full));
	detail_end(&capture->detail, "the disk is nearly full", drain_fill(capture->drain));
}

/*
 * Collects first the lives of the objects that cells name: they may still be in a task's outbox,
 * where records wait for their batch (kernel_rest()).
 */
static void write_cells(struct capture_session *capture)
{
	if (capture->options.count)
		drain_collect(capture->drain, session_record, capture);
	put_cells(capture, false);
}

/* Called once ranks are known, since a launcher may run on CPUs where its ranks may not. */
void session_place_threads(struct capture_session *capture)
{
	const struct track *track = &capture->track;
	struct cpu_bits busy = { 0 };

	if (!track->with_ucx ||
	    (track->with_ucx == capture->placed_for && side_now() < capture->next_placing))
		return;
	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].alive && track->processes.data[i].announced)
			cpu_bits_add_process(&busy, track->processes.data[i].tgid);
	drain_avoid(capture->drain, &busy, track->with_ucx);
	capture->placed_for = track->with_ucx;
	capture->next_placing = side_now() + PLACING_NS;
}

static void flush(struct capture_session *capture)
{
	struct cost_report cost;
	struct ub_stats stats;
	int err = 0;

	track_reap(&capture->track);
	session_place_threads(capture);
	if (read_stats(capture, &stats))
		return;
	windows_state(&capture->windows, capture->progress.state, sizeof(capture->progress.state));
	if (!capture->scarce && has_news(capture)) {
		if (cells_due(&capture->cells))
			write_cells(capture);
		side_write(capture->writer, side_clock());
		err = file_writer_flush(capture->writer, &stats);
	} else { /* a thread may have ended a chunk since */
		if (capture->scarce)
			cells_write_ended(&capture->cells, capture->writer);
		err = file_writer_flush(capture->writer, NULL);
	}
	if (err && !capture->error)
		capture->error = err;
	cost = cost_report(&capture->cost, stats.hits);
	progress_show(&capture->progress, capture->track.with_ucx, capture->writer, &stats, &cost);
}

void session_flush(struct capture_session *capture)
{
	flush(capture);
	capture->next_flush = side_now() + FLUSH_NS;
}

/* Called before any other work: the next process that maps such a file may crash. */
static void read_rewrites(struct capture_session *capture)
{
	struct map keys = { 0 };

	rewrites_read(&capture->probes.rewrites, &keys);
	track_rewritten(&capture->track, &keys);
	rewrites_warn(&capture->probes.rewrites);
	map_release(&keys);
}

static void read_watch(struct capture_session *capture)
{
	uint64_t lost = capture->maps_lost;

	read_rewrites(capture);
	watch_read(capture->watch, &capture->maps_lost);
	if (capture->maps_lost != lost)
		track_rescan(&capture->track);
}

static void learn_again(struct capture_session *capture)
{
	for (size_t i = 0; i < capture->track.unlearnt.len; i++)
		completions_learn_again(&capture->completions, capture->track.unlearnt.data[i]);
	capture->track.unlearnt.len = 0;
}

void session_follow(struct capture_session *capture)
{
	read_watch(capture);
	session_consider_newcomers(capture);
	track_scan(&capture->track);
	missed_apply(&capture->missed, &capture->track);
	learn_again(capture);
	completions_apply(&capture->completions, &capture->probes, &capture->track.libraries,
			  deadline_in(BOUNDS_ROUND_NS));
	session_follow_stacks(capture, STACKS_NS);
	existing_apply(&capture->existing, deadline_in(BOUNDS_ROUND_NS));
	memory_watch_apply(&capture->memory, deadline_in(BOUNDS_ROUND_NS));
	addresses_apply(&capture->addresses, deadline_in(BOUNDS_ROUND_NS));
}

/* From here on the job runs without probes. */
static void stop(struct capture_session *capture)
{
	const uint64_t begin = side_now();

	if (capture->stopped)
		return;
	cost_end(&capture->cost);
	kernel_stop(capture->kernel);
	derive_end(capture);
	windows_end(capture);
	capture->stopped_at = side_now();
	probes_release(&capture->probes);
	/* twice: losses of the first pass are reported by the second */
	for (int i = 0; i < 2; i++) {
		drain_sync(capture->drain, session_record, capture);
		if (drain_collect(capture->drain, session_record, capture))
			log_warn("cannot collect the last records of each thread");
	}
	capture->stopped = true;
	log_debug("no probe is left after %.3f ms", (side_now() - begin) / 1e6);
}

/* Descriptors of the watch, and one for rewritten files; those of wakers follow. */
static int own_polls(const struct capture_session *capture)
{
	return watch_fd_count(capture->watch) + 1;
}

/* Until the next step or a window is due, or a process maps something, or a waker has input. */
static void wait_for_work(struct capture_session *capture, int wakers)
{
	uint64_t now = side_now(), next = windows_next(&capture->windows);
	struct timespec wait = { 0 };

	if (next > capture->next_step)
		next = capture->next_step;
	if (next > budget_next(&capture->budget))
		next = budget_next(&capture->budget);
	if (next > now)
		wait = (struct timespec){ (time_t)((next - now) / (1000 * MS)),
					  (long)((next - now) % (1000 * MS)) };
	ppoll(capture->polls, own_polls(capture) + wakers, &wait, NULL);
}

void session_drain(struct capture_session *capture)
{
	drain_step(capture->drain, capture->memory.watched.len > 0, session_record, capture);
}

#define LOOK_NS (100 * MS) /* from one look at threads to the next, where some did not run */
#define LOOKS 5 /* at most: some threads never run, or are the kernel's */

void session_look(struct capture_session *capture, bool last)
{
	call_stacks stacks = { 0 };
	unsigned int unseen = threads_look(&capture->track, &capture->addresses, capture->writer,
					   &stacks, last, deadline_in(BOUNDS_LOOK_NS));

	capture->next_look = unseen && ++capture->looks < LOOKS ? side_now() + LOOK_NS : 0;
	if (last)
		existing_queues(&capture->existing, &stacks, capture->writer);
	vec_release(&stacks);
}

/*
 * A view that nothing runs under: a process that comes is seen by its mappings, whose descriptors
 * are polled.
 */
static bool is_idle(const struct capture_session *capture)
{
	return capture->options.live && !capture->track.with_ucx && !capture->track.dirty.len &&
	       !capture->newcomers.len;
}

static bool is_woken(const struct capture_session *capture)
{
	const struct pollfd *wakers = capture->polls + own_polls(capture);
	bool woken = false;

	for (int i = 0; i < CAPTURE_WAKERS; i++)
		woken = woken || wakers[i].revents;
	return woken;
}

void capture_sleep_until(struct capture_session *capture, uint64_t until,
			 const int fds[CAPTURE_WAKERS])
{
	struct pollfd *wakers = capture->polls + own_polls(capture);

	capture->sleep_until = until;
	for (int i = 0; i < CAPTURE_WAKERS; i++)
		wakers[i] = (struct pollfd){ fds[i], POLLIN, 0 };
}

/* Until when a session rests that nothing wakes. */
static uint64_t rest_end(const struct capture_session *capture)
{
	const uint64_t now = side_now(), most = now + IDLE_MOST_NS;

	if (!capture->sleep_until)
		return now + IDLE_STEP_NS;
	return capture->sleep_until < most ? capture->sleep_until : most;
}

/* Reads mappings of files that do not matter without waking any other thread. */
static void rest(struct capture_session *capture)
{
	const uint64_t end = rest_end(capture);

	do {
		const uint64_t now = side_now(), next = capture->rested + IDLE_LEAST_NS;

		if (now < next)
			nanosleep(&(struct timespec){ 0, (long)(next - now) }, NULL);
		capture->next_step = end;
		wait_for_work(capture, CAPTURE_WAKERS);
		capture->rested = side_now();
		read_watch(capture);
		session_consider_newcomers(capture);
	} while (is_idle(capture) && !is_woken(capture) && capture->rested < end);
	session_drain(capture);
	session_follow(capture);
	if (capture->rested >= capture->next_idle_flush) {
		session_flush(capture);
		capture->next_idle_flush = capture->rested + IDLE_FLUSH_NS;
	}
	if (!capture->error)
		capture->error = drain_error(capture->drain);
}

int capture_work(struct capture_session *capture, int ms)
{
	uint64_t end = side_now() + ms * MS;
	const bool idle = is_idle(capture);

	drain_rest(capture->drain, idle);
	if (idle) {
		rest(capture);
		return capture->error;
	}
	do {
		wait_for_work(capture, 0);
		capture->next_step = (side_now() / STEP_NS + 1) * STEP_NS;
		session_drain(capture);
		watch_detail(capture);
		watch_disk(capture);
		session_follow(capture);
		windows_step(capture);
		budget_step(capture);
		pace_step(capture);
		derive_step(capture);
		cost_step(&capture->cost, windows_recording(&capture->windows),
			  windows_settled(&capture->windows));
		if (capture->next_look && side_now() >= capture->next_look)
			session_look(capture, false);
		if (side_now() >= capture->next_flush)
			session_flush(capture);
		if (!capture->error)
			capture->error = drain_error(capture->drain);
	} while (!capture->error && side_now() < end);
	if (capture->error && !capture->stopped) {
		log_error("cannot write '%s': %s; 'ucxbpf replay' reads the part before",
			  capture->options.output, strerror(-capture->error));
		stop(capture);
	}
	return capture->error;
}

void capture_abandon(struct capture_session *capture)
{
	stop(capture);
	existing_abandon(&capture->existing);
	drain_free(capture->drain);
	file_writer_abandon(capture->writer);
	session_release(capture);
}

/* format: for the number of processes and the ending of that word; no note for 0 */
static void note_processes(struct capture_session *capture, unsigned int count, const char *format)
{
	if (count)
		side_warn(capture->writer, format, count, count == 1 ? "" : "es");
}

/* The first trap: Debian's and Ubuntu's Open MPI avoids UCX unless told otherwise. */
static void note_without_ucx(struct capture_session *capture)
{
	const struct mpi_alone alone = track_finish(&capture->track);

	note_processes(capture, alone.without_ucx,
		       "%u process%s loaded MPI but no UCX, and cannot be followed: while the job "
		       "runs, 'ucxbpf doctor -p PID' says why");
	note_processes(capture, alone.unknown,
		       "%u process%s loaded MPI and ended before the tracer had read all that was "
		       "loaded: use of UCX is unknown");
}

/* The processes may have been a job of their own, or a part of a traced one. */
static void note_missed(struct capture_session *capture)
{
	note_processes(capture, capture->missed.count,
		       "%u process%s that mapped UCX ended before the tracer could inspect it: the "
		       "messages are unknown");
}

/* Variables that could not be read are unknown, not absent. */
static void note_refused(struct capture_session *capture)
{
	note_processes(capture, capture->track.environments_refused,
		       "could not read the environment of %u process%s, for want of "
		       "CAP_DAC_READ_SEARCH: variables are unknown, rank and job may be");
}

int capture_close(struct capture_session *capture, const char *reason)
{
	struct ub_stats stats = { 0 };
	struct drain_report consumer;
	struct cost_report cost;
	int err;

	if (!capture->stopped) {
		session_look(capture, true);
		drain_sync(capture->drain, session_record, capture);
		session_follow(capture);
	}
	stop(capture);
	drain_stop(capture->drain, session_record, capture);
	consumer = drain_report(capture->drain);
	drain_free(capture->drain);
	existing_finish(&capture->existing, deadline_in(BOUNDS_END_NS));
	memory_watch_finish(&capture->memory, deadline_in(BOUNDS_END_NS));
	addresses_finish(&capture->addresses, deadline_in(BOUNDS_END_NS));
	stacks_finish(&capture->stacks, capture->writer);
	put_cells(capture, true);
	read_stats(capture, &stats);
	if (capture->maps_lost)
		side_write(capture->writer,
			   side_note("the kernel lost mmap events: a library may have been used "
				     "before it was probed"));
	note_without_ucx(capture);
	note_missed(capture);
	note_refused(capture);
	side_write(capture->writer, side_clock());
	/* so that the size in the capture lacks only these last records */
	file_writer_flush(capture->writer, &stats);
	cost = cost_report(&capture->cost, stats.hits);
	side_write(capture->writer, side_consumer(&consumer));
	side_write(capture->writer, side_self(capture->writer, &cost));
	side_write(capture->writer, side_end(reason, capture->stopped_at, &stats));
	err = file_writer_close(capture->writer, &stats);
	if (err && !capture->error)
		log_error("cannot complete '%s': %s", capture->options.output, strerror(-err));
	if (!err)
		err = capture->error;
	session_release(capture);
	return err;
}

/* ---- a session's records, and its start ---- */

/* Only announced processes have state: most never map UCX. */
static void forget_at_end(struct capture_session *capture, const struct ub_task *task)
{
	const struct tracked *tracked = track_find(&capture->track, task->h.tgid);

	if (task->what == UB_FORK || !tracked || !tracked->announced)
		return;
	completions_forget(&capture->completions, &capture->probes, task->h.tgid);
	existing_forget(&capture->existing, task->h.tgid);
	memory_watch_forget(&capture->memory, task->h.tgid);
}

void session_record(void *arg, const struct ub_hdr *record)
{
	struct capture_session *capture = arg;

	if (record->kind == UB_TASK) {
		const struct ub_task *task = (const struct ub_task *)record;

		/* the command is there: what an earlier run has left may go */
		if (task->what == UB_EXEC && capture->flushed == UINT64_MAX)
			capture->next_flush = 0;
		forget_at_end(capture, task);
		track_task(&capture->track, task);
		if (task->what == UB_FORK && !track_find(&capture->track, task->other))
			missed_child(&capture->missed, &capture->addresses.strays, task->other,
				     task->h.ts);
	}
	cells_record(&capture->cells, record);
	completions_record(&capture->completions, record);
	existing_record(&capture->existing, record);
	memory_watch_record(&capture->memory, record);
	addresses_record(&capture->addresses, record);
	stacks_record(&capture->stacks, record);
}

/* A process may end before anything of it is read: its mappings are kept until then. */
static void watch_missed(struct capture_session *capture, pid_t tgid, const struct mapping *mapping,
			 uint64_t time)
{
	const struct tracked *tracked = track_find(&capture->track, tgid);
	const bool ours =
		tracked ? !tracked->announced
			: capture->options.all || origins_forked(&capture->addresses.origins, tgid);

	if (ours)
		missed_mapped(&capture->missed, tgid, tracked && tracked->from_start, mapping,
			      time);
}

static void on_mapped(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time)
{
	struct capture_session *capture = arg;
	const bool ignored = library_set_ignores(&capture->track.libraries, mapping);

	/* most mapped files do not matter, and nothing is done for them */
	if (track_find(&capture->track, tgid) || !ignored) {
		if (capture->options.all)
			vec_push(&capture->newcomers, ((struct newcomer){ tgid, time }));
		track_mapped(&capture->track, tgid, time);
	}
	if (!ignored)
		watch_missed(capture, tgid, mapping, time);
	if (track_find(&capture->track, tgid))
		addresses_mapped(&capture->addresses, tgid, mapping, time);
	else
		strays_add(&capture->addresses.strays, tgid, mapping, time);
}

static void on_exec(void *arg, pid_t tgid, uint64_t time)
{
	struct capture_session *capture = arg;

	if (track_find(&capture->track, tgid))
		addresses_exec(&capture->addresses, tgid, time);
	else
		strays_exec(&capture->addresses.strays, tgid, time);
}

static int open_watch(struct capture_session *capture)
{
	const struct watch_heard heard = { capture, on_mapped, on_exec };
	int err = watch_open(&capture->watch, &heard);

	if (err) {
		log_error("cannot watch for new libraries: %s%s", strerror(-err),
			  err == -EACCES || err == -EPERM
				  ? "; needs CAP_PERFMON, or CAP_SYS_ADMIN where "
				    "kernel.perf_event_paranoid is above 2, as in Debian"
				  : "");
		return err;
	}
	capture->polls = calloc(own_polls(capture) + CAPTURE_WAKERS, sizeof(*capture->polls));
	if (!capture->polls) {
		log_error("cannot watch for new libraries: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (int i = 0; i < watch_fd_count(capture->watch); i++)
		capture->polls[i] = (struct pollfd){ watch_fd(capture->watch, i), POLLIN, 0 };
	capture_sleep_until(capture, 0, (const int[CAPTURE_WAKERS]){ -1, -1, -1 });
	return 0;
}

static const char *why_not_created(int err)
{
	switch (err) {
	case -EWOULDBLOCK:
		return "another ucxbpf is writing it, name one with -o";
	case -EEXIST:
		return "it exists and is not a capture";
	case -ENOTEMPTY:
		return "the capture that it is would be kept as FILE" FILE_KEPT
		       ", which is no capture, another user's, or still written: "
		       "name a new file with -o";
	case -EISDIR:
		return "it is a directory, name a file in it";
	case -ELOOP:
		return "it is a symbolic link, which is refused: name what it leads to with -o";
	case -EMLINK:
		return "it has other names, too (hard links), name a new file with -o";
	case -EUSERS:
		return "it is another user's, name a new file with -o";
	case -ESPIPE:
	case -ENXIO:
		return "it is no regular file, name one with -o";
	case -ENOENT:
		return "its directory does not exist";
	default:
		return strerror(-err);
	}
}

static int open_file(struct capture_session *capture)
{
	const struct capture_options *options = &capture->options;
	json_t *record;
	int err = file_writer_open(&capture->writer, options->output);

	if (err) {
		log_error("cannot create '%s': %s", options->output, why_not_created(err));
		if (options->unwritable)
			*options->unwritable = true;
		return err;
	}
	if (options->live)
		file_writer_hold_nothing(capture->writer);
	else if (!options->passing)
		file_writer_sync(capture->writer);
	record = side_capture(site_layer_name(options->level), options->mode, options->command,
			      options->count);
	if (!options->arguments)
		record_cut(json_object_get(record, "command"));
	side_write(capture->writer, record);
	side_write(capture->writer, side_clock());
	for (unsigned int row = 1; row < site_count(); row++)
		if (options->live || !site_of_shmem(row))
			side_write(capture->writer, side_site(row));
	return 0;
}

#define INITIAL_PID_NAMESPACE 0xeffffffc /* include/linux/proc_ns.h, PROC_PID_INIT_INO */

/* The kernel's half sees the initial namespace's pids: ours must be the same numbers. */
static int check_pid_namespace(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE)
		return 0;
	log_error("inside a pid namespace, as in a container: run ucxbpf on the host");
	return -EOPNOTSUPP;
}

/* Loads the programs, opens the file and makes the first ring. Prints the error. */
static int open_parts(struct capture_session *capture)
{
	const struct capture_options *options = &capture->options;
	const struct kernel_options kernel_options = {
		.mechanism = options->mechanism,
		.level = options->level,
		.node = drain_any_node(),
		.call_ends = options->call_ends,
		.count = options->count,
		.stacks = options->stacks,
		.derive = options->derive,
	};
	int err = check_pid_namespace();

	if (!err)
		err = kernel_open(&capture->kernel, &kernel_options);
	if (err)
		return err;
	err = cells_open(&capture->cells, kernel_object(capture->kernel), options->count);
	if (!err && options->live)
		err = cells_live(&capture->cells);
	if (err) {
		log_error("cannot map the sums of the kernel: %s", strerror(-err));
		return err;
	}
	err = open_watch(capture);
	if (!err)
		err = open_file(capture);
	if (!err)
		err = drain_open(&capture->drain, capture->kernel, capture->writer,
				 options->ring_bytes, options->live);
	return err;
}

/* Prepares the parts that look at processes and records; no probe is placed yet. Prints the error.
 */
static int init_parts(struct capture_session *capture)
{
	const struct capture_options *options = &capture->options;
	int err;

	probes_init(&capture->probes, capture->kernel, options->mechanism, options->level,
		    options->window_ns || options->budget > 0 || options->derive);
	capture->polls[watch_fd_count(capture->watch)] =
		(struct pollfd){ capture->probes.rewrites.fd, POLLIN, 0 };
	capture->probes.call_ends = options->call_ends;
	capture->probes.everyone = options->all;
	capture->windows.length = options->window_ns;
	capture->windows.period = options->period_ns;
	capture->probes.sparse = options->derive || options->mechanism == LINK_PERF;
	capture->probes.count = options->count;
	detail_init(&capture->detail, capture->kernel, capture->writer, options->thin);
	err = options->live ? pace_open(capture, options->budget)
			    : budget_open(capture, options->budget);
	if (err) {
		log_error("cannot measure what a probe costs here: %s", strerror(-err));
		return err;
	}
	track_init(&capture->track, capture->kernel, &capture->probes, capture->writer);
	capture->track.cells = &capture->cells;
	capture->track.addresses = &capture->addresses;
	capture->track.arguments = options->arguments;
	capture->track.knows_shmem = options->live;
	existing_init(&capture->existing, &capture->track, capture->writer);
	memory_watch_init(&capture->memory, &capture->track, capture->writer);
	capture->memory.on = !options->count && site_layer_in(LEVEL_BESIDE, options->level);
	if (capture->memory.on)
		memory_watch_host(&capture->memory);
	addresses_init(&capture->addresses, capture->writer);
	capture->addresses.nameless = options->live;
	capture->addresses.quota.by_user = options->all;
	capture->memory.quota.by_user = options->all;
	capture->existing.quota.by_user = options->all;
	capture->existing.workers_quota.by_user = options->all;
	cost_init(&capture->cost, capture->kernel, &capture->cells);
	if (options->derive)
		err = derive_init(capture);
	else if (options->stacks)
		err = stacks_init(&capture->stacks, capture->kernel, &capture->addresses.files,
				  options->all);
	if (err)
		log_error("cannot prepare stacks: %s", strerror(-err));
	return err;
}

void capture_confine(void)
{
	readers_start();
	confine_to_tracing();
	remote_start();
}

/*
 * Files of libraries are read whole and freed. glibc would serve the next ones of their size from a
 * heap that it does not give back.
 */
#define GIVE_BACK (1 << 20) /* bytes */

int capture_open(struct capture_session **out, const struct capture_options *options)
{
	struct capture_session *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture) {
		log_error("cannot begin to trace: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	mallopt(M_MMAP_THRESHOLD, GIVE_BACK);
	capture->options = *options;
	capture->opened = side_now();
	capture->flushed = UINT64_MAX;
	err = open_parts(capture);
	if (!err)
		err = init_parts(capture);
	if (err) {
		drain_free(capture->drain);
		file_writer_abandon(capture->writer);
		session_release(capture);
		return err;
	}
	progress_init(&capture->progress, options->progress);
	capture->next_flush = side_now() + FLUSH_NS;
	*out = capture;
	return 0;
}
