/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits the memory that is kept for each process. A process can choose how much that would be: the
 * addresses and pointers in its records need not lead anywhere.
 */
#ifndef UCXBPF_CAPTURE_QUOTA_H
#define UCXBPF_CAPTURE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "file/file.h"

struct quota {
	const char *name; /* of several: "code addresses" */
	uint64_t most; /* of a process */
	bool by_user; /* processes are not chosen: all of a user's share a limit as well */
	struct map taken; /* tgid -> how many */
	struct map owners; /* by_user: tgid -> its user */
	struct map users; /* by_user: user -> how many */
	uint64_t left_out; /* how often there was no room */
};

void quota_release(struct quota *quota);

/*
 * One more for the process. False: it or its user has the most already, which is counted, and
 * logged once.
 */
bool quota_take(struct quota *quota, pid_t tgid);

/* Forgets a process that has ended or runs another program. */
void quota_forget(struct quota *quota, pid_t tgid);

/* Writes a note where any were left out. */
void quota_note(const struct quota *quota, struct file_writer *writer);

#endif
