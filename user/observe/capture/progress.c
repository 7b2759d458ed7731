// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "observe/capture/side.h"

void progress_init(struct progress *progress, bool on)
{
	*progress = (struct progress){ .on = on, .last_time = side_now() };
}

/* The line's items, most important first: a line that wraps could not be rewritten. */
struct progress_line {
	char text[256];
	size_t used;
	size_t room;
};

static size_t columns(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* Adds an item if all of it fits. */
static void add(struct progress_line *line, const char *format, ...)
{
	char item[80];
	va_list args;
	size_t length;

	va_start(args, format);
	vsnprintf(item, sizeof(item), format, args);
	va_end(args);
	length = strlen(item);
	if (line->used + length >= line->room)
		return;
	memcpy(line->text + line->used, item, length + 1);
	line->used += length;
}

static const char *in_short(double count, char *text, size_t size)
{
	if (count < 1e5)
		snprintf(text, size, "%.0f", count);
	else if (count < 1e7)
		snprintf(text, size, "%.0f k", count / 1e3);
	else
		snprintf(text, size, "%.1f M", count / 1e6);
	return text;
}

static uint64_t dropped(const struct ub_stats *stats)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < UB_KINDS; kind++)
		sum += stats->dropped[kind];
	return sum;
}

/* Shares are of one CPU. */
static void add_cost(struct progress_line *line, const struct cost_report *cost,
		     const struct cost_report *last, double ns)
{
	if (!cost->kernel_unknown && cost->kernel_ns >= last->kernel_ns)
		add(line, ", BPF %.0f %%", 100 * (cost->kernel_ns - last->kernel_ns) / ns);
	add(line, ", tracer %.0f %%", 100 * (cost->cpu_ns - last->cpu_ns) / ns);
	add(line, ", %.0f MiB", cost->memory / (double)(1 << 20));
}

void progress_show(struct progress *progress, unsigned int processes, struct file_writer *writer,
		   const struct ub_stats *stats, const struct cost_report *cost)
{
	uint64_t now = side_now(), records = file_writer_records(writer);
	struct progress_line line = { .room = columns() };
	double ns = now - progress->last_time;
	char number[24];

	if (!progress->on || ns <= 0)
		return;
	if (line.room > sizeof(line.text))
		line.room = sizeof(line.text);
	add(&line, "ucxbpf: %u processes", processes);
	add(&line, ", %s records", in_short(records, number, sizeof(number)));
	add(&line, ", %s/s",
	    in_short((records - progress->last_records) * 1e9 / ns, number, sizeof(number)));
	add(&line, ", %" PRIu64 " dropped", dropped(stats));
	add(&line, "%s", progress->state);
	add_cost(&line, cost, &progress->last_cost, ns);
	add(&line, ", file %.1f MiB", file_writer_bytes(writer) / (double)(1 << 20));
	fprintf(stderr, "\r\033[K%s", line.text);
	fflush(stderr);
	progress->shown = true;
	progress->last_time = now;
	progress->last_records = records;
	progress->last_cost = *cost;
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
