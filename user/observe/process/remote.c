// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"

#define PATIENCE_S 2 /* more than a page from a slow swap takes */
#define ALONE_NS 60000000000ull /* then a process is asked again: it may only have been slow */

struct request {
	long (*serve)(const struct request *request, void *buffer);
	pid_t pid; /* whose memory it may lie in; 0: nobody's */
	char name[32]; /* below /proc/PID */
	const char *path;
	int fd;
	uint64_t address; /* in a file: the offset */
	size_t size;
};

enum reader_state { READER_ASKED, READER_DONE, READER_LEFT };

/*
 * A thread that reads, into memory of its own: whoever asked may be gone when it is done. An attach
 * asks thousands of times, and a semaphore costs half as many system calls as a lock and a
 * condition.
 */
struct remote_reader {
	sem_t asked, done;
	enum reader_state state; /* atomic: of the last request */
	struct request request;
	char path[PATH_MAX]; /* the request's */
	VEC(uint8_t) room;
	long result;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these */
static VEC(struct remote_reader *) idle;
static struct map slow; /* processes that have delayed a read, until when they are left alone */

static long opened(const struct request *request, void *buffer)
{
	struct stat st;
	int fd;

	(void)buffer;
	if (stat(request->path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	fd = open(request->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static long looked_at(const struct request *request, void *buffer)
{
	return stat(request->path, buffer) ? -errno : (long)sizeof(struct stat);
}

static long globbed(const struct request *request, void *buffer)
{
	size_t size = 0;
	glob_t found;

	if (glob(request->path, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const size_t length = strlen(found.gl_pathv[i]) + 1;

		if (length > request->size - size)
			break;
		memcpy((char *)buffer + size, found.gl_pathv[i], length);
		size += length;
	}
	globfree(&found);
	return (long)size;
}

static long resolved(const struct request *request, void *buffer)
{
	return realpath(request->path, buffer) ? (long)strlen(buffer) + 1 : -errno;
}

static long part_read(const struct request *request, void *buffer)
{
	ssize_t got = pread(request->fd, buffer, request->size, (off_t)request->address);

	return got < 0 ? -errno : got;
}

static long memory_read(const struct request *request, void *buffer)
{
	struct iovec local = { buffer, request->size };
	struct iovec remote = { (void *)(uintptr_t)request->address, request->size };
	ssize_t got = process_vm_readv(request->pid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : got;
}

static long file_read(const struct request *request, void *buffer)
{
	ssize_t got = 1;
	size_t done = 0;
	char path[64];
	int fd, error;

	snprintf(path, sizeof(path), "/proc/%d/%s", request->pid, request->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (done < request->size &&
	       (got = read(fd, (char *)buffer + done, request->size - done)) > 0)
		done += (size_t)got;
	error = errno;
	close(fd);
	return got < 0 ? -error : (long)done;
}

static void reader_free(struct remote_reader *reader)
{
	sem_destroy(&reader->asked);
	sem_destroy(&reader->done);
	vec_release(&reader->room);
	free(reader);
}

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

/* From ASKED to another state; false: the other thread was faster. */
static bool settle(struct remote_reader *reader, enum reader_state state)
{
	enum reader_state asked = READER_ASKED;

	return __atomic_compare_exchange_n(&reader->state, &asked, state, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static void *work(void *arg)
{
	struct remote_reader *reader = arg;

	await(&reader->asked);
	for (;;) {
		reader->result = reader->request.serve(&reader->request, reader->room.data);
		if (!settle(reader, READER_DONE))
			break;
		sem_post(&reader->done);
		await(&reader->asked);
	}
	/* left behind: nobody else knows of the file it has opened */
	if (reader->request.serve == opened && reader->result >= 0)
		close((int)reader->result);
	reader_free(reader);
	return NULL;
}

static int start(struct remote_reader *reader)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* signals are for the threads that were there before */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, work, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

static struct remote_reader *reader_new(void)
{
	struct remote_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	sem_init(&reader->asked, 0, 0);
	sem_init(&reader->done, 0, 0);
	if (start(reader)) {
		reader_free(reader);
		return NULL;
	}
	return reader;
}

/* NULL: the process is slow, or there is no thread. */
static struct remote_reader *reader_for(pid_t pid, bool *is_slow)
{
	struct remote_reader *reader = NULL;
	const uint64_t *until;

	pthread_mutex_lock(&lock);
	until = pid ? map_find(&slow, (uint64_t)pid, 0) : NULL;
	*is_slow = until && clock_ns(CLOCK_MONOTONIC) < *until;
	if (!*is_slow && idle.len)
		reader = idle.data[--idle.len];
	pthread_mutex_unlock(&lock);
	return reader || *is_slow ? reader : reader_new();
}

#define ROOM_KEPT 65536 /* bytes; blocks of a heap are larger, and are read at attach alone */

static void reader_back(struct remote_reader *reader)
{
	if (reader->room.cap > ROOM_KEPT)
		vec_release(&reader->room);
	pthread_mutex_lock(&lock);
	vec_push(&idle, reader);
	pthread_mutex_unlock(&lock);
}

static void leave(pid_t pid)
{
	uint64_t *until, now = clock_ns(CLOCK_MONOTONIC);
	bool fresh;

	if (!pid)
		return;
	pthread_mutex_lock(&lock);
	until = map_insert(&slow, (uint64_t)pid, 0, &fresh);
	*until = now + ALONE_NS;
	pthread_mutex_unlock(&lock);
	if (fresh)
		log_warn("process %d: a read of its memory takes more than %d s, as if nothing "
			 "served its pages: it is left alone for a minute",
			 pid, PATIENCE_S);
}

static void ask(struct remote_reader *reader, const struct request *request)
{
	vec_reserve(&reader->room, request->size);
	reader->request = *request;
	if (request->path)
		reader->request.path = strcpy(reader->path, request->path);
	__atomic_store_n(&reader->state, READER_ASKED, __ATOMIC_RELEASE);
	sem_post(&reader->asked);
}

/* False: the reader is left behind, and belongs to itself. */
static bool wait_for(struct remote_reader *reader)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	while (sem_clockwait(&reader->done, CLOCK_MONOTONIC, &until)) {
		if (errno == EINTR)
			continue;
		if (settle(reader, READER_LEFT))
			return false;
		await(&reader->done);
		break;
	}
	return true;
}

static long patiently(const struct request *request, void *buffer)
{
	bool is_slow;
	struct remote_reader *reader = reader_for(request->pid, &is_slow);
	long result;

	if (!reader)
		return is_slow ? -ETIME : request->serve(request, buffer);
	ask(reader, request);
	if (!wait_for(reader)) {
		leave(request->pid);
		return -ETIME;
	}
	result = reader->result;
	if (buffer && result > 0)
		memcpy(buffer, reader->room.data, (size_t)result);
	reader_back(reader);
	return result;
}

long remote_read_memory(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct request request = {
		.serve = memory_read, .pid = pid, .address = address, .size = size
	};

	return patiently(&request, buffer);
}

/* Or, of maps, waits for the lock of the memory. The kernel makes the other files itself. */
static bool lies_in_memory(const char *name)
{
	return !strcmp(name, "cmdline") || !strcmp(name, "environ") || !strcmp(name, "maps");
}

long remote_read_file(pid_t pid, const char *name, void *buffer, size_t size)
{
	struct request request = { .serve = file_read, .pid = pid, .size = size };

	snprintf(request.name, sizeof(request.name), "%s", name);
	return lies_in_memory(name) ? patiently(&request, buffer) : file_read(&request, buffer);
}

/* -ENAMETOOLONG, or the result of the request. */
static long ask_for_file(const struct request *request, void *buffer)
{
	return strlen(request->path) < PATH_MAX ? patiently(request, buffer) : -ENAMETOOLONG;
}

int remote_stat(const char *path, struct stat *st)
{
	struct request request = { .serve = looked_at, .path = path, .size = sizeof(*st) };
	long got = ask_for_file(&request, st);

	return got < 0 ? (int)got : 0;
}

int remote_open(const char *path)
{
	struct request request = { .serve = opened, .path = path };

	return (int)ask_for_file(&request, NULL);
}

long remote_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	struct request request = { .serve = part_read, .fd = fd, .address = offset, .size = size };

	return patiently(&request, buffer);
}

long remote_glob(const char *pattern, char *names, size_t size)
{
	struct request request = { .serve = globbed, .path = pattern, .size = size };

	return ask_for_file(&request, names);
}

int remote_realpath(const char *path, char *real)
{
	struct request request = { .serve = resolved, .path = path, .size = PATH_MAX };
	long got = ask_for_file(&request, real);

	return got < 0 ? (int)got : 0;
}
