// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "cmd/input/captures.h"
#include "explain/analysis/analysis.h"
#include "show/export/export.h"

/* ---- signals ---- */

/*
 * Ctrl-C during an export removes the unfinished output, then has its default effect. A thread
 * waits for the signal, so that it works at any point of the export. It ends by ENOUGH, not by
 * pthread_cancel(3), which loads a library, and aborts the process where there is no memory for it.
 */
#define ENOUGH SIGRTMIN

struct abandon {
	char *path;
	sigset_t signals, before; /* signals: those chosen, and ENOUGH */
	pthread_t thread;
	bool running;
};

/*
 * Signals that people send, and that end a process by default. Not those that were ignored before
 * (nohup), nor those that are blocked, since another thread waits for them.
 */
static void choose(sigset_t *set)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;
	sigset_t blocked;

	sigemptyset(set);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (!sigaction(ending[i], NULL, &action) && action.sa_handler == SIG_DFL &&
		    !sigismember(&blocked, ending[i]))
			sigaddset(set, ending[i]);
	sigaddset(set, ENOUGH);
}

static void *wait_for_one(void *arg)
{
	const struct abandon *abandon = arg;
	int signal;

	if (sigwait(&abandon->signals, &signal) || signal == ENOUGH)
		return NULL;
	export_remove(abandon->path);
	raise(signal);
	pthread_sigmask(SIG_UNBLOCK, &abandon->signals, NULL);
	return NULL;
}

/* path: file or directory; NULL: nothing to remove. */
static void abandon_start(struct abandon *abandon, const char *path)
{
	*abandon = (struct abandon){ .path = path ? xstrdup(path) : NULL };
	if (!abandon->path)
		return;
	choose(&abandon->signals);
	pthread_sigmask(SIG_BLOCK, &abandon->signals, &abandon->before);
	abandon->running = !pthread_create(&abandon->thread, NULL, wait_for_one, abandon);
	if (!abandon->running)
		pthread_sigmask(SIG_SETMASK, &abandon->before, NULL);
}

/* The output is complete: restores the signals. */
static void abandon_end(struct abandon *abandon)
{
	if (abandon->running) {
		pthread_kill(abandon->thread, ENOUGH);
		pthread_join(abandon->thread, NULL);
		pthread_sigmask(SIG_SETMASK, &abandon->before, NULL);
	}
	free(abandon->path);
}

/* ---- files ---- */

static int fill(FILE *out, int (*write)(void *arg, FILE *out), void *arg)
{
	int err = write(arg, out);

	if (fflush(out) && !err)
		err = -errno;
	return err || !ferror(out) ? err : -EIO;
}

static int fill_and_close(int fd, int (*write)(void *arg, FILE *out), void *arg)
{
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int err;

	if (!out)
		return fd < 0 ? fd : -errno;
	err = fill(out, write, arg);
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

static int write_beside(const char *place, enum newfile_readers readers,
			int (*write)(void *arg, FILE *out), void *arg)
{
	struct abandon abandon;
	char *part;
	int fd = newfile_open(place, readers, &part), err;

	abandon_start(&abandon, part);
	err = fill_and_close(fd, write, arg);
	if (!err)
		err = newfile_keep(part, place);
	if (err && part)
		unlink(part);
	abandon_end(&abandon);
	free(part);
	return err;
}

int output_write(const char *path, enum newfile_readers readers, int (*write)(void *arg, FILE *out),
		 void *arg)
{
	struct stat old;
	char *place;
	int err;

	if (!path)
		return fill(stdout, write, arg);
	place = newfile_place(path);
	if (!place)
		return -ELOOP;
	err = !stat(place, &old) && !S_ISREG(old.st_mode)
		      ? fill_and_close(newfile_open_special(place), write, arg)
		      : write_beside(place, readers, write, arg);
	free(place);
	return err;
}

const char *output_name(const char *path)
{
	return path ? path : "standard output";
}

/* ---- exports ---- */

static const char *name_of(const struct export_request *request)
{
	return request->path ? request->path : "standard output";
}

static int failed(const struct export_request *request, int err, const char *why)
{
	switch (err) {
	case -EPIPE: /* it is no failure if the reader of a pipe stops early */
		return UCXBPF_EXIT_OK;
	case -ENODATA:
		why = *why ? why : "nothing written: the captures have nothing for this format";
		break;
	}
	log_error("%s: %s", name_of(request), *why ? why : newfile_why(err));
	switch (err) {
	case -EINVAL:
	case -EEXIST:
	case -EISDIR:
		return UCXBPF_EXIT_USAGE;
	}
	return exit_unwritten("export", err);
}

static int finish(struct export *export, const struct export_request *request,
		  const struct fact_totals *totals, struct captures *captures)
{
	char why[EXPORT_WHY];
	int err = export_finish(export, totals, why);

	if (err)
		return failed(request, err, why);
	captures_warn_of_loss(captures, totals);
	return captures->broken ? UCXBPF_EXIT_PARTIAL : UCXBPF_EXIT_OK;
}

static int scan(const char *command, struct export *export, const struct captures *captures)
{
	struct fact_sink sink;
	int err;

	if (!export_scan(export, &sink))
		return 0;
	err = captures_scan(captures, command, &sink);
	export_scan_end(export);
	return err;
}

static int convert(const char *command, const struct export_request *request,
		   struct analysis *analysis, struct captures *captures)
{
	struct fact_totals totals = { 0 };
	struct fact_sink sink;
	struct abandon abandon;
	char why[EXPORT_WHY];
	int status, err = 0;
	struct export *export;

	if (captures_find_causes(captures, command, request->filter))
		return UCXBPF_EXIT_FAILED;
	export = export_open(request, &err, why);
	if (!export)
		return failed(request, err, why);
	abandon_start(&abandon, export_part(export));
	sink = export_sink(export);
	if (scan(command, export, captures) ||
	    captures_analyse(captures, analysis, command, &sink, &totals))
		status = UCXBPF_EXIT_FAILED;
	else
		status = finish(export, request, &totals, captures);
	export_free(export);
	abandon_end(&abandon);
	return status;
}

int export_captures(const char *command, const struct export_request *request,
		    struct captures *captures)
{
	struct analysis *analysis;
	int status = UCXBPF_EXIT_INPUT;

	if (request->path && captures_has(request->path)) {
		log_error("%s: is a capture, not overwritten", request->path);
		return UCXBPF_EXIT_USAGE;
	}
	analysis = analysis_new();
	if (captures_add(captures, analysis))
		status = convert(command, request, analysis, captures);
	analysis_free(analysis);
	return status;
}
