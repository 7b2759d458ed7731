// SPDX-License-Identifier: BSD-3-Clause
/* Adds processes to a capture: by id, by starting them, and with --all as they appear. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/probes.h"
#include "observe/capture/session.h"
#include "observe/capture/side.h"
#include "observe/process/library.h"
#include "observe/process/proc.h"
#include "observe/process/remote.h"
#include "observe/process/snapshot.h"

/* Directories where distributions and sites put libraries, beside the loader's own. */
static const char *const system_directories[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/local/lib64",
};

/* UCP first: the others take their layout from it. */
static const char *const patterns[] = {
	"libucp*.so*",
	"libuct*.so*",
	"libucs*.so*",
	"ucx/libuct_*.so*",
	"libmpi*.so*",
	"liboshmem.so*",
	"openmpi/mca_pml_ucx.so",
	"openmpi/lib/openmpi*/mca_pml_ucx.so",
	"openmpi/mca_spml_ucx.so",
	"openmpi/lib/openmpi*/mca_spml_ucx.so",
	"libcuda.so.1",
};

struct preparation {
	struct library_set *set;
	mapped_libraries found;
	unsigned int unanswered; /* questions about files that nobody answered */
};

/* Each one costs seconds before the job starts, and the job may not need these files. */
#define UNANSWERED_MAX 3

/* False: the server of the file does not answer. */
static bool answered(struct preparation *preparation, const char *path, long err)
{
	if (err != -ETIME)
		return true;
	log_warn("%s: nobody answers, libraries there are not probed ahead of time", path);
	preparation->unanswered++;
	return false;
}

static bool goes_on(const struct preparation *preparation)
{
	return preparation->unanswered < UNANSWERED_MAX;
}

/* The real path of a regular file; false: the path leads to no regular file. */
static bool find_file(struct preparation *preparation, const char *path, char *real,
		      struct stat *st)
{
	int err = remote_realpath(path, real);

	if (!err)
		err = remote_stat(real, st);
	return answered(preparation, path, err) && !err && S_ISREG(st->st_mode);
}

static void prepare_file(struct preparation *preparation, const char *path)
{
	mapped_libraries *found = &preparation->found;
	struct library *library;
	char real[PATH_MAX];
	struct stat st;
	int err;

	if (!find_file(preparation, path, real, &st))
		return;
	library = library_set_get(preparation->set, st.st_dev, st.st_ino, real, real, &err);
	answered(preparation, path, err);
	for (size_t i = 0; library && i < found->len; i++)
		if (found->data[i].library == library)
			return;
	if (library)
		vec_push(found, ((struct mapped_library){ library, 0 }));
}

/* The folder's name as a pattern that stands for nothing else. */
static void escape(char *pattern, size_t size, const char *folder)
{
	size_t length = 0;

	for (; *folder && length + 2 < size; folder++) {
		if (strchr("\\*?[", *folder))
			pattern[length++] = '\\';
		pattern[length++] = *folder;
	}
	pattern[*folder ? 0 : length] = '\0';
}

#define NAMES_MAX 65536 /* bytes of names of a folder's files */

static void prepare_directory(struct preparation *preparation, const char *directory)
{
	char folder[PATH_MAX], pattern[PATH_MAX + 64];
	char *names = xmalloc(NAMES_MAX);
	bool there = goes_on(preparation);

	escape(folder, sizeof(folder), directory);
	for (size_t i = 0; *folder && there && i < ARRAY_SIZE(patterns); i++) {
		long size;

		snprintf(pattern, sizeof(pattern), "%s/%s", folder, patterns[i]);
		size = remote_glob(pattern, names, NAMES_MAX);
		there = answered(preparation, directory, size);
		for (long at = 0; at < size && goes_on(preparation);
		     at += (long)strlen(names + at) + 1)
			prepare_file(preparation, names + at);
	}
	free(names);
}

static const char *variable(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return "";
}

static void prepare_list(struct preparation *preparation, const char *list)
{
	char *copy = xstrdup(list), *rest = copy;
	const char *directory;

	while ((directory = strsep(&rest, ":")))
		if (*directory)
			prepare_directory(preparation, directory);
	free(copy);
}

static int prepare_runpath(void *arg, const char *folder)
{
	prepare_directory(arg, folder);
	return 0;
}

static void prepare_program(struct preparation *preparation, const char *path)
{
	char real[PATH_MAX];
	struct elf *elf;
	struct stat st;
	int err;

	if (!goes_on(preparation) || !find_file(preparation, path, real, &st))
		return;
	err = elf_load(&elf, real);
	if (!answered(preparation, path, err) || err)
		return;
	elf_each_runpath(elf, real, prepare_runpath, preparation);
	elf_free(elf);
}

