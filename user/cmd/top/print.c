// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/views.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define ROOM PIPE_BUF /* bytes that a pipe takes without blocking after POLLOUT */

/* A signal ends the wait for a slow reader: -ECANCELED. */
static int write_out(const struct signals *signals, const char *text, size_t left)
{
	while (left) {
		struct pollfd polls[] = { { STDOUT_FILENO, POLLOUT, 0 },
					  { signals->fd, POLLIN, 0 } };
		ssize_t n;

		if (poll(polls, ARRAY_SIZE(polls), -1) < 0)
			return -errno;
		if (!polls[0].revents)
			return -ECANCELED;
		n = write(STDOUT_FILENO, text, left < ROOM ? left : ROOM);
		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return 0;
}

#define STALLED 1000000000ull /* ns */

/* During a wait for a slow reader, nothing is read from nodes: their time to answer starts anew. */
int views_print(struct views *views, const json_t *object, const char *node)
{
	const uint64_t before = clock_ns(CLOCK_MONOTONIC);
	json_t *named = json_pack("{s:s, s:s}", "schema", TOP_SCHEMA, "node", node);
	char *text;
	int err;

	json_object_update_missing(named, (json_t *)object);
	text = json_dumps(named, JSON_COMPACT);
	err = write_out(&views->remotes.signals, text, strlen(text));
	if (!err)
		err = write_out(&views->remotes.signals, "\n", 1);
	free(text);
	json_decref(named);
	if (clock_ns(CLOCK_MONOTONIC) - before > STALLED)
		views->asked = clock_ns(CLOCK_MONOTONIC);
	return err;
}
