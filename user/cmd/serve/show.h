/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of `serve`: hands out metrics, and writes files, an object and lines per interval. */
#ifndef UCXBPF_CMD_SERVE_SHOW_H
#define UCXBPF_CMD_SERVE_SHOW_H

#include "cmd/live/reader.h"
#include "cmd/serve/listen.h"

struct serve_options {
	const char *listen; /* an address; NULL: none */
	struct listener listener; /* there */
	const char *textfile, *summaries; /* NULL: none */
	bool json; /* to standard output */
	uint64_t keep; /* ns that counters of a job stay after its end */
};

/* struct reader_options.show; arg: struct serve_options *. */
int show_serve(void *arg, int fd, const struct reader_options *options);

#endif
