// SPDX-License-Identifier: BSD-3-Clause
#include "facts_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_EVERY 65536 /* facts between two looks at the clock, a power of two */
#define SHOW_EVERY 200000000u
#define PATIENCE 1000000000u

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void show(struct facts_progress *progress)
{
	uint64_t time = now();

	if (time - progress->started < PATIENCE || time - progress->shown < SHOW_EVERY)
		return;
	progress->shown = time;
	fprintf(stderr, "\r%s: %.1f million facts, %.0f s ", progress->name, progress->facts / 1e6,
		(time - progress->started) / 1e9);
}

static void count(struct facts_progress *progress)
{
	if (++progress->facts % LOOK_EVERY == 0)
		show(progress);
}

static void pass_process(void *arg, const struct fact_process *process)
{
	struct facts_progress *progress = arg;

	progress->to.process(progress->to.arg, process);
}

static void pass_clock(void *arg, const struct fact_clock *clock)
{
	struct facts_progress *progress = arg;

	progress->to.clock(progress->to.arg, clock);
}

static void pass_call(void *arg, const struct fact_call *call)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.call(progress->to.arg, call);
}

static void pass_op(void *arg, const struct fact_op *op)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.op(progress->to.arg, op);
}

static void pass_transfer(void *arg, const struct fact_transfer *transfer)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.transfer(progress->to.arg, transfer);
}

static void pass_message(void *arg, const struct fact_message *message)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.message(progress->to.arg, message);
}

static void pass_window(void *arg, const struct fact_window *window)
{
	struct facts_progress *progress = arg;

	progress->to.window(progress->to.arg, window);
}

static void pass_memory(void *arg, const struct fact_memory *memory)
{
	struct facts_progress *progress = arg;

	progress->to.memory(progress->to.arg, memory);
}

static void pass_lifetime(void *arg, const struct fact_lifetime *lifetime)
{
	struct facts_progress *progress = arg;

	progress->to.lifetime(progress->to.arg, lifetime);
}

static void pass_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.calls(progress->to.arg, call, sums);
}

static void pass_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.ops(progress->to.arg, op, sums);
}

static void pass_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	struct facts_progress *progress = arg;

	count(progress);
	progress->to.transfers(progress->to.arg, transfer, sums);
}

struct fact_sink facts_progress_start(struct facts_progress *progress, const char *name,
				      const struct fact_sink *to)
{
	*progress = (struct facts_progress){ .to = *to, .name = name, .started = now() };
	if (!isatty(STDERR_FILENO))
		return *to;
	return (struct fact_sink){
		.arg = progress,
		.process = to->process ? pass_process : NULL,
		.clock = to->clock ? pass_clock : NULL,
		.call = to->call ? pass_call : NULL,
		.op = to->op ? pass_op : NULL,
		.transfer = to->transfer ? pass_transfer : NULL,
		.message = to->message ? pass_message : NULL,
		.window = to->window ? pass_window : NULL,
		.memory = to->memory ? pass_memory : NULL,
		.lifetime = to->lifetime ? pass_lifetime : NULL,
		.calls = to->calls ? pass_calls : NULL,
		.ops = to->ops ? pass_ops : NULL,
		.transfers = to->transfers ? pass_transfers : NULL,
	};
}

void facts_progress_end(struct facts_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
