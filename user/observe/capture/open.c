// SPDX-License-Identifier: BSD-3-Clause
/* A session's start and release. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"

/* Only of processes that had something to know: most never map UCX. */
static void forget_at_end(struct capture *capture, const struct ub_task *task)
{
	const struct tracked *tracked = track_find(&capture->track, task->h.tgid);

	if (task->what == UB_FORK || !tracked || !tracked->announced)
		return;
	learn_forget(&capture->learn, task->h.tgid);
	live_forget(&capture->live, task->h.tgid);
	memory_watch_forget(&capture->memory, task->h.tgid);
}

void session_record(void *arg, const struct ub_hdr *record)
{
	struct capture *capture = arg;

	if (record->kind == UB_TASK) {
		const struct ub_task *task = (const struct ub_task *)record;

		forget_at_end(capture, task);
		track_task(&capture->track, task);
	}
	cells_record(&capture->cells, record);
	learn_record(&capture->learn, record);
	live_record(&capture->live, record);
	memory_watch_record(&capture->memory, record);
	places_record(&capture->places, record);
	stacks_record(&capture->stacks, record);
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
	const struct capture_options *options = &capture->options;
	int err = file_writer_open(&capture->writer, options->output);

	if (err) {
		log_error("cannot create '%s': %s", options->output, why_not_created(err));
		return err;
	}
	side_write(capture->writer, side_capture(site_layer_name(options->level), options->mode,
						 options->command, options->count));
	side_write(capture->writer, side_clock());
	for (unsigned int row = 1; row < site_count(); row++)
		side_write(capture->writer, side_site(row));
	return 0;
}

void session_release(struct capture *capture)
{
	progress_end(&capture->progress);
	if (!capture->stopped)
		probes_release(&capture->probes);
	vec_release(&capture->newcomers);
	budget_release(&capture->budget);
	stacks_release(&capture->stacks);
	places_release(&capture->places);
	memory_watch_release(&capture->memory);
	live_release(&capture->live);
	cells_release(&capture->cells);
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
		.node = drain_any_node(),
		.call_ends = options->call_ends,
		.count = options->count,
		.stacks = options->stacks,
	};
	struct capture *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture)
		return -ENOMEM;
	capture->options = *options;
	capture->opened = side_now();
	capture->flushed = UINT64_MAX;
	err = check_pid_namespace();
	if (!err)
		err = kernel_open(&capture->kernel, &kernel_options);
	if (!err)
		err = cells_open(&capture->cells, kernel_object(capture->kernel), options->count);
	if (!err)
		err = open_watch(capture);
	if (!err)
		err = open_file(capture);
	if (!err)
		err = drain_open(&capture->drain, capture->kernel, capture->writer,
				 options->ring_bytes);
	if (err) {
		file_writer_abandon(capture->writer);
		session_release(capture);
		return err;
	}
	probes_init(&capture->probes, capture->kernel, options->mechanism, options->level,
		    options->window_ns || options->budget > 0);
	capture->probes.call_ends = options->call_ends;
	capture->windows.length = options->window_ns;
	capture->windows.period = options->period_ns;
	capture->probes.count = options->count;
	detail_init(&capture->detail, capture->kernel, capture->writer, options->thin);
	err = budget_open(capture, options->budget);
	if (err) {
		log_error("cannot measure what a probe costs here: %s", strerror(-err));
		drain_free(capture->drain);
		file_writer_abandon(capture->writer);
		session_release(capture);
		return err;
	}
	track_init(&capture->track, capture->kernel, &capture->probes, capture->writer);
	capture->track.cells = &capture->cells;
	live_init(&capture->live, &capture->track, capture->writer);
	memory_watch_init(&capture->memory, &capture->track, capture->writer);
	capture->memory.on = !options->count && site_layer_in(LAYER_MEMORY, options->level);
	if (capture->memory.on)
		memory_watch_host(&capture->memory);
	places_init(&capture->places, capture->writer);
	cost_init(&capture->cost, capture->kernel, &capture->cells);
	if (options->stacks)
		err = stacks_init(&capture->stacks, capture->kernel, &capture->places.files);
	if (err) {
		log_error("cannot prepare stacks: %s", strerror(-err));
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
