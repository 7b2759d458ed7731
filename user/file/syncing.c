// SPDX-License-Identifier: BSD-3-Clause
#include "file/syncing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/peer.h"
#include "base/vec.h"

#define FDS 2 /* the file and, the first time, its folder */
#define REST 10

/* ---- the process ---- */

static int sync_all(const int *fds, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count; i++)
		if (fsync(fds[i]) && !err)
			err = -errno;
	return err;
}

static void serve(int socket)
{
	struct pollfd end = { .fd = socket };
	char due[256];
	int fds[FDS], err;
	size_t count = FDS;

	/* SIGKILL to the tracer's process group is not for this one */
	setpgid(0, 0);
	if (peer_take(socket, fds, &count, due, 1, 0) <= 0 || !count)
		return;
	do {
		const uint64_t began = clock_ns(CLOCK_MONOTONIC);

		err = sync_all(fds, count);
		peer_close(fds + 1, count - 1);
		count = 1;
		if (err)
			send(socket, &err, sizeof(err), MSG_DONTWAIT | MSG_NOSIGNAL);
		poll(&end, 1, (int)((clock_ns(CLOCK_MONOTONIC) - began) * REST / 1000000));
		/* requests of the meantime count as one */
	} while (recv(socket, due, sizeof(due), 0) > 0);
}

/* ---- its tracer ---- */

static bool on_local_disk(int fd)
{
	static const uint32_t local[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
					  F2FS_SUPER_MAGIC };
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if ((uint32_t)fs.f_type == local[i])
			return true;
	return false;
}

void syncing_start(struct syncing *syncing, int fd)
{
	syncing->socket = on_local_disk(fd) ? peer_start(SOCK_STREAM, "ucxbpf-sync", serve) : -1;
}

static int open_folder(const char *path)
{
	const char *name = strrchr(path, '/');
	char *folder = name ? strndup(path, (size_t)(name + 1 - path)) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	return fd;
}

static bool ask(int socket, const int *fds, size_t count)
{
	char due = 0;

	return peer_send(socket, fds, count, &(struct iovec){ &due, 1 }, 1, MSG_DONTWAIT) > 0;
}

static bool ask_first(int socket, int fd, const char *path)
{
	const int fds[FDS] = { fd, open_folder(path) };
	const size_t count = fds[1] < 0 ? 1 : 2;
	const bool asked = ask(socket, fds, count);

	peer_close(fds + 1, count - 1);
	return asked;
}

int syncing_ask(struct syncing *syncing, int fd, const char *path, uint64_t bytes)
{
	int err = 0;

	if (syncing->socket < 0 || syncing->bytes == bytes)
		return 0;
	if (syncing->bytes ? ask(syncing->socket, NULL, 0) : ask_first(syncing->socket, fd, path))
		syncing->bytes = bytes;
	recv(syncing->socket, &err, sizeof(err), MSG_DONTWAIT);
	return err;
}

void syncing_end(struct syncing *syncing)
{
	if (syncing->socket >= 0)
		close(syncing->socket);
	syncing->socket = -1;
}
