// SPDX-License-Identifier: BSD-3-Clause
/*
 * mutants FILE...: asks readers (user/observe/process/reader.h) all that a tracer asks of each
 * file, one after the other, and looks up names in it as at the end of a capture, in a process of
 * its own. For each file a line of JSON: how opening it ended, CPU time and wall time until all was
 * asked, most memory of its reader meanwhile, how the look-up of names ended and what that took. At
 * the end one with the most memory of this process, which stands for the tracer.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fuzz/elf_questions.h"
#include "observe/process/code.h"
#include "observe/process/proc.h"
#include "observe/process/reader.h"
#include "observe/process/reader_private.h"
#include "observe/process/remote.h"

#define PLACES 64 /* at which names are looked up */

/* The reader that serves now: the child of a child. 0: none. */
static pid_t reader_of(pid_t parent)
{
	char path[64], name[16];
	pid_t found = 0, child;
	FILE *children;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	children = fopen(path, "r");
	while (children && !found && fscanf(children, "%d", &child) == 1) {
		const long got = proc_read(child, "comm", name, sizeof(name) - 1);

		name[got > 0 ? got : 0] = '\0';
		found = strncmp(name, "ucxbpf-reader", 13) || !strncmp(name, "ucxbpf-readers", 14)
				? reader_of(child)
				: child;
	}
	if (children)
		fclose(children);
	return found;
}

/* The most memory that it has in use is counted anew. */
static void forget_most(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, "5", 1) != 1)
			perror(path);
		close(fd);
	}
}

/* As addresses_finish() does, which the tracer does itself. */
static _Noreturn void look_up(const struct elf *elf, const char *path)
{
	struct symbols *symbols = symbols_open(elf, path);
	const uint64_t step = elf_reach(elf) / PLACES + 1;
	struct symbol symbol;

	for (uint64_t i = 0; symbols && i < PLACES; i++)
		symbols_find(symbols, i * step, &symbol);
	symbols_free(symbols);
	_exit(symbols != NULL);
}

static void name_places(const struct elf *elf, const char *path)
{
	struct rusage used = { 0 };
	const pid_t pid = fork();
	int status = 0;

	if (!pid) {
		alarm(60);
		look_up(elf, path);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		perror("fork");
	printf(", \"names\": %d, \"names_cpu\": %.3f, \"names_peak\": %ld",
	       WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
	       used.ru_maxrss);
}

static void read_file(const char *path)
{
	struct library library = { 0 };
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	const pid_t before = reader_of(getpid());
	const uint64_t cpu = before ? wire_cpu_ns(before) : 0;
	pid_t after;
	int err;

	if (before)
		forget_most(before);
	err = elf_load(&library.elf, path);
	if (!err) {
		library.path = library.open_path = (char *)path;
		library.roles = elf_roles(library.elf);
		elf_ask_all(&library, UINT_MAX, UINT_MAX);
	}
	after = reader_of(getpid());
	printf("{\"file\": \"%s\", \"error\": \"%s\", \"seconds\": %.3f", strrchr(path, '/') + 1,
	       err ? strerror(-err) : "", (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9);
	/* else it was ended */
	if (after && after == before)
		printf(", \"cpu\": %.3f, \"peak\": %ld", (double)(wire_cpu_ns(after) - cpu) / 1e9,
		       proc_status_number(after, "VmHWM:"));
	if (!err)
		name_places(library.elf, path);
	printf("}\n");
	fflush(stdout);
	elf_free(library.elf);
	free((void *)library.ops);
}

int main(int argc, char **argv)
{
	readers_start();
	remote_start();
	for (int i = 1; i < argc; i++)
		read_file(argv[i]);
	printf("{\"tracer\": %ld}\n", proc_status_number(getpid(), "VmHWM:"));
	return 0;
}
