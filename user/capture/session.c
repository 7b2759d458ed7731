// SPDX-License-Identifier: BSD-3-Clause
#include "capture/capture.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/kernel.h"
#include "capture/learn.h"
#include "capture/live.h"
#include "capture/prepare.h"
#include "capture/probes.h"
#include "capture/progress.h"
#include "capture/side.h"
#include "capture/track.h"
#include "capture/watch.h"

#define DRAIN_MS 2 /* never a wake-up per record: the rings are looked at this often */
#define FLUSH_NS 500000000ull

struct capture {
	struct capture_options options;
	struct kernel *kernel;
	struct file_writer *writer;
	struct watch *watch;
	struct pollfd *polls;
	struct probes probes;
	struct track track;
	struct learn learn;
	struct live live;
	struct progress progress;
	uint64_t next_flush;
	VEC(pid_t) newcomers; /* --all: mapped something, not looked at yet */
	uint64_t maps_lost;
	uint64_t seen_records; /* other than of processes coming and going */
	bool stopped;
	int error;
};

/* Only of processes that had something to know: most never map UCX. */
static void forget_at_end(struct capture *capture, const struct ub_task *task)
{
	const struct tracked *tracked = track_find(&capture->track, task->h.tgid);

	if (task->what == UB_FORK || !tracked || !tracked->announced)
		return;
	learn_forget(&capture->learn, task->h.tgid);
	live_forget(&capture->live, task->h.tgid);
}

static int on_record(void *arg, const struct ub_hdr *record)
{
	struct capture *capture = arg;
	int err = file_writer_record(capture->writer, record);

	if (err && !capture->error)
		capture->error = err;
	capture->seen_records += record->kind != UB_TASK;
	if (record->kind == UB_TASK) {
		const struct ub_task *task = (const struct ub_task *)record;

		forget_at_end(capture, task);
		track_task(&capture->track, task);
	}
	learn_record(&capture->learn, record);
	live_record(&capture->live, record);
	return 0;
}

static void on_mapped(void *arg, pid_t tgid, uint64_t time)
{
	struct capture *capture = arg;

	if (capture->options.all)
		vec_push(&capture->newcomers, tgid);
	track_mapped(&capture->track, tgid, time);
}

static int open_watch(struct capture *capture)
{
	int err = watch_open(&capture->watch, on_mapped, capture);

	if (err) {
		log_error("cannot watch for new libraries: %s; needs CAP_PERFMON", strerror(-err));
		return err;
	}
	capture->polls = calloc(watch_fd_count(capture->watch), sizeof(*capture->polls));
	if (!capture->polls)
		return -ENOMEM;
	for (int i = 0; i < watch_fd_count(capture->watch); i++)
		capture->polls[i] = (struct pollfd){ watch_fd(capture->watch, i), POLLIN, 0 };
	return 0;
}

static const char *why_not_created(int err)
{
	switch (err) {
	case -EWOULDBLOCK:
		return "another ucxbpf is writing it, name one with -o";
	case -EEXIST:
		return "it exists and is not a capture";
	case -EISDIR:
		return "it is a directory, name a file in it";
	default:
		return strerror(-err);
	}
}

static int open_file(struct capture *capture)
{
	static const char *const levels[] = { "mpi", "ucp", "uct" };
	const struct capture_options *options = &capture->options;
	int err = file_writer_open(&capture->writer, options->output);

	if (err) {
		log_error("cannot create '%s': %s", options->output, why_not_created(err));
		return err;
	}
	side_write(capture->writer,
		   side_capture(levels[options->level], options->mode, options->command));
	side_write(capture->writer, side_clock());
	for (unsigned int row = 1; row < site_count(); row++)
		side_write(capture->writer, side_site(row));
	return 0;
}

static void release(struct capture *capture)
{
	progress_end(&capture->progress);
	if (!capture->stopped)
		probes_release(&capture->probes);
	vec_release(&capture->newcomers);
	live_release(&capture->live);
	learn_release(&capture->learn);
	track_release(&capture->track);
	watch_free(capture->watch);
	kernel_free(capture->kernel);
	free(capture->polls);
	free(capture);
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

int capture_open(struct capture **out, const struct capture_options *options)
{
	const struct kernel_options kernel_options = {
		.mechanism = options->mechanism,
		.ring_bytes = options->ring_bytes,
	};
	struct capture *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture)
		return -ENOMEM;
	capture->options = *options;
	err = check_pid_namespace();
	if (!err)
		err = kernel_open(&capture->kernel, &kernel_options, on_record, capture);
	if (!err)
		err = open_watch(capture);
	if (!err)
		err = open_file(capture);
	if (err) {
		release(capture);
		return err;
	}
	probes_init(&capture->probes, capture->kernel, options->mechanism, options->level);
	track_init(&capture->track, capture->kernel, &capture->probes, capture->writer);
	live_init(&capture->live, &capture->track, capture->writer);
	progress_init(&capture->progress, options->progress);
	capture->next_flush = side_now() + FLUSH_NS;
	*out = capture;
	return 0;
}

