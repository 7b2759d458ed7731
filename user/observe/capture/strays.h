/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code mapped by processes that are not known to be traced. While probes are placed, a short
 * program may begin and end: its mappings are read before the record of its fork, and by then the
 * kernel has forgotten it.
 */
#ifndef UCXBPF_CAPTURE_STRAYS_H
#define UCXBPF_CAPTURE_STRAYS_H

#include "observe/process/proc.h"

#define STRAYS_MOST 2048 /* of all processes: the oldest is dropped */

struct stray {
	pid_t tgid; /* 0: already taken */
	uint64_t time; /* CLOCK_MONOTONIC ns */
	struct mapping mapping;
	char *path; /* owned */
};

struct strays {
	struct stray *all; /* STRAYS_MOST of them, once there is one */
	size_t next;
};

void strays_release(struct strays *strays);

/* The process mapped this at time ns. Only code in files is kept. */
void strays_add(struct strays *strays, pid_t tgid, const struct mapping *mapping, uint64_t time);

/* The process, or its program, began at time ns: forgets earlier mappings. */
void strays_exec(struct strays *strays, pid_t tgid, uint64_t time);

/* Calls fn for each mapping of the process, the oldest first, and forgets it. */
void strays_take(struct strays *strays, pid_t tgid,
		 void (*fn)(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time),
		 void *arg);

#endif
