// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/side.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/shape.h"
#include "observe/probe/sites.h"
#include "observe/process/record.h"
#include "version.h"

uint64_t side_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void side_write(struct file_writer *writer, json_t *record)
{
	int err = record ? file_writer_side(writer, record) : 0;

	if (err == -EINVAL || err == -EMSGSIZE)
		log_warn("the capture lacks a side record of type %s: %s",
			 json_string_value(json_object_get(record, "t")), strerror(-err));
	json_decref(record);
}

static void read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
}

static json_t *host(void)
{
	struct utsname uts;
	char boot_id[64];

	uname(&uts);
	read_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	return json_pack("{s:o, s:o, s:o, s:o}", "id", shape_text(boot_id), "name",
			 shape_text(uts.nodename), "kernel", shape_text(uts.release), "machine",
			 shape_text(uts.machine));
}

json_t *side_capture(const char *level, const char *mode, char *const *command, bool count)
{
	json_t *record = json_pack("{s:s, s:i, s:s, s:o, s:s, s:s, s:I}", "t", "capture", "version",
				   UB_WIRE_VERSION, "tool", UCXBPF_VERSION, "host", host(), "level",
				   level, "mode", mode, "ts", (json_int_t)side_now());
	json_t *words = command ? json_array() : NULL;

	for (; words && *command; command++)
		json_array_append_new(words, shape_text(*command));
	if (words)
		json_object_set_new(record, "command", words);
	if (count)
		record_integer(record, "timed_every", UB_TIMED_EVERY);
	return record;
}

json_t *side_clock(void)
{
	uint64_t before = side_now();
	uint64_t real = clock_ns(CLOCK_REALTIME);
	uint64_t after = side_now();

	return json_pack("{s:s, s:I, s:I}", "t", "clock", "mono",
			 (json_int_t)(before + (after - before) / 2), "real", (json_int_t)real);
}

json_t *side_site(unsigned int row)
{
	const struct site *site = site_row(row);

	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:b}", "t", "site", "row",
			 (int)row, "symbol", site->symbol ? site->symbol : "", "name", site->name,
			 "layer", site_layer_name(site->layer), "kind", site->wire.kind, "what",
			 site->wire.what, "am_id", site->wire.am_id, "one_op",
			 site->wire.kind == UB_CALL && site->wire.derivable);
}

json_t *side_gap(pid_t tgid, const char *what, const char *path, uint64_t from, uint64_t to)
{
	return json_pack("{s:s, s:i, s:s, s:o, s:I, s:I}", "t", "gap", "tgid", (int)tgid, "what",
			 what, "path", shape_text(path), "from", (json_int_t)from, "to",
			 (json_int_t)to);
}

json_t *side_unseen(pid_t tgid, uint64_t from, uint64_t to, bool ended)
{
	return json_pack("{s:s, s:i, s:I, s:I, s:b}", "t", "unseen", "tgid", (int)tgid, "from",
			 (json_int_t)(from ? from : to), "to", (json_int_t)to, "ended", ended);
}

json_t *side_unread(pid_t tgid, uint64_t ended)
{
	return json_pack("{s:s, s:i, s:I}", "t", "unread", "tgid", (int)tgid, "ts",
			 (json_int_t)ended);
}

json_t *side_consumer(const struct drain_report *report)
{
	json_t *record = json_pack("{s:s}", "t", "consumer");

	record_integer(record, "threads", report->threads);
	record_integer(record, "rings", report->rings);
	record_integer(record, "ring_bytes", report->ring_bytes);
	record_integer(record, "largest_ring", report->largest);
	record_integer(record, "grown", report->grown);
	record_integer(record, "cpu_ns", report->cpu_ns);
	record_integer(record, "records", report->records);
	json_object_set_new(record, "gang", json_boolean(report->gang));
	record_integer(record, "free_cpus", report->free_cpus);
	record_integer(record, "ts", side_now());
	return record;
}

json_t *side_self(struct file_writer *writer, const struct cost_report *cost)
{
	json_t *record = json_pack("{s:s}", "t", "self");

	record_integer(record, "cpu_ns", cost->cpu_ns);
	record_integer(record, "records", file_writer_records(writer));
	record_integer(record, "bytes", file_writer_bytes(writer));
	if (cost->memory_peak)
		record_integer(record, "memory_peak", cost->memory_peak);
	if (cost->kernel_unknown) {
		json_object_set_new(record, "kernel_unknown", json_string(cost->kernel_unknown));
	} else {
		record_integer(record, "kernel_ns", cost->kernel_ns);
		record_integer(record, "kernel_spread_ns", cost->kernel_spread);
	}
	record_integer(record, "hits", cost->hits);
	record_integer(record, "sampled_hits", cost->sampled_hits);
	record_integer(record, "samples", cost->samples);
	record_integer(record, "ts", side_now());
	return record;
}

json_t *side_window(const struct windows *windows, uint64_t to)
{
	const char *step = windows->governed ? windows->step : NULL;
	const char *reason = windows->governed ? windows->reason : NULL;
	json_t *record =
		json_pack("{s:s, s:i, s:I, s:I, s:s*, s:s*}", "t", "window", "n",
			  (int)windows->count, "from", (json_int_t)windows->opened, "placing_ns",
			  (json_int_t)windows->placing, "step", step, "reason", reason);

	if (windows->governed)
		record_integer(record, "paid_ppm", (uint64_t)(windows->paid * 1e6 + 0.5));
	if (to)
		record_integer(record, "to", to);
	return record;
}

static json_t *note_of(const char *text)
{
	return json_pack("{s:s, s:o}", "t", "note", "text", shape_text(text));
}

json_t *side_note(const char *format, ...)
{
	json_t *note;
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	note = note_of(text);
	free(text);
	return note;
}

void side_warn(struct file_writer *writer, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	log_warn("%s", text);
	side_write(writer, note_of(text));
	free(text);
}

json_t *side_end(const char *reason, uint64_t stopped, const struct ub_stats *stats)
{
	uint64_t produced = 0, dropped = 0;

	for (int kind = 0; kind < UB_KINDS; kind++) {
		produced += stats->produced[kind];
		dropped += stats->dropped[kind];
	}
	return json_pack("{s:s, s:s, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I}}", "t", "end", "reason",
			 reason, "ts", (json_int_t)stopped, "stats", "produced",
			 (json_int_t)produced, "dropped", (json_int_t)dropped, "hits",
			 (json_int_t)stats->hits, "lost_returns", (json_int_t)stats->lost_returns,
			 "deep", (json_int_t)stats->deep, "task_nomem",
			 (json_int_t)stats->task_nomem);
}
