// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/nodes/send.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

int send_open(struct send *send)
{
	send->fd = -1;
	signal(SIGPIPE, SIG_IGN);
	return temporary_make(&send->temporary);
}

static int failed(void)
{
	int err = errno ? -errno : -EIO;

	log_error("cannot send the capture: %s", strerror(-err));
	return err;
}

int send_ready(struct send *send)
{
	send->fd = open(send->temporary.file, O_RDONLY | O_CLOEXEC);
	if (send->fd < 0)
		return failed();
	temporary_remove(&send->temporary);
	if (puts(SEND_READY) < 0 || fflush(stdout))
		return failed();
	return 0;
}

bool send_over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char words[64];

	if (poll(&input, 1, 0) <= 0)
		return false;
	return read(STDIN_FILENO, words, sizeof(words)) <= 0;
}

static int put(const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(STDOUT_FILENO, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed();
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

int send_capture(struct send *send)
{
	char data[1 << 16];
	struct stat file;
	off_t left;
	int err;

	if (fstat(send->fd, &file))
		return failed();
	printf(SEND_CAPTURE "%lld\n", (long long)file.st_size);
	err = fflush(stdout) ? failed() : 0;
	for (left = file.st_size; left > 0 && !err;) {
		ssize_t n = read(send->fd, data, sizeof(data));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed();
		err = put(data, (size_t)(n < left ? n : left));
		left -= n;
	}
	return err;
}

void send_close(struct send *send)
{
	temporary_remove(&send->temporary);
	if (send->fd >= 0)
		close(send->fd);
}
