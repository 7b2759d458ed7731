/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of this program that exchange messages and descriptors over a Unix socket. */
#ifndef UCXBPF_BASE_PEER_H
#define UCXBPF_BASE_PEER_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#define PEER_FDS_MAX 250 /* descriptors in a message, below the kernel's SCM_MAX_FD */

/*
 * As fork(), with a socket of that type between both processes. Returns this process's end of it,
 * with *pid as fork() returns it, or -errno; unflushed output exists in both.
 */
int peer_fork(int type, pid_t *pid);

/*
 * Starts a process of that name which serves the other end of such a socket: no signal but SIGKILL
 * and SIGSTOP reaches it, and it has no other descriptor. Returns this process's end, or -errno.
 */
int peer_start(int type, const char *name, void (*serve)(int socket));

/*
 * Sends a body of one byte or more, with count descriptors, which stay open here. flags:
 * MSG_DONTWAIT or 0. Returns the bytes sent, or -errno; -E2BIG: more than PEER_FDS_MAX.
 */
ssize_t peer_send(int socket, const int *fds, size_t count, const struct iovec *body, size_t parts,
		  int flags);

/*
 * Receives at most size bytes and *count descriptors (0 to PEER_FDS_MAX), which the caller closes;
 * they are close-on-exec. *count becomes the number that came: fewer than were sent where there is
 * no room in fds or in this process's table, and the others are closed. Returns the bytes received;
 * 0: the other end is closed; -errno; -EMSGSIZE: a packet larger than that, of which nothing is
 * kept.
 */
ssize_t peer_take(int socket, int *fds, size_t *count, void *body, size_t size, int flags);

void peer_close(const int *fds, size_t count);

#endif
