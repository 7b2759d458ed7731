// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/live/tracer.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/signals.h"
#include "cmd/nodes/send.h"
#include "cmd/trace/args.h"

static struct live_tracer numbers(const struct tracer *tracer, const struct capture_interval *now)
{
	const struct capture_interval *before = &tracer->before;
	const double ns = now->to > now->from ? (double)(now->to - now->from) : NAN;

	return (struct live_tracer){
		.from = now->from,
		.to = now->to,
		.real = now->real,
		.watched = now->watched,
		.away = now->away,
		.budget = tracer->budget,
		.paid = now->paid / ns,
		.cpu = before->to ? (now->cpu_ns - before->cpu_ns) / ns : NAN,
		.memory = now->memory,
		.hits = now->hits - before->hits,
		.trap_ns = now->trap_ns,
		.program_ns =
			now->kernel_known && now->hits ? (double)now->kernel_ns / now->hits : NAN,
		.lost = now->lost,
		.missed = now->missed,
	};
}

static int take(struct tracer *tracer, struct capture_session *capture, const char *path, bool last)
{
	struct capture_interval now;
	struct reader_message message = { .last = last };
	int err = capture_take(capture, path, &now);

	if (err)
		return err;
	message.tracer = numbers(tracer, &now);
	message.quiet = now.quiet;
	if (tracer->note)
		strncpy(message.note, tracer->note, sizeof(message.note) - 1);
	tracer->before = now;
	/* if the reader has ended, reader_ask() reports it */
	reader_send(&tracer->reader, &message);
	return 0;
}

/*
 * A reader whose output nobody takes, such as a pager that waits for a key, has so long for an
 * interval at the end.
 */
#define END_NS 2000000000ull

static bool overdue(uint64_t asked)
{
	return clock_ns(CLOCK_MONOTONIC) - asked > END_NS;
}

static bool is_over(const struct tracer *tracer, struct capture_session *capture)
{
	if (tracer->chosen->all)
		return false;
	return tracer->sends ? !capture_alive_with_ucx(capture) : !capture_alive(capture);
}

/* Runs until the end; the last interval is marked as such. */
static int follow(struct tracer *tracer, struct capture_session *capture, const char *path,
		  const struct signals *signals)
{
	const double seconds = tracer->chosen->seconds;
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	const uint64_t end = tracer->once ? begin + tracer->interval
			     : seconds    ? begin + (uint64_t)(seconds * 1e9)
					  : UINT64_MAX;
	uint64_t next = begin + tracer->interval, asked = 0;
	struct signalfd_siginfo info;
	bool reading = false, last = false;
	int err = 0;

	while (!err && !(last && !reading) && !(asked && overdue(asked))) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		const int said = reader_ask(&tracer->reader);

		if (said == READER_QUIT)
			break;
		if (said == READER_DONE) {
			reading = false;
			capture_trim(capture);
		} else if (said && tracer->said)
			tracer->said(tracer->arg, said);
		if (!asked && (now >= end || signals_next(signals, &info) ||
			       (tracer->sends && send_over()) || is_over(tracer, capture)))
			asked = now;
		if (!last && !reading) {
			last = asked;
			if (last || now >= next) {
				err = take(tracer, capture, path, last);
				reading = true;
				next += (now - next) / tracer->interval * tracer->interval +
					tracer->interval;
			}
		}
		if (!tracer->step) /* a step may have work of its own, each 10 ms */
			capture_sleep_until(capture,
					    reading      ? UINT64_MAX
					    : next < end ? next
							 : end,
					    (const int[CAPTURE_WAKERS]){
						    tracer->reader.fd, signals->fd,
						    tracer->sends && !asked ? STDIN_FILENO : -1 });
		if (!err)
			err = capture_work(capture, 10);
		if (tracer->step)
			tracer->step(tracer->arg);
	}
	if (tracer->end)
		tracer->end(tracer->arg);
	return err;
}

static int trace(struct tracer *tracer, const struct capture_options *options, const char *interval)
{
	struct capture_session *capture;
	struct signals signals;
	int err = signals_open(&signals, false);

	if (!err) {
		capture_confine();
		err = capture_open(&capture, options);
	}
	if (err)
		return err;
	/* first calls of later processes count as well */
	if (tracer->chosen->all || tracer->chosen->patient)
		capture_prepare(capture, NULL, environ);
	err = chosen_begin(tracer->chosen, capture, false);
	if (!err)
		err = follow(tracer, capture, interval, &signals);
	signals_finish(false);
	capture_abandon(capture);
	return err;
}

int tracer_run(struct tracer *tracer, const struct reader_options *options,
	       void (*around)(void *arg, bool before))
{
	const struct capture_arguments arguments = {
		.output = options->capture, .count = true, .quiet = true, .budget = tracer->budget
	};
	struct capture_options capture_options;
	int err = capture_arguments_apply(&arguments, "attach", &capture_options), status;

	if (err)
		return capture_exit_code(err);
	capture_options.all = tracer->chosen->all;
	capture_options.live = true;
	if (reader_start(&tracer->reader, options))
		return UCXBPF_EXIT_FAILED;
	if (around)
		around(tracer->arg, true);
	err = trace(tracer, &capture_options, options->interval);
	status = reader_end(&tracer->reader);
	if (around)
		around(tracer->arg, false);
	if (err)
		return capture_exit_code(err);
	return status == UCXBPF_EXIT_OK && tracer->chosen->partial ? UCXBPF_EXIT_PARTIAL : status;
}
