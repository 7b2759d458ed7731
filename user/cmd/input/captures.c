// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/input/captures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "explain/analysis/analysis.h"
#include "file/file.h"

struct analysis;

/* ---- progress ---- */

/*
 * A progress line on stderr while captures are read. It is shown on a terminal only, after the
 * first second, and cleared at the end.
 */
struct facts_progress {
	const char *name; /* of the command */
	uint64_t started, shown; /* ns; shown 0 = nothing on the screen */
};

#define SHOW_EVERY 200000000u
#define PATIENCE 1000000000u

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void show(void *arg, uint64_t facts)
{
	struct facts_progress *progress = arg;
	uint64_t time = now();

	if (time - progress->started < PATIENCE || time - progress->shown < SHOW_EVERY)
		return;
	progress->shown = time;
	fprintf(stderr, "\r%s: %.1f million facts, %.0f s ", progress->name, facts / 1e6,
		(time - progress->started) / 1e9);
}

/* Before analysis_run(), through which progress must stay. */
static void facts_progress_start(struct facts_progress *progress, const char *name,
				 struct analysis *analysis)
{
	*progress = (struct facts_progress){ .name = name, .started = now() };
	if (isatty(STDERR_FILENO))
		analysis_watch(analysis, show, progress);
}

/* Clears the line. */
static void facts_progress_end(struct facts_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}

/* ---- captures ---- */

void captures_release(struct captures *captures)
{
	for (size_t i = 0; i < captures->added.len; i++) {
		free(captures->added.data[i].host_id);
		free(captures->added.data[i].host_name);
	}
	vec_release(&captures->added);
	vec_release(&captures->unread);
	vec_release(&captures->paths);
}

bool captures_has(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) && file_is_capture(path);
}

