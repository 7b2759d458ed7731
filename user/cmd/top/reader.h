/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `top` is two processes: one traces, the other one reads what that has written, and shows it. The
 * reader can do nothing else (confine_to_files()), and is the only one to touch the terminal.
 */
#ifndef UCXBPF_CMD_TOP_READER_H
#define UCXBPF_CMD_TOP_READER_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "live/live.h"

/* From the tracer, once both files have an interval. */
struct reader_message {
	struct live_tracer tracer;
	bool last;
	char note[160]; /* for the user; "": none */
};

/* From the reader. */
enum { READER_DONE = 'd', READER_QUIT = 'q', READER_WRITE = 'w' };

struct reader_options {
	const char *folder, *capture, *interval; /* the two files, and where they are */
	bool json;
};

struct top_reader {
	pid_t pid;
	int fd; /* to it */
	bool has_terminal;
	struct termios terminal; /* as it was before */
};

/* Removes the files and their folder. Both processes do so at their end, since either may be
 * killed. */
void reader_clean(const struct reader_options *options);

/* Starts it, before this process has threads. -errno (printed). */
int reader_start(struct top_reader *reader, const struct reader_options *options);

/* An interval is there; the reader answers READER_DONE once it has read it. */
int reader_tell(const struct top_reader *reader, const struct reader_message *message);

/* The next byte from the reader, without waiting; 0: none; READER_QUIT also if it has ended. */
int reader_ask(const struct top_reader *reader);

/* No interval comes any more: waits for its end, and returns its exit status. */
int reader_end(struct top_reader *reader);

#endif
