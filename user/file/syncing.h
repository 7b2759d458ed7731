/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that puts a file on its disk while it grows, so that a power cut takes no more than its
 * last moments. A disk that is slow, or does not answer any more, holds up this process alone:
 * neither what writes the file, nor the end of the tracer, nor, after SIGKILL, the removal of its
 * probes. It leaves the disk to others for ten times as long as it took.
 */
#ifndef UCXBPF_FILE_SYNCING_H
#define UCXBPF_FILE_SYNCING_H

#include <stdint.h>

struct syncing {
	int socket; /* negative: there is no such process */
	uint64_t bytes; /* of the file when it was last asked for; 0: it was not */
};

/*
 * Starts it, while the caller has one thread, for a file in the file system of fd. None for one
 * that is not on a disk of this machine: a server has its disk for many.
 */
void syncing_start(struct syncing *syncing, int fd);

/*
 * Asks for a file, the same each time, of so many bytes, without waiting, unless they were asked
 * for before; the first time for its name as well. Returns an error that the disk reported since,
 * -errno, or 0.
 */
int syncing_ask(struct syncing *syncing, int fd, const char *path, uint64_t bytes);

/* Returns at once; the process ends once it has done its last request. */
void syncing_end(struct syncing *syncing);

#endif
