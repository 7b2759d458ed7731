// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/serve/show.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/vec.h"
#include "cmd/output/output.h"
#include "cmd/serve/answer.h"
#include "cmd/serve/lines.h"
#include "cmd/serve/stream.h"
#include "observe/process/proc.h"
#include "show/serve/serve.h"

#define LAST_MS 1000 /* for the last object, where standard output is not read */

struct serving {
	const struct serve_options *serve;
	const struct reader_options *options;
	int fd; /* of the tracer */
	int answers; /* to the process that answers; -1: none */
	struct serve_state state;
	struct live *live;
	struct jobs *jobs;
	struct utsname system;
	struct output_stream stream;
	int textfile_err, summaries_err, json_err, answers_err; /* of the last time */
	bool wrote; /* the textfile, ever */
};

static int put_textfile(void *arg, FILE *out)
{
	return serve_metrics(arg, false, out);
}

static int put_json(void *arg, FILE *out)
{
	return serve_json(arg, out);
}

static int put_metrics(void *arg, bool open, FILE *out)
{
	return serve_metrics(arg, open, out);
}

/* Prints an error once, not in each interval that the disk is full. */
static void note_err(struct serving *serving, int *last, const char *path, int err)
{
	serving->state.self.unwritten += !!err;
	if (err && err != *last)
		log_warn("%s: %s", path, newfile_why(err));
	*last = err;
}

static void write_textfile(struct serving *serving)
{
	const char *path = serving->serve->textfile;

	if (!path)
		return;
	note_err(serving, &serving->textfile_err, path,
		 output_write(path, NEWFILE_PUBLIC, put_textfile, &serving->state));
	serving->wrote |= !serving->textfile_err;
}

static void on_line(void *arg, int err)
{
	struct serving *serving = arg;

	note_err(serving, &serving->summaries_err, serving->serve->summaries, err);
}

/* The end of the reader in READER_STATUS(), or 0. */
static int json_end(int err)
{
	if (!err)
		return 0;
	if (err == -EPIPE)
		return READER_STATUS(UCXBPF_EXIT_OK);
	log_error("standard output: %s", strerror(-err));
	return READER_STATUS(exit_unwritten("serve", err));
}

static int write_json(struct serving *serving)
{
	int err =
		serving->serve->json ? stream_put(&serving->stream, put_json, &serving->state) : 0;

	if (err && err != -EAGAIN)
		return json_end(err);
	if (err && err != serving->json_err)
		log_warn("standard output is not read: objects are left out");
	serving->state.self.unwritten += !!err;
	serving->json_err = err;
	return 0;
}

static int give_answers(struct serving *serving)
{
	const int err = serving->answers < 0
				? 0
				: answer_give(serving->answers, put_metrics, &serving->state);

	if (err == -EPIPE) {
		log_error("the process that answers has ended");
		return READER_STATUS(UCXBPF_EXIT_FAILED);
	}
	note_err(serving, &serving->answers_err, serving->serve->listen, err);
	return 0;
}

static void measure(struct serve_self *self)
{
	struct rusage used;

	if (!getrusage(RUSAGE_SELF, &used))
		self->reader_cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
				     (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	self->reader_memory = (uint64_t)proc_status_number(getpid(), "VmRSS:") * 1024;
}

/* 0, or the end of the reader. */
static int take(struct serving *serving)
{
	struct reader_message message;
	int end = reader_take(serving->fd, serving->options, serving->live, &message);

	if (end)
		return end;
	jobs_add(serving->jobs, serving->live);
	live_forget(serving->live);
	measure(&serving->state.self);
	/* first what waits for nobody */
	end = give_answers(serving);
	if (!end)
		end = write_json(serving);
	write_textfile(serving);
	if (serving->serve->summaries)
		lines_append(serving->serve->summaries, serving->jobs, message.last, on_line,
			     serving);
	return end;
}

static int serve_on(struct serving *serving)
{
	struct pollfd polls[] = {
		{ serving->fd, POLLIN, 0 },
		{ serving->answers, 0, 0 }, /* its end */
		{ STDOUT_FILENO, POLLOUT, 0 },
	};
	int end = 0;

	while (!end) {
		const bool stalled = serving->stream.text;

		if (poll(polls, stalled ? 3 : 2, -1) < 0)
			continue;
		if (polls[0].revents)
			end = take(serving);
		else if (polls[1].revents)
			end = give_answers(serving);
		if (!end && stalled && polls[2].revents)
			end = json_end(stream_more(&serving->stream));
	}
	return READER_STATUS(end);
}

int show_serve(void *arg, int fd, const struct reader_options *options)
{
	struct serving serving = { .serve = arg, .options = options, .fd = fd, .answers = -1 };
	int status = UCXBPF_EXIT_FAILED;

	uname(&serving.system);
	serving.live = live_new();
	serving.jobs = jobs_new(serving.serve->keep);
	serving.state = (struct serve_state){
		.live = serving.live,
		.jobs = serving.jobs,
		.self = { .host = serving.system.nodename },
	};
	if (serving.serve->listener.fd >= 0)
		serving.answers = answer_start(&serving.serve->listener);
	confine_to_files();
	if (serving.serve->listener.fd < 0 || serving.answers >= 0)
		status = serve_on(&serving);
	stream_end(&serving.stream, LAST_MS);
	/* otherwise the last numbers would be scraped after the service has ended */
	if (serving.wrote)
		unlink(serving.serve->textfile);
	/* the tracer does this as well, unless it was killed */
	listen_remove(&serving.serve->listener);
	jobs_free(serving.jobs);
	live_free(serving.live);
	return status;
}
