// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/serve/stream.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

static void drop(struct output_stream *stream)
{
	free(stream->text);
	*stream = (struct output_stream){ 0 };
}

static bool has_room(int ms)
{
	struct pollfd out = { STDOUT_FILENO, POLLOUT, 0 };

	return poll(&out, 1, ms) > 0;
}

/*
 * A pipe that poll() calls writable takes PIPE_BUF bytes. O_NONBLOCK would hold for all processes
 * that share this output.
 */
static int write_for(struct output_stream *stream, int ms)
{
	while (stream->text && has_room(ms)) {
		const size_t left = stream->size - stream->done;
		const ssize_t put = write(STDOUT_FILENO, stream->text + stream->done,
					  left < PIPE_BUF ? left : PIPE_BUF);

		if (put < 0 && errno != EINTR && errno != EAGAIN) {
			const int err = -errno;

			drop(stream);
			return err;
		}
		stream->done += put > 0 ? (size_t)put : 0;
		if (stream->done == stream->size)
			drop(stream);
	}
	return 0;
}

int stream_put(struct output_stream *stream, int (*write)(void *arg, FILE *out), void *arg)
{
	int err = stream_more(stream);
	FILE *out;

	if (err)
		return err;
	if (stream->text)
		return -EAGAIN;
	out = xmemstream(&stream->text, &stream->size);
	err = write(arg, out);
	fclose(out);
	if (err)
		drop(stream);
	return err ? err : write_for(stream, 0);
}

int stream_more(struct output_stream *stream)
{
	return write_for(stream, 0);
}

int stream_end(struct output_stream *stream, int ms)
{
	const int err = write_for(stream, ms);

	drop(stream);
	return err;
}
