/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends from known places by known paths: twice to the same place through callers that look alike
 * on the stack, by recursion, from callbacks of libc and of a library without symbols, over frames
 * found through %rbp, from a second thread. The program that includes this defines PATHS_SEND(),
 * the send, and paths_noted(), which is called before each.
 *
 * glibc's backtrace() gives the stack at each place: $TRUTH/RANK.paths has a line for every path:
 * its count, its function and line, then module and offset of each frame from the caller's on. With
 * a pause between rounds the library is loaded late: once a file is there, which the test makes.
 */
#ifndef UCXBPF_PATHS_H
#define UCXBPF_PATHS_H

#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>

#define OTHER __attribute__((noipa))
#define MAX_PATHS 64
#define MAX_FRAMES 64

static struct path {
	const char *function;
	int line, count, depth;
	void *frames[MAX_FRAMES];
} paths[MAX_PATHS];

static void (*library_call)(void (*function)(void), int depth);

/* frames[0] is behind the call of backtrace(), not of the send. */
static OTHER void note(const char *function, int line, void **frames, int depth)
{
	struct path *path = paths;

	while (path->count && (path->line != line || path->depth != depth ||
			       memcmp(path->frames + 1, frames + 1, (depth - 1) * sizeof(*frames))))
		path++;
	EXPECT(path < paths + MAX_PATHS - 1);
	path->function = function;
	path->line = line;
	path->depth = depth;
	path->count++;
	memcpy(path->frames, frames, depth * sizeof(*frames));
	paths_noted();
}

/* The second asm keeps the call from being the function's last jump. */
#define SEND()                                                                                     \
	do {                                                                                       \
		void *frames_[MAX_FRAMES];                                                         \
                                                                                                   \
		note(__func__, __LINE__, frames_, backtrace(frames_, MAX_FRAMES));                 \
		PATHS_SEND();                                                                      \
		__asm__ volatile("" : : : "memory");                                               \
	} while (0)

static OTHER void send_here(void)
{
	SEND();
}

static OTHER void left(void)
{
	send_here();
	__asm__ volatile("" : : : "memory");
}

static OTHER void right(void)
{
	send_here();
	__asm__ volatile("" : : : "memory");
}

static OTHER void recurse(int depth)
{
	if (depth > 0)
		recurse(depth - 1);
	else
		SEND();
	__asm__ volatile("" : : : "memory");
}

static OTHER void on_stack(size_t bytes)
{
	char *space = alloca(bytes);

	memset(space, 1, bytes);
	SEND();
	__asm__ volatile("" : : "r"(space) : "memory");
}

/* An aligned array and one of unknown size: GCC finds this frame through a word in it. */
static OTHER void realigned(size_t bytes)
{
	char array[64] __attribute__((aligned(64))), *space = alloca(bytes);

	memset(array, 1, sizeof(array));
	memset(space, 1, bytes);
	SEND();
	__asm__ volatile("" : : "r"(space), "r"(array) : "memory");
}

static OTHER int compare(const void *a, const void *b)
{
	SEND();
	return *(const char *)a - *(const char *)b;
}

static void *second_thread(void *arg)
{
	(void)arg;
	left();
	SEND();
	return NULL;
}

#define PATHS_SENDS 12 /* of one round */

static OTHER void round_of_sends(void)
{
	char two[2] = { 1, 2 };
	pthread_t thread;

	SEND();
	left();
	right();
	left();
	recurse(20);
	on_stack(100);
	on_stack(1000);
	realigned(300);
	qsort(two, 2, 1, compare);
	library_call(send_here, 3);
	EXPECT(!pthread_create(&thread, NULL, second_thread, NULL));
	pthread_join(thread, NULL);
}

static void print_frame(FILE *file, void *frame)
{
	Dl_info info;

	EXPECT(dladdr(frame, &info));
	fprintf(file, " %s+%#zx", info.dli_fname, (size_t)((char *)frame - (char *)info.dli_fbase));
}

static void print_paths(void)
{
	FILE *file = truth_open("paths");

	for (const struct path *path = paths; file && path->count; path++) {
		fprintf(file, "%d %s %d", path->count, path->function, path->line);
		for (int i = 1; i < path->depth; i++)
			print_frame(file, path->frames[i]);
		fputc('\n', file);
	}
	if (file)
		fclose(file);
}

/* Loaded, and time to notice it. */
static void load(const char *path, int pause, const char *when)
{
	void *library;

	while (when && access(when, F_OK))
		usleep(10000);
	if (pause)
		sleep(1);
	library = dlopen(path, RTLD_NOW);
	EXPECT(library);
	*(void **)&library_call = dlsym(library, "paths_call");
	if (pause)
		sleep(1);
}

#endif