#define WORDS_MAX 64 /* of a command */

/*
 * The folders in which the programs of a command look for their libraries. A launcher has its
 * program behind its options, so every word that names a file may be one.
 */
static void prepare_command(struct preparation *preparation, char *const *command,
			    const char *search)
{
	for (int i = 0; command[i] && i < WORDS_MAX; i++) {
		char *copy = xstrdup(search), *rest = copy;
		const char *directory;

		if (strchr(command[i], '/')) {
			prepare_program(preparation, command[i]);
		} else if (*command[i] != '-') {
			while ((directory = strsep(&rest, ":"))) {
				char *path = xasprintf("%s/%s", directory, command[i]);

				prepare_program(preparation, path);
				free(path);
			}
		}
		free(copy);
	}
}

/*
 * command: NULL: none. environment: its environment, for LD_LIBRARY_PATH and PATH. directories:
 * more places, separated by colons, NULL = none.
 */
static void prepare_libraries(struct library_set *set, struct probes *probes, char *const *command,
			      char *const *environment, const char *directories)
{
	struct preparation preparation = { .set = set };
	mapped_libraries *found = &preparation.found;

	prepare_list(&preparation, variable(environment, "LD_LIBRARY_PATH"));
	if (command)
		prepare_command(&preparation, command, variable(environment, "PATH"));
	if (directories)
		prepare_list(&preparation, directories);
	for (size_t i = 0; i < ARRAY_SIZE(system_directories); i++)
		prepare_directory(&preparation, system_directories[i]);
	for (size_t i = 0; i < found->len; i++) {
		const struct library *library = found->data[i].library;
		const struct library *ucp = library_owner_ucp(found, library);

		/* without its libucp, wait until a process maps both */
		if (!ucp && library->roles & (LIB_UCT | LIB_UCT_MODULE | LIB_MPI_PLUGIN))
			continue;
		/* removing a probe takes 0.1 s, and few jobs map it */
		if (probes->links.mechanism == LINK_PERF && library->roles & LIB_SHMEM_CODE)
			continue;
		if (probes_attach(probes, library, ucp))
			log_debug("%s: not probed ahead of time", library->path);
	}
	vec_release(found);
}

int capture_add_started(struct capture_session *capture, pid_t pid)
{
	int err = track_add(&capture->track, pid, true);

	if (!err) {
		drain_cover(capture->drain, &pid, 1);
		if (capture->budget.on)
			budget_begin(capture);
		else
			windows_begin(capture);
	}
	return err ? err : track_begin(&capture->track, pid);
}

static int add_paused(struct capture_session *capture, pid_t pid, bool from_start)
{
	int err = track_add(&capture->track, pid, from_start);

	if (err)
		return err;
	process_maps_hold(pid);
	track_scan(&capture->track);
	existing_process(&capture->existing, pid);
	memory_watch_apply(&capture->memory, deadline_in(BOUNDS_ROUND_NS));
	session_follow_stacks(capture, 0);
	process_maps_drop();
	return 0;
}

int capture_add_running(struct capture_session *capture, pid_t pid)
{
	return add_paused(capture, pid, false);
}

#define LOOK_MS 1000 /* for a worker in a process's memory */

/* No module of UCX is loaded before ucp_init() asks for components (src/uct/base/uct_component.c).
 */
static bool uses_ucx(struct capture_session *capture, pid_t pid)
{
	mapped_libraries mapped = { 0 };
	struct snapshot snapshot;
	bool uses = process_libraries(pid, &capture->track.libraries, &mapped) != 0;
	uint64_t worker;

	for (size_t i = 0; !uses && i < mapped.len; i++) {
		const struct library *library = mapped.data[i].library;

		uses = library->roles & LIB_UCT_MODULE;
		if (!uses && library->roles & LIB_UCP && library->layout) {
			snapshot_init(&snapshot, pid, library->layout, LOOK_MS);
			uses = snapshot_find_workers(&snapshot, &mapped, &worker, 1) > 0;
			snapshot_release(&snapshot);
		}
	}
	vec_release(&mapped);
	return uses;
}

int capture_add_waiting(struct capture_session *capture, pid_t pid)
{
	return add_paused(capture, pid, !uses_ucx(capture, pid));
}

static int begin_one(struct capture_session *capture, pid_t tgid)
{
	int err = track_begin(&capture->track, tgid);

	if (err == -ESRCH)
		log_warn("process %d has ended before its records began", tgid);
	return err == -ESRCH ? 0 : err;
}

