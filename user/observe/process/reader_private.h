/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of a reader: reader.c asks, reader_process.c answers, reader_wire.c carries both. */
#ifndef UCXBPF_PROCESS_READER_PRIVATE_H
#define UCXBPF_PROCESS_READER_PRIVATE_H

#include <sys/types.h>

#include "observe/process/reader.h"

#define READERS 16 /* owners whose files are parsed side by side */

enum order_kind { ORDER_OPEN, ORDER_CLOSE, ORDER_ASK };

struct order {
	enum order_kind kind;
	uint32_t file; /* its number in the reader */
	uint64_t file_size;
	reader_service serve;
	size_t size; /* of the arguments */
	_Alignas(uint64_t) uint8_t arguments[READER_ARGUMENTS];
};

/* The starter's answer to a reader's number, after it has ended and replaced that reader. */
struct started {
	pid_t pid; /* of the new one */
	int status; /* of the last one, as wait(2) has it; -1: none, or it does not end */
};

/* Starts and ends readers until the other end of the socket is closed. */
void readers_process(int orders);

/* ---- reader_wire.c ---- */

/* Sends all, with a descriptor beside unless it is -1. False: the peer is gone. */
bool wire_send(int socket, int fd, const void *data, size_t size);

/* Receives all of it, and the descriptor that came with it, else -1. False: the peer is gone. */
bool wire_take(int socket, int *fd, void *data, size_t size);

bool wire_send_answer(int socket, long result, const reader_answer *answer);

enum outcome { ANSWERED, ENDED, SLOW, INVALID };

/* CPU time of a process, ns; 0: it is gone. */
uint64_t wire_cpu_ns(pid_t pid);

/* Tracks how long a process takes for an answer; zeroed but for pid at its beginning. */
struct patience {
	pid_t pid;
	uint64_t began, first; /* ns on the clock, and of CPU time */
	uint64_t moved, last; /* when CPU time was last seen to grow, and its value */
};

/*
 * Receives a whole answer; INVALID: malformed, or, unless more were asked for, a byte too many.
 * ENDED: the peer is gone.
 */
enum outcome wire_take_answer(int socket, bool others, struct patience *patience, long *result,
			      reader_answer *answer);

#endif
