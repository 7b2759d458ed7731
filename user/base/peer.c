// SPDX-License-Identifier: BSD-3-Clause
#include "base/peer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;
	char space[CMSG_SPACE(PEER_FDS_MAX * sizeof(int))];
};

int peer_fork(int type, pid_t *pid)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends))
		return -errno;
	*pid = fork();
	if (*pid < 0) {
		err = -errno;
		peer_close(ends, 2);
		return err;
	}
	close(ends[*pid ? 1 : 0]);
	return ends[*pid ? 0 : 1];
}

#ifdef __SANITIZE_ADDRESS__
#define FIRST_CLOSED 3 /* the sanitizer writes its findings there */
#else
#define FIRST_CLOSED 0
#endif

int peer_start(int type, const char *name, void (*serve)(int socket))
{
	sigset_t all;
	pid_t pid;
	const int end = peer_fork(type, &pid);

	if (end < 0 || pid)
		return end;
	prctl(PR_SET_NAME, name);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (end > FIRST_CLOSED)
		close_range(FIRST_CLOSED, (unsigned int)end - 1, 0);
	close_range((unsigned int)end + 1, ~0u, 0);
	serve(end);
	_exit(0);
}

ssize_t peer_send(int socket, const int *fds, size_t count, const struct iovec *body, size_t parts,
		  int flags)
{
	union control control = { .head = { .cmsg_len = CMSG_LEN(count * sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS } };
	const struct msghdr message = { .msg_iov = (struct iovec *)body,
					.msg_iovlen = parts,
					.msg_control = count ? &control : NULL,
					.msg_controllen =
						count ? CMSG_SPACE(count * sizeof(int)) : 0 };
	ssize_t sent;

	if (count > PEER_FDS_MAX)
		return -E2BIG;
	if (count)
		memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags)) < 0)
		if (errno != EINTR)
			return -errno;
	return sent;
}

ssize_t peer_take(int socket, int *fds, size_t *count, void *body, size_t size, int flags)
{
	const size_t room = *count;
	union control control;
	struct iovec part = { body, size };
	/* not CMSG_SPACE(): the kernel would put a descriptor more into its padding */
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = room ? &control : NULL,
				  .msg_controllen = room ? CMSG_LEN(room * sizeof(int)) : 0 };
	struct cmsghdr *head;
	ssize_t got;

	*count = 0;
	while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags)) < 0)
		if (errno != EINTR)
			return -errno;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
		*count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(head), *count * sizeof(int));
	}
	if (message.msg_flags & MSG_TRUNC) {
		peer_close(fds, *count);
		*count = 0;
		return -EMSGSIZE;
	}
	return got;
}

void peer_close(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}
