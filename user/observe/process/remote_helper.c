// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that answer questions about foreign files and memory, and the one that starts them. Not
 * threads: a request that a FUSE server has taken and does not answer cannot be killed, and a
 * process with such a thread never ends, nor does the kernel close its links.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/peer.h"
#include "observe/process/remote_private.h"

void remote_await(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

bool remote_settle(struct channel *channel, enum helper_state state)
{
	enum helper_state asked = HELPER_ASKED;

	return __atomic_compare_exchange_n(&channel->state, &asked, state, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static bool take_fd(int socket, int *fd)
{
	size_t count = 1;
	char nothing;

	return peer_take(socket, fd, &count, &nothing, 1, 0) > 0 && count == 1;
}

/* The process that a request is about, by its folder in /proc; -1: none. */
static int folder_of(const struct remote_request *request)
{
	pid_t pid = request->pid;
	char path[32];

	if (!pid && sscanf(request->path, "/proc/%d/", &pid) != 1)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_PATH | O_CLOEXEC);
}

/*
 * Joins that process's user namespace, and has files opened in its name, as FUSE needs an owner
 * that the namespace knows. All other ids stay those of the tracer: no process in there may look
 * into this one.
 */
static bool join(int folder)
{
	const int users = openat(folder, "ns/user", O_RDONLY | O_CLOEXEC);
	bool joined = users >= 0 && !setns(users, CLONE_NEWUSER);
	struct stat st;

	close(users);
	if (joined && !fstat(folder, &st)) {
		setfsgid(st.st_gid);
		setfsuid(st.st_uid);
		joined = (uid_t)setfsuid((uid_t)-1) == st.st_uid;
	}
	return joined;
}

static _Noreturn void serve_joined(struct channel *channel, int folder, pid_t parent)
{
	struct remote_request *request = &channel->request;

	prctl(PR_SET_DUMPABLE, 0);
	request->joined = join(folder);
	/* joining may have reset both */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		channel->result =
			request->joined ? request->serve(request, channel->room) : -EACCES;
	_exit(0);
}

#define NONE LONG_MIN

/*
 * A FUSE file system that was mounted in a user namespace, as by rootless Podman, admits only
 * processes of that namespace, not even root. A process that has joined cannot come back, so a
 * child joins, which shares this process's descriptors. Without CAP_SYS_ADMIN it cannot.
 */
static void serve_inside(struct channel *channel)
{
	const pid_t parent = getpid();
	const int folder = folder_of(&channel->request);
	long child;

	if (folder < 0)
		return;
	channel->result = NONE;
	child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child)
		serve_joined(channel, folder, parent);
	while (child > 0 && waitpid((pid_t)child, NULL, 0) < 0 && errno == EINTR)
		;
	close(folder);
	if (channel->result == NONE) /* killed by root of that namespace: it left descriptors */
		_exit(1);
}

static void serve(struct channel *channel)
{
	struct remote_request *request = &channel->request;

	request->pin = -1;
	channel->result = request->serve(request, channel->room);
	if (channel->result == -EACCES && request->left < 0)
		serve_inside(channel);
	if (request->pin >= 0)
		close(request->pin);
}

static void answer(struct channel *channel, int socket)
{
	struct remote_request *request = &channel->request;
	char nothing = 0;

	request->fd_count = 0;
	request->left = -1;
	if (request->fd >= 0 && !take_fd(socket, &request->fd))
		channel->result = -EMFILE;
	else
		serve(channel);
	if (request->fd >= 0)
		request->left = request->fd;
	if (request->fd_count && peer_send(socket, request->fds, request->fd_count,
					   &(struct iovec){ &nothing, 1 }, 1, 0) < 0)
		_exit(1);
	for (size_t i = 0; i < request->fd_count; i++)
		if (request->fds[i] != request->left)
			close(request->fds[i]);
	channel->closing = request->left >= 0 ? CLOSING : CLOSING_NOTHING;
}

static _Noreturn void work(struct channel *channel, int socket)
{
	for (;;) {
		int file;

		remote_await(&channel->asked);
		answer(channel, socket);
		file = channel->request.left;
		if (!remote_settle(channel, HELPER_DONE))
			_exit(0);
		sem_post(&channel->done);
		if (file < 0)
			continue;
		close(file);
		if (__atomic_exchange_n(&channel->closing, CLOSING_NOTHING, __ATOMIC_ACQ_REL) ==
		    CLOSING_LEFT)
			_exit(0);
	}
}

static void start_helper(int orders, const int fds[2])
{
	const pid_t parent = getpid();
	struct channel *channel =
		mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	pid_t pid;

	if (channel == MAP_FAILED)
		return;
	pid = ftruncate(fds[0], sizeof(*channel)) ? -1 : fork();
	if (pid) {
		if (pid < 0) {
			__atomic_store_n(&channel->none, true, __ATOMIC_RELEASE);
			sem_post(&channel->done);
		}
		munmap(channel, sizeof(*channel));
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(orders);
	close(fds[0]);
	work(channel, fds[1]);
}

/* Shared memory counts as a file. The limit of the tracer is meant for its captures. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

void remote_start_helpers(int orders)
{
	size_t count = 2;
	char nothing;
	int fds[2];

	/* SIGKILL to the tracer's group is not for these; not setsid(): reader_process.c */
	setpgid(0, 0);
	signal(SIGCHLD, SIG_IGN);
	raise_file_limit();
	while (peer_take(orders, fds, &count, &nothing, 1, 0) > 0) {
		if (count == 2)
			start_helper(orders, fds);
		peer_close(fds, count);
		count = 2;
	}
	/* helpers end with this process, or once they get their answer */
}