int capture_add_started(struct capture *capture, pid_t pid)
{
	int err = track_add(&capture->track, pid, true);

	return err ? err : track_begin(&capture->track, pid);
}

int capture_add_running(struct capture *capture, pid_t pid)
{
	int err = track_add(&capture->track, pid, false);

	if (err)
		return err;
	track_scan(&capture->track);
	live_process(&capture->live, pid);
	return 0;
}

/* Everything that takes time was done before: all processes begin within microseconds. */
int capture_begin(struct capture *capture)
{
	const struct track *track = &capture->track;
	int err = 0;

	for (size_t i = 0; !err && i < track->processes.len; i++)
		if (track->processes.data[i].alive)
			err = track_begin(&capture->track, track->processes.data[i].tgid);
	return err;
}

/* A process that came by itself (--all): its records start while it is being looked at. */
static void consider(struct capture *capture, pid_t pid)
{
	if (pid <= 0 || pid == getpid() || !track_consider(&capture->track, pid))
		return;
	track_scan(&capture->track);
	live_process(&capture->live, pid);
	track_begin(&capture->track, pid);
}

void capture_add_all(struct capture *capture)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		consider(capture, atoi(entry->d_name));
	if (proc)
		closedir(proc);
}

void capture_prepare(struct capture *capture, char *const *environment)
{
	prepare_libraries(&capture->track.libraries, &capture->probes, environment,
			  capture->options.libraries);
}

unsigned int capture_processes(const struct capture *capture)
{
	return capture->track.announced;
}

bool capture_has_records(const struct capture *capture)
{
	return capture->seen_records > 0;
}

unsigned int capture_alive(const struct capture *capture)
{
	return capture->track.alive;
}

static void flush(struct capture *capture)
{
	struct ub_stats stats;
	int err;

	track_reap(&capture->track);
	if (kernel_stats(capture->kernel, &stats))
		return;
	side_write(capture->writer, side_clock());
	err = file_writer_flush(capture->writer, &stats);
	if (err && !capture->error)
		capture->error = err;
	progress_show(&capture->progress, capture->track.with_ucx,
		      file_writer_records(capture->writer), &stats);
}

static void follow(struct capture *capture)
{
	uint64_t lost = capture->maps_lost;

	watch_read(capture->watch, &capture->maps_lost);
	if (capture->maps_lost != lost)
		track_rescan(&capture->track);
	while (capture->newcomers.len)
		consider(capture, capture->newcomers.data[--capture->newcomers.len]);
	track_scan(&capture->track);
	learn_apply(&capture->learn, &capture->probes);
	live_apply(&capture->live);
}

/* The job is as it was before from here on. */
static void stop(struct capture *capture)
{
	if (capture->stopped)
		return;
	kernel_stop(capture->kernel);
	probes_release(&capture->probes);
	capture->stopped = true;
}

int capture_work(struct capture *capture, int ms)
{
	uint64_t end = side_now() + (uint64_t)ms * 1000000;

	do {
		poll(capture->polls, watch_fd_count(capture->watch), DRAIN_MS);
		kernel_drain(capture->kernel);
		follow(capture);
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
	release(capture);
}

/* The first trap: Debian's and Ubuntu's Open MPI avoids UCX unless told otherwise. */
static void note_without_ucx(struct capture *capture)
{
	unsigned int count = capture->track.announced - capture->track.with_ucp;
	char text[160];

	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "%u process%s use%s MPI but no UCX, which cannot be followed: 'ucxbpf "
		 "doctor -p PID' says why",
		 count, count == 1 ? "" : "es", count == 1 ? "s" : "");
	log_warn("%s", text);
	side_write(capture->writer, side_note(text));
}

int capture_close(struct capture *capture, const char *reason)
{
	struct ub_stats stats = { 0 };
	int err;

	if (!capture->stopped) {
		kernel_drain(capture->kernel);
		follow(capture);
	}
	stop(capture);
	kernel_drain(capture->kernel);
	live_apply(&capture->live);
	kernel_stats(capture->kernel, &stats);
	if (capture->maps_lost)
		side_write(capture->writer,
			   side_note("the kernel lost mmap events: a library may have been used "
				     "before it was probed"));
	note_without_ucx(capture);
	side_write(capture->writer, side_clock());
	side_write(capture->writer, side_self(capture->writer));
	side_write(capture->writer, side_end(reason, &stats));
	err = file_writer_close(capture->writer, &stats);
	if (err && !capture->error)
		log_error("cannot complete '%s': %s", capture->options.output, strerror(-err));
	if (!err)
		err = capture->error;
	release(capture);
	return err;
}
