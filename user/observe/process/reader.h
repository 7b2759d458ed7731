/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that parse foreign files for a tracer. A reader has no capabilities, can open nothing,
 * and gets each file as an open descriptor. A file that subverts a reader can only make it answer
 * wrongly, end, or take too long: then the reader is ended, the file is left out by its name, and
 * another reader goes on. A reader parses the files of one owner only, so that it cannot lie about
 * another owner's files. An owner of many files that take too long is left out as a whole.
 *
 * A service is a function of this program. It runs in the reader, gets arguments and returns an
 * answer, both without pointers. The caller must not trust the answer. Any thread may ask.
 */
#ifndef UCXBPF_PROCESS_READER_H
#define UCXBPF_PROCESS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct elf;

typedef VEC(uint8_t) reader_answer;

/* Returns the status that its caller gets: 0 or more, or -errno. */
typedef long (*reader_service)(struct elf *elf, const void *arguments, size_t size,
			       reader_answer *answer);

#define READER_ARGUMENTS 512 /* bytes of arguments at most */
#define READER_ANSWER (64u << 20) /* of an answer */

/*
 * Starts the process that starts readers; to be called once and while the caller has one thread.
 * Without it, and in readers themselves, the calling process parses files itself.
 */
void readers_start(void);

bool readers_started(void);

/* A file that a reader parses, as the caller knows it. */
struct reader_file;

/*
 * fd: open for reading, a regular file or memory, until reader_file_close(); size: bytes to parse.
 * name: for messages. owner: a number for the user who may write to the file. serve answers once
 * the file is open, without arguments: reader_file_opened() has its answer. It is asked at once, so
 * that many files that are opened before the first answer is taken cost one wait for a reader: on
 * busy CPUs that takes milliseconds, an answer microseconds.
 */
struct reader_file *reader_file_open(int fd, uint64_t size, uint64_t owner, const char *name,
				     reader_service serve);
void reader_file_close(struct reader_file *file);

/* Once. -EREMOTEIO: the reader ended or took too long, a warning was printed. */
long reader_file_opened(struct reader_file *file, reader_answer *answer);

/* As serve() has it; -EREMOTEIO as above, for each later question too. */
long reader_file_ask(struct reader_file *file, reader_service serve, const void *arguments,
		     size_t size, reader_answer *answer);

/* The answer was invalid: ends its reader, warns once, and returns -EREMOTEIO. */
int reader_file_refuse(struct reader_file *file);

/* Appends to an answer. */
void answer_add(reader_answer *answer, const void *data, size_t size);

/* Takes the next bytes of an answer, from *at on; false: too few are left. */
bool answer_take(const reader_answer *answer, size_t *at, void *data, size_t size);

#endif
