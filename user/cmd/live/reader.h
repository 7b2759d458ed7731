/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live view is two processes: the tracer writes files, the reader reads and shows them. The
 * reader gives up all rights that it does not need for that, and is the only one to touch a
 * terminal or a network.
 */
#ifndef UCXBPF_CMD_LIVE_READER_H
#define UCXBPF_CMD_LIVE_READER_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "live/live.h"

/* From the tracer, once both files have an interval. */
struct reader_message {
	struct live_tracer tracer;
	bool last;
	bool quiet; /* nothing ran: the interval has no file */
	char note[160]; /* for the user; "": none */
};

/* From the reader. */
enum { READER_DONE = 'd', READER_QUIT = 'q', READER_WRITE = 'w' };

struct reader_options {
	char *folder, *capture, *interval; /* the two files, and where they are */
	bool terminal; /* the reader draws on it */
	/*
	 * Runs as the reader, in a process of its own that ignores signals; it confines itself. fd:
	 * to the tracer; the reader ends when the tracer closes it. Returns the exit status.
	 */
	int (*show)(void *arg, int fd, const struct reader_options *options);
	void *arg;
};

struct live_reader {
	pid_t pid;
	int fd; /* to it */
	bool has_terminal;
	struct termios terminal; /* as it was before */
};

/* ---- the reader ---- */

/* The exit status in a negative result of the functions here. */
#define READER_STATUS(result) (-1 - (result))

/*
 * Takes the next message, reads its interval into the view, and answers. 0; or the end of the
 * reader: its exit status in READER_STATUS().
 */
int reader_take(int fd, const struct reader_options *options, struct live *live,
		struct reader_message *message);

/* Likewise: a byte to the tracer. */
int reader_say(int fd, char byte);

/* ---- the tracer's side ---- */

/* Makes a folder of that name and the names of the files in it. -errno (printed). */
int reader_prepare(struct reader_options *options, const char *name);

/* Removes the files and their folder. Both processes do so at their end, since either may be
 * killed. */
void reader_clean(const struct reader_options *options);

/* Frees the names. */
void reader_release(struct reader_options *options);

/* Starts it, before this process has threads. -errno (printed). */
int reader_start(struct live_reader *reader, const struct reader_options *options);

/* An interval is there; the reader answers READER_DONE once it has read it. */
int reader_send(const struct live_reader *reader, const struct reader_message *message);

/* The next byte from the reader, without waiting; 0: none; READER_QUIT also if it has ended. */
int reader_ask(const struct live_reader *reader);

/*
 * There are no more intervals: waits for the reader's end, kills it after 10 s, and returns its
 * exit status.
 */
int reader_end(struct live_reader *reader);

#endif
