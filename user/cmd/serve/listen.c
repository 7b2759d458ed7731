// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/newfile.h"

#define BACKLOG 16
#define UNIX "unix:"

struct address {
	struct sockaddr_storage at;
	socklen_t size;
	const char *path; /* NULL: no file */
};

static int parse_unix(const char *path, struct address *address)
{
	struct sockaddr_un *at = (struct sockaddr_un *)&address->at;

	if (!*path || strlen(path) >= sizeof(at->sun_path))
		return -EINVAL;
	at->sun_family = AF_UNIX;
	strcpy(at->sun_path, path);
	address->size = sizeof(*at);
	address->path = path;
	return 0;
}

/* Refuses names: a name server may not answer, or may give another address the next time. */
static int parse_tcp(const char *text, struct address *address)
{
	int size = sizeof(address->at);

	if (evutil_parse_sockaddr_port(text, (struct sockaddr *)&address->at, &size) ||
	    !((const struct sockaddr_in *)&address->at)->sin_port) /* at the same place in both */
		return -EINVAL;
	address->size = (socklen_t)size;
	return 0;
}

static int parse(const char *text, struct address *address)
{
	*address = (struct address){ .size = 0 };
	if (!strncmp(text, UNIX, strlen(UNIX)))
		return parse_unix(text + strlen(UNIX), address);
	return parse_tcp(text, address);
}

int listen_check(const char *text)
{
	struct address address;

	return parse(text, &address);
}

/*
 * Removes a socket that a killed service has left. A living one with a full queue does not refuse
 * to connect.
 */
static void remove_dead(const struct address *address)
{
	struct stat file;
	int fd;

	if (!address->path || lstat(address->path, &file) || !S_ISSOCK(file.st_mode) ||
	    newfile_foreign(&file))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address->at, address->size) &&
	    errno == ECONNREFUSED)
		unlink(address->path);
	close(fd);
}

static int open_at(const struct address *address)
{
	const int on = 1;
	const mode_t mask = umask(0117); /* the owner, and the group if its folder allows that */
	int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	remove_dead(address);
	if (fd >= 0 && !address->path)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	err = fd < 0 || bind(fd, (const struct sockaddr *)&address->at, address->size) ||
			      listen(fd, BACKLOG)
		      ? -errno
		      : 0;
	umask(mask);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static bool is_loopback(const struct address *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address->at;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->at;

	if (address->at.ss_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return address->at.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

int listen_open(const char *text, struct listener *listener)
{
	struct address address;
	struct stat file;
	int fd = parse(text, &address);

	if (!fd)
		fd = open_at(&address);
	if (fd < 0) {
		log_error("cannot listen on '%s': %s%s", text, strerror(-fd),
			  fd == -EADDRINUSE ? ", --listen names another place" : "");
		return fd;
	}
	*listener = (struct listener){ .fd = fd, .local = is_loopback(&address) };
	if (address.path && !lstat(address.path, &file)) {
		listener->path = address.path;
		listener->dev = file.st_dev;
		listener->ino = file.st_ino;
	}
	return 0;
}

void listen_remove(const struct listener *listener)
{
	struct stat file;

	if (listener->path && !lstat(listener->path, &file) && file.st_dev == listener->dev &&
	    file.st_ino == listener->ino)
		unlink(listener->path);
}
