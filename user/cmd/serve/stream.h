/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output whose reader may stop reading: an object is written whole or not at all, and no
 * write blocks.
 */
#ifndef UCXBPF_CMD_SERVE_STREAM_H
#define UCXBPF_CMD_SERVE_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* A zeroed one has nothing to write. */
struct output_stream {
	char *text; /* NULL: all is written */
	size_t size, done;
};

/*
 * Writes an object, or as much of it as finds room. -EAGAIN: the previous one is not written yet,
 * so this one is left out. Other errors: of write(), or of the output.
 */
int stream_put(struct output_stream *stream, int (*write)(void *arg, FILE *out), void *arg);

/* Writes more, once there is room. */
int stream_more(struct output_stream *stream);

/* Waits for room for so long, and frees it. */
int stream_end(struct output_stream *stream, int ms);

#endif
