/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of remote.h: remote.c knows the questions, remote_ask.c asks, remote_helper.c answers.
 */
#ifndef UCXBPF_PROCESS_REMOTE_PRIVATE_H
#define UCXBPF_PROCESS_REMOTE_PRIVATE_H

#include <limits.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_SHUNNED 32

struct remote_request {
	/*
	 * answers in the helper: the bytes in the room, or -errno; after -EACCES once more, among
	 * the users of the process that the request is about
	 */
	long (*serve)(struct remote_request *request, void *room);
	pid_t pid; /* whose memory it may lie in; 0: nobody's */
	char name[32]; /* below /proc/PID */
	char path[PATH_MAX];
	int fd; /* -1: none; the helper has a copy of its own */
	uint64_t address; /* in a file: the offset; remote_is_roots(): the process */
	size_t size; /* of the answer at most */
	dev_t dev; /* atomic; of the file system; serve() may find it out; 0: unknown */
	uint64_t moved; /* atomic; grows while serve() makes progress */
	bool joined; /* serve() runs in the user namespace of that process */
	int fds[2]; /* part of the answer; the caller's to close */
	size_t fd_count;
	int pin; /* the file alone (O_PATH), which serve() may find once for both times; -1 */
	int left; /* closed after the answer, since that may ask a server; -1: none */
	dev_t shunned[REMOTE_SHUNNED]; /* by remote_ask(): file systems that hold many helpers */
};

/* Too many helpers wait for that file system: nothing more is asked of it. */
bool remote_is_shunned(const struct remote_request *request, dev_t dev);

/* In a helper: as remote_is_roots(), whatever the type of the file system. */
int remote_mounted_by_root(int fd, dev_t dev, pid_t pid);

/*
 * Asks a helper, a process that can be left behind if it never gets an answer. Returns the bytes in
 * buffer, with descriptors in the request, or -errno. -ETIME: no answer came in time, or too many
 * others have not come; -EAGAIN: there is no helper.
 */
long remote_ask(struct remote_request *request, void *buffer);

#define REMOTE_ROOM (64u << 20) /* bytes of an answer; more than 200,000 mappings */

enum helper_state { HELPER_ASKED, HELPER_DONE, HELPER_LEFT };
enum closing { CLOSING_NOTHING, CLOSING, CLOSING_LEFT };

/*
 * Memory shared by a helper and the process that asks it. An attach asks thousands of times, and a
 * semaphore costs half as many system calls as a message.
 */
struct channel {
	sem_t asked, done;
	enum helper_state state; /* atomic: of the last request */
	enum closing closing; /* atomic: the helper has answered, and closes a file now */
	bool none; /* atomic: the helper could not be started */
	struct remote_request request;
	long result;
	_Alignas(4096) uint8_t room[REMOTE_ROOM]; /* pages that are used exist */
};

void remote_await(sem_t *semaphore);

/* From ASKED to another state; false: the other side was faster. */
bool remote_settle(struct channel *channel, enum helper_state state);

/* Starts helpers as ordered through that socket, until its other end is closed. */
void remote_start_helpers(int orders);

#endif