static int begin_all(struct capture_session *capture)
{
	const struct track *track = &capture->track;
	VEC(pid_t) tgids = { 0 };
	int err = 0;

	for (size_t i = 0; i < track->processes.len; i++)
		if (track->processes.data[i].alive)
			vec_push(&tgids, track->processes.data[i].tgid);
	existing_read(&capture->existing);
	drain_cover(capture->drain, tgids.data, tgids.len);
	vec_release(&tgids);
	session_place_threads(capture);
	session_drain(capture);
	kernel_begin_positions(capture->kernel, side_now());
	derive_begin(capture);
	for (size_t i = 0; !err && i < track->processes.len; i++)
		if (track->processes.data[i].alive)
			err = begin_one(capture, track->processes.data[i].tgid);
	/* from here on the capture can be read, even if this process is killed */
	if (!err)
		session_flush(capture);
	log_debug("records of %u processes begin after %.3f ms", capture->track.alive,
		  (side_now() - capture->opened) / 1e6);
	return err;
}

/* Everything that takes time was done before: all processes begin within microseconds. */
int capture_begin(struct capture_session *capture)
{
	int err;

	session_follow_stacks(capture, UINT64_MAX);
	if (capture->budget.on)
		kernel_pause(capture->kernel);
	else
		windows_begin(capture);
	err = begin_all(capture);
	if (err)
		return err;
	if (capture->budget.on) {
		budget_sound(capture);
		budget_begin(capture);
	}
	if (capture->options.live)
		pace_begin(capture);
	capture->taken = side_now();
	/*
	 * calls are recorded by now: one that this look finds under way began before the first
	 * record
	 */
	session_look(capture, false);
	return 0;
}

/*
 * A process that --all has found: its records start while it is being examined, unless it ends
 * before. mapped: when it appeared, and from when on it lacks records; 0: before the capture.
 */
static void consider(struct capture_session *capture, pid_t pid, uint64_t mapped)
{
	bool ended;

	if (pid <= 0 || pid == getpid() || !track_consider(&capture->track, pid))
		return;
	process_maps_hold(pid);
	track_scan(&capture->track);
	existing_process(&capture->existing, pid);
	existing_read(&capture->existing);
	memory_watch_apply(&capture->memory, deadline_in(BOUNDS_ROUND_NS));
	drain_cover(capture->drain, &pid, 1);
	process_maps_drop();
	ended = track_begin(&capture->track, pid) == -ESRCH;
	if (mapped || ended)
		side_write(capture->writer, side_unseen(pid, mapped, side_now(), ended));
}

void capture_add_all(struct capture_session *capture)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		consider(capture, atoi(entry->d_name), 0);
	if (proc)
		closedir(proc);
	session_look(capture, false);
}

/* MPI libraries are large: read their unwinding rows before the job needs them. */
static void prepare_stacks(struct capture_session *capture)
{
	const struct library_set *libraries = &capture->track.libraries;

	for (size_t i = 0; capture->stacks.on && i < libraries->all.len; i++) {
		const struct library *library = libraries->all.data[i];

		stacks_file(&capture->stacks,
			    code_files_open(&capture->addresses.files, library->dev, library->ino,
					    library->path, library->open_path));
	}
}

void capture_prepare(struct capture_session *capture, char *const *command,
		     char *const *environment)
{
	prepare_libraries(&capture->track.libraries, &capture->probes, command, environment,
			  capture->options.libraries);
	prepare_stacks(capture);
}

/* A process that starts maps several files: the first one counts. */
void session_consider_newcomers(struct capture_session *capture)
{
	struct map seen = { 0 };
	bool fresh;

	for (size_t i = 0; i < capture->newcomers.len; i++) {
		const struct newcomer newcomer = capture->newcomers.data[i];

		map_insert(&seen, (uint64_t)newcomer.pid, 0, &fresh);
		if (fresh)
			consider(capture, newcomer.pid, newcomer.mapped);
	}
	capture->newcomers.len = 0;
	map_release(&seen);
}

void session_follow_stacks(struct capture_session *capture, uint64_t ns)
{
	struct track *track = &capture->track;

	for (size_t i = 0; i < track->scanned.len; i++) {
		derive_process(capture, track->scanned.data[i]);
		if (capture->stacks.on)
			stacks_process(&capture->stacks, track->scanned.data[i]);
	}
	track->scanned.len = 0;
	stacks_work(&capture->stacks, ns);
}

unsigned int capture_processes(const struct capture_session *capture)
{
	return capture->track.announced;
}

unsigned int capture_alive(const struct capture_session *capture)
{
	return capture->track.alive;
}

unsigned int capture_alive_with_ucx(const struct capture_session *capture)
{
	return capture->track.with_ucx;
}