static void remember(struct captures *captures, const json_t *sides, const char *path,
		     const char *why)
{
	const char *type, *id, *name = "";
	json_int_t start;
	const json_t *side;
	size_t i;

	json_array_foreach(sides, i, side)
	{
		if (json_unpack((json_t *)side, "{s:s, s:I, s:{s:s, s?s}}", "t", &type, "ts",
				&start, "host", "id", &id, "name", &name) ||
		    strcmp(type, "capture") || start <= 0)
			continue;
		vec_push(&captures->added,
			 ((struct captured){ xstrdup(id), xstrdup(name), start, path, why }));
		return;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct captured *a = left, *b = right;
	int order = (a->start > b->start) - (a->start < b->start);

	order = order ? order : strcmp(a->host_id, b->host_id);
	return order ? order : strcmp(a->host_name, b->host_name);
}

bool captures_twice(struct captures *captures)
{
	struct captured *list = captures->added.data;
	bool twice = false;

	if (captures->added.len)
		qsort(list, captures->added.len, sizeof(*list), by_start);
	for (size_t i = 1; i < captures->added.len; i++) {
		if (by_start(&list[i - 1], &list[i]))
			continue;
		log_error("%s and %s are the same capture, or parts of it: give it once",
			  list[i - 1].path, list[i].path);
		twice = true;
	}
	return twice;
}

/* Prints a file's defect in one line. Returns -errno if it is unusable. */
static int check(struct captures *captures, const char *path)
{
	struct file_reader *reader;
	const char *why = NULL;
	int err = file_reader_open(&reader, path, &why);

	if (err == -ENOMEM)
		alloc_failed();
	if (err) {
		log_error("%s: %s", path, why ? why : strerror(-err));
		return err;
	}
	if (!file_reader_complete(reader, &why)) {
		why = why ? why : "incomplete";
		log_warn("%s: %s", path, why);
		captures->broken = true;
	}
	remember(captures, file_reader_sides(reader), path, why);
	file_reader_free(reader);
	return 0;
}

/* Whether the file opened last is a copy of another one. */
static bool is_twin(const struct captures *captures, const char *path)
{
	size_t last = captures->added.len - 1;

	if (!captures->added.len || captures->added.data[last].path != path)
		return false;
	for (size_t i = 0; i < last; i++)
		if (!by_start(&captures->added.data[i], &captures->added.data[last]))
			return true;
	return false;
}

/* A lack of memory is no defect of the file: the command ends, with the status for it. */
static int add_file(struct analysis *analysis, const char *path, const char **why)
{
	int err = analysis_add_file(analysis, path, why);

	if (err == -ENOMEM)
		alloc_failed();
	return err;
}

static int add(struct captures *captures, struct analysis *analysis, const char *path)
{
	const char *why = NULL;
	int err = check(captures, path);

	if (err)
		return err;
	err = add_file(analysis, path, &why);
	if (err && !(captures->refuses_twins && is_twin(captures, path)))
		log_error("%s: %s", path, why ? why : strerror(-err));
	return err;
}

size_t captures_add(struct captures *captures, struct analysis *analysis)
{
	size_t added = 0;

	for (size_t i = 0; i < captures->paths.len; i++) {
		const char *path = captures->paths.data[i];
		int err = add(captures, analysis, path);

		if (err)
			vec_push(&captures->unread, path);
		added += !err;
		captures->broken = captures->broken || err;
	}
	return added;
}

static void say_damage(struct captures *captures, uint64_t damaged)
{
	if (!damaged)
		return;
	log_warn("%" PRIu64 " bytes of the captures are damaged and were skipped", damaged);
	captures->broken = true;
}

static int run(struct analysis *analysis, const char *command, const struct fact_sink *sink,
	       struct fact_totals *totals)
{
	struct facts_progress progress;
	int err;

	facts_progress_start(&progress, command, analysis);
	err = analysis_run(analysis, sink, totals);
	facts_progress_end(&progress);
	if (err)
		log_error("the captures cannot be analysed: %s", strerror(-err));
	return err;
}

int captures_analyse(struct captures *captures, struct analysis *analysis, const char *command,
		     const struct fact_sink *sink, struct fact_totals *totals)
{
	int err = run(analysis, command, sink, totals);

	if (!err)
		say_damage(captures, totals->damaged_bytes);
	return err;
}

/* Whether captures_add() has reported that it cannot be read. */
static bool is_unread(const struct captures *captures, const char *path)
{
	for (size_t i = 0; i < captures->unread.len; i++)
		if (captures->unread.data[i] == path)
			return true;
	return false;
}

int captures_scan(const struct captures *captures, const char *command,
		  const struct fact_sink *sink)
{
	struct analysis *analysis = analysis_new();
	struct fact_totals totals = { 0 };
	int err = 0;

	for (size_t i = 0; i < captures->paths.len && !err; i++) {
		const char *path = captures->paths.data[i], *why = NULL;

		if (is_unread(captures, path))
			continue;
		err = add_file(analysis, path, &why);
		if (err)
			log_error("%s: %s", path, why ? why : strerror(-err));
	}
	if (!err)
		err = run(analysis, command, sink, &totals);
	analysis_free(analysis);
	return err;
}

int captures_find_causes(const struct captures *captures, const char *command,
			 struct report_filter *filter)
{
	struct filter_scan *scan;
	struct fact_sink sink;
	int err;

	if (!filter_wants_causes(filter))
		return 0;
	scan = filter_scan_begin(filter, &sink);
	err = captures_scan(captures, command, &sink);
	filter_scan_end(scan);
	return err;
}

#define LOSS_ALLOWED 0.01

void captures_warn_of_loss(struct captures *captures, const struct fact_totals *totals)
{
	uint64_t missing =
		totals->produced > totals->stored ? totals->produced - totals->stored : 0;
	bool much = (double)totals->lost > LOSS_ALLOWED * (double)totals->produced;

	if (!missing)
		return;
	log_warn("%" PRIu64 " of %" PRIu64 " records are not in the captures, %" PRIu64
		 " of them lost%s",
		 missing, totals->produced, totals->lost,
		 much && !captures->allow_loss ? "; --allow-loss for status 0" : "");
	captures->broken = captures->broken || (much && !captures->allow_loss);
}

/* ---- filters ---- */

enum { FILTER_KEY = 0x200 }; /* the options' keys, one per field */

static error_t parse_filter(int key, char *arg, struct argp_state *state)
{
	int field = key - FILTER_KEY;
	const char *why;

	if (field < 0 || field >= FILTER_FIELDS)
		return ARGP_ERR_UNKNOWN;
	if (filter_add(state->input, field, arg, &why))
		argp_error(state, "--%s=%s: %s", filter_infos[field].name, arg, why);
	return 0;
}

const struct argp_child *filter_options_init(struct filter_options *options)
{
	*options = (struct filter_options){ .argp = { .parser = parse_filter } };
	for (int i = 0; i < FILTER_FIELDS; i++)
		options->list[i] = (struct argp_option){
			.name = filter_infos[i].name,
			.key = FILTER_KEY + i,
			.arg = filter_infos[i].metavar,
			.doc = filter_infos[i].doc,
		};
	options->argp.options = options->list;
	options->children[0] = (struct argp_child){ &options->argp, 0, "Only these:", 2 };
	return options->children;
}
