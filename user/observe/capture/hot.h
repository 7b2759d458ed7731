/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes on what a job does all the time, in groups (enum ub_group) that come and go: with windows
 * all of them, with a budget one by one. Those that only say what is there (lives of objects) stay,
 * so that names stay right. Plans are kept, and so are the files that they are for: whoever mapped
 * one may be gone by the next window.
 */
#ifndef UCXBPF_CAPTURE_HOT_H
#define UCXBPF_CAPTURE_HOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "observe/probe/links.h"

#define HOT_ALL ((1u << UB_GROUPS) - 1)

struct hot_file {
	int fd;
	VEC(struct link_probe) probes[UB_GROUPS];
	size_t refused[UB_GROUPS]; /* the most that the kernel refused of each, counted once in
				    *refused */
};

struct hot {
	struct links links[UB_GROUPS];
	bool comes_back; /* plans are kept */
	unsigned int placed; /* groups, one bit each; what is added to others waits */
	VEC(struct hot_file) files;
};

/* All groups are in place. */
void hot_init(struct hot *hot, enum link_mechanism mechanism, const struct link_programs *programs,
	      bool comes_back);

/* Detaches everything and waits until the kernel has let go. */
void hot_release(struct hot *hot);

/*
 * As links_attach(), up to the first group that fails. It attaches nothing for a group that is not
 * in place, and counts nothing refused.
 */
int hot_add(struct hot *hot, const char *path, const struct link_probe *probes, size_t n,
	    size_t *refused);

/*
 * Groups to be in place from now on: others go, without waiting for the kernel. A group that
 * cannot be placed in some file is away in all, so that hot->placed is what records: < 0, -errno as
 * links_attach() of the last such file. *refused: probes that the kernel has not refused before.
 * Only with comes_back may any come.
 */
int hot_place(struct hot *hot, unsigned int groups, size_t *refused);

/* As links_settle(), of all groups: the longest. */
uint64_t hot_settle(struct hot *hot);

/* As links_drop_call_returns(), also of windows to come. */
void hot_drop_call_returns(struct hot *hot);

#endif
