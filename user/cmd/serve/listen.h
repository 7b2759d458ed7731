/* SPDX-License-Identifier: BSD-3-Clause */
/* The address at which `serve` answers: a TCP port, or a socket in the file system. */
#ifndef UCXBPF_CMD_SERVE_LISTEN_H
#define UCXBPF_CMD_SERVE_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#define LISTEN_DEFAULT "127.0.0.1:9489"

struct listener {
	int fd; /* -1: none */
	bool local; /* a port of the loopback: browsers here reach it */
	const char *path; /* of a socket's file; NULL: none */
	dev_t dev; /* of that file */
	ino_t ino;
};

/* Whether the text is one: HOST:PORT, [HOST]:PORT, unix:PATH; HOST in digits. */
int listen_check(const char *address);

/*
 * Opens it to listen. A socket of this user at which nobody listens is replaced. address lives as
 * long as the listener. 0, or -errno (printed).
 */
int listen_open(const char *address, struct listener *listener);

/* Removes the socket's file, unless the path has become another's. */
void listen_remove(const struct listener *listener);

#endif
